"""erf and erfc."""

import math

from plumbline.elementary_functions.arithmetic import Float, polynomial, where
from plumbline.elementary_functions.exponential import (
    exp2_in_double,
    exp2_power,
    expm1_below_0,
)
from plumbline.elementary_functions.pairs import constant_pair, exact_product

_LOG_ERFC = {
    32: (
        0.12837917,
        0.63661957,
        0.1027763,
        -0.019147776,
        -0.00016960903,
        0.0016757882,
        -0.0006374239,
        0.0001188771,
        -9.389504e-06,
    ),
    64: (
        0.12837916709551256,
        0.636619772367588,
        0.10277260330149095,
        -0.019128446997303247,
        -0.0002091948008098582,
        0.001696207263353066,
        -0.0005901303754939224,
        2.5897250973398198e-05,
        6.443900413890128e-05,
        -2.961087715863557e-05,
        3.2201549526912447e-06,
        3.0780385454773886e-06,
        -1.992216041496611e-06,
        5.438866781957834e-07,
        -1.499644813451835e-09,
        -6.668018603022679e-08,
        3.27680988714478e-08,
        -9.245105856230676e-09,
        1.6425164429559093e-09,
        -1.4124123301302422e-10,
        -1.3112328683981932e-11,
        6.475060211737797e-12,
        -1.0750229049033149e-12,
        1.0209026226629602e-13,
        -5.507256484433682e-15,
        1.3209834179512277e-16,
    ),
}
"""-log(1 - erf(x)) / x - 1 for 0 <= x <= 3.93 or 5.95, in powers of x; relative errors of erf
2^-27.8, 2^-53.8."""

_SCALED_ERFC = {
    32: (
        0.17900115130623967,
        -0.14723241463406506,
        0.09837138201781147,
        -0.0517443283030822,
        0.019921529035847246,
        -0.004473344483862625,
        -0.00020450926720676243,
        0.0005134310734980106,
        -8.03291366161024e-05,
        -5.4118631142332284e-05,
    ),
    64: (
        0.17900115118138996,
        -0.1472324088616473,
        0.09837139285068179,
        -0.05174454365009157,
        0.019921293547984373,
        -0.004471205770861071,
        -0.0002020694401050382,
        0.000505677001973156,
        -9.138492342239014e-05,
        -4.6129654606945836e-05,
        1.7926747324147702e-05,
        5.066414144852248e-06,
        -2.9110647687273286e-06,
        -7.916279176423315e-07,
        4.590230032793266e-07,
        1.6640436219573288e-07,
        -6.473274579327749e-08,
        -3.827390207741678e-08,
        4.147802525079719e-09,
        7.213213824312092e-09,
        1.9774043830384448e-09,
        -3.348353434615015e-10,
        -6.895704699706748e-10,
        -2.34854072455404e-10,
    ),
}
"""exp(x^2) erfc(x) / (1 - t) for 0 <= x <= 10.3 or 27.3, in powers of t = (x - 3) / (x + 3), after
Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x" (1981). Relative
errors 2^-28.7, 2^-54.6."""

_LOG2_OF_E = (1.4426950408889634, 2.0355273740931033e-17)


def erf(x: Float) -> Float:
    """The error function, by the logarithm of its complement. Error: 2.2 units, 2.0 if fused."""
    # From there on it rounds to 1.
    size = abs(x).at_most({32: 3.93, 64: 5.93}[x.bits])
    log = size + size * polynomial(size, _LOG_ERFC[x.bits])
    return (-expm1_below_0(-log)).with_sign_of(x)


def erfc(x: Float) -> Float:
    """The complement 1 - erf(x), as exp(-x^2) times a polynomial. Error: 0.6 units; of f64 5.6."""
    return _erfc_of_single(x) if x.bits == 32 else _erfc_of_double(x)


def _erfc_of_single(x: Float) -> Float:
    """In f64, as an error of the square would grow by its size."""
    # From there on it rounds to 0.
    size = abs(x).at_most(10.3).in_double()
    right = exp2_in_double(size * size * (-1 / math.log(2))) * _scaled_erfc(size, 32)
    return where(x < 0.0, 2.0 - right, right).in_single()


def _erfc_of_double(x: Float) -> Float:
    """With the square in twice the precision, for the same reason."""
    # From there on it rounds to 0.
    size = abs(x).at_most(27.3)
    exponent = exact_product(size, size) * constant_pair(size, *_LOG2_OF_E)
    power = exp2_power(-exponent.high, -exponent.low)
    first, second = power.factors()
    right = power.times(_scaled_erfc(size, 64)) * first * second
    return where(x < 0.0, 2.0 - right, right)


def _scaled_erfc(size: Float, bits: int) -> Float:
    """The product exp(x^2) erfc(x), as exact as a result of so many bits needs it."""
    t = (size - 3.0) / (size + 3.0)
    return (1.0 - t) * polynomial(t, _SCALED_ERFC[bits])
