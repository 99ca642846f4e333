"""sin, cos and tan, right for every float: x = n pi / 2 + r by integer arithmetic.

The multiple of pi / 2 is found after Payne and Hanek, "Radian reduction for trigonometric
functions" (SIGNUM Newsletter 18, 1983): of 2 / pi only those bits count that, times x, are neither
a multiple of 4 nor too small to matter. This costs the same for all x. Where an x is known to be
small, right angles are subtracted, in parts of few bits (Cody and Waite, "Software Manual for the
Elementary Functions", 1980, chapter 8). Of half precision, which is widened to f32, x has few bits:
those of bf16 need a product of 32 bits alone, and f16 has no numbers that are large.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from plumbline.elementary_functions.arithmetic import Float, Int, polynomial, where, where_int
from plumbline.elementary_functions.pairs import constant_pair, sum_of

_SIN = {
    32: (-0.16666655, 0.008332189, -0.00019518261),
    64: (
        -0.1666666666666663,
        0.00833333333332184,
        -0.00019841269829358541,
        2.7557313538523636e-06,
        -2.5050734391386557e-08,
        1.589543344648309e-10,
    ),
}
"""(sin(r) - r) / r^3 for |r| <= pi / 4, in powers of r^2; relative errors of sin 2^-27.9, 2^-57.9.
"""

_COS = {
    32: (0.041666646, -0.001388731, 2.4432367e-05),
    64: (
        0.041666666666666595,
        -0.0013888888888873342,
        2.480158728900208e-05,
        -2.7557314217039014e-07,
        2.087570539609684e-09,
        -1.1358749247045463e-11,
    ),
}
"""(cos(r) - 1 + r^2 / 2) / r^4 for |r| <= pi / 4, in powers of r^2; errors of cos 2^-33, 2^-63.9.
"""

_TAN = (0.3333335, 0.13332675, 0.05405895, 0.021285811, 0.010828953, 9.5793024e-05, 0.0043741423)
"""For f32: (tan(r) - r) / r^3 for |r| <= pi / 4, in powers of r^2; relative error of tan
2^-29.5."""

_TWO_OVER_PI = {
    32: (
        0x00000028,
        0xBE60DB93,
        0x91054A7F,
        0x09D5F47D,
        0x4D377036,
        0xD8A5664F,
        0x10E4107F,
    ),
    64: (
        0x0000000000000145,
        0xF306DC9C882A53F8,
        0x4EAFA3EA69BB81B6,
        0xC52B3278872083FC,
        0xA2C757BD778AC36E,
        0x48DC74849BA5C00C,
        0x925DD413A32439FC,
        0x3BD63962534E7DD1,
        0x046BEA5D768909D3,
        0x38E04D68BEFC8273,
        0x23AC7306A673E939,
        0x08BF177BF250763F,
        0xF12FFFBC0B301FDE,
        0x5E2316B414DA3EDA,
        0x6CFD9E4F96136E9E,
        0x8C7ECD3CBFD45AEA,
        0x4F758FD7CBE2F67A,
        0x0E73EF14A525D4D7,
        0xF6BF623F1ABA10AC,
    ),
}
"""2 / pi in words as wide as a float: the first bit is worth 2^25, or 2^54."""

_TWO_OVER_PI_FROM_16 = tuple(
    (word << 16 | following >> 16) & 0xFFFFFFFF
    for word, following in itertools.pairwise(_TWO_OVER_PI[32])
)
"""The same without the first 16 bits: the first one is worth 2^9."""

_PARTS_OF_RIGHT_ANGLE = (
    float.fromhex("0x1.92p0"),
    float.fromhex("0x1.fap-12"),
    float.fromhex("0x1.54p-20"),
    float.fromhex("0x1.10b462p-30"),
)
"""pi / 2 in parts of 8 bits, whose products with 16 bits f32 holds, and what is left."""

SMALL = {32: 2.0**11, 64: 2.0**20}
"""By a float's width: numbers less than this have so few right angles that those times each part
below but the last are floats."""

_PARTS_FOR_SMALL = {
    32: (
        float.fromhex("0x1.9220000000000p+0"),
        float.fromhex("-0x1.2c00000000000p-18"),
        float.fromhex("0x1.1100000000000p-26"),
        float.fromhex("0x1.68c2340000000p-39"),
    ),
    64: (
        float.fromhex("0x1.921fb54400000p+0"),
        float.fromhex("0x1.0b4611a800000p-34"),
        float.fromhex("-0x1.d9cceba3f91f2p-66"),
    ),
}
"""pi / 2 in parts of 13, 12, 13 and 24 bits, or of 33, 32 and 53."""

_RIGHT_ANGLE = {
    32: (math.ldexp(1.57079637050628662109375, -30), math.ldexp(-4.37113883e-8, -30)),
    64: (math.ldexp(1.5707963267948966, -62), math.ldexp(6.123233995736766e-17, -62)),
}
"""pi / 2 in two parts, in units of 2^-30, or 2^-62."""


@dataclass(frozen=True)
class _Angle:
    """|x| = n pi / 2 + r, with |r| <= pi / 4."""

    rest: Float
    lost: Float | None
    """Of f64, what r is more than that."""
    quadrant: Int
    """n, of which the last two bits count."""


def _window(begin: Int, table: Sequence[int], count: int) -> list[Int]:
    """So many words of 2 / pi, from a bit on that is not in the last words, as many of them."""
    bits = begin.bits
    words = [begin.constant(word) for word in table]
    for power in reversed(range((len(words) - count - 1).bit_length())):
        skipped = 1 << power
        stay = (begin & (bits * skipped)).equals(0)
        words = [
            where_int(stay, word, later)
            for word, later in zip(words, words[skipped:], strict=False)
        ]
    shift = begin & (bits - 1)
    return [
        (word << shift)
        | following.shifted_right_unsigned(1).shifted_right_unsigned(shift ^ (bits - 1))
        for word, following in itertools.pairwise(words)
    ][:count]


def _reduced(size: Float) -> _Angle:
    """Takes what is not negative apart; an infinity or a NaN becomes anything."""
    point, width = size.fraction_bits, size.bits
    bits = size.as_int()
    # The number is fraction 2^(begin - point - 1), and the window 2^(begin - point - 1) (2 / pi),
    # modulo 4.
    fraction = (bits & ((1 << point) - 1)) | (1 << point)
    begin, fraction = _within_table((bits >> point) + size.least_exponent, fraction, size)
    first, second, third = _window(begin, _TWO_OVER_PI[width], 3)
    # The product, of whose upper part a unit is worth 2^-30 right angles, or 2^-62.
    low, carried = second.multiplied_unsigned(fraction)
    _, rest_of_third = third.multiplied_unsigned(fraction)
    upper = first * fraction + carried
    quadrant = (upper + (1 << width - 3)) >> width - 2
    upper = upper - (quadrant << width - 2)
    build = _rest_of_single if width == 32 else _rest_of_double
    rest, lost = build(upper, low, rest_of_third)
    return _unless_small(size, _Angle(rest, lost, quadrant))


def _within_table(begin: Int, fraction: Int, size: Float) -> tuple[Int, Int]:
    """The same number, if it is of the last power of 2, by the one before: else as it is."""
    last = 1 - size.least_exponent
    is_last = begin.equals(last + 1)
    return (
        where_int(is_last, begin.constant(last), begin),
        where_int(is_last, fraction << 1, fraction),
    )


def _unless_small(size: Float, angle: _Angle) -> _Angle:
    small, lost = size < math.pi / 4, angle.lost
    return _Angle(
        where(small, size, angle.rest),
        None if lost is None else where(small, lost.constant(0.0), lost),
        where_int(small, angle.quadrant.constant(0), angle.quadrant),
    )


def _reduced_bf16(size: Float) -> _Angle:
    """The same of numbers that bf16 holds: 8 bits, times 55 of 2 / pi."""
    bits = size.as_int()
    fraction = ((bits >> 16) & 0x7F) | 0x80
    begin, fraction = _within_table((bits >> 23) + size.least_exponent, fraction, size)
    first, second = _window(begin, _TWO_OVER_PI_FROM_16, 2)
    # Of the second word its first 23 bits, of whose product a unit is worth 2^-53.
    low = second.shifted_right_unsigned(9) * fraction
    upper = first * fraction + low.shifted_right_unsigned(23)
    quadrant = (upper + (1 << 29)) >> 30
    upper = upper - (quadrant << 30)
    angle = upper.converted() + (low & ((1 << 23) - 1)).converted() * 2.0**-23
    return _unless_small(size, _Angle(angle * _RIGHT_ANGLE[32][0], None, quadrant))


def _reduced_f16(size: Float) -> _Angle:
    """The same of numbers that f16 holds: less than 2^16, of which right angles are taken away.

    All differences but the last two are exact, and where little is left, that before the last is.
    """
    # Added to the number of right angles it leaves that in the last bits.
    count = size * (2 / math.pi) + size.rounder
    quadrant, count = count.as_int(), count - size.rounder
    rest = size
    for part in _PARTS_OF_RIGHT_ANGLE:
        rest = rest - count * part
    return _Angle(rest, None, quadrant)


def reduced_small(size: Float) -> _Angle:
    """The same of numbers that are less than `SMALL`, or none.

    Differences are exact but for that of the part before the last, which is so where little is
    left, and of which is known what it lost.
    """
    count = size * (2 / math.pi) + size.rounder
    quadrant, count = count.as_int(), count - size.rounder
    *parts, inexact, last = _PARTS_FOR_SMALL[size.bits]
    rest = size
    for part in parts:
        rest = rest - count * part
    near = rest - count * inexact
    lost = (rest - near) - count * inexact
    if size.bits == 32:
        return _Angle(near + (lost - count * last), None, quadrant)
    angle = sum_of(near, lost - count * last)
    return _Angle(angle.high, angle.low, quadrant)


def _rest_of_single(upper: Int, low: Int, third: Int) -> tuple[Float, None]:
    """The angle that such words are; the last two are unsigned, and of the same worth."""
    leading = upper.converted()
    trailing = (upper - leading.truncated()).converted() + (
        low.shifted_right_unsigned(1).converted() * 2.0**-31 + third.converted() * 2.0**-32
    )
    unit, unit_low = _RIGHT_ANGLE[32]
    return leading * unit + (leading * unit_low + trailing * unit), None


def _rest_of_double(upper: Int, low: Int, third: Int) -> tuple[Float, Float]:
    """The same, by halves of words, which are floats without a loss; also what the float lost."""
    half, mask = 32, (1 << 32) - 1
    leading = sum_of((upper >> half).converted() * 2.0**half, (upper & mask).converted())
    above = low.shifted_right_unsigned(half) + third.shifted_right_unsigned(half)
    below = (low & mask) + (third & mask)
    trailing = above.converted() * 2.0**-half + below.converted() * 2.0 ** (-2 * half)
    angle = sum_of(leading.high, leading.low + trailing)
    angle = angle * constant_pair(angle.high, *_RIGHT_ANGLE[64])
    return angle.high, angle.low


Reduction = Callable[[Float], _Angle]

REDUCTIONS: Mapping[str, Reduction] = {"bf16": _reduced_bf16, "f16": _reduced_f16}
"""For numbers of f32 that such a type holds."""


def _sin(angle: _Angle) -> Float:
    rest, lost = angle.rest, angle.lost
    square = rest * rest
    # The factor of what was lost is the cosine.
    beyond = polynomial(square, _SIN[rest.bits]) * square * rest
    return rest + (beyond if lost is None else beyond + (1.0 - square * 0.5) * lost)


def _cos(angle: _Angle) -> Float:
    rest, lost = angle.rest, angle.lost
    square = rest * rest
    beyond = polynomial(square, _COS[rest.bits]) * (square * square)
    if lost is None:
        return 1.0 - (square * 0.5 - beyond)
    parabola = sum_of(rest.constant(1.0), square * -0.5)
    return parabola.high + (parabola.low + (beyond - rest * lost))


def _finite_only(x: Float, result: Float) -> Float:
    return where(x < math.inf, result, math.nan)


def _with_sign(x: Float, sign: Int) -> Float:
    """The number with its sign turned where the second bit of an integer is set."""
    return (x.as_int() ^ ((sign & 2) << x.bits - 2)).as_float()


def sin(x: Float, reduced: Reduction = _reduced) -> Float:
    """The sine. Error: 2.6 units, 1.6 if fused; of f64 0.8."""
    size = abs(x)
    angle = reduced(size)
    of_cos = (angle.quadrant & 1).equals(1)
    value = where(of_cos, _cos(angle), _sin(angle))
    value = _with_sign(value, angle.quadrant)
    sign = x.as_int() ^ size.as_int()
    return _finite_only(size, (value.as_int() ^ sign).as_float())


def cos(x: Float, reduced: Reduction = _reduced) -> Float:
    """The cosine. Error: 2.6 units, 1.6 if fused; of f64 0.8."""
    size = abs(x)
    angle = reduced(size)
    of_sin = (angle.quadrant & 1).equals(1)
    value = where(of_sin, _sin(angle), _cos(angle))
    return _finite_only(size, _with_sign(value, angle.quadrant + 1))


def tan(x: Float, reduced: Reduction = _reduced) -> Float:
    """The tangent, of r or, for an odd n, -1 over it.

    Error: 3.7 units, 2.6 if fused; of f64 2.0.
    """
    size = abs(x)
    angle = reduced(size)
    is_odd = (angle.quadrant & 1).equals(1)
    if x.bits == 32:
        square = angle.rest * angle.rest
        tangent = angle.rest + polynomial(square, _TAN) * square * angle.rest
        value = where(is_odd, -1.0 / tangent, tangent)
    else:
        # A polynomial would be as long as both of these.
        rise, run = _sin(angle), _cos(angle)
        value = where(is_odd, -run, rise) / where(is_odd, rise, run)
    sign = x.as_int() ^ size.as_int()
    return _finite_only(size, (value.as_int() ^ sign).as_float())
