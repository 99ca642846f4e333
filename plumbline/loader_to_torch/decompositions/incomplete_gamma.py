"""The incomplete gamma functions, as shares of the whole.

For small a what lies below x is a series, and what lies above is a continued fraction, each of as
many terms as it takes (NIST's Digital Library of Mathematical Functions, 8.7.1, 8.9.2); for great
ones both are integrals (8.2), which nobody computes where there is no such a. Integrals are sums
over nodes that double exponential substitutions place (Takahasi and Mori, 1974), which hold each
scale of a peak, be it as narrow as it may. Nodes are a dimension of their own.
"""

import math

import torch
from torch._higher_order_ops.cond import cond_op
from torch._higher_order_ops.while_loop import while_loop_op

from plumbline.loader_to_torch.decompositions.gamma_functions import lgamma_right, stirling_rest
from plumbline.loader_to_torch.decompositions.loops import contiguous
from plumbline.loader_to_torch.decompositions.rule import Rules, broadcast, in_double

aten = torch.ops.aten

_GREAT = 60.0
"""From this a on the series would need more and more terms."""
_FAR = 2000.0
"""Beyond this x nothing is left above it, of an a that is not great."""
_AT_ONCE = 8
"""Terms that are added up with one division, and between two looks at what they amount to."""
_MOST_TERMS = 1024
"""More of them than any small a takes."""
_EPSILON = 2.0**-48
"""What more terms than there are do no more than, as a share: roundings do a sixteenth of that."""
_STEP = 1 / 48


def _shares(a: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What of the integral of t^(a - 1) exp(-t) over all t lies below x, and what above."""
    a, x = broadcast(a, x)
    a, x = contiguous(a), contiguous(x)
    density = _density(a, x)
    left = x <= a + 1
    below, above = _of_great(a, x)
    small = (a > 0) & (a <= _GREAT)
    below = torch.where(small, _series_below(a, x, small & left), below) * density
    above = torch.where(small, _fraction_above(a, x, small & ~left), above) * density
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


def _series_below(a: torch.Tensor, x: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """The sum of x^n / (a (a + 1) ... (a + n)) over all n from 0, where it is wanted."""
    variable, first = torch.where(wanted, x, 0.0), torch.where(wanted, a, 1.0)

    def goes_on(
        n: torch.Tensor, term: torch.Tensor, total: torch.Tensor, *_: torch.Tensor
    ) -> torch.Tensor:
        return (term > total * _EPSILON).any() & (n < _MOST_TERMS)

    def turn(
        n: torch.Tensor,
        term: torch.Tensor,
        total: torch.Tensor,
        variable: torch.Tensor,
        first: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        # The next terms are fractions of the last one, over one denominator.
        added, power, below = torch.zeros_like(term), torch.ones_like(term), torch.ones_like(term)
        for number in range(1, _AT_ONCE + 1):
            factor = first + (n + number)
            power = power * variable
            added = added * factor + power
            below = below * factor
        scale = term / below
        return n + _AT_ONCE, power * scale, total + added * scale

    one = torch.ones_like(x)
    start = (torch.zeros((), dtype=torch.float64), one, one.clone())
    total: torch.Tensor
    _, _, total = while_loop_op(goes_on, turn, start, (variable, first))  # type: ignore[arg-type]
    return total / first


def _fraction_above(a: torch.Tensor, x: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """The same as `_integral_above`, where it is wanted: 1 / (x + 1 - a - (1 - a) / ...)."""
    variable = torch.where(wanted & (x < _FAR), x, _FAR)
    order = torch.where(wanted, a, 1.0)

    def goes_on(
        n: torch.Tensor, before: torch.Tensor, value: torch.Tensor, *_: torch.Tensor
    ) -> torch.Tensor:
        return ((value - before).abs() > value.abs() * _EPSILON).any() & (n < _MOST_TERMS)

    def turn(
        n: torch.Tensor,
        _: torch.Tensor,
        value: torch.Tensor,
        last_above: torch.Tensor,
        last_below: torch.Tensor,
        variable: torch.Tensor,
        order: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        # Numerator and denominator of the fraction up to a term, of which the latter is 1 before.
        above, below = value, torch.ones_like(value)
        for number in range(1, _AT_ONCE + 1):
            term = n + number
            own, of_last = variable - order + (2 * term + 1), term * (order - term)
            above, last_above = own * above + of_last * last_above, above
            below, last_below = own * below + of_last * last_below, below
        scale = 1 / below
        return n + _AT_ONCE, value.clone(), above * scale, last_above * scale, last_below * scale

    first = 1 / (variable + 1 - order)
    zero = torch.zeros_like(first)
    start = (torch.zeros((), dtype=torch.float64), zero, first, zero.clone(), first.clone())
    value: torch.Tensor
    _, _, value, *_ = while_loop_op(goes_on, turn, start, (variable, order))  # type: ignore[arg-type]
    return value


def _of_great(a: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both integrals, if there is an a that is great."""

    def integrals(a: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a_, x_ = a.unsqueeze(-1), x.unsqueeze(-1)
        return _integral_below(a_, x_), _integral_above(a_, x_)

    def nothing(a: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.zeros_like(a), torch.zeros_like(x)

    below, above = cond_op((a > _GREAT).any(), integrals, nothing, (a, x))
    return below, above


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
