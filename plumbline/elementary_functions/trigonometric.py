"""sin, cos and tan, right for every float of 32 bits: x = n pi / 2 + r by integer arithmetic.

The multiple of pi / 2 is found after Payne and Hanek, "Radian reduction for trigonometric
functions" (SIGNUM Newsletter 18, 1983): of 2 / pi only those bits count that, times x, are neither
a multiple of 4 nor too small to matter. As this costs the same for all x, there is no other way for
small ones.
"""

import itertools
import math
from dataclasses import dataclass

from plumbline.elementary_functions.arithmetic import Float, Int, polynomial, where, where_int

_SIN = (-0.16666655, 0.008332189, -0.00019518261)
"""(sin(r) - r) / r^3 for |r| <= pi / 4, in powers of r^2; relative error of sin 2^-27.9."""

_COS = (0.041666646, -0.001388731, 2.4432367e-05)
"""(cos(r) - 1 + r^2 / 2) / r^4 for |r| <= pi / 4, in powers of r^2; error of cos 2^-33."""

_TAN = (0.3333335, 0.13332675, 0.05405895, 0.021285811, 0.010828953, 9.5793024e-05, 0.0043741423)
"""(tan(r) - r) / r^3 for |r| <= pi / 4, in powers of r^2; relative error of tan 2^-29.5."""

_TWO_OVER_PI = (
    0x00000028,
    0xBE60DB93,
    0x91054A7F,
    0x09D5F47D,
    0x4D377036,
    0xD8A5664F,
    0x10E4107F,
)
"""2 / pi in words: the first bit is worth 2^26."""

_RIGHT_ANGLE = (math.ldexp(1.57079637050628662109375, -30), math.ldexp(-4.37113883e-8, -30))
"""pi / 2 in two parts, in units of 2^-30."""


@dataclass(frozen=True)
class _Angle:
    """|x| = n pi / 2 + r, with |r| <= pi / 4."""

    rest: Float
    quadrant: Int
    """n, of which the last two bits count."""


def _window(begin: Int) -> list[Int]:
    """Three words of 2 / pi, from a bit between 0 and 127 on."""
    words = [begin.constant(word) for word in _TWO_OVER_PI]
    for skipped in (2, 1):
        stay = (begin & (32 * skipped)).equals(0)
        words = [
            where_int(stay, word, later)
            for word, later in zip(words, words[skipped:], strict=False)
        ]
    shift = begin & 31
    return [
        (word << shift) | following.shifted_right_unsigned(1).shifted_right_unsigned(shift ^ 31)
        for word, following in itertools.pairwise(words)
    ][:3]


def _reduced(size: Float) -> _Angle:
    """Takes what is not negative apart; an infinity or a NaN becomes anything."""
    bits = size.as_int()
    # The number is fraction 2^(begin - 24), and the window 2^(begin - 24) (2 / pi), modulo 4.
    fraction = (bits & 0x7FFFFF) | 0x800000
    begin = (bits >> 23) - 126
    # The last power of 2 would be beyond the table.
    is_last = begin.equals(128)
    begin = where_int(is_last, begin.constant(127), begin)
    fraction = where_int(is_last, fraction << 1, fraction)
    first, second, third = _window(begin)
    # The product, of whose upper half a unit is worth 2^-30 right angles.
    low, carried = second.multiplied_unsigned(fraction)
    _, rest_of_third = third.multiplied_unsigned(fraction)
    upper = first * fraction + carried
    quadrant = (upper + (1 << 29)) >> 30
    upper = upper - (quadrant << 30)
    leading = upper.converted()
    trailing = (upper - leading.truncated()).converted() + (
        low.shifted_right_unsigned(1).converted() * 2.0**-31 + rest_of_third.converted() * 2.0**-32
    )
    unit, unit_low = _RIGHT_ANGLE
    rest = leading * unit + (leading * unit_low + trailing * unit)
    small = size < math.pi / 4
    return _Angle(where(small, size, rest), where_int(small, quadrant.constant(0), quadrant))


def _sin(rest: Float) -> Float:
    square = rest * rest
    return rest + polynomial(square, _SIN) * square * rest


def _cos(rest: Float) -> Float:
    square = rest * rest
    return 1.0 - (square * 0.5 - polynomial(square, _COS) * (square * square))


def _finite_only(x: Float, result: Float) -> Float:
    return where(x < math.inf, result, math.nan)


def _with_sign(x: Float, sign: Int) -> Float:
    """The number with its sign turned where the second bit of an integer is set."""
    return (x.as_int() ^ ((sign & 2) << 30)).as_float()


def sin(x: Float) -> Float:
    """The sine. Error: 2.6 units, 1.6 if fused."""
    size = abs(x)
    angle = _reduced(size)
    of_cos = (angle.quadrant & 1).equals(1)
    value = where(of_cos, _cos(angle.rest), _sin(angle.rest))
    value = _with_sign(value, angle.quadrant)
    sign = x.as_int() ^ size.as_int()
    return _finite_only(size, (value.as_int() ^ sign).as_float())


def cos(x: Float) -> Float:
    """The cosine. Error: 2.6 units, 1.6 if fused."""
    size = abs(x)
    angle = _reduced(size)
    of_sin = (angle.quadrant & 1).equals(1)
    value = where(of_sin, _sin(angle.rest), _cos(angle.rest))
    return _finite_only(size, _with_sign(value, angle.quadrant + 1))


def tan(x: Float) -> Float:
    """The tangent, of r or, for an odd n, -1 over it. Error: 3.7 units, 2.6 if fused."""
    size = abs(x)
    angle = _reduced(size)
    square = angle.rest * angle.rest
    tangent = angle.rest + polynomial(square, _TAN) * square * angle.rest
    is_odd = (angle.quadrant & 1).equals(1)
    value = where(is_odd, -1.0 / tangent, tangent)
    sign = x.as_int() ^ size.as_int()
    return _finite_only(size, (value.as_int() ^ sign).as_float())
