"""Sizes of tensors: numbers where they are known, values of type index where not.

Arithmetic on numbers is done at once, so that only what is dynamic costs ops.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.torch_to_tcp.pattern import Tensor, Unsupported, number, tensor
from plumbline.torch_to_tcp.torch_types import DYNAMIC

Size: TypeAlias = int | ir.Value

_TO_I64 = "torch_c.to_i64"


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


def evaluate(torch_int: ir.Value) -> Size:
    """The size that an int of the Torch dialect is."""
    owner = torch_int.owner
    if isinstance(owner, ir.Operation | ir.OpView):
        if owner.name == "torch.constant.int":
            return int(ir.IntegerAttr(owner.attributes["value"]).value)
        if owner.name in _ARITHMETIC:
            left, right = owner.operands
            return _ARITHMETIC[owner.name](evaluate(left), evaluate(right))
        if owner.name == "torch.aten.size.int":
            try:
                operand = tensor(owner.operands[0])
                return of(operand, int(number(owner.operands[1]) or 0) % operand.type.rank)
            except Unsupported:
                pass
    wide = ir.Operation.create(
        _TO_I64, results=[ir.IntegerType.get_signless(64)], operands=[torch_int]
    ).result
    return arith.index_cast(ir.IndexType.get(), wide)


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


_ARITHMETIC: dict[str, Callable[[Size, Size], Size]] = {
    "torch.aten.add.int": add,
    "torch.aten.mul.int": multiply,
    "torch.aten.sub.int": subtract,
}
