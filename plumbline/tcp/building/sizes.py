"""Sizes of tensors: numbers where they are known, values of type index where not.

Arithmetic on numbers is done at once, so that only what is dynamic costs ops.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.tcp.building.tensors import Tensor
from plumbline.tcp.shapes import DYNAMIC

Size: TypeAlias = int | ir.Value


def value(size: Size) -> ir.Value:
    """A size as a value of type index."""
    return arith.constant(ir.IndexType.get(), size) if isinstance(size, int) else size


def values(sizes: Sequence[Size]) -> list[ir.Value]:
    """Sizes as values of type index."""
    return [value(size) for size in sizes]


def static(size: Size) -> int:
    """A size as it stands in a type."""
    return size if isinstance(size, int) else DYNAMIC


def of(operand: Tensor, axis: int) -> Size:
    """The size of a tensor along an axis."""
    size = operand.type.sizes[axis]
    return tensor_dialect.dim(operand.value, value(axis)) if size == DYNAMIC else size


def all_of(operand: Tensor) -> list[Size]:
    """The sizes of a tensor."""
    return [of(operand, axis) for axis in range(operand.type.rank)]


def add(left: Size, right: Size) -> Size:
    """The sum."""
    if left == 0:
        return right
    return left if right == 0 else _fold(left, right, lambda a, b: a + b, arith.addi)


def subtract(left: Size, right: Size) -> Size:
    """The difference."""
    return left if right == 0 else _fold(left, right, lambda a, b: a - b, arith.subi)


def multiply(left: Size, right: Size) -> Size:
    """The product."""
    if left == 1:
        return right
    return left if right == 1 else _fold(left, right, lambda a, b: a * b, arith.muli)


def divide_up(left: Size, right: Size) -> Size:
    """The quotient, rounded up; `right` is positive."""
    return left if right == 1 else _fold(left, right, lambda a, b: -(-a // b), arith.ceildivsi)


def divide_down(left: Size, right: Size) -> Size:
    """The quotient, rounded down; `right` is positive."""
    return left if right == 1 else _fold(left, right, lambda a, b: a // b, arith.floordivsi)


def least(left: Size, right: Size) -> Size:
    """The lesser of two."""
    return _fold(left, right, min, arith.minsi)


def greatest(left: Size, right: Size) -> Size:
    """The greater of two."""
    return _fold(left, right, max, arith.maxsi)


def product(sizes: Sequence[Size]) -> Size:
    """The product of all."""
    result: Size = 1
    for size in sizes:
        result = multiply(result, size)
    return result


def _fold(
    left: Size,
    right: Size,
    on_numbers: Callable[[int, int], int],
    on_values: Callable[[ir.Value, ir.Value], ir.Value],
) -> Size:
    if isinstance(left, int) and isinstance(right, int):
        return on_numbers(left, right)
    return on_values(value(left), value(right))
