"""The power, by 2^(y log2(x)) in f64, as errors of the logarithm grow with the exponent."""

import math

from plumbline.elementary_functions.arithmetic import Float, polynomial, where
from plumbline.elementary_functions.exponential import exp2_in_double

_LOG2 = (
    2.885390081790092,
    0.9617966733332294,
    0.5770835867377153,
    0.41167260407476647,
    0.34073238301632225,
)
"""log2((1 + s) / (1 - s)) / s for |s| <= 0.1716, in powers of s^2; relative error 2^-37.8."""


def _log2(x: Float) -> Float:
    """The logarithm to base 2 of a normal positive number of f64, as exact as f32 needs it."""
    root = x.constant(math.sqrt(0.5)).as_int()
    distance = x.as_int() - root
    mantissa = ((distance & ((1 << 52) - 1)) + root).as_float()
    exponent = (distance >> 52).converted()
    s = (mantissa - 1.0) / (mantissa + 1.0)
    return exponent + s * polynomial(s * s, _LOG2)


def powf(x: Float, y: Float) -> Float:
    """The power x^y. Error: 0.6 units."""
    size = abs(x)
    log = _log2(size.in_double())
    log = where(size.equals(0.0), log.constant(-math.inf), log)
    log = where(size < math.inf, log, size.in_double())
    # Far beyond the range of f32.
    power = exp2_in_double((log * y.in_double()).clamped(-200.0, 200.0)).in_single()
    # Also where a NaN has been made of 0 times infinity, and where the other number is a NaN.
    one = power.constant(1.0)
    power = where((size.equals(1.0) & y.equals(y)) | y.equals(0.0) | x.equals(1.0), one, power)
    # Every greater number is whole and even; neither it nor a NaN need be an integer of 32 bits.
    moderate = where(abs(y) < 2.0**24, y, 2.0**24)
    whole = moderate.truncated()
    is_odd = whole.converted().equals(moderate) & (whole & 1).equals(1)
    power = power.with_sign_of(where(is_odd, x, one))
    is_none = (x < 0.0) & (x > -math.inf) & whole.converted().differs(moderate)
    return where(is_none, power.constant(math.nan), power)
