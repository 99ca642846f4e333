"""What the elementary functions are held against, and by how much they may be off it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from plumbline.reference_archive import Tensor


@dataclass(frozen=True)
class Reference:
    """A function of arrays of f64, and the bound of ours of f32, in units in the last place."""

    of_doubles: Callable[..., Tensor]
    bound: float
    bound_if_fused: float | None = None
    """Of code for a CPU that has fused multiply-add, where that makes a difference."""
    operands: int = 1

    def __call__(self, *operands: Tensor) -> Tensor:
        """The function of numbers of f32, in f64."""
        with np.errstate(all="ignore"):
            return self.of_doubles(*(operand.astype(np.float64) for operand in operands))


def _by_torch(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Tensor]:
    return lambda x: function(torch.from_numpy(x)).numpy()


REFERENCES = {
    "acos": Reference(np.arccos, 1.2),
    "acosh": Reference(np.arccosh, 2.0),
    "asin": Reference(np.arcsin, 2.0),
    "asinh": Reference(np.arcsinh, 1.8),
    "atan": Reference(np.arctan, 1.3),
    "atan2": Reference(np.arctan2, 2.0, operands=2),
    "atanh": Reference(np.arctanh, 2.2),
    "cos": Reference(np.cos, 2.5, 1.6),
    "cosh": Reference(np.cosh, 1.6),
    "erf": Reference(_by_torch(torch.erf), 1.9),
    "erfc": Reference(_by_torch(torch.erfc), 0.6),
    "exp": Reference(np.exp, 1.1),
    "exp2": Reference(np.exp2, 1.1),
    "expm1": Reference(np.expm1, 1.5),
    "log": Reference(np.log, 0.9),
    "log10": Reference(np.log10, 1.2),
    "log1p": Reference(np.log1p, 1.6),
    "log2": Reference(np.log2, 1.4),
    "powf": Reference(np.power, 0.6, operands=2),
    "sin": Reference(np.sin, 2.5, 1.6),
    "sinh": Reference(np.sinh, 1.7),
    "tan": Reference(np.tan, 3.5, 2.5),
    "tanh": Reference(np.tanh, 1.6),
}
"""By the names of the ops of the math dialect."""

OPERANDS = {name: reference.operands for name, reference in REFERENCES.items()}
"""For each of them how many operands it has."""


def errors(actual: Tensor, exact: Tensor) -> Tensor:
    """How far numbers of f32 are off numbers of f64, in units in the last place of f32.

    Infinite where one of the two is infinite, a NaN or a zero, and the other is not the same.
    """
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        # One over the unit: that of the least normal number holds for the subnormal ones too.
        exponents = np.maximum(exact.view(np.int64) >> 52 & 0x7FF, 1023 - 126)
        per_unit = ((2 * 1023 + 23 - exponents) << 52).view(np.float64)
        result: Tensor = np.abs((actual.astype(np.float64) - exact) * per_unit)
    special_values = ~np.isfinite(rounded) | (exact == 0)
    if special_values.any():
        same = actual.view(np.int32) == rounded.view(np.int32)
        same |= np.isnan(actual) & np.isnan(rounded)
        result[special_values] = np.where(same, 0, np.inf)[special_values]
    result[np.isnan(result)] = np.inf
    return result


def worst(name: str, actual: Tensor, *operands: Tensor) -> tuple[float, tuple[float, ...]]:
    """The greatest error of a function, in units in the last place, and of which operands."""
    found = errors(actual, REFERENCES[name](*operands))
    index = int(np.argmax(found))
    return float(found[index]), tuple(operand[index] for operand in operands)
