"""asin, acos, atan and atan2."""

from plumbline.elementary_functions.arithmetic import Float, polynomial, where

_ASIN = (0.16666752, 0.074953094, 0.04546915, 0.02418478, 0.042158294)
"""(asin(x) - x) / x^3 for |x| <= 1/2, in powers of x^2; relative error of asin 2^-27.6."""

_ATAN = (
    -0.333333,
    0.1999853,
    -0.14264014,
    0.10950861,
    -0.08399208,
    0.057878867,
    -0.03109352,
    0.010866253,
    -0.0017821367,
)
"""(atan(x) - x) / x^3 for |x| <= 1, in powers of x^2; relative error of atan 2^-28.5."""


_RIGHT_ANGLE = (1.57079637050628662109375, -4.37113883e-8)
"""pi / 2 in two parts, as the rounding of it would count where most of it is taken away."""


def _from_right_angles(count: float, angle: Float, rest: Float) -> Float:
    """The angle between so many right angles and an angle in two parts."""
    high, low = _RIGHT_ANGLE
    return (count * high - angle) - (rest - count * low)


def _asin_or_half_acos(size: Float) -> tuple[Float, Float]:
    """asin(x) up to 1/2, and from there on asin(sqrt((1 - x) / 2)) = acos(x) / 2, in two parts."""
    half = (1.0 - size) * 0.5
    near = size < 0.5
    square = where(near, size * size, half)
    root = where(near, size, half.sqrt())
    return root, polynomial(square, _ASIN) * square * root


def asin(x: Float) -> Float:
    """The inverse of the sine. Error: 2.2 units."""
    size = abs(x)
    angle, rest = _asin_or_half_acos(size)
    far = _from_right_angles(1.0, angle * 2.0, rest * 2.0)
    return where(size < 0.5, angle + rest, far).with_sign_of(x)


def acos(x: Float) -> Float:
    """The inverse of the cosine. Error: 1.3 units."""
    size = abs(x)
    angle, rest = _asin_or_half_acos(size)
    near = _from_right_angles(1.0, angle.with_sign_of(x), rest.with_sign_of(x))
    obtuse = _from_right_angles(2.0, angle * 2.0, rest * 2.0)
    far = where(x < 0.0, obtuse, (angle + rest) * 2.0)
    return where(size < 0.5, near, far)


def _atan_up_to_1(x: Float) -> tuple[Float, Float]:
    """atan(x) in two parts."""
    square = x * x
    return x, polynomial(square, _ATAN) * square * x


def atan(x: Float) -> Float:
    """The inverse of the tangent; beyond 1 that of 1 / x, from pi / 2. Error: 1.4 units."""
    size = abs(x)
    steep = size > 1.0
    angle, rest = _atan_up_to_1(where(steep, 1.0 / size, size))
    far = _from_right_angles(1.0, angle, rest)
    return where(steep, far, angle + rest).with_sign_of(x)


def atan2(y: Float, x: Float) -> Float:
    """The angle of the point (x, y), between -pi and pi. Error: 2.0 units."""
    rise, run = abs(y), abs(x)
    steep = rise > run
    least, greatest = where(steep, run, rise), where(steep, rise, run)
    # Two infinities are as good as any two numbers that are equal; two zeros have the angle 0.
    of_equal = where(greatest > 0.0, greatest.constant(1.0), 0.0)
    angle, rest = _atan_up_to_1(where(least.equals(greatest), of_equal, least / greatest))
    angle = where(steep, _from_right_angles(1.0, angle, rest), angle + rest)
    is_left = x.as_int() < 0
    obtuse = _from_right_angles(2.0, angle, angle.constant(0.0))
    return where(is_left, obtuse, angle).with_sign_of(y)
