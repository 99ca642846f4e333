"""exp, exp2 and expm1: x = n log(2) + r, and 2^n by the exponent's bits.

The reduction of the argument is that of Cody and Waite, "Software Manual for the Elementary
Functions" (1980), chapter 6.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plumbline.elementary_functions.arithmetic import Float, Int, polynomial, where


@dataclass(frozen=True)
class _Format:
    """What depends on the width of a float."""

    log_2_high: float
    log_2_low: float
    """log(2) in two parts; the first has so few bits that n times it is exact."""
    bounds: tuple[float, float]
    """Beyond these exp(x) is less than half of the least subnormal number, or infinite."""
    exp: Sequence[float]
    """(exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, in powers of r."""
    expm1: Sequence[float]
    """The same, for a small relative error of exp(r) - 1 rather than of exp(r)."""
    exp2: Sequence[float]
    """(2^r - 1) / r for |r| <= 1/2, in powers of r."""


_FORMATS = {
    32: _Format(
        log_2_high=0.693359375,
        log_2_low=-2.12194440e-4,
        bounds=(-104.0, 89.0),
        # Relative errors: 2^-27.8, 2^-31.0 and 2^-31.5.
        exp=(0.5, 0.16666488, 0.041665547, 0.00837219, 0.0014032818),
        expm1=(0.5, 0.16666666, 0.041666467, 0.008333643, 0.001393505, 0.00019664089),
        exp2=(
            0.6931472,
            0.2402265,
            0.05550403,
            0.009618075,
            0.0013340123,
            0.00015456858,
            1.3730016e-05,
        ),
    ),
}

_EXP2_IN_DOUBLE = (
    0.6931472066316036,
    0.24022650189576222,
    0.05550325777962553,
    0.009618124801482539,
    0.0013401571439643544,
    0.00015455365288537864,
)
"""(2^r - 1) / r for |r| <= 1/2, in powers of r; relative error of 2^r 2^-28.5."""


@dataclass(frozen=True)
class Power:
    """A number 2^n (1 + fraction), with n apart."""

    fraction: Float
    """Between 2^-1/2 - 1 and 2^1/2 - 1."""
    exponent: Int
    """n, where a float has its exponent: to the left of its fraction's bits."""

    def one_plus_fraction(self) -> Float:
        """Between 2^-1/2 and 2^1/2."""
        return 1.0 + self.fraction


def rounder(x: Float) -> float:
    """Added to a small number, it leaves that, rounded to a whole one, in the last bits."""
    return math.ldexp(1.5, x.fraction_bits)


def power_of_2(exponent: Int, like: Float) -> Float:
    """The power 2^n, for an exponent as `Power` has it, which is that of a normal number."""
    return (exponent + like.constant(1.0).as_int()).as_float()


def scaled(x: Float, exponent: Int) -> Float:
    """The product 2^n x, for an x near 1 and an exponent as `Power` has it.

    In two steps, as 2^n itself may be out of range; only the second one rounds.
    """
    half = (exponent >> 1) & (-1 << x.fraction_bits)
    return x * power_of_2(half, x) * power_of_2(exponent - half, x)


def _reduced(x: Float) -> tuple[Float, Int]:
    """The r and the n, as `Power` has it, of x = n log(2) + r."""
    format_ = _FORMATS[x.bits]
    shifted = x * (1 / math.log(2)) + rounder(x)
    n = shifted - rounder(x)
    return x - n * format_.log_2_high - n * format_.log_2_low, shifted.as_int() << x.fraction_bits


def exp_power(x: Float) -> Power:
    """The exponential as a power of 2 and a number near 1, for x in the bounds of `exp`."""
    rest, exponent = _reduced(x)
    coefficients = _FORMATS[x.bits].exp
    return Power(rest + polynomial(rest, coefficients) * (rest * rest), exponent)


def _expm1_power(x: Float) -> Power:
    """The same, with the fraction to full precision."""
    rest, exponent = _reduced(x)
    coefficients = _FORMATS[x.bits].expm1
    return Power(rest + polynomial(rest, coefficients) * (rest * rest), exponent)


def exp(x: Float) -> Float:
    """The exponential. Error: 1.1 units."""
    power = exp_power(x.clamped(*_FORMATS[x.bits].bounds))
    return scaled(power.one_plus_fraction(), power.exponent)


def exp2(x: Float) -> Float:
    """The power 2^x. Error: 1.1 units."""
    # One beyond what is zero, or infinite.
    least = {32: -151.0, 64: -1076.0}[x.bits]
    x = x.clamped(least, {32: 129.0, 64: 1025.0}[x.bits])
    shifted = x + rounder(x)
    rest = x - (shifted - rounder(x))
    power = 1.0 + rest * polynomial(rest, _FORMATS[x.bits].exp2)
    return scaled(power, shifted.as_int() << x.fraction_bits)


def exp2_in_double(x: Float) -> Float:
    """The power 2^x in f64, as exact as f32 needs it, where it is a normal number."""
    shifted = x + rounder(x)
    rest = x - (shifted - rounder(x))
    power = 1.0 + rest * polynomial(rest, _EXP2_IN_DOUBLE)
    return power * power_of_2(shifted.as_int() << x.fraction_bits, x)


def moderate_exp(x: Float) -> Float:
    """The exponential, for an x where that is a normal number."""
    power = exp_power(x)
    return power.one_plus_fraction() * power_of_2(power.exponent, x)


def moderate_expm1(x: Float) -> Float:
    """The difference exp(x) - 1, for an x whose 2^n is a normal number; -0 becomes 0."""
    power = _expm1_power(x)
    scale = power_of_2(power.exponent, x)
    return power.fraction * scale + (scale - 1.0)


def expm1(x: Float) -> Float:
    """The difference exp(x) - 1. Error: 1.5 units."""
    # Below, it rounds to -1.
    least = {32: -18.0, 64: -38.0}[x.bits]
    power = _expm1_power(x.clamped(least, _FORMATS[x.bits].bounds[1]))
    # Half of 2^n, which may be out of range where the result is not.
    scale = power_of_2(power.exponent - (1 << x.fraction_bits), x)
    grown = (power.fraction * scale + (scale - 0.5)) * 2.0
    # Subnormal numbers would lose a bit, and -0 its sign.
    return where(abs(x) < {32: 2.0**-25, 64: 2.0**-54}[x.bits], x, grown)
