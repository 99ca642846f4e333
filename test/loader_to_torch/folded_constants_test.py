"""What follows from constants alone is what PyTorch computes, not what torch-mlir folds."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline

_NUMBERS: tuple[Callable[[torch.Tensor], Any], ...] = (
    lambda x: x + -5,
    lambda x: x - -5,
    lambda x: -5 - x,
    lambda x: x * -5,
    lambda x: torch.add(x, torch.full((2,), 3), alpha=-2),
    lambda x: torch.sub(x, 3, alpha=-2),
    lambda x: torch.addcmul(x, x, x, value=-2),
    lambda x: x % -5,
    lambda x: x % 3,
    lambda x: x // 3,
    lambda x: x // torch.tensor([-5, 4]),
    lambda x: torch.div(x, -2, rounding_mode="trunc"),
    lambda x: x < 2**40,
)
"""Each was another number by torch-mlir's folding, for one dtype or another."""

_TRUTHS: tuple[Callable[[torch.Tensor], Any], ...] = (
    lambda x: x + True,
    lambda x: x == True,  # noqa: E712 - the comparison is what is tested
    lambda x: x % -5,
)


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self._function(x)


def _check(function: Callable[[torch.Tensor], Any], dynamic_shapes: Any = None) -> None:
    x = torch.arange(1.0, 5.0)
    module = _Of(function)
    results = plumbline.compile(module, (x,), dynamic_shapes)(x)
    expected = module(x)
    expected = expected if isinstance(expected, tuple) else (expected,)
    torch.testing.assert_close(results, expected, equal_nan=True)


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.float64, torch.int64, torch.int32, torch.int8, torch.uint8],
    ids=str,
)
def test_numbers(dtype: torch.dtype) -> None:
    values = [3.0, 1.0] if dtype == torch.uint8 else [-3.0, 1.0]
    first = values[0] - 0.25 if dtype.is_floating_point else int(values[0])

    def function(x: torch.Tensor) -> Any:
        constants = (
            torch.tensor(first, dtype=dtype),
            torch.tensor(values, dtype=dtype),
            torch.full((2,), first, dtype=dtype),
        )
        return (x + 1, *(of(constant) for constant in constants for of in _NUMBERS))

    _check(function)


def test_truth_values() -> None:
    _check(
        lambda x: (
            x + 1,
            *(of(torch.full((2,), truth)) for truth in (True, False) for of in _TRUTHS),
        )
    )


def test_chains() -> None:
    """A folded constant is the operand of the next op, and of a list."""
    _check(
        lambda x: x * torch.cat([torch.tensor([0.7, 0.2]).log() * -5, torch.full((2,), -3) * -2.0])
    )


def test_a_number_taken_out() -> None:
    _check(lambda x: x * torch.tensor([3.5, 2.0])[1].item())
    _check(lambda x: torch.repeat_interleave(x, torch.tensor([1, 2, 0, 1])))


def test_large_tensors_of_one_number() -> None:
    _check(lambda x: x.sum() + torch.full((40, 50), 0.75) * -5)


def test_branches() -> None:
    def function(x: torch.Tensor) -> Any:
        return torch.cond(
            x.sum() > 0,
            lambda x: x + torch.full((4,), 0.75) * -5,
            lambda x: x - torch.full((4,), -0.75) % 3,
            (x,),
        )

    _check(function)
    _check(lambda x: function(-x))


@pytest.mark.parametrize("truth", [True, False])
def test_choices_of_one_number(truth: bool) -> None:
    condition = torch.tensor([truth])
    _check(
        lambda x: (
            torch.where(condition, 2, x),
            torch.where(condition, x, 3) + 1,
            x.masked_fill(condition, 4),
        ),
        {"x": {0: Dim("n")}},
    )


def test_beside_dynamic_sizes() -> None:
    _check(
        lambda x: (torch.full((x.shape[0],), 0.75) * -5 + x, torch.tensor(0.75) * -5 * x),
        ({0: Dim("n")},),
    )


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
