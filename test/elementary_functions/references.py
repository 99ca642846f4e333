"""What the elementary functions are held against, and by how much they may be off it."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import torch

from plumbline.archives.reference_archive import Tensor


@dataclass(frozen=True)
class Reference:
    """A function of arrays of numbers, and the bound of ours, in units in the last place."""

    of_numbers: Callable[..., Tensor]
    bound: float
    bound_if_fused: float | None = None
    """Of code for a CPU that has fused multiply-add, where that makes a difference."""
    operands: int = 1
    bound_of_f64: float | None = None
    """Of f64, where that is another."""

    def bound_for(self, type_: str, *, fused: bool) -> float:
        """That of such code, for numbers of "f32" or "f64"."""
        if type_ == "f64" and self.bound_of_f64 is not None:
            return self.bound_of_f64
        return (self.bound_if_fused if fused else None) or self.bound


_EXTENDED = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}
"""In what the numbers are computed that those of a type are held against."""


def _by_torch(function: Callable[[torch.Tensor], torch.Tensor], x: Tensor) -> Tensor:
    result: Tensor = function(torch.from_numpy(x)).numpy()
    return result


def _erf(x: Tensor) -> Tensor:
    if x.dtype == np.float64:
        # For numbers of f32: fast, and as exact as they need it.
        return _by_torch(torch.erf, x)
    # The series of positive terms 2 / sqrt(pi) exp(-x^2) 2^n x^(2n+1) / (1 * 3 * 5 ... (2n+1)).
    size = np.minimum(np.abs(x), 7)
    term = size * np.exp(-(size**2)) * 2 / np.sqrt(np.arccos(x.dtype.type(-1)))
    total = term
    for odd in range(3, 400, 2):
        term = term * 2 * size**2 / odd
        total = total + term
    result: Tensor = np.copysign(total, x)
    return result


def of_mpmath(function: Callable[..., Any], bits: int = 64) -> Callable[..., Tensor]:
    """A function of arrays of long doubles that mpmath computes with so many bits, one by one."""

    @functools.cache
    def of_number(*operands: float) -> np.longdouble:
        with mpmath.workprec(bits):
            result = function(*map(mpmath.mpf, operands))
            if not mpmath.isfinite(result):
                return np.longdouble(float(result))
            # No more bits than a long double has.
            with mpmath.workprec(64):
                mantissa, exponent = (+result).man_exp
            # What is less is 0, and C's int has no such exponents.
            size = np.ldexp(np.longdouble(mantissa), max(exponent, -(1 << 20)))
            signed: np.longdouble = np.copysign(size, float(mpmath.sign(result)))
            return signed

    def of_arrays(*operands: Tensor) -> Tensor:
        doubles = [operand.astype(np.float64).tolist() for operand in operands]
        return np.array([of_number(*numbers) for numbers in zip(*doubles, strict=True)])

    return of_arrays


_erfc_of_doubles = of_mpmath(mpmath.erfc)


def _erfc(x: Tensor) -> Tensor:
    if x.dtype == np.float64:
        return _by_torch(torch.erfc, x)
    # Beyond these it rounds to 2 and 0.
    return _erfc_of_doubles(np.clip(x, -7, 28))


REFERENCES = {
    "acos": Reference(np.arccos, 1.3),
    "acosh": Reference(np.arccosh, 2.6),
    "asin": Reference(np.arcsin, 2.2),
    "asinh": Reference(np.arcsinh, 2.1),
    "atan": Reference(np.arctan, 1.4, bound_of_f64=1.7),
    "atan2": Reference(np.arctan2, 2.0, operands=2),
    "atanh": Reference(np.arctanh, 2.3),
    "cos": Reference(np.cos, 2.6, 1.6, bound_of_f64=0.8),
    "cosh": Reference(np.cosh, 1.6),
    "erf": Reference(_erf, 2.2, 2.0),
    "erfc": Reference(_erfc, 0.6, bound_of_f64=5.6),
    "exp": Reference(np.exp, 1.1),
    "exp2": Reference(np.exp2, 1.2),
    "expm1": Reference(np.expm1, 2.0),
    "log": Reference(np.log, 1.0),
    "log10": Reference(np.log10, 1.4),
    "log1p": Reference(np.log1p, 1.6),
    "log2": Reference(np.log2, 1.6),
    "powf": Reference(np.power, 0.6, operands=2, bound_of_f64=1.4),
    "sin": Reference(np.sin, 2.6, 1.6, bound_of_f64=0.8),
    "sinh": Reference(np.sinh, 1.8),
    "tan": Reference(np.tan, 3.7, 2.6, bound_of_f64=2.0),
    "tanh": Reference(np.tanh, 1.6),
}
"""By the names of the ops of the math dialect."""

OPERANDS = {name: reference.operands for name, reference in REFERENCES.items()}
"""For each of them how many operands it has."""


def worst(
    name: str,
    actual: Tensor,
    *operands: Tensor,
    of_numbers: Callable[..., Tensor] | None = None,
) -> tuple[float, tuple[float, ...]]:
    """The greatest error of a function, in units in the last place, and of which operands.

    Held against `of_numbers`, or else what `REFERENCES` has.
    Infinite where a result is infinite, a NaN or a zero, and should not be, or is none of that and
    should be.
    """
    extended = [operand.astype(_EXTENDED[operand.dtype]) for operand in operands]
    with np.errstate(all="ignore"):
        exact = (of_numbers or REFERENCES[name].of_numbers)(*extended)
        expected = exact.astype(actual.dtype)
        unit = np.spacing(np.abs(expected))
        errors: Tensor = np.abs(actual.astype(exact.dtype) - exact) / unit
    special = ~np.isfinite(expected) | (exact == 0)
    if special.any():
        same = (actual == expected) & (np.signbit(actual) == np.signbit(expected))
        same |= np.isnan(actual) & np.isnan(expected)
        errors[special] = np.where(same, 0, np.inf)[special]
    errors[np.isnan(errors)] = np.inf
    index = int(np.argmax(errors))
    return float(errors[index]), tuple(operand[index] for operand in operands)
