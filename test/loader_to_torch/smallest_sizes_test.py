"""Sizes of 0 and 1 that a program does not hold for are refused in calls, and no others."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim
from torch.nn.functional import grid_sample, interpolate

import plumbline
from plumbline.errors import UserError
from plumbline.loader_to_torch import followed_program
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput


class _Program(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self._function = function
        self.weight = torch.nn.Parameter(torch.ones(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(x) + 0 * self.weight.sum()


@pytest.mark.parametrize(
    ("function", "least"),
    [
        (lambda x: x * 2, 0),
        (lambda x: x.sum(0), 0),
        (lambda x: x @ x.mT, 0),
        (lambda x: torch.cat([x, x]).reshape(-1), 0),
        # PyTorch refuses the size.
        (lambda x: x[0], 1),
        (lambda x: x.argmax(0), 1),
        (lambda x: x.amax(), 1),
        (lambda x: torch.topk(x, 2, 0).values, 2),
        (lambda x: torch.kthvalue(x, 1, 0).values, 1),
        # It does so as it runs, and not as it follows shapes.
        (lambda x: interpolate(x[None, None], (3, 4), mode="area"), 1),
        (lambda x: interpolate(x[None, None], (3, 4), mode="bilinear"), 1),
        (lambda x: grid_sample(x[None, None], torch.zeros(1, 1, 1, 2), align_corners=False), 1),
        # The graph has 1 row for min(n, 1).
        (lambda x: x[:1].clone(), 1),
        (lambda x: x[:, :1].diagonal(), 1),
    ],
)
def test_the_least_size(
    function: Callable[[torch.Tensor], torch.Tensor], least: int, capfd: pytest.CaptureFixture[str]
) -> None:
    program = TorchLoaderOutput(
        _Program(function), (torch.randn(4, 5),), {"x": {0: Dim("n")}}, "func_main"
    )
    (symbol,) = export("it", program).shapes.symbols
    assert symbol.min == least
    # PyTorch logs each op that refuses a size.
    assert capfd.readouterr() == ("", "")


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        return self._function(x, y)


def _least(function: Callable[..., Any]) -> list[int]:
    inputs = (torch.randn(4, 5), torch.randn(6, 5))
    shapes = {"x": {0: Dim("n")}, "y": {0: Dim("m")}}
    program = TorchLoaderOutput(_Of(function), inputs, shapes, "func_main")
    return [symbol.min for symbol in export("it", program).shapes.symbols]


@pytest.mark.parametrize(
    ("op", "forms"),
    [
        # It stays what it is, and so the program does.
        (torch.sin, 1),
        # It becomes another.
        (torch.square, 2),
    ],
)
def test_only_what_depends_on_a_size_is_followed_again(
    op: Callable[[torch.Tensor], torch.Tensor], forms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the example's sizes, at larger ones, and for each size at 1 and 0.

    Of ten calls in a row all take what is like the input.
    """
    followed = 0
    run = torch.fx.Interpreter.call_function

    def counted(self: torch.fx.Interpreter, *arguments: Any) -> Any:
        nonlocal followed
        followed += type(self).__module__ == followed_program.__name__
        return run(self, *arguments)

    monkeypatch.setattr(torch.fx.Interpreter, "call_function", counted)

    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        for _ in range(10):
            x, y = op(x), op(y)
        return x, y

    assert _least(function) == [0, 0]
    # Of each form of the program: a call for each input twice, and for one of them four times.
    assert followed == forms * (2 * 2 + 4 * 1)
    # Of fixed sizes there are no others.
    followed = 0
    export("it", TorchLoaderOutput(_Of(function), (torch.ones(4), torch.ones(4)), {}, "func_main"))
    assert followed == 0


@pytest.mark.parametrize(
    ("function", "least"),
    [
        (lambda x, y: (x * 2, y[0]), [0, 1]),
        (lambda x, y: (x.amax(), y * 2), [1, 0]),
        (lambda x, y: x.argmax(0) + y.sum(0), [1, 0]),
        # What is written in place has another shape when it is read again.
        (lambda x, y: (x.clone().t_().unsqueeze_(0).sum(0), y[0] + x.sum(0)), [0, 1]),
    ],
)
def test_the_least_of_two_sizes(function: Callable[..., Any], least: list[int]) -> None:
    assert _least(function) == least


def test_sizes_that_are_alike_are_also_tried_together() -> None:
    """Of fewer rows than there are indices for nothing can be gathered."""

    class Gathered(torch.nn.Module):
        def forward(self, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
            return x.gather(1, places)

    example = torch.randn(3, 5), torch.tensor([[4, 1]] * 3)
    dynamic = ({0: Dim.DYNAMIC}, {0: Dim.DYNAMIC})
    program = plumbline.compile(Gathered(), example, dynamic_shapes=dynamic)
    for rows, count in ((3, 3), (1, 1), (4, 1), (0, 0)):
        given = torch.randn(rows, 5), torch.tensor([[4, 1]])[[0] * count]
        torch.testing.assert_close(program(*given), (Gathered()(*given),))
    with pytest.raises(UserError, match="the program is exported for sizes where"):
        program(torch.randn(1, 5), torch.tensor([[4, 1]] * 3))


def test_a_range_that_begins_higher_stays() -> None:
    program = TorchLoaderOutput(
        _Program(lambda x: torch.topk(x, 2, 0).values),
        (torch.randn(4, 5),),
        {"x": {0: Dim("n", min=3, max=9)}},
        "func_main",
    )
    (symbol,) = export("it", program).shapes.symbols
    assert (symbol.min, symbol.max) == (3, 9)


def _pooled(x: torch.Tensor) -> torch.Tensor:
    # 3 rows make one window; PyTorch then takes the count of windows to be 1 for good.
    return torch.nn.functional.lp_pool1d(x.T, 2.0, 2)


def test_a_constant_that_follows_from_the_example() -> None:
    program = TorchLoaderOutput(
        _Program(_pooled), (torch.randn(3, 5),), {"x": {0: Dim.DYNAMIC}}, "func_main"
    )
    with pytest.raises(UserError, match="but not where they are 13 times that"):
        export("it", program)


@pytest.mark.parametrize(
    ("function", "shape", "sizes"),
    [
        (_pooled, (3, 5), (3, None)),
        # The product of two sizes is that of a weight.
        (lambda x: x.flatten(1) @ torch.ones(12, 2), (3, 4, 3), (None, 4, 3)),
        (lambda x: x.unflatten(1, (3, 4)) + torch.ones(4), (2, 12), (None, 12)),
    ],
)
def test_automatic_sizes_that_hold_for_the_example_alone_are_fixed(
    function: Callable[[torch.Tensor], torch.Tensor],
    shape: tuple[int, ...],
    sizes: tuple[int | None, ...],
) -> None:
    model = _Program(function)
    automatic = dict.fromkeys(range(len(shape)), Dim.AUTO)
    program = TorchLoaderOutput(model, (torch.randn(shape),), {"x": automatic}, "func_main")
    (found,) = export("it", program).shapes.shapes
    assert tuple(size if isinstance(size, int) else None for size in found) == sizes
    assert not model._forward_pre_hooks


def test_a_named_size_that_ops_are_lowered_for_one_of_is_refused() -> None:
    model = _Program(lambda x: torch.mode(x[3:], 0).values)
    shapes = {"x": {0: Dim("rows", min=4)}}
    program = TorchLoaderOutput(model, (torch.randn(4, 3),), shapes, "func_main")
    with pytest.raises(UserError, match=r"dimension 0 of x is rows .* for one size of it, here 4"):
        export("it", program)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
