"""The power, by 2^(y log2(x)) in twice the precision: errors of the logarithm grow with y.

That of f32 is computed in f64.
"""

import math

from plumbline.elementary_functions.arithmetic import Bool, Float, polynomial, where
from plumbline.elementary_functions.exponential import exp2_in_double, exp2_power
from plumbline.elementary_functions.logarithm import taken_apart
from plumbline.elementary_functions.pairs import Pair, constant_pair, exact_product, sum_of

_LOG2 = (
    2.885390081790092,
    0.9617966733332294,
    0.5770835867377153,
    0.41167260407476647,
    0.34073238301632225,
)
"""log2((1 + s) / (1 - s)) / s for |s| <= 0.1716, in powers of s^2; relative error 2^-37.8."""


_SERIES = (
    0.1999999999999999,
    0.14285714285721918,
    0.11111111108895895,
    0.09090909421847745,
    0.0769227922521325,
    0.06668131814994974,
    0.05837899237152113,
    0.0599080332667532,
)
"""For f64: (atanh(s) / s - 1 - s^2 / 3) / s^4 for |s| <= 0.1716, in powers of s^2; relative error
of the logarithm 2^-73."""

_THIRD = (0.3333333333333333, 1.850371707708594e-17)

_TWICE_LOG2_OF_E = (2.8853900817779268, 4.0710547481862066e-17)

_FAR = 1100.0
"""Beyond it a power of 2 is 0 or infinite in f64, and so it is there."""


def _log2(x: Float) -> Float:
    """The logarithm to base 2 of a normal positive number of f64, as exact as f32 needs it."""
    root = x.constant(math.sqrt(0.5)).as_int()
    distance = x.as_int() - root
    mantissa = ((distance & ((1 << 52) - 1)) + root).as_float()
    exponent = (distance >> 52).converted()
    s = (mantissa - 1.0) / (mantissa + 1.0)
    return exponent + s * polynomial(s * s, _LOG2)


def _log2_pair(x: Float) -> Pair:
    """The logarithm to base 2 of a positive number of f64, as exact as f64 needs it."""
    split = taken_apart(x)
    f = split.fraction
    # The s of which log(1 + f) = 2 atanh(s).
    divisor = sum_of(f.constant(2.0), f)
    quotient = f / divisor.high
    product = exact_product(quotient, divisor.high)
    rest = ((f - product.high) - product.low) - quotient * divisor.low
    s = Pair(quotient, rest / divisor.high)
    square = s * s
    beyond = polynomial(square.high, _SERIES) * square.high
    third, third_lost = _THIRD
    series = sum_of(f.constant(third), beyond + third_lost)
    log = s + s * (square * series)
    log = log * constant_pair(f, *_TWICE_LOG2_OF_E)
    return Pair(split.exponent.converted(), f.constant(0.0)) + log


def _power_of_single(size: Float, y: Float) -> Float:
    """The power of what is not negative, but for where a factor of the exponent is 0 or a NaN."""
    log = _log2(size.in_double())
    log = where(size.equals(0.0), log.constant(-math.inf), log)
    log = where(size < math.inf, log, size.in_double())
    # Far beyond the range of f32.
    return exp2_in_double((log * y.in_double()).clamped(-200.0, 200.0)).in_single()


def _power_of_double(size: Float, y: Float) -> Float:
    """The same of f64."""
    log = _log2_pair(size)
    high = where(size.equals(0.0), size.constant(-math.inf), log.high)
    high = where(size < math.inf, high, size)
    about = high * y
    is_near = abs(about) < _FAR
    exponent = exact_product(high, y)
    lost = where(is_near, exponent.low + log.low * y, 0.0)
    return exp2_power(where(is_near, exponent.high, about.clamped(-_FAR, _FAR)), lost).value()


def _is_whole_or_odd(y: Float) -> tuple[Bool, Bool]:
    """Whether a number is a whole one, and whether that is odd. Infinities are whole and even."""
    size = abs(y)
    # A number below that becomes a whole one as it is added to it, and from there on all are.
    point = 2.0**y.fraction_bits
    has_point = size < point
    shifted = where(has_point, size + point, size)
    whole = where(has_point, shifted - point, size)
    return whole.equals(size), (shifted.as_int() & 1).equals(1) & (size < 2.0 * point)


def powf(x: Float, y: Float) -> Float:
    """The power x^y. Error: 0.6 units; of f64 1.4."""
    size = abs(x)
    power = (_power_of_single if x.bits == 32 else _power_of_double)(size, y)
    # Also where a NaN has been made of 0 times infinity, and where the other number is a NaN.
    one = power.constant(1.0)
    power = where((size.equals(1.0) & y.equals(y)) | y.equals(0.0) | x.equals(1.0), one, power)
    is_whole, is_odd = _is_whole_or_odd(y)
    power = power.with_sign_of(where(is_whole & is_odd, x, one))
    is_negative = (x < 0.0) & (x > -math.inf)
    return where(is_negative, where(is_whole, power, math.nan), power)
