"""What is computed alike is equal, as branches of programs ask before there are any elements."""

import sys
from collections.abc import Callable

import pytest
import torch

import plumbline
from plumbline.errors import UserError

_Function = Callable[[torch.Tensor], torch.Tensor]


class _Program(torch.nn.Module):
    def __init__(self, function: _Function) -> None:
        super().__init__()
        self._function = function
        self.scale = torch.nn.Parameter(torch.tensor([2.0, 3.0, 4.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(x / self.scale)


def _distances(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """As gpytorch's kernels compute them."""
    distances = (x[:, None] - y).square().sum(-1)
    if torch.equal(x, y):
        distances.diagonal().fill_(-1)
    return distances


def _of_one(x: torch.Tensor) -> torch.Tensor:
    return _distances(x, x)


def _of_scaled(x: torch.Tensor) -> torch.Tensor:
    return _distances(x[1:].mul(2.0), x[1:].mul(2.0))


def _twice(x: torch.Tensor) -> torch.Tensor:
    return _of_scaled(x) + _of_scaled(x)


_PLACES = torch.randn(5, 3)


def _of_constants(x: torch.Tensor) -> torch.Tensor:
    return _distances(x[0] * _PLACES.detach(), x[0] * _PLACES.detach())


@pytest.mark.parametrize("function", [_of_one, _of_scaled, _twice, _of_constants])
def test_what_is_computed_alike_is_equal(function: _Function) -> None:
    model = _Program(function)
    x = torch.randn(5, 3)
    program = plumbline.compile(model, (torch.ones(5, 3),))
    torch.testing.assert_close(program(x)[0], model(x))
    x[0, 1] = x[2, 1] = torch.nan
    with pytest.raises(UserError, match="computed alike, and one has a NaN in it"):
        program(x)


def _of_others(x: torch.Tensor) -> torch.Tensor:
    return _distances(x.mul(2.0), x.mul(3.0))


def _of_drawn(x: torch.Tensor) -> torch.Tensor:
    return _distances(torch.rand_like(x), torch.rand_like(x))


def _written_between(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    first = y.mul(2.0)
    y[0].zero_()
    return _distances(first, y.mul(2.0))


def _written_later(x: torch.Tensor) -> torch.Tensor:
    first, second = x.mul(2.0), x.mul(2.0)
    first[:, 1].zero_()
    return _distances(first, second)


@pytest.mark.parametrize("function", [_of_others, _of_drawn, _written_between, _written_later])
def test_what_may_differ_is_not_known(function: _Function) -> None:
    with pytest.raises(UserError, match=r"torch\.equal\(x, y\)"):
        plumbline.compile(_Program(function), (torch.ones(5, 3),))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
