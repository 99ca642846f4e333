"""exp, exp2 and expm1: x = n log(2) + r, and 2^n by the exponent's bits.

The reduction of the argument is that of Cody and Waite, "Software Manual for the Elementary
Functions" (1980), chapter 6.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plumbline.elementary_functions.arithmetic import Float, Int, polynomial, where

LOG_2 = {
    32: (0.693359375, -2.12194440e-4),
    64: (0.6931471803691238, 1.9082149292705877e-10),
}
"""log(2) in two parts, by a float's width; the first has so few bits that n times it is exact."""

_NEAREST_LOG_2 = {bits: (math.log(2),) for bits in LOG_2}
"""log(2) as a float alone: n times what that is short of it is an error of exp(x). It is nothing to
a 1 that the exponential is added to, or taken from, where it is large or small beside that."""


@dataclass(frozen=True)
class _Format:
    """What depends on the width of a float."""

    exp: Sequence[float]
    """(exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, in powers of r."""
    expm1: Sequence[float]
    """The same, for a small relative error of exp(r) - 1 rather than of exp(r)."""
    expm1_below_0: Sequence[float]
    """The same, of exp(x) - 1 for x <= 0: of a positive r it is 2^n exp(r) - 1, where n < 0."""
    exp2: Sequence[float]
    """(2^r - 1) / r for |r| <= 1/2, in powers of r."""


_EXP_OF_DOUBLES = (
    0.5,
    0.16666666666666677,
    0.041666666666666644,
    0.008333333333321258,
    0.0013888888888893675,
    0.00019841269887379328,
    2.480158731861712e-05,
    2.7557242692503634e-06,
    2.7557268625516193e-07,
    2.5109690044528176e-08,
    2.092045279627057e-09,
)
"""Relative error 2^-58.9, of both exp(r) and exp(r) - 1."""

_FORMATS = {
    32: _Format(
        # Relative errors: 2^-27.8, 2^-31.0, 2^-27.1 and 2^-31.5.
        exp=(0.5, 0.16666488, 0.041665547, 0.00837219, 0.0014032818),
        expm1=(0.5, 0.16666666, 0.041666467, 0.008333643, 0.001393505, 0.00019664089),
        expm1_below_0=(0.49999982, 0.16666517, 0.041670687, 0.0083690993, 0.0013702203),
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
    64: _Format(
        exp=_EXP_OF_DOUBLES,
        expm1=_EXP_OF_DOUBLES,
        expm1_below_0=_EXP_OF_DOUBLES,
        # Relative error 2^-56.
        exp2=(
            0.6931471805599453,
            0.2402265069591007,
            0.05550410866482338,
            0.009618129107630252,
            0.0013333558146032137,
            0.00015403530388832378,
            1.525273417044945e-05,
            1.3215491350696456e-06,
            1.017793344425029e-07,
            7.053092342912183e-09,
            4.472472291174241e-10,
            2.817116633434942e-11,
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
    """n and an offset, the sum of which is above 0, in the last bits of a float's fraction."""

    def times(self, factor: Float) -> Float:
        """The product of 1 + fraction and a factor: one operation, where those can be fused."""
        return factor + self.fraction * factor

    def normal(self) -> Float:
        """2^n, where that is a normal number, of an offset of `bias`."""
        return (self.exponent << self.fraction.fraction_bits).as_float()

    def factors(self) -> tuple[Float, Float]:
        """Two factors of 2^n, which may be out of range itself, of an offset of twice the `bias`.

        Each is the power of a half of n, so that to multiply by the first of them is exact.
        """
        half = self.exponent.shifted_right_unsigned(1)
        other = replace(self, exponent=self.exponent - half)
        return replace(self, exponent=half).normal(), other.normal()

    def value(self) -> Float:
        """The number, which may be infinite, or rounded to a subnormal one, of the same offset."""
        first, second = self.factors()
        return self.times(first) * second


def bias(like: Float) -> int:
    """What a float's bits have of the exponent 0."""
    return 1 - like.least_exponent


def exponent_bounds(like: Float) -> tuple[int, int]:
    """Where 2^n is less than half of the least subnormal number, and where it is infinite."""
    return like.least_exponent - like.fraction_bits - 2, 3 - like.least_exponent


def power_of_2(exponent: Int, like: Float) -> Float:
    """The power 2^n, for an exponent as `Power` has it, which is that of a normal number."""
    return (exponent + like.constant(1.0).as_int()).as_float()


def _whole(exponent: Float, offset: int) -> tuple[Int, Float]:
    """The whole number n next to an exponent: as `Power` has it, and as a float."""
    # The offset is added with what rounds, and costs nothing so.
    rounder = exponent.rounder + offset
    shifted = exponent + rounder
    return shifted.as_int(), shifted - rounder


def _power(
    x: Float,
    coefficients: Sequence[float],
    offset: int,
    log_2: Mapping[int, Sequence[float]] = LOG_2,
) -> Power:
    """The exponential as a power of 2 and a number near 1, for x in the bounds of `exp`."""
    exponent, n = _whole(x * (1 / math.log(2)), offset)
    rest = x
    for part in log_2[x.bits]:
        rest = rest - n * part
    fraction = rest + polynomial(rest, coefficients) * (rest * rest)
    return Power(fraction, exponent)


def exp_power(x: Float, offset: int) -> Power:
    """The exponential as a power of 2 and a number near 1, for x in the bounds of `exp`."""
    return _power(x, _FORMATS[x.bits].exp, offset)


def exp(x: Float) -> Float:
    """The exponential. Error: 1.1 units."""
    least, greatest = exponent_bounds(x)
    bounded = x.clamped(least * math.log(2), greatest * math.log(2))
    return exp_power(bounded, 2 * bias(x)).value()


def exp_to_1(x: Float) -> Float:
    """The exponential of an x that is no more than 0: the same bits, by one factor of 2^n."""
    least, _ = exponent_bounds(x)
    # Half way to the exponent of the least normal number: by so much 2^n is put off.
    far = (2 - x.least_exponent) // 2
    power = exp_power(x.at_least(least * math.log(2)), bias(x) + far)
    return power.times(power.normal()) * 2.0**-far


def exp2(x: Float) -> Float:
    """The power 2^x. Error: 1.2 units."""
    return exp2_power(x.clamped(*exponent_bounds(x))).value()


def exp2_power(x: Float, lost: Float | None = None) -> Power:
    """The power 2^x, or 2^(x + lost), for an x near the bounds of exponents at most."""
    exponent, n = _whole(x, 2 * bias(x))
    rest = x - n
    if lost is not None:
        rest = rest + lost
    # The first coefficient is the largest, and added last, so that it is rounded once.
    first, *others = _FORMATS[x.bits].exp2
    return Power(rest * (rest * polynomial(rest, others) + first), exponent)


def exp2_in_double(x: Float) -> Float:
    """The power 2^x in f64, as exact as f32 needs it, where it is a normal number."""
    exponent, n = _whole(x, bias(x))
    rest = x - n
    return (1.0 + rest * polynomial(rest, _EXP2_IN_DOUBLE)) * Power(rest, exponent).normal()


def exp_plus_1(x: Float) -> Float:
    """The sum exp(x) + 1, for an x where exp(x) is a normal number, and at least 1."""
    power = _power(x, _FORMATS[x.bits].exp, bias(x), _NEAREST_LOG_2)
    return power.times(power.normal()) + 1.0


def expm1_below_0(x: Float) -> Float:
    """The difference exp(x) - 1, for an x <= 0 whose 2^n is a normal number; -0 becomes 0."""
    power = _power(x, _FORMATS[x.bits].expm1_below_0, bias(x), _NEAREST_LOG_2)
    scale = power.normal()
    return power.fraction * scale + (scale - 1.0)


def expm1(x: Float) -> Float:
    """The difference exp(x) - 1. Error: 2.0 units."""
    # What is less rounds to -1; what is more is infinite, by an n that is just not too great.
    least, greatest = -(x.fraction_bits + 4.0), 2.4 - x.least_exponent
    bounded = x.clamped(least * math.log(2), greatest * math.log(2))
    # Half of 2^n, which may be out of range where the result is not.
    power = _power(bounded, _FORMATS[x.bits].expm1, bias(x) - 1)
    scale = power.normal()
    grown = (power.fraction * scale + (scale - 0.5)) * 2.0
    # Subnormal numbers would lose a bit, and -0 its sign.
    return where(abs(x) < 2.0 ** -(x.fraction_bits + 2), x, grown)
