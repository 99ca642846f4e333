"""log, log2, log10 and log1p: x = 2^e (1 + f), with 1 + f between 2^-1/2 and 2^1/2."""

import math
from dataclasses import dataclass

from plumbline.elementary_functions.arithmetic import Bool, Float, Int, polynomial, where, where_int
from plumbline.elementary_functions.exponential import LOG_2, power_of_2

_SERIES = (
    -0.5,
    0.33333334,
    -0.25000837,
    0.20001012,
    -0.16622509,
    0.14206101,
    -0.13173951,
    0.12736917,
    -0.07564133,
)
"""For f32: (log(1 + f) - f) / f^2 in powers of f; relative error of the logarithm 2^-27.2."""

_SERIES_OF_QUOTIENT = (
    0.6666666666666734,
    0.3999999999941643,
    0.28571428742108396,
    0.22222198594124612,
    0.18183563537798272,
    0.15314064606009598,
    0.14795860046521833,
)
"""For f64: (log((1 + s) / (1 - s)) / s - 2) / s^2 in powers of s^2; relative error 2^-59.5."""

_LOG10_OF_2 = {
    32: (0.301025390625, 4.6050389811952137e-06),
    64: (0.3010299955494702, 1.1451100898021838e-10),
}
"""log10(2) in two parts, as `LOG_2` is."""


@dataclass(frozen=True)
class Split:
    """x = 2^e (1 + f)."""

    fraction: Float
    exponent: Int


def _split(x: Float) -> Split:
    """Takes a normal positive number apart."""
    # The bits of 2^-1/2, from where on the next exponent counts.
    root = x.constant(math.sqrt(0.5)).as_int()
    distance = x.as_int() - root
    within = distance & ((1 << x.fraction_bits) - 1)
    return Split((within + root).as_float() - 1.0, distance >> x.fraction_bits)


def taken_apart(x: Float) -> Split:
    """Takes a positive number apart, also a subnormal one."""
    small = x < 2.0**x.least_exponent
    bits = x.fraction_bits
    split = _split(where(small, x * math.ldexp(1.0, bits), x))
    return Split(split.fraction, where_int(small, split.exponent - bits, split.exponent))


def _beyond_linear(f: Float) -> Float:
    """The rest of log(1 + f) without f."""
    if f.bits == 32:
        return polynomial(f, _SERIES) * (f * f)
    # A polynomial of f would be twice as long as one of this.
    s = f / (2.0 + f)
    square = s * s
    return -(s * (f - polynomial(square, _SERIES_OF_QUOTIENT) * square))


def _natural(split: Split) -> Float:
    """The logarithm of the number that was taken apart."""
    f, e = split.fraction, split.exponent.converted()
    high, low = LOG_2[f.bits]
    return f + (e * low + _beyond_linear(f)) + e * high


def _with_special_values(x: Float, result: Float) -> Float:
    """The logarithm at 0, infinities and NaN, and below 0, where it is none."""
    result = where(x < math.inf, result, x)
    none = where(x.equals(0.0), x.constant(-math.inf), math.nan)
    return where(x > 0.0, result, none)


def log(x: Float) -> Float:
    """The natural logarithm. Error: 1.0 units."""
    return _with_special_values(x, _natural(taken_apart(x)))


def log2(x: Float) -> Float:
    """The logarithm to base 2. Error: 1.6 units."""
    split = taken_apart(x)
    f = split.fraction
    # Times log2(e), of which 1 loses nothing.
    rest = 0.44269504088896341
    beyond = _beyond_linear(f)
    result = f + (f * rest + beyond * (1 + rest)) + split.exponent.converted()
    return _with_special_values(x, result)


def log10(x: Float) -> Float:
    """The logarithm to base 10. Error: 1.4 units."""
    split = taken_apart(x)
    f, e = split.fraction, split.exponent.converted()
    # Times log10(e), of which a half loses nothing.
    rest = -0.065705518096748172
    high, low = _LOG10_OF_2[f.bits]
    beyond = f * rest + (_beyond_linear(f) * (0.5 + rest) + e * low)
    return _with_special_values(x, f * 0.5 + beyond + e * high)


def log1p(x: Float) -> Float:
    """The logarithm of 1 + x. Error: 1.6 units."""
    return _log1p(x, None)


def log1p_doubled(x: Float, doubled: Bool) -> Float:
    """The logarithm of 1 + x, or of 2 (1 + x) where that is asked."""
    return _log1p(x, doubled)


def _log1p(x: Float, doubled: Bool | None) -> Float:
    total = x + 1.0
    # What the sum has lost, by Knuth's addition.
    part = total - 1.0
    lost = (1.0 - (total - part)) + (x - part)
    split = _split(total)
    # Nothing has been lost of note where the exponent is near its limit.
    last = -x.least_exponent
    shift = where_int(split.exponent < last, split.exponent, last)
    lost = lost * power_of_2(-(shift << x.fraction_bits), x)
    exponent = split.exponent
    if doubled is not None:
        exponent = where_int(doubled, exponent + 1, exponent)
    result = _natural(Split(split.fraction + lost, exponent))
    # 0 keeps its sign.
    return _with_special_values(total, result.with_sign_of(x))
