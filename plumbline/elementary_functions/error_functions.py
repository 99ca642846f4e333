"""erf and erfc."""

import math

from plumbline.elementary_functions.arithmetic import Float, polynomial, where
from plumbline.elementary_functions.exponential import exp2_in_double, moderate_expm1

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

_SCALED_ERFC = (
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
)
"""exp(x^2) erfc(x) / (1 - t) for 0 <= x <= 10.3, in powers of t = (x - 3) / (x + 3), after Shepherd
and Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x" (1981). Relative error
2^-28.7."""


def erf(x: Float) -> Float:
    """The error function, by the logarithm of its complement. Error: 2.0 units."""
    # From there on it rounds to 1.
    size = abs(x).at_most({32: 3.93, 64: 5.93}[x.bits])
    log = size + size * polynomial(size, _LOG_ERFC[x.bits])
    return (-moderate_expm1(-log)).with_sign_of(x)


def erfc(x: Float) -> Float:
    """The complement 1 - erf(x), as exp(-x^2) times a polynomial. Error: 0.6 units.

    In f64, as an error of the square would grow by its size.
    """
    # From there on it rounds to 0.
    size = abs(x).at_most(10.3).in_double()
    t = (size - 3.0) / (size + 3.0)
    factor = (1.0 - t) * polynomial(t, _SCALED_ERFC)
    right = exp2_in_double(size * size * (-1 / math.log(2))) * factor
    return where(x < 0.0, 2.0 - right, right).in_single()
