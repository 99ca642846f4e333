"""Branches and loops that stay such, against PyTorch."""

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim
from torch.utils import _pytree as pytree

import plumbline
from plumbline.errors import UserError


class _Of(torch.nn.Module):
    """A function, which has a weight of three elements at hand."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.weight = torch.nn.Parameter(torch.randn(3))
        self._function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self._function(self.weight, x)


def _check(
    function: Callable[..., Any], *inputs: torch.Tensor, dynamic: bool = False
) -> plumbline.CompiledProgram:
    """Compiles for the first input, and runs all."""
    module = _Of(function)
    shapes = {"x": {0: Dim("n", min=1)}} if dynamic else None
    program = plumbline.compile(module, (inputs[0],), dynamic_shapes=shapes)
    for x in inputs:
        # PyTorch runs these ops by its own compiler, which fails on some sizes that changed.
        torch._dynamo.reset()
        with torch.no_grad():
            expected = pytree.tree_leaves(module(x))
        torch.testing.assert_close(program(x), tuple(expected))
    return program


def _telling(*sizes: Sequence[int]) -> list[torch.Tensor]:
    torch.manual_seed(1)
    return [torch.randn(tuple(size)) for size in sizes]


class _Doubled(torch.nn.Module):
    """Doubles the second operand as often as the first says."""

    def forward(self, times: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        _, _, doubled = while_loop(  # type: ignore[no-untyped-call]
            lambda done, times, y: done < times,
            lambda done, times, y: (done + 1, times.clone(), y * 2),
            (torch.zeros((), dtype=torch.int64), times, x),
        )
        result: torch.Tensor = doubled
        return result


def test_a_loop_ends_when_its_condition_says() -> None:
    program = plumbline.compile(_Doubled(), (torch.tensor(3), torch.ones(2)))
    assert "scf.while" in program.stage("tcp")
    for times in (0, 1, 5):
        [actual] = program(torch.tensor(times), torch.ones(2))
        torch.testing.assert_close(actual, torch.full((2,), 2.0**times))


class _DoubledRows(torch.nn.Module):
    """Doubles rows a few times, of as many as are left of a tensor; PyTorch asks how many."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.reshape(-1, x.shape[-1])
        _, doubled = while_loop(  # type: ignore[no-untyped-call]
            lambda done, y: done < 2,
            lambda done, y: (done + 1, y * 2),
            (torch.tensor(0), rows),
        )
        result: torch.Tensor = doubled
        return result


class _PlacesBesidesTheFirst(torch.nn.Module):
    """Has a result of as many rows as values say."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.nonzero() + x[0, 0].long()


@pytest.mark.parametrize("model", [_DoubledRows(), _PlacesBesidesTheFirst()])
def test_sizes_that_pytorch_refuses_are_out_of_range_beside_what_values_decide(
    model: torch.nn.Module,
) -> None:
    dims = {"x": {0: Dim("n"), 1: Dim("m")}}
    program = plumbline.compile(model, (torch.ones(3, 4),), dims)
    [actual] = program(torch.ones(1, 2))
    torch.testing.assert_close(actual, model(torch.ones(1, 2)))
    for refused in (torch.ones(0, 0), torch.ones(2, 0)):
        with pytest.raises((RuntimeError, IndexError)):
            model(refused)
        with pytest.raises(UserError, match="must be at least 1"):
            program(refused)


# -- while_loop ------------------------------------------------------------------------------------


def _powers(weight: torch.Tensor, x: torch.Tensor) -> Any:
    """Multiplies by what is carried along nowhere, until a sum is large."""
    return while_loop(  # type: ignore[no-untyped-call]
        lambda rounds, y: (y.abs().sum() < 20) & (rounds < 50),
        lambda rounds, y: (rounds + 1, y * (1 + weight.abs())),
        (torch.zeros((), dtype=torch.int64), x),
    )


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_loop_reads_what_it_does_not_carry(*, dynamic: bool) -> None:
    sizes = [(4, 3), (7, 3), (1, 3)] if dynamic else [(4, 3), (4, 3)]
    _check(_powers, *_telling(*sizes), dynamic=dynamic)


def _gcd_and_lcm(_: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.gcd(x, x.flip(0)), torch.lcm(x.to(torch.int8), x[:1].to(torch.int8))


@pytest.mark.parametrize("dynamic", [False, True])
def test_divisors_are_found_as_long_as_a_remainder_is_left(*, dynamic: bool) -> None:
    inputs = [torch.arange(-n, n).unsqueeze(1) * torch.arange(3) for n in (20, 11)]
    program = _check(_gcd_and_lcm, *inputs[: 1 + dynamic], dynamic=dynamic)
    assert "scf.while" in program.stage("tcp")


def test_series_end_where_their_terms_do() -> None:
    """Of the incomplete gamma functions, which take an integral where an order is great."""
    small, great = (1 + torch.rand(5, 3)) * 8, torch.tensor([[0.5, 2.0, 500.0]])

    def shares(_: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.special.gammainc(x, 2 * x), torch.special.gammaincc(x, x.flip(0))

    program = _check(shares, small, great, dynamic=True)
    assert program.stage("tcp").count("scf.while") == 4


# -- cond ------------------------------------------------------------------------------------------


def _either(weight: torch.Tensor, x: torch.Tensor) -> Any:
    return torch.cond(
        x.sum() > 0,
        lambda y: (y.sin() * weight, y.amax(1)),
        lambda y: (torch.softmax(y, 1), y.sum(1)),
        (x,),
    )


def _one_of_three(weight: torch.Tensor, x: torch.Tensor) -> Any:
    def not_small(y: torch.Tensor) -> Any:
        return torch.cond(y.amax() > 2, lambda z: z + weight, lambda z: z - weight, (y,))

    return torch.cond(x.amax() < 1, lambda y: y * weight, not_small, (x,))


@pytest.mark.parametrize("dynamic", [False, True])
def test_one_branch_of_two(*, dynamic: bool) -> None:
    (x,) = _telling((4, 3))
    others = _telling((9, 3), (1, 3)) if dynamic else []
    program = _check(_either, x, -x, *others, dynamic=dynamic)
    assert "scf.if" in program.stage("tcp")
    assert program.stage("torch").count("torch.prim.If ") == 1


def test_a_branch_within_a_branch() -> None:
    (x,) = _telling((4, 3))
    x = x / x.amax()
    _check(_one_of_three, 0.5 * x, 1.5 * x, 3 * x)


def test_the_branch_that_is_not_taken_does_not_fail() -> None:
    def looked_up(weight: torch.Tensor, x: torch.Tensor) -> Any:
        places = x.to(torch.int64)
        return torch.cond(
            places.amax() < 3, lambda p: weight[p], lambda p: p.to(torch.float32), (places,)
        )

    _check(looked_up, torch.tensor([0.0, 2.0]), torch.tensor([1.0, 9.0]))


# -- scan and map ----------------------------------------------------------------------------------


def _recurrence(weight: torch.Tensor, x: torch.Tensor) -> Any:
    def step(state: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        after = torch.tanh(weight * state + row)
        return after, after * 2

    return scan(step, torch.zeros(3), x)


def _states(weight: torch.Tensor, x: torch.Tensor) -> Any:
    """Two tensors are carried, two scanned from the end, two made; one is of integers."""

    def step(
        state: dict[str, torch.Tensor], rows: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[dict[str, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
        first, second = rows
        total, count = state["total"] + first.sum(), state["count"] + 1
        return {"total": total, "count": count}, (first * second + weight, count.clone())

    start = {"total": torch.zeros(()), "count": torch.zeros((), dtype=torch.int64)}
    return scan(step, start, (x, x.cos()), reverse=True)


@pytest.mark.parametrize("function", [_recurrence, _states], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dynamic", [False, True])
def test_scan(function: Callable[..., Any], *, dynamic: bool) -> None:
    sizes = [(4, 3), (9, 3), (1, 3)] if dynamic else [(4, 3), (4, 3)]
    _check(function, *_telling(*sizes), dynamic=dynamic)


def test_a_scan_is_a_loop_over_slices() -> None:
    tcp = _check(_recurrence, *_telling((4, 3))).stage("tcp")
    [place] = re.findall(r"scf.for (%\w+) = %c0 to %c4 step %c1 iter_args", tcp)
    assert f"starts({place}, %c0) sizes(%c1, %c3)" in tcp
    assert f"[{place}, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<4x3xf32>" in tcp
    assert "arith.minsi" not in tcp


def test_scan_along_another_dimension() -> None:
    _check(
        lambda weight, x: scan(lambda sum_, y: (sum_ + y, sum_ * y), torch.zeros(5), x, dim=1),
        *_telling((5, 4)),
    )


@pytest.mark.parametrize("dynamic", [False, True])
def test_map(*, dynamic: bool) -> None:
    def each(weight: torch.Tensor, x: torch.Tensor) -> Any:
        return map_(lambda row: (row.softmax(0) * weight, row.argmax(0)), x)  # type: ignore[arg-type,misc]

    sizes = [(4, 3), (9, 3), (1, 3)] if dynamic else [(4, 3)]
    _check(each, *_telling(*sizes), dynamic=dynamic)


def test_a_branch_within_a_loop_and_constants_in_both() -> None:
    def scaled(y: torch.Tensor) -> torch.Tensor:
        return y * torch.tensor([1.0, -2.0, 3.0])

    def each(weight: torch.Tensor, x: torch.Tensor) -> Any:
        def body(row: torch.Tensor) -> Any:
            row = row + torch.tensor([0.0, 0.5, -0.5])
            return torch.cond(row.sum() > 0, lambda y: scaled(y) * weight, scaled, (row,))

        return map_(body, x)  # type: ignore[arg-type]

    _check(each, *_telling((6, 3)))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 2, 7])
def test_associative_scan(length: int, *, reverse: bool) -> None:
    def linear(
        left: tuple[torch.Tensor, torch.Tensor], right: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return left[0] * right[0], left[1] * right[0] + right[1]

    _check(
        lambda weight, x: associative_scan(
            linear, (x, x.cos()), dim=0, reverse=reverse, combine_mode="generic"
        ),
        *_telling((length, 3)),
    )


# -- places ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [_either, _recurrence], ids=lambda f: f.__name__)
def test_bodies_come_from_lines_of_the_program(function: Callable[..., Any]) -> None:
    torch_ = _check(function, *_telling((4, 3))).stage("torch")
    assert "control_flow_test.py" in torch_
    assert "eval_with_key" not in torch_


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
