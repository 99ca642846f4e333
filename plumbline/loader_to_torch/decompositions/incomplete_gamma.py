"""The incomplete gamma functions, as shares of the whole.

What lies below x is a series for small a, and an integral for great ones; what lies above is an
integral (NIST's Digital Library of Mathematical Functions, 8.7.1, 8.2). Integrals are sums over
nodes that double exponential substitutions place (Takahasi and Mori, 1974), which hold each scale
of a peak, be it as narrow as it may. Terms and nodes are a dimension of their own.
"""

import math

import torch

from plumbline.loader_to_torch.decompositions.gamma_functions import lgamma_right, stirling_rest
from plumbline.loader_to_torch.decompositions.rule import Rules, broadcast, in_double

aten = torch.ops.aten

_GREAT = 60.0
"""From this a on the series would need more terms."""
_TERMS = 120
_STEP = 1 / 48


def _shares(a: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What of the integral of t^(a - 1) exp(-t) over all t lies below x, and what above."""
    a, x = broadcast(a, x)
    density = _density(a, x)
    a_, x_ = a.unsqueeze(-1), x.unsqueeze(-1)
    below = torch.where(a > _GREAT, _integral_below(a_, x_), _series_below(a_, x_)) * density
    above = _integral_above(a_, x_) * density
    left = x <= a + 1
    below, above = torch.where(left, below, 1 - above), torch.where(left, 1 - below, above)
    nowhere = (
        (x < 0)
        | (a < 0)
        | (x.isnan() & ~a.isinf())
        | (a.isinf() & x.isinf())
        | ((a == 0) & (x == 0))
    )
    all_above = (x == 0) | a.isinf()
    all_below = (a == 0) | x.isinf()
    below, above = (
        torch.where(
            nowhere,
            math.nan,
            torch.where(all_above, at_start, torch.where(all_below, 1 - at_start, share)),
        )
        for share, at_start in ((below, 0.0), (above, 1.0))
    )
    return below, above


def _density(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """x^a exp(-x) / gamma(a), by Stirling's series so that nothing great is cancelled."""
    ratio = (x - a) / a
    great = torch.exp(
        a * (torch.log1p(ratio) - ratio)
        + 0.5 * torch.log(a * (1 / (2 * math.pi)))
        - stirling_rest(a)
    )
    return torch.where(a < 10, torch.exp(a * torch.log(x) - x - lgamma_right(a + 1)) * a, great)


def _series_below(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The sum of x^n / (a (a + 1) ... (a + n)) over all n from 0."""
    n = torch.arange(1, _TERMS, dtype=torch.float64)
    terms = torch.cumprod(x / (a + n), -1)
    return (1 + terms.sum(-1)) / a.squeeze(-1)


def _integral_below(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The integral of exp(x v) (1 - v)^(a - 1) over v from 0 to 1."""
    t = torch.arange(-int(3.6 / _STEP), int(3.6 / _STEP) + 1, dtype=torch.float64) * _STEP
    arch = math.pi * torch.sinh(t)
    v = torch.sigmoid(arch)
    weight = math.pi * _STEP * torch.cosh(t) * v * torch.sigmoid(-arch)
    log = x * v - (a - 1) * torch.nn.functional.softplus(arch)
    return (torch.exp(log) * weight).sum(-1)


def _integral_above(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The integral of exp(-v) (1 + v / x)^(a - 1) / x over v from 0."""
    t = torch.arange(-int(4.0 / _STEP), int(24.0 / _STEP) + 1, dtype=torch.float64) * _STEP
    v = torch.exp(t - torch.exp(-t))
    weight = _STEP * (1 + torch.exp(-t)) * v
    log = (a - 1) * torch.log1p(v / x) - v
    return (torch.exp(log) * weight).sum(-1) / x.squeeze(-1)


def _below(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return _shares(a, x)[0]


def _above(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return _shares(a, x)[1]


RULES: Rules = {
    aten.igamma.default: in_double(_below),
    aten.igammac.default: in_double(_above),
}
