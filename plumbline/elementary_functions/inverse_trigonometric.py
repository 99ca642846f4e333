"""asin, acos, atan and atan2."""

from plumbline.elementary_functions.arithmetic import Float, polynomial, where

_ASIN = {
    32: (0.16666752, 0.074953094, 0.04546915, 0.02418478, 0.042158294),
    64: (
        0.1666666666666676,
        0.07499999999970865,
        0.04464285717456306,
        0.03038194270973921,
        0.022372214939932685,
        0.017351612774569546,
        0.013980812304298464,
        0.011398973960128587,
        0.010779933005417588,
        0.003707533593376121,
        0.021704882100455774,
        -0.02099564229824531,
        0.0326265991800533,
    ),
}
"""(asin(x) - x) / x^3 for |x| <= 1/2, in powers of x^2; relative errors of asin 2^-27.6, 2^-59.9.
"""

_ATAN = {
    32: (
        -0.333333,
        0.1999853,
        -0.14264014,
        0.10950861,
        -0.08399208,
        0.057878867,
        -0.03109352,
        0.010866253,
        -0.0017821367,
    ),
    64: (
        -0.3333333333333307,
        0.19999999999951748,
        -0.14285714282587966,
        0.11111111007337718,
        -0.09090907007712376,
        0.07692279887803935,
        -0.06666404413604739,
        0.05880529747404098,
        -0.05253526504263176,
        0.047223474163130226,
        -0.042192411207060576,
        0.036643110893182035,
        -0.02990567149578781,
        0.02198698661896737,
        -0.013902492703112829,
        0.007197824177021153,
        -0.0028855769840303988,
        0.0008315476716244596,
        -0.00015220847122654897,
        1.3229724779515116e-05,
    ),
}
"""(atan(x) - x) / x^3 for |x| <= 1, in powers of x^2; relative errors of atan 2^-28.5, 2^-57.6."""


_RIGHT_ANGLE = {
    32: (1.57079637050628662109375, -4.37113883e-8),
    64: (1.5707963267948966, 6.123233995736766e-17),
}
"""pi / 2 in two parts, as the rounding of it would count where most of it is taken away."""


def _from_right_angles(count: float, angle: Float, rest: Float) -> Float:
    """The angle between so many right angles and an angle in two parts."""
    high, low = _RIGHT_ANGLE[angle.bits]
    return (count * high - angle) - (rest - count * low)


def _asin_or_half_acos(size: Float) -> tuple[Float, Float]:
    """asin(x) up to 1/2, and from there on asin(sqrt((1 - x) / 2)) = acos(x) / 2, in two parts."""
    half = (1.0 - size) * 0.5
    near = size < 0.5
    square = where(near, size * size, half)
    root = where(near, size, half.sqrt())
    return root, polynomial(square, _ASIN[size.bits]) * square * root


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
    return x, polynomial(square, _ATAN[x.bits]) * square * x


def atan(x: Float) -> Float:
    """The inverse of the tangent; beyond 1 that of 1 / x, from pi / 2.

    Error: 1.4 units; of f64 1.7.
    """
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
