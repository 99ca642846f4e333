"""exp, exp2, erf and tanh of f32 in pieces, each a short polynomial that is looked up.

Their centres are such numbers as have a function's value almost in f32, so that its constant term
is rounded by next to nothing, after Gal, "Computing elementary functions: a new approach for
achieving high accuracy and good performance" (1986). Coefficients are by weighted least squares,
each rounded before those after it were found.
"""

import math
import struct
from collections.abc import Callable, Sequence

from plumbline.elementary_functions.arithmetic import Float, Int, polynomial, where
from plumbline.elementary_functions.exponential import LOG_2, exponent_bounds
from plumbline.elementary_functions.lookups import LANES, looked_up, times_power_of_2

_EXP = (0.5, 0.16666667)
"""(exp(r) - 1 - r) / r^2 for |r| <= log(2) / 32, in powers of r; relative error of exp 2^-26.7."""

_EXP2 = (0.6931472, 0.24023354, 0.055502318)
"""(2^r - 1) / r for |r| <= 1/32, in powers of r; relative error of 2^r 2^-28.6."""

_POWERS = tuple(2.0 ** (number / LANES) for number in range(LANES))
_ROUNDED = tuple(struct.unpack("f", struct.pack("f", power))[0] for power in _POWERS)
_LOST = tuple(power - rounded for power, rounded in zip(_POWERS, _ROUNDED, strict=True))
"""What rounding takes off them, which would double the error."""

_ERF = (
    (0.0, 0.0, 0.12837917, 4.911954e-07, -0.376166, 0.00102125, 0.10449),
    (0.12496196, 0.14027394, 1.1108959, -0.13881938, -0.358767, 0.0684842, 0.109803),
    (0.2499131, 0.27623427, 1.0600601, -0.26492295, -0.309184, 0.126831, 0.0748496),
    (0.3749322, 0.40405044, 0.98040265, -0.3675844, -0.234916, 0.166354, 0.0447843),
    (0.4998243, 0.52034545, 0.878937, -0.439314, -0.146613, 0.182889, 0.0110329),
    (0.62482274, 0.6231055, 0.7636687, -0.4771573, -0.0558038, 0.176266, -0.0261562),
    (0.74982613, 0.71104383, 0.6430988, -0.48221204, 0.0266609, 0.150588, -0.0486222),
    (0.87482196, 0.7839816, 0.52490854, -0.45920122, 0.0928483, 0.112336, -0.0679987),
    (0.99964356, 0.8425528, 0.41540346, -0.41525558, 0.138283, 0.0693753, -0.0714678),
    (1.1246538, 0.888278, 0.31852192, -0.35822693, 0.16242, 0.0281392, -0.062365),
    (1.2496852, 0.92282563, 0.23670733, -0.29580957, 0.167546, -0.00602315, -0.0475289),
    (1.3746611, 0.9481123, 0.1705186, -0.23440559, 0.157977, -0.0302859, -0.030195),
    (1.4997922, 0.9660804, 0.11900444, -0.17848197, 0.138788, -0.0445018, -0.0147622),
    (1.624644, 0.9784151, 0.0805654, -0.13089043, 0.11491, -0.0495733, -0.00186078),
    (1.7496865, 0.9866551, 0.052832935, -0.09244108, 0.0902168, -0.0480759, 0.0067192),
    (1.87466, 0.99197865, 0.03358862, -0.06296726, 0.067498, -0.0422598, 0.0115329),
    (1.9992955, 0.9953077, 0.020725299, -0.04143581, 0.0483203, -0.0345364, 0.0130605),
    (2.1244318, 0.99733895, 0.012370652, -0.026280431, 0.0330971, -0.026448, 0.0125492),
    (2.2493277, 0.9985325, 0.0071639577, -0.016114004, 0.021776, -0.0191521, 0.010652),
    (2.3743393, 0.9992144, 0.0040190686, -0.009542746, 0.0137654, -0.0131442, 0.00832459),
    (2.499987, 0.999593, 0.002178427, -0.005446153, 0.00835053, -0.0086046, 0.00612159),
    (2.624981, 0.9997946, 0.0011479901, -0.0030134844, 0.00489081, -0.00541523, 0.00422653),
    (2.7500157, 0.9998994, 0.0005862265, -0.0016122332, 0.00276017, -0.00323859, 0.00276194),
    (2.8749735, 0.99995214, 0.00029027244, -0.0008345004, 0.00150274, -0.00189288, 0.00171416),
    (2.9998362, 0.9999779, 0.00013938997, -0.00041812944, 0.000789778, -0.00105262, 0.00102044),
    (3.1250365, 0.9999901, 6.474392e-05, -0.00020232632, 0.000399934, -0.000559433, 0.000578937),
    (3.2503858, 0.9999957, 2.9115923e-05, -9.463475e-05, 0.000195367, -0.000287808, 0.000314062),
    (3.3771439, 0.9999982, 1.2568481e-05, -4.2446412e-05, 9.13671e-05, -0.000140488, 0.00016483),
    (3.5052521, 0.9999993, 5.204379e-06, -1.82409e-05, 4.0896e-05, -6.63566e-05, 7.93204e-05),
    (3.6237051, 0.9999997, 2.2368167e-06, -8.10483e-06, 1.88357e-05, -3.17695e-05, 4.00865e-05),
    (3.7439213, 0.9999999, 9.2251304e-07, -3.4534637e-06, 8.31286e-06, -1.45816e-05, 1.92526e-05),
    (3.832507, 0.99999994, 4.7151042e-07, -1.8070833e-06, 4.45563e-06, -7.76245e-06, 8.38355e-06),
)
"""A centre, and erf in powers of what a number is more, for numbers up to 1/16, 3/16, and so on to
3.9375. The first has erf(x) - x. Relative error 2^-27.3."""

_TANH = (
    (0.0, 0.0, 1.0, 3.1189344e-07, -0.333356, 0.000472799, 0.129986),
    (0.1874577, 0.18529235, 0.9656668, -0.17893043, -0.288757, 0.112876, 0.100771),
    (0.31241217, 0.30262995, 0.90841514, -0.2749134, -0.219626, 0.157783, 0.048684),
    (0.43741086, 0.411496, 0.830671, -0.34181765, -0.136222, 0.169735, -0.0077406),
    (0.56232375, 0.5096995, 0.7402064, -0.37728292, -0.054455, 0.153397, -0.0399058),
    (0.6874036, 0.59631145, 0.64441264, -0.38427037, 0.014358, 0.11942, -0.0650054),
    (0.8123416, 0.67087996, 0.5499201, -0.3689303, 0.0641991, 0.0799189, -0.0623586),
    (0.9373371, 0.7339964, 0.4612493, -0.33855534, 0.0947525, 0.0433717, -0.0537202),
    (1.124647, 0.80917925, 0.34522894, -0.279354, 0.110971, 0.00372383, -0.0321301),
    (1.3746467, 0.87974685, 0.22604547, -0.19886388, 0.0996009, -0.0211013, -0.00951973),
    (1.6246897, 0.9253016, 0.14381693, -0.1330744, 0.0751943, -0.0251348, 0.00142196),
    (1.8746567, 0.9540144, 0.08985648, -0.085724436, 0.0518307, -0.020859, 0.00458714),
    (2.1244555, 0.9718425, 0.055522103, -0.05395867, 0.0339319, -0.015003, 0.0044889),
    (2.374306, 0.9828214, 0.034062088, -0.03347687, 0.0215476, -0.0100349, 0.00342832),
    (2.6243644, 0.98954654, 0.02079765, -0.02058017, 0.0134327, -0.00644608, 0.00234568),
    (2.8742964, 0.9936457, 0.012668168, -0.012587648, 0.00828495, -0.00404495, 0.001532),
    (3.2493474, 0.9969937, 0.0060035232, -0.0059850714, 0.00396609, -0.00198027, 0.000771298),
    (3.749816, 0.99889404, 0.002210706, -0.0022080934, 0.00146881, -0.00073958, 0.000292997),
    (4.248601, 0.999592, 0.0008158212, -0.000815423, 0.000543191, -0.000274354, 0.000109027),
    (4.748692, 0.9998499, 0.00030014658, -0.000300081, 0.000199999, -0.000101077, 4.02723e-05),
    (5.24997, 0.9999449, 0.0001101464, -0.00011013195, 7.34128e-05, -3.71294e-05, 1.48435e-05),
    (5.7498617, 0.99997973, 4.0530776e-05, -4.0527382e-05, 2.70169e-05, -1.36591e-05, 5.46241e-06),
    (6.250181, 0.99999255, 1.4901108e-05, -1.489969e-05, 9.93298e-06, -5.02704e-06, 2.01048e-06),
    (6.7500186, 0.99999726, 5.4836205e-06, -5.4831053e-06, 3.65539e-06, -1.85026e-06, 7.39887e-07),
    (7.513047, 0.9999994, 1.1921675e-06, -1.1906324e-06, 7.92658e-07, -4.16095e-07, 1.70795e-07),
    (8.66434, 0.99999994, 1.192433e-07, -1.1931596e-07, 7.8427e-08, -3.91398e-08, 2.29082e-08),
    (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
)
"""The same of tanh, for eight pieces each of 1/8, 1/4, 1/2 and 1, which double the sum of a number
and 1. Relative error 2^-27.5. From about 9.01 on it rounds to 1."""


def exp(x: Float) -> Float:
    """The exponential, as 2^n 2^(k / 16) (1 + ...). Error: 0.9 units."""
    least, greatest = exponent_bounds(x)
    x = x.clamped(least * math.log(2), greatest * math.log(2))
    high, low = LOG_2[x.bits]
    shifted = x * (1 / math.log(2)) + x.rounder / LANES
    exponent = shifted - x.rounder / LANES
    rest = x - exponent * high - exponent * low
    return _power(shifted, exponent, rest + polynomial(rest, _EXP) * (rest * rest))


def exp2(x: Float) -> Float:
    """The power 2^x. Error: 0.8 units."""
    x = x.clamped(*exponent_bounds(x))
    shifted = x + x.rounder / LANES
    exponent = shifted - x.rounder / LANES
    rest = x - exponent
    return _power(shifted, exponent, rest * polynomial(rest, _EXP2))


def _power(shifted: Float, exponent: Float, fraction: Float) -> Float:
    """The product of 1 + fraction and 2 to an exponent in sixteenths, which `shifted` ends with."""
    sixteenth = shifted.as_int()
    power = looked_up(sixteenth, _ROUNDED)
    lost = looked_up(sixteenth, _LOST)
    return times_power_of_2(power + (fraction * power + lost), exponent)


def erf(x: Float) -> Float:
    """The error function. Error: 1.1 units."""
    # From there on it rounds to 1.
    size = abs(x).at_most(3.937)
    # To eighths.
    piece = (size + x.rounder / 8).as_int()
    rest, constant, rising = _in_piece(size, piece, _ERF)
    # Just that is rounded to an even number of eighths, none.
    constant = where(size > 1 / 16, constant, size)
    return (constant + rest * rising).with_sign_of(x)


def tanh(x: Float) -> Float:
    """The hyperbolic tangent. Error: 1.1 units."""
    size = abs(x).at_most(9.5)
    # An exponent's last two bits and three of a fraction.
    piece = (size + 1.0).as_int().shifted_right_unsigned(x.fraction_bits - 3)
    unreached = [_TANH[-1]] * (2 * LANES - len(_TANH))
    pieces = [*_TANH, *unreached]
    # The exponent of 1 is odd in that.
    rest, constant, rising = _in_piece(size, piece, [*pieces[8:], *pieces[:8]])
    return (constant + rest * rising).with_sign_of(x)


def one_plus_tanh(x: Float) -> Float:
    """The sum 1 + tanh(x), also where that would cancel. Error: 2.6 units."""
    return 2.0 / (1.0 + exp(x * -2.0))


def _in_piece(
    x: Float, piece: Int, pieces: Sequence[Sequence[float]]
) -> tuple[Float, Float, Float]:
    """How far x is from a piece's centre, the constant term, and the sum of others divided by that.

    The coefficients are added up by Horner's rule: a CPU that has such tables looks ahead at other
    elements meanwhile.
    """
    centre, constant, *others = (looked_up(piece, column) for column in zip(*pieces, strict=True))
    rest = x - centre
    total = others.pop()
    while others:
        total = total * rest + others.pop()
    return rest, constant, total


FUNCTIONS_IN_PIECES: dict[str, Callable[..., Float]] = {
    "math.erf": erf,
    "math.exp": exp,
    "math.exp2": exp2,
    "math.tanh": tanh,
}
"""By the ops that they are, for vectors of f32 that fill registers of AVX-512."""
