"""sinh, cosh, tanh and their inverses."""

import math

from plumbline.elementary_functions.arithmetic import Float, polynomial, where
from plumbline.elementary_functions.exponential import (
    bias,
    exp,
    exp_plus_1,
    exp_power,
    exponent_bounds,
)
from plumbline.elementary_functions.logarithm import log1p, log1p_doubled

_TANH = {
    32: (-0.33333316, 0.13332523, -0.053844005, 0.0210322, -0.0062124645),
    64: (
        -0.3333333333333328,
        0.13333333333323746,
        -0.05396825396207635,
        0.021869488337225417,
        -0.00886323179806754,
        0.003592083852702204,
        -0.0014554898113916096,
        0.0005882248492894949,
        -0.00023281937023886484,
        8.250630220203858e-05,
        -1.8992143418940173e-05,
    ),
}
"""(tanh(x) - x) / x^3 for |x| <= 0.56, in powers of x^2; relative errors of tanh 2^-29.5, 2^-60."""

_SINH = {
    32: (0.16666667, 0.0083333105, 0.00019842896, 2.782212e-06),
    64: (
        0.16666666666666669,
        0.008333333333332912,
        0.00019841269841593416,
        2.7557319106752306e-06,
        2.5052130999887557e-08,
        1.6056659040032337e-10,
        7.776605099387617e-13,
    ),
}
"""(sinh(x) - x) / x^3 for |x| <= 1, in powers of x^2; relative errors of sinh 2^-31.6, 2^-61.8."""


def tanh(x: Float) -> Float:
    """As 1 - 2 / (exp(2 x) + 1), but a polynomial near 0, where that cancels. Error: 1.6 units."""
    # There it rounds to 1, also if computed a little too small.
    size = abs(x).at_most((x.fraction_bits + 4) * math.log(2) / 2)
    square = size * size
    near = size + polynomial(square, _TANH[x.bits]) * square * size
    far = 1.0 - 2.0 / exp_plus_1(size * 2.0)
    return where(size < 0.55, near, far).with_sign_of(x)


def one_plus_tanh(x: Float) -> Float:
    """The sum 1 + tanh(x), as gelu has it, by one exponential. Error: 2.6 units.

    Also where tanh(x) is near -1 and to add 1 to it would cancel. Subnormal results may be 0.
    """
    return 2.0 / (1.0 + exp(x * -2.0))


def _half_exp(size: Float) -> Float:
    """Half of exp(x), which may be in range where exp(x) is not."""
    _, greatest = exponent_bounds(size)
    bounded = size.at_most((greatest + 1) * math.log(2))
    # An offset of one less is an n of one less.
    return exp_power(bounded, 2 * bias(size) - 1).value()


def sinh(x: Float) -> Float:
    """As (exp(x) - exp(-x)) / 2, but a polynomial near 0, where that cancels. Error: 1.8 units."""
    size = abs(x)
    half = _half_exp(size)
    square = size * size
    near = size + polynomial(square, _SINH[x.bits]) * square * size
    return where(size < 1.0, near, half - 0.25 / half).with_sign_of(x)


def cosh(x: Float) -> Float:
    """As (exp(x) + exp(-x)) / 2. Error: 1.6 units."""
    half = _half_exp(abs(x))
    return half + 0.25 / half


_LARGE = 2.0**60
"""The square of a greater number may be out of range, and 1 more or less is nothing to it."""


def asinh(x: Float) -> Float:
    """As log(|x| + sqrt(x^2 + 1)) with the sign of x. Error: 2.1 units."""
    size = abs(x)
    large = size > _LARGE
    square = size * size
    grown = size + square / (1.0 + (square + 1.0).sqrt())
    return log1p_doubled(where(large, size, grown), large).with_sign_of(x)


def acosh(x: Float) -> Float:
    """As log(x + sqrt(x^2 - 1)). Error: 2.6 units."""
    large = x > _LARGE
    above = x - 1.0
    # No root of the product of two negative numbers.
    grown = above + (above * (x + 1.0).at_least(0.0)).sqrt()
    return log1p_doubled(where(large, x, grown), large)


def atanh(x: Float) -> Float:
    """As log((1 + |x|) / (1 - |x|)) / 2 with the sign of x. Error: 2.3 units."""
    size = abs(x)
    return (log1p(size * 2.0 / (1.0 - size)) * 0.5).with_sign_of(x)
