"""Orthogonal polynomials of a degree that is known at run time only.

Those of Chebyshev by their trigonometric forms, and by their hyperbolic ones beyond 1 (NIST's
Digital Library of Mathematical Functions, 18.5); Hermite's, Laguerre's and Legendre's by their
recurrences (18.9).
"""

import math
from collections.abc import Callable

import torch
from torch._higher_order_ops.while_loop import while_loop_op

from plumbline.loader_to_torch.decompositions.rule import (
    Rule,
    Rules,
    as_double,
    broadcast,
    float_dtype,
    in_double,
)

aten = torch.ops.aten

_Polynomial = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""What computes a polynomial at the first operand, of the degree that the second is; it need not
care for degrees below 0."""


def _chebyshev_t(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """T_n(cos a) = cos(n a), T_n(cosh a) = cosh(n a)."""
    inside = torch.cos(n * torch.acos(x))
    outside = torch.cosh(n * torch.acosh(x.abs()))
    return torch.where(x.abs() <= 1, inside, torch.where(x < 0, _sign(n), 1.0) * outside)


def _chebyshev_u(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """U_n(cos a) = sin((n + 1) a) / sin(a), and the same of sinh."""
    angle, growth = torch.acos(x), torch.acosh(x.abs())
    inside = torch.sin((n + 1) * angle) / torch.sin(angle)
    outside = torch.sinh((n + 1) * growth) / torch.sinh(growth)
    sign = torch.where(x < 0, _sign(n), 1.0)
    return torch.where(
        x.abs() == 1, sign * (n + 1), torch.where(x.abs() < 1, inside, sign * outside)
    )


def _chebyshev_v(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """V_n(cos a) = cos((n + 1/2) a) / cos(a / 2), and the same of cosh.

    V_n(-x) = (-1)^n W_n(x).
    """
    size = x.abs()
    return torch.where(x < 0, _sign(n) * _w_from_0(size, n), _v_from_0(size, n))


def _chebyshev_w(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """W_n(cos a) = sin((n + 1/2) a) / sin(a / 2), and the same of sinh."""
    size = x.abs()
    return torch.where(x < 0, _sign(n) * _v_from_0(size, n), _w_from_0(size, n))


def _v_from_0(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    angle, growth = torch.acos(x), torch.acosh(x)
    inside = torch.cos((n + 0.5) * angle) / torch.cos(0.5 * angle)
    outside = torch.cosh((n + 0.5) * growth) / torch.cosh(0.5 * growth)
    return torch.where(x <= 1, inside, outside)


def _w_from_0(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    angle, growth = torch.acos(x), torch.acosh(x)
    inside = torch.sin((n + 0.5) * angle) / torch.sin(0.5 * angle)
    outside = torch.sinh((n + 0.5) * growth) / torch.sinh(0.5 * growth)
    return torch.where(x == 1, 2 * n + 1, torch.where(x < 1, inside, outside))


def _sign(n: torch.Tensor) -> torch.Tensor:
    """(-1)^n."""
    return 1 - 2 * torch.remainder(n, 2)


def _shifted(polynomial: _Polynomial) -> _Polynomial:
    """The polynomial over [0, 1] in place of [-1, 1]."""
    return lambda x, n: polynomial(2 * x - 1, n)


def _of_degree(polynomial: _Polynomial) -> _Polynomial:
    def function(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        degree = torch.trunc(n)
        return torch.where(degree < 0, 0.0, polynomial(x, degree))

    return function


_Next = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""The polynomial of degree k + 1, of x, k, and those of degree k - 1 and k."""


def _by_recurrence(next_: _Next) -> _Polynomial:
    """A loop up to the greatest degree that is asked for."""

    def goes_on(
        k: torch.Tensor,
        previous: torch.Tensor,
        current: torch.Tensor,
        result: torch.Tensor,
        x: torch.Tensor,
        degree: torch.Tensor,
    ) -> torch.Tensor:
        return k <= degree.amax()

    def turn(
        k: torch.Tensor,
        previous: torch.Tensor,
        current: torch.Tensor,
        result: torch.Tensor,
        x: torch.Tensor,
        degree: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        result = torch.where(degree == k, current, result)
        return k + 1, current.clone(), next_(x, k, previous, current), result

    def polynomial(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        place, degree = (operand.contiguous() for operand in broadcast(x, n))
        if degree.numel() == 0:
            return torch.zeros_like(place)
        start = torch.zeros((), dtype=torch.float64), torch.zeros_like(place)
        carried = (*start, torch.ones_like(place), torch.zeros_like(place))
        result: torch.Tensor
        *_, result = while_loop_op(goes_on, turn, carried, (place, degree))  # type: ignore[arg-type]
        return result

    return polynomial


def _next_legendre(
    x: torch.Tensor, k: torch.Tensor, previous: torch.Tensor, current: torch.Tensor
) -> torch.Tensor:
    return ((2 * k + 1) * x * current - k * previous) / (k + 1)


def _next_laguerre(
    x: torch.Tensor, k: torch.Tensor, previous: torch.Tensor, current: torch.Tensor
) -> torch.Tensor:
    return ((2 * k + 1 - x) * current - k * previous) / (k + 1)


def _hermite(spread: float) -> Rule:
    """H_n for a spread of 2, He_n for 1: H_(n + 1) = spread (x H_n - n H_(n - 1))."""

    def next_(
        x: torch.Tensor, k: torch.Tensor, previous: torch.Tensor, current: torch.Tensor
    ) -> torch.Tensor:
        return spread * (x * current - k * previous)

    polynomial = _of_degree(_by_recurrence(next_))

    def decomposed(x: torch.Tensor | float, n: torch.Tensor | float) -> torch.Tensor:
        dtype = float_dtype(x, n)
        # Beyond, PyTorch's own answer is NaN.
        limit = 512 if dtype == torch.float64 else 128
        place, degree = broadcast(as_double(x, dtype), as_double(n, dtype))
        value = polynomial(place, degree.clamp(max=limit))
        return torch.where(torch.trunc(degree) > limit, math.nan, value).to(dtype)

    return decomposed


_RECURRENT = {
    "laguerre_polynomial_l": _next_laguerre,
    "legendre_polynomial_p": _next_legendre,
}

_CHEBYSHEV = {
    "t": _chebyshev_t,
    "u": _chebyshev_u,
    "v": _chebyshev_v,
    "w": _chebyshev_w,
}


def _with_numbers(op: str, rule: Rule) -> Rules:
    packet = getattr(aten, op)
    return {packet.default: rule, packet.x_scalar: rule, packet.n_scalar: rule}


RULES: Rules = {
    overload: rule
    for rules in (
        *(
            _with_numbers(f"special_chebyshev_polynomial_{kind}", in_double(_of_degree(polynomial)))
            for kind, polynomial in _CHEBYSHEV.items()
        ),
        *(
            _with_numbers(
                f"special_shifted_chebyshev_polynomial_{kind}",
                in_double(_of_degree(_shifted(polynomial))),
            )
            for kind, polynomial in _CHEBYSHEV.items()
        ),
        *(
            _with_numbers(f"special_{name}", in_double(_of_degree(_by_recurrence(next_))))
            for name, next_ in _RECURRENT.items()
        ),
        _with_numbers("special_hermite_polynomial_h", _hermite(2)),
        _with_numbers("special_hermite_polynomial_he", _hermite(1)),
    )
    for overload, rule in rules.items()
}
