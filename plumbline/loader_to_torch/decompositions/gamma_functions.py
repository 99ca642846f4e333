"""The logarithm of the gamma function, its derivatives, and Hurwitz' zeta function.

All by their asymptotic series, whose coefficients are Bernoulli numbers, after a shift to where
those are exact to float64 (NIST's Digital Library of Mathematical Functions, 5.11, 5.15, 2.10).
"""

import math
from fractions import Fraction

import torch

from plumbline.loader_to_torch.decompositions import chebyshev_expansions as chebyshev
from plumbline.loader_to_torch.decompositions.polynomials import polynomial
from plumbline.loader_to_torch.decompositions.rule import (
    Rules,
    as_double,
    float_dtype,
    hidden_by,
    in_double,
    in_double_within,
)

aten = torch.ops.aten

_BERNOULLI = tuple(
    Fraction(text)
    for text in [
        "1/6",
        "-1/30",
        "1/42",
        "-1/30",
        "5/66",
        "-691/2730",
        "7/6",
        "-3617/510",
        "43867/798",
        "-174611/330",
        "854513/138",
        "-236364091/2730",
    ]
)
"""B_2, B_4, B_6, and so on."""

_FROM = 10
"""The series are exact to float64 from here on."""


def _sin_pi(x: torch.Tensor, error: float) -> torch.Tensor:
    """sin(pi x), exact at whole numbers however great."""
    rest = x - 2 * torch.round(x * 0.5)
    # sin(pi r) = sin(pi (1 - r)).
    rest = torch.where(rest.abs() > 0.5, torch.copysign(1 - rest.abs(), rest), rest)
    return rest * chebyshev.SIN_PI(rest * rest, error)


def _lgamma(x: torch.Tensor, error: float) -> torch.Tensor:
    """Log |gamma(x)|, by the reflection gamma(x) gamma(1 - x) = pi / sin(pi x) below 0."""
    left = x < 0
    right = lgamma_right(torch.where(left, 1 - x, x), error)
    reflected = math.log(math.pi) - torch.log(_sin_pi(x, error).abs()) - right
    # The reflection of infinity is NaN.
    return torch.where(x.isinf(), math.inf, torch.where(left, reflected, right))


def lgamma_right(x: torch.Tensor, error: float = 0.0) -> torch.Tensor:
    """Log gamma(x), for x from 0 on: below 1, log gamma(x + 1) - log(x)."""
    log = torch.log(x)
    below_1 = x < 1
    t = torch.where(below_1, x, x - 1)
    near = t * (t - 1) * chebyshev.LGAMMA_BELOW_5_HALVES(t, error)
    near = torch.where(below_1, near - log, near)
    far = (x - 0.5) * log - x + 0.5 * math.log(2 * math.pi) + stirling_rest(x, error)
    return torch.where(x > 2.5, far, near)


def stirling_rest(x: torch.Tensor, error: float = 0.0) -> torch.Tensor:
    """lgamma(x) - ((x - 1/2) log(x) - x + 1/2 log(2 pi)), for x from 5/2 on."""
    inverse = 1 / x
    return chebyshev.STIRLING_ABOVE_5_HALVES(inverse * inverse, error) * inverse


def _digamma(x: torch.Tensor) -> torch.Tensor:
    """The derivative of lgamma, by the reflection psi(x) = psi(1 - x) - pi / tan(pi x) below 0."""
    left = x < 0
    y = torch.where(left, 1 - x, x)
    total = torch.zeros_like(x)
    for _ in range(_FROM):
        below = y < _FROM
        total = torch.where(below, total - 1 / y, total)
        y = torch.where(below, y + 1, y)
    terms = [float(b / (2 * n)) for n, b in enumerate(_BERNOULLI, start=1)]
    inverse = 1 / y
    square = inverse * inverse
    right = total + torch.log(y) - 0.5 * inverse - polynomial(square, terms) * square
    fraction = x - torch.trunc(x)
    reflected = right - math.pi / torch.tan(math.pi * fraction)
    # PyTorch's own answers at the poles: NaN, but an infinity at 0, of the other sign.
    reflected = torch.where(fraction == 0, math.nan, reflected)
    return torch.where(
        x == 0,
        torch.copysign(torch.full_like(x, math.inf), -x),
        torch.where(left, reflected, right),
    )


def _zeta(s: torch.Tensor, q: torch.Tensor, error: float) -> torch.Tensor:
    """Hurwitz' zeta function, the sum of (q + k)^-s over all k from 0."""
    left = q < 0
    fraction = q - torch.floor(q)
    # Of a sum that begins below 0, the terms above are one that begins in (0, 1), and those below
    # are such a one, turned, without its end.
    first = torch.where(q > -1, -q, 1 - fraction)
    turned = _zeta_right(s, first, error) - _zeta_right(s, 1 - q, error)
    odd = s * 0.5 != torch.floor(s * 0.5)
    total = _zeta_right(s, torch.where(left, fraction, q), error)
    total = torch.where(left, total + torch.where(odd, -turned, turned), total)
    total = torch.where(left & (s != torch.floor(s)), math.nan, total)
    total = torch.where((q <= 0) & (q == torch.floor(q)), math.inf, total)
    return torch.where(s > 1, total, torch.where(s == 1, math.inf, math.nan))


def _zeta_right(s: torch.Tensor, q: torch.Tensor, error: float) -> torch.Tensor:
    """The same for positive q, by the formula of Euler and Maclaurin.

    Half as many terms are exact to 2e-13, and a power by its logarithm, which is at most 104 where
    float32 has it, to 2e-14.
    """
    first, bernoulli = (_FROM // 2, _BERNOULLI[:8]) if error else (_FROM, _BERNOULLI)

    def term(base: torch.Tensor) -> torch.Tensor:
        return torch.exp(-s * torch.log(base)) if error else torch.pow(base, -s)

    total = term(q)
    for k in range(1, first):
        total = total + term(q + k)
    end = q + first
    inverse = 1 / end
    last = term(end)
    total = total + last * end / (s - 1) + 0.5 * last
    factor = s * inverse * last
    for n, b in enumerate(bernoulli, start=1):
        total = total + float(b / math.factorial(2 * n)) * factor
        factor = factor * ((s + (2 * n - 1)) * inverse) * ((s + 2 * n) * inverse)
    return total


def _polygamma(order: int, x: torch.Tensor, error: float) -> torch.Tensor:
    """The derivative of digamma, of an order from 0: (-1)^(n + 1) n! zeta(n + 1, x)."""
    if order == 0:
        return _digamma(x)
    factor = float(math.factorial(order)) * (1 if order % 2 else -1)
    return factor * _zeta(torch.full((), order + 1, dtype=torch.float64), x, error)


def _trigamma(operand: torch.Tensor) -> torch.Tensor:
    """Polygamma of order 1, by the reflection (pi / sin(pi x))^2 - trigamma(1 - x) below 1/2.

    The angle is rounded to the precision of the operand, as PyTorch does it: near the poles that is
    what is seen of it.
    """
    x = operand.to(torch.float64 if operand.dtype == torch.float64 else torch.float32)
    left = x < 0.5
    y = torch.where(left, 1 - x, x).to(torch.float64)
    two = torch.full((), 2, dtype=torch.float64)
    # The inverse of a square takes less time than a logarithm.
    right = _zeta_right(two, y, error=0.0)
    right = torch.where(y.isinf(), 0.0, right)
    sin = torch.sin(x * math.pi)
    pole = (math.pi**2 / (sin * sin)).to(torch.float64)
    return torch.where(left, pole - right, right).to(float_dtype(operand))


def _polygamma_of(order: int, operand: torch.Tensor) -> torch.Tensor:
    if order == 1:
        return _trigamma(operand)
    dtype = float_dtype(operand)
    return _polygamma(order, as_double(operand, dtype), hidden_by(dtype)).to(dtype)


RULES: Rules = {
    aten.digamma.default: in_double(_digamma),
    aten.lgamma.default: in_double_within(_lgamma),
    aten.polygamma.default: _polygamma_of,
    aten.special_zeta.default: in_double_within(_zeta),
    aten.special_zeta.other_scalar: in_double_within(_zeta),
    aten.special_zeta.self_scalar: in_double_within(_zeta),
}
