"""Tensors of one number everywhere, or around which there is another one: what windows see of them.

An average over windows that reach into padding is a sum divided by how many elements a window has,
which frameworks count as the sum of a tensor of ones.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir

from plumbline.bindings.walk import constant_integer, defining_operation
from plumbline.signature.element_type import from_name
from plumbline.stablehlo_to_tcp.bodies import constant
from plumbline.stablehlo_to_tcp.pattern import tensor
from plumbline.tcp.building.shapes import broadcast_to
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops.data_movement import ConstOp
from plumbline.tcp.shapes import DYNAMIC

_VIEWS = frozenset({"tcp.broadcast", "tensor.collapse_shape", "tensor.expand_shape"})
"""Ops whose results have the elements of their first operands, and no others."""

_MOST = 1 << 14
"""The elements that windows may have along their own dimensions."""


_DTYPES = ("f32", "f64")
"""Of the sums that become constants."""


@dataclass(frozen=True)
class Uniform:
    """A tensor of one number, between so many zeros before and behind along each dimension."""

    number: float
    sizes: Sequence[int]
    """Without the zeros."""
    low: Sequence[int]
    high: Sequence[int]


def uniform(operand: Tensor) -> Uniform | None:
    """What a tensor is, if that is known, and so are its sizes."""
    if DYNAMIC in operand.type.sizes:
        return None
    nothing = [0] * operand.type.rank
    op = defining_operation(operand.value)
    if op is not None and op.name == "tcp.pad":
        inner, value, *amounts = op.operands
        known = [constant_integer(amount) for amount in amounts]
        around = uniform(tensor(inner))
        if around is None or None in known or constant(tensor(value)) != 0:
            return None
        numbers = [number for number in known if number is not None]
        rank = operand.type.rank
        if any((*around.low, *around.high)) or min(numbers) < 0:
            return None
        return Uniform(around.number, around.sizes, numbers[:rank], numbers[rank:])
    while op is not None and op.name in _VIEWS:
        op = defining_operation(op.operands[0])
    if op is None or op.name != ConstOp.OPERATION_NAME:
        return None
    literal = op.attributes["value"]
    if not isinstance(literal, ir.DenseFPElementsAttr) or not literal.is_splat:
        return None
    number = float(literal.get_splat_value().value)
    return Uniform(number, operand.type.sizes, nothing, nothing)


def summed(
    given: Uniform,
    result: TensorType,
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    low: Sequence[int],
) -> Tensor | None:
    """The sums of the elements in windows, of a padding with zeros of their own, if they are few.

    They are products of how many elements there are along each dimension.
    """
    counts = [
        _inside(
            count, kernel[axis], strides[axis], dilations[axis], low[axis] + given.low[axis], size
        )
        for axis, (count, size) in enumerate(zip(result.sizes, given.sizes, strict=True))
    ]
    # Along others there is one count.
    narrow = [each if len(set(each.tolist())) > 1 else each[:1] for each in counts]
    if math.prod(map(len, narrow)) > _MOST or result.dtype not in _DTYPES:
        return None
    numbers = np.full([1] * len(narrow), given.number)
    for axis, each in enumerate(narrow):
        numbers = numbers * each.reshape(
            [-1 if other == axis else 1 for other in range(len(narrow))]
        )
    type_ = TensorType(tuple(numbers.shape), result.dtype)
    elements = numbers.astype(from_name(result.dtype).numpy_dtype)
    value = ConstOp(value=ir.DenseElementsAttr.get(elements, type=type_.builtin())).out
    return broadcast_to(Tensor(value, type_), result.sizes)


def _inside(
    count: int, kernel: int, stride: int, dilation: int, before: int, size: int
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """How many elements each of so many windows has, of which the first begins `before` them."""
    begins = np.arange(count)[:, None] * stride - before
    places = begins + np.arange(kernel)[None, :] * dilation
    inside = (places >= 0) & (places < size)
    counts: np.ndarray[Any, np.dtype[np.float64]] = inside.sum(1, dtype=np.float64)
    return counts
