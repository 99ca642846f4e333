"""How far one tensor is from another, in the words of the generated test's report.

The same rule as `tools/aot/execute_test/comparison.cpp` and `torch.testing.assert_close` with
`equal_nan`: an element agrees where |actual - expected| <= atol + rtol |expected|.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from plumbline.archives.reference_archive import Tensor
from plumbline.signature import element_type
from plumbline.signature.element_type import ElementType
from plumbline.signature.signature import TensorSpec


@dataclass(frozen=True)
class Tolerance:
    """What two elements may differ by."""

    rtol: float
    atol: float

    @classmethod
    def default(cls, array: Tensor) -> "Tolerance":
        """What `torch.testing.assert_close` allows for the dtype of `array`."""
        type_ = element_type.from_numpy_dtype(array.dtype)
        return cls(type_.rtol, type_.atol)

    def strictest(self, other: "Tolerance") -> "Tolerance":
        """What both of them allow."""
        return Tolerance(min(self.rtol, other.rtol), min(self.atol, other.atol))


@dataclass(frozen=True)
class Element:
    """One element of two tensors."""

    index: tuple[int, ...]
    actual: str
    expected: str
    absolute: float
    relative: float
    """The absolute difference in units of the expected value."""
    ulp: int | None
    """How many representable values lie between the two, one of them included; None where there is
    no such number, as for integers and NaN."""

    def __str__(self) -> str:
        ulp = "" if self.ulp is None else f", ULP {self.ulp}"
        return (
            f"actual {self.actual}, expected {self.expected}\n"
            f"absolute difference {self.absolute:.6g}, relative {self.relative:.6g}{ulp}"
        )


@dataclass(frozen=True)
class Comparison:
    """What comes of comparing two tensors."""

    type: str
    """Element type and shape of the expected one, `f32[4, 8]`."""
    tolerance: Tolerance
    elements: int
    differing: int
    """How many elements differ by more than the tolerance; all where the types do."""
    worst: Element | None
    """The element that is farthest off in terms of what is allowed; None where all are equal."""
    excess: float
    """How many times what is allowed that element is off: over 1 if it differs. Where nothing is
    allowed, the distance itself; infinity where an infinity or a NaN meets something else."""
    actual_type: str | None = None
    """Element type and shape of the other one where they are not the same."""

    @property
    def agrees(self) -> bool:
        """Whether no element differs by more than is allowed."""
        return self.differing == 0 and self.actual_type is None

    def __str__(self) -> str:
        if self.actual_type is not None:
            return f"is {self.actual_type}, expected {self.type}"
        if self.worst is None:
            return f"{self.type}: no difference"
        bounds = f"rtol {self.tolerance.rtol:.6g}, atol {self.tolerance.atol:.6g}"
        if self.agrees:
            return (
                f"{self.type}: agrees; largest error {self.worst.absolute:.6g} at "
                f"{list(self.worst.index)}, {self.excess:.2g} of what is allowed ({bounds})"
            )
        first, second = str(self.worst).splitlines()
        return (
            f"{self.type}: {self.differing} of {self.elements} elements differ ({bounds})\n"
            f"  worst at {list(self.worst.index)}: {first}\n"
            f"  {second}"
        )


def compare(actual: Tensor, expected: Tensor, tolerance: Tolerance | None = None) -> Comparison:
    """Compares two tensors as the reference archive stores them.

    Without a tolerance, it is the default of the expected one's element type.
    """
    tolerance = tolerance or Tolerance.default(expected)
    type_ = element_type.from_numpy_dtype(expected.dtype)
    types = [
        str(TensorSpec(element_type.from_numpy_dtype(array.dtype), array.shape))
        for array in (actual, expected)
    ]
    if types[0] != types[1]:
        size = expected.size
        return Comparison(types[1], tolerance, size, size, None, math.inf, types[0])
    with np.errstate(all="ignore"):
        distance = _distance(actual, expected)
        magnitude = np.abs(to_double(expected))
        allowed = tolerance.atol + tolerance.rtol * magnitude
        excess = distance if tolerance == Tolerance(0, 0) else distance / allowed
    finite = np.isfinite(distance)
    excess = np.where(distance == 0, 0, np.where(finite, excess, math.inf))
    differing = int(np.count_nonzero((distance != 0) & ~(finite & (distance <= allowed))))
    if not np.any(excess):
        return Comparison(types[1], tolerance, expected.size, differing, None, 0.0)
    place = np.unravel_index(int(np.argmax(excess)), expected.shape)
    with np.errstate(all="ignore"):
        worst = Element(
            index=tuple(int(axis) for axis in place),
            actual=_text(_numbers(actual)[place], type_),
            expected=_text(_numbers(expected)[place], type_),
            absolute=float(distance[place]),
            relative=float(distance[place] / magnitude[place]),
            ulp=_ulp(actual[place], expected[place], type_),
        )
    return Comparison(types[1], tolerance, expected.size, differing, worst, float(excess[place]))


def to_double(array: Tensor) -> Tensor:
    """The elements of `array` in double precision."""
    numbers = _numbers(array)
    return numbers.astype(np.complex128 if numbers.dtype.kind == "c" else np.float64)


def _numbers(array: Tensor) -> Tensor:
    """`array` in a dtype that numpy computes in."""
    return element_type.from_numpy_dtype(array.dtype).in_numpy(array)


def _distance(actual: Tensor, expected: Tensor) -> Tensor:
    """|actual - expected|: zero for what counts as equal, not finite where only one is."""
    left, right = _numbers(actual), _numbers(expected)
    if left.dtype.kind in "fc":
        left, right = to_double(actual), to_double(expected)
        equal = (left == right) | (np.isnan(left) & np.isnan(right))
        return np.where(equal, 0, np.abs(left - right))
    # In 64 bits without a sign, the difference of the larger and the smaller never overflows.
    larger, smaller = np.maximum(left, right), np.minimum(left, right)
    return (larger.astype(np.uint64) - smaller.astype(np.uint64)).astype(np.float64)


def _text(value: Any, type_: ElementType) -> str:
    if value.dtype.kind == "c":
        parts = [_text(part, type_) for part in (value.real, value.imag)]
        return f"{parts[0]}{'' if parts[1].startswith('-') else '+'}{parts[1]}j"
    if value.dtype.kind != "f":
        return str(value).lower()
    # So many digits tell any two values apart: 1 + ceil(p log10(2)) for p bits of precision.
    if type_.bits is not None:
        precision = type_.bits.fraction + 1
    else:
        precision = 8 if type_.name == "bf16" else np.finfo(value.dtype).nmant + 1
    return f"{value:.{1 + math.ceil(precision * math.log10(2))}g}"


def _ulp(actual: Any, expected: Any, type_: ElementType) -> int | None:
    values = [_numbers(np.asarray(value)) for value in (actual, expected)]
    if values[0].dtype.kind != "f" or any(np.isnan(value) for value in values):
        return None
    bits = 8 * type_.numpy_dtype.itemsize
    ranks = []
    for value in (actual, expected):
        # Without its sign, the bits of a floating-point value are its rank among the magnitudes.
        rank = int.from_bytes(value.tobytes(), "little")
        sign = rank >> (bits - 1)
        magnitude = rank & ~(1 << (bits - 1))
        ranks.append(-magnitude if sign else magnitude)
    return abs(ranks[0] - ranks[1])
