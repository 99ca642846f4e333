"""Programs that are indexed by numbers, and by tensors of one."""

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim
from torch.func import grad, vmap

import plumbline
from plumbline.errors import UserError


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor, i: torch.Tensor) -> Any:
        return self._function(x, i)


def _writes(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y[:, i] = 1
    y[..., 0, i, None] = x[:1, 0, :1]
    y[i] += x[0]
    y[i, torch.tensor([0, 1])] = x[0, :2]
    y[1, i].neg_()
    return y


_FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "written": _writes,
    "beside another": lambda x, i: x[i, :, torch.tensor([2, 0])],
    "gradient": lambda x, i: grad(lambda y: (y[i].sin() * y[i - i]).sum())(x),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_counted_from_either_end(name: str) -> None:
    module = _Of(_FUNCTIONS[name])
    program = plumbline.compile(
        module, (torch.randn(4, 4, 4), torch.tensor(1)), ({0: Dim("n", min=3)}, {})
    )
    for place in (2, -1, -3):
        inputs = (torch.randn(3, 4, 4), torch.tensor(place))
        torch.testing.assert_close(program(*inputs), (module(*inputs),))
    with pytest.raises(UserError, match="an index is out of range"):
        program(torch.randn(3, 4, 4), torch.tensor(3))


def test_places_that_sizes_tell_are_written() -> None:
    class Written(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            rows, columns = x.shape
            y = x * 2
            y[rows - 1] = 1
            y[:, columns // 2] = x[:, 0]
            y[..., -columns] += 3
            y[1 - rows, torch.tensor([2, 0])] = 4
            y[columns // 3, rows // 2 :] = x.sum()
            return y

    sizes = {"x": {0: Dim("n", min=3, max=20), 1: Dim("m", min=5, max=20)}}
    program = plumbline.compile(Written(), (torch.randn(7, 6),), sizes)
    for shape in ((7, 6), (4, 5), (9, 11)):
        x = torch.randn(shape)
        torch.testing.assert_close(program(x)[0], Written()(x))
    with pytest.raises(UserError, match="an index is out of range"):
        program(torch.randn(3, 18))


class _Cache(torch.nn.Module):
    def forward(
        self, cache: torch.Tensor, x: torch.Tensor, at: int, of: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        cache[at] = x
        cache[:, at] += 1
        place: Any = of.item()
        return (
            cache.select(1, at) - x,
            torch.select(cache, dim=0, index=place),
            cache[..., at, None],
        )


def test_numbers() -> None:
    """One that is out of range read memory that is nobody's."""
    program = plumbline.compile(
        _Cache(),
        (torch.zeros(4, 4), torch.ones(4), 2, torch.tensor(1)),
        (None, None, Dim.DYNAMIC, None),
        mutable=["cache"],
    )
    for at in (3, 0, -1, -4):
        x, of = torch.randn(4), torch.tensor(-1 - at)
        ours, theirs = torch.ones(4, 4), torch.ones(4, 4)
        torch.testing.assert_close(program(ours, x, at, of), _Cache()(theirs, x, at, of))
        assert torch.equal(ours, theirs)
    for at, place in ((4, 0), (-5, 0), (0, 4), (0, -5)):
        with pytest.raises(UserError, match="an index is out of range"):
            program(torch.ones(4, 4), torch.ones(4), at, torch.tensor(place))


class _Checked(torch.nn.Module):
    def forward(self, x: torch.Tensor, at: int) -> torch.Tensor:
        torch._check(at >= 0)  # type: ignore[no-untyped-call]
        torch._check(at < x.shape[0])  # type: ignore[no-untyped-call]
        return x[at] + 1


def test_what_a_program_has_checked_is_not_checked_again() -> None:
    inputs = (torch.randn(4, 3), 2)
    program = plumbline.compile(_Checked(), inputs, (None, Dim.DYNAMIC))
    assert "an index is out of range" not in program.stage("kernels")
    assert torch.equal(program(*inputs)[0], inputs[0][2] + 1)
    with pytest.raises(UserError, match="the program asserts that at <= 3"):
        program(inputs[0], 4)


class _Row(torch.nn.Module):
    def __init__(self, *, is_known: bool) -> None:
        super().__init__()
        self._is_known = is_known

    def forward(self, cache: torch.Tensor, x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        cache[-7 if self._is_known else at] = x
        return x + 1


@pytest.mark.parametrize("is_known", [False, True])
def test_what_is_written_is_one_place(is_known: bool) -> None:
    program = plumbline.compile(
        _Row(is_known=is_known),
        (torch.zeros(300, 40), torch.ones(40), torch.tensor(293)),
        mutable=["cache"],
    )
    kernels = program.stage("kernels")
    temporaries = [int(peak) for peak in re.findall(r"peak = (\d+)", kernels)]
    assert max(temporaries, default=0) < 4000
    cache = torch.zeros(300, 40)
    program(cache, torch.ones(40), torch.tensor(293))
    assert cache[293].sum() == cache.sum() == 40


def _chosen(x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y, total = x * 2, x.sum()
    truths = i > 1
    y[truths[0]] = 3
    y[:, truths[1]] = x[:, truths[1]] + 1
    total[truths[0]] = 1 - x.mean()[truths[0]]
    return y, total, x[truths[1]], x[1, truths[0], 1:], x[..., truths[1]]


@pytest.mark.parametrize("places", [(0, 2), (2, 0), (2, 2)])
def test_all_or_nothing_by_a_truth_value(places: tuple[int, int]) -> None:
    module = _Of(_chosen)
    program = plumbline.compile(module, (torch.randn(3, 4), torch.tensor([2, 0])))
    inputs = (torch.randn(3, 4), torch.tensor(places))
    torch.testing.assert_close(program(*inputs), module(*inputs))


def test_a_number_for_each_of_a_batch() -> None:
    def column(rows: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        return rows[:, place]

    module = _Of(vmap(column))
    inputs = (torch.randn(3, 2, 5), torch.tensor([1, 4, 0]))
    program = plumbline.compile(module, inputs)
    torch.testing.assert_close(program(*inputs), (module(*inputs),))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
