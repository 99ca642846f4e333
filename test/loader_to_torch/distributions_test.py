"""`torch.distributions` as they check what they are given, which becomes assertions."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

import plumbline
from plumbline.errors import UserError

# Few of its methods have types.
_of: Any = torch.distributions

_Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class _Program(torch.nn.Module):
    def __init__(self, function: _Function) -> None:
        super().__init__()
        self._function = function

    def forward(self, parameter: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return self._function(parameter, value)


_FUNCTIONS: dict[str, _Function] = {
    "normal": lambda p, x: _of.Normal(x, p).log_prob(x + 1),
    "beta": lambda p, x: _of.Beta(p, p + 1).log_prob(x),
    "categorical": lambda p, x: _of.Categorical(p / p.sum(-1, True)).entropy(),
    "tanh": lambda p, x: _of.TransformedDistribution(
        _of.Normal(x, p), [_of.TanhTransform()]
    ).log_prob(x),
    "covariance": lambda p, x: _of.MultivariateNormal(
        x, p[:, :, None] * torch.eye(4) + 0.1
    ).log_prob(p),
    "divergence": lambda p, x: _of.kl_divergence(_of.Gamma(p, x), _of.Gamma(x, p)),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_densities(name: str) -> None:
    program = _Program(_FUNCTIONS[name])
    inputs = torch.rand(2, 3, 4).unbind()
    torch.testing.assert_close(plumbline.compile(program, inputs)(*inputs)[0], program(*inputs))


def test_what_a_distribution_does_not_take_is_said() -> None:
    beta = _Program(_FUNCTIONS["beta"])
    x = torch.rand(4)
    compiled = plumbline.compile(beta, (x, x))
    with pytest.raises(UserError, match=r"Beta: a value is not within the support Interval\("):
        compiled(x, x + 1)
    with pytest.raises(UserError, match=r"Dirichlet: concentration does not satisfy .*Greater"):
        compiled(-x, x)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
