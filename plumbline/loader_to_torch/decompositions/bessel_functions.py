"""Bessel functions, modified Bessel functions and Airy's.

Near 0 each is an expansion in Chebyshev polynomials; far from it, the product of its asymptotic
form and of one that varies little (NIST's Digital Library of Mathematical Functions, 10.17, 10.40
and 9.7).
"""

import math

import torch

from plumbline.loader_to_torch.decompositions import chebyshev_expansions as chebyshev
from plumbline.loader_to_torch.decompositions.chebyshev_expansions import Expansion
from plumbline.loader_to_torch.decompositions.rule import Rules, in_double, in_double_within

aten = torch.ops.aten


# -- modified, of the first kind -------------------------------------------------------------------


def _scaled_i0(x: torch.Tensor, error: float) -> torch.Tensor:
    """exp(-|x|) I0(x)."""
    return _by_halves(x.abs(), chebyshev.I0E_BELOW_8, chebyshev.I0E_ABOVE_8, error)


def _scaled_i1(x: torch.Tensor, error: float) -> torch.Tensor:
    """exp(-|x|) I1(x)."""
    size = x.abs()
    near = x * chebyshev.I1E_BELOW_8(size, error)
    inverse = 1 / size
    far = torch.copysign(chebyshev.I1E_ABOVE_8(inverse, error) * torch.sqrt(inverse), x)
    return torch.where(size > 8, far, near)


def _by_halves(size: torch.Tensor, near: Expansion, far: Expansion, error: float) -> torch.Tensor:
    inverse = 1 / size
    beyond = far(inverse, error) * torch.sqrt(inverse)
    return torch.where(size > 8, beyond, near(size, error))


def _i0(x: torch.Tensor, error: float) -> torch.Tensor:
    return _scaled_i0(x, error) * torch.exp(x.abs())


def _i1(x: torch.Tensor, error: float) -> torch.Tensor:
    return _scaled_i1(x, error) * torch.exp(x.abs())


# -- modified, of the second kind ------------------------------------------------------------------


def _k0(x: torch.Tensor, error: float) -> torch.Tensor:
    return _modified_second(x, _k0_near(x, error), chebyshev.K0E_ABOVE_2, error, scaled=False)


def _scaled_k0(x: torch.Tensor, error: float) -> torch.Tensor:
    return _modified_second(x, _k0_near(x, error), chebyshev.K0E_ABOVE_2, error, scaled=True)


def _k1(x: torch.Tensor, error: float) -> torch.Tensor:
    return _modified_second(x, _k1_near(x, error), chebyshev.K1E_ABOVE_2, error, scaled=False)


def _scaled_k1(x: torch.Tensor, error: float) -> torch.Tensor:
    return _modified_second(x, _k1_near(x, error), chebyshev.K1E_ABOVE_2, error, scaled=True)


def _k0_near(x: torch.Tensor, error: float) -> torch.Tensor:
    return chebyshev.K0_BELOW_2(x * x, error) - torch.log(x * 0.5) * _i0_below_8(x, error)


def _k1_near(x: torch.Tensor, error: float) -> torch.Tensor:
    i1 = x * chebyshev.I1E_BELOW_8(x, error) * torch.exp(x)
    # A quotient of its own: at 0, where it is infinite, the product of 0 and log(0) is NaN.
    smooth = chebyshev.K1_BELOW_2(x * x, error) / x
    return torch.where(x == 0, math.inf, smooth + torch.log(x * 0.5) * i1)


def _i0_below_8(x: torch.Tensor, error: float) -> torch.Tensor:
    return chebyshev.I0E_BELOW_8(x, error) * torch.exp(x)


def _modified_second(
    x: torch.Tensor, near: torch.Tensor, far: Expansion, error: float, *, scaled: bool
) -> torch.Tensor:
    """`near` up to 2, and `far` beyond; NaN below 0, as the logarithm is there.

    With `scaled`, times exp(x).
    """
    inverse = 1 / x
    beyond = far(inverse, error) * torch.sqrt(inverse)
    if scaled:
        return torch.where(x > 2, beyond, near * torch.exp(x))
    return torch.where(x > 2, beyond * torch.exp(-x), near)


# -- of the first and the second kind --------------------------------------------------------------


def _j0(x: torch.Tensor, error: float) -> torch.Tensor:
    size = x.abs()
    far = _wave(size, 0, chebyshev.P0_ABOVE_8, chebyshev.Q0_ABOVE_8, error, second=False)
    return torch.where(size > 8, far, chebyshev.J0_BELOW_8(x * x, error))


def _j1(x: torch.Tensor, error: float) -> torch.Tensor:
    size = x.abs()
    far = _wave(size, 1, chebyshev.P1_ABOVE_8, chebyshev.Q1_ABOVE_8, error, second=False)
    return torch.where(size > 8, torch.where(x < 0, -far, far), _j1_below_8(x, error))


def _j1_below_8(x: torch.Tensor, error: float) -> torch.Tensor:
    return x * chebyshev.J1_BELOW_8(x * x, error)


def _y0(x: torch.Tensor, error: float) -> torch.Tensor:
    square = x * x
    singular = torch.log(x) * chebyshev.J0_BELOW_8(square, error)
    near = chebyshev.Y0_BELOW_8(square, error) + (2 / math.pi) * singular
    far = _wave(x, 0, chebyshev.P0_ABOVE_8, chebyshev.Q0_ABOVE_8, error, second=True)
    return torch.where(x > 8, far, near)


def _y1(x: torch.Tensor, error: float) -> torch.Tensor:
    singular = torch.log(x) * _j1_below_8(x, error) - 1 / x
    near = x * chebyshev.Y1_BELOW_8(x * x, error) + (2 / math.pi) * singular
    far = _wave(x, 1, chebyshev.P1_ABOVE_8, chebyshev.Q1_ABOVE_8, error, second=True)
    return torch.where(x > 8, far, torch.where(x == 0, -math.inf, near))


def _wave(
    x: torch.Tensor, order: int, p: Expansion, q: Expansion, error: float, *, second: bool
) -> torch.Tensor:
    """sqrt(2 / (pi x)) (P cos(phase) - Q sin(phase)), and with sin and cos for the second kind."""
    inverse = 1 / x
    variable = 64 * inverse * inverse
    phase = x - (order / 2 + 0.25) * math.pi
    cos, sin = torch.cos(phase), torch.sin(phase)
    even, odd = p(variable, error), q(variable, error) * inverse
    wave = even * sin + odd * cos if second else even * cos - odd * sin
    return wave * torch.sqrt(inverse * (2 / math.pi))


def _spherical_j0(x: torch.Tensor) -> torch.Tensor:
    """sin(x) / x."""
    return torch.where(x.isinf(), 0.0, torch.sinc(x * (1 / math.pi)))


# -- Airy ------------------------------------------------------------------------------------------


def _airy_ai(x: torch.Tensor, error: float) -> torch.Tensor:
    size = x.abs()
    root = torch.sqrt(size)
    scale = torch.rsqrt(root) * (1 / math.sqrt(math.pi))
    z = size * root * (2 / 3)
    inverse = 1 / z
    right = chebyshev.AIRY_ABOVE_4(inverse, error) * scale * 0.5 * torch.exp(-z)
    variable = inverse * inverse
    phase = z - math.pi / 4
    left = scale * (
        chebyshev.AIRY_P(variable, error) * torch.cos(phase)
        + chebyshev.AIRY_Q(variable, error) * inverse * torch.sin(phase)
    )
    far = torch.where(x > 0, right, left)
    result = torch.where(size > 4, far, chebyshev.AIRY_BELOW_4(x, error))
    # PyTorch's own answer at the infinities, though the limit is 0.
    return torch.where(x.isinf(), math.nan, result)


RULES: Rules = {
    op.default: in_double_within(function)
    for op, function in (
        (aten.i0, _i0),
        (aten.special_airy_ai, _airy_ai),
        (aten.special_bessel_j0, _j0),
        (aten.special_bessel_j1, _j1),
        (aten.special_bessel_y0, _y0),
        (aten.special_bessel_y1, _y1),
        (aten.special_i0e, _scaled_i0),
        (aten.special_i1, _i1),
        (aten.special_i1e, _scaled_i1),
        (aten.special_modified_bessel_i0, _i0),
        (aten.special_modified_bessel_i1, _i1),
        (aten.special_modified_bessel_k0, _k0),
        (aten.special_modified_bessel_k1, _k1),
        (aten.special_scaled_modified_bessel_k0, _scaled_k0),
        (aten.special_scaled_modified_bessel_k1, _scaled_k1),
    )
} | {aten.special_spherical_bessel_j0.default: in_double(_spherical_j0)}
