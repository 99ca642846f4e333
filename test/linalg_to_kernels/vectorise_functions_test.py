"""Loops whose functions are looked up by vectors, held against PyTorch."""

import sys
from collections.abc import Callable

import pytest
import torch

import plumbline

_Results = tuple[torch.Tensor, ...]


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., _Results]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *inputs: torch.Tensor) -> _Results:
        return self._function(*inputs)


def _check(function: Callable[..., _Results], *inputs: torch.Tensor, threads: int = 1) -> None:
    program = plumbline.compile(_Of(function), inputs, threads=threads)
    for one, other in zip(program(*inputs), function(*inputs), strict=True):
        torch.testing.assert_close(one, other, equal_nan=True)


@pytest.mark.parametrize("size", [15, 41])
def test_what_is_left_of_vectors(size: int) -> None:
    x, mask = torch.randn(3, size) * 3, torch.rand(3, size) > 0.5
    x[0, :4] = torch.tensor([torch.inf, -torch.inf, torch.nan, -0.0])

    def function(x: torch.Tensor, mask: torch.Tensor, half: torch.Tensor) -> _Results:
        rows = x[:, :-1] if size > 16 else x
        return (
            torch.where(mask, x.exp(), -1),
            x.erf() > 0.5,
            half.tanh(),
            rows.exp() + rows.sin(),
            rows.tanh(),
            (x.exp() * 5).nan_to_num(0, 9, 0).long(),
        )

    _check(function, x, mask, x.bfloat16())


def test_sums_and_sizes_that_are_not_known() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> _Results:
        # Squares, as a sum near 0 would have the errors of tanh alone.
        squares = x.tanh().double().square().sum()
        return x.softmax(1), (x + y).exp().sum(1), squares, x.erf() * y

    batch, size = torch.export.Dim("batch", max=64), torch.export.Dim("size", max=256)
    sizes = ({0: batch, 1: size}, {1: size})
    example = torch.randn(3, 40), torch.randn(1, 40)
    program = plumbline.compile(_Of(function), example, dynamic_shapes=(sizes,))
    for rows, columns in ((3, 40), (2, 7), (1, 16), (5, 129), (4, 0)):
        x, y = torch.randn(rows, columns), torch.randn(1, columns)
        for one, other in zip(program(x, y), function(x, y), strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("threads", [1, 2])
def test_large_results(threads: int) -> None:
    # Some are written past the caches.
    x = torch.randn(2100, 2001)
    _check(lambda x: (x.erf(), x.t().tanh(), x[:, 1:].exp()), x, threads=threads)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
