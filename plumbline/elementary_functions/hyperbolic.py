"""sinh, cosh, tanh and their inverses."""

from plumbline.elementary_functions.arithmetic import Float, polynomial, where
from plumbline.elementary_functions.exponential import exp_power, moderate_exp, scaled
from plumbline.elementary_functions.logarithm import log1p, log1p_doubled

_TANH = (-0.33333316, 0.13332523, -0.053844005, 0.0210322, -0.0062124645)
"""(tanh(x) - x) / x^3 for |x| <= 0.56, in powers of x^2; relative error of tanh 2^-29.5."""

_SINH = (0.16666667, 0.0083333105, 0.00019842896, 2.782212e-06)
"""(sinh(x) - x) / x^3 for |x| <= 1, in powers of x^2; relative error of sinh 2^-31.6."""


def tanh(x: Float) -> Float:
    """As 1 - 2 / (exp(2 x) + 1), but a polynomial near 0, where that cancels. Error: 1.6 units."""
    # From there on it rounds to 1.
    size = abs(x).at_most({32: 9.02, 64: 19.1}[x.bits])
    square = size * size
    near = size + polynomial(square, _TANH) * square * size
    far = 1.0 - 2.0 / (moderate_exp(size * 2.0) + 1.0)
    return where(size < 0.55, near, far).with_sign_of(x)


def _half_exp(size: Float) -> Float:
    """Half of exp(x), which may be in range where exp(x) is not."""
    power = exp_power(size.at_most({32: 91.0, 64: 712.0}[size.bits]))
    return scaled(power.one_plus_fraction(), power.exponent - (1 << size.fraction_bits))


def sinh(x: Float) -> Float:
    """As (exp(x) - exp(-x)) / 2, but a polynomial near 0, where that cancels. Error: 1.7 units."""
    size = abs(x)
    half = _half_exp(size)
    square = size * size
    near = size + polynomial(square, _SINH) * square * size
    return where(size < 1.0, near, half - 0.25 / half).with_sign_of(x)


def cosh(x: Float) -> Float:
    """As (exp(x) + exp(-x)) / 2. Error: 1.6 units."""
    half = _half_exp(abs(x))
    return half + 0.25 / half


def asinh(x: Float) -> Float:
    """As log(|x| + sqrt(x^2 + 1)) with the sign of x. Error: 1.8 units."""
    size = abs(x)
    # The square of a greater number may be out of range, and adds nothing to it.
    large = size > {32: 2.0**30, 64: 2.0**60}[x.bits]
    square = size * size
    grown = size + square / (1.0 + (square + 1.0).sqrt())
    return log1p_doubled(where(large, size, grown), large).with_sign_of(x)


def acosh(x: Float) -> Float:
    """As log(x + sqrt(x^2 - 1)). Error: 2.0 units."""
    large = x > {32: 2.0**30, 64: 2.0**60}[x.bits]
    above = x - 1.0
    # No root of the product of two negative numbers.
    grown = above + (above * (x + 1.0).at_least(0.0)).sqrt()
    return log1p_doubled(where(large, x, grown), large)


def atanh(x: Float) -> Float:
    """As log((1 + |x|) / (1 - |x|)) / 2 with the sign of x. Error: 2.2 units."""
    size = abs(x)
    return (log1p(size * 2.0 / (1.0 - size)) * 0.5).with_sign_of(x)
