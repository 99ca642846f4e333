"""The elementary functions by the ops that they are, for f32 and f64."""

from collections.abc import Callable

from plumbline.elementary_functions import (
    error_functions,
    exponential,
    hyperbolic,
    inverse_trigonometric,
    logarithm,
    power,
    remainder,
    trigonometric,
)
from plumbline.elementary_functions.arithmetic import Float

FUNCTIONS: dict[str, Callable[..., Float]] = {
    "math.acos": inverse_trigonometric.acos,
    "math.acosh": hyperbolic.acosh,
    "math.asin": inverse_trigonometric.asin,
    "math.asinh": hyperbolic.asinh,
    "math.atan": inverse_trigonometric.atan,
    "math.atan2": inverse_trigonometric.atan2,
    "math.atanh": hyperbolic.atanh,
    "math.cos": trigonometric.cos,
    "math.cosh": hyperbolic.cosh,
    "math.erf": error_functions.erf,
    "math.erfc": error_functions.erfc,
    "math.exp": exponential.exp,
    "math.exp2": exponential.exp2,
    "math.expm1": exponential.expm1,
    "math.log": logarithm.log,
    "math.log10": logarithm.log10,
    "math.log1p": logarithm.log1p,
    "math.log2": logarithm.log2,
    "math.powf": power.powf,
    "math.sin": trigonometric.sin,
    "math.sinh": hyperbolic.sinh,
    "math.tan": trigonometric.tan,
    "math.tanh": hyperbolic.tanh,
}
"""Those with an error, which each states."""

EXACT_FUNCTIONS: dict[str, Callable[..., Float]] = {"arith.remf": remainder.remf}
