"""Sizes and places that a program computes as tensors of integers.

Where such a tensor is put together from constants and sizes of other tensors, as exporters do it,
it is told which size an element is: then types stay static and equal sizes are seen to be equal.
"""

from collections.abc import Callable, Mapping
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp.pattern import tensor, tensor_type
from plumbline.stablehlo_to_tcp.size_divisions import division_by_constant
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.ops.data_movement import ConcatOp, ConstOp
from plumbline.tcp.ops.elementwise import AddOp, CastOp, MulOp, SelectOp, SubOp
from plumbline.tcp.shapes import DYNAMIC

_ARITHMETIC: Mapping[str, Callable[[Size, Size], Size]] = {
    AddOp.OPERATION_NAME: size_arithmetic.add,
    MulOp.OPERATION_NAME: size_arithmetic.multiply,
    SubOp.OPERATION_NAME: size_arithmetic.subtract,
}


def element(value: ir.Value, place: int = 0) -> Size:
    """The integer or index at a place of a tensor, whose elements are counted row by row.

    Those of a tensor of a higher rank than 1 have to be known as it is converted.

    Raises:
      Unsupported: it is no such tensor.
    """
    is_index = _is_of_indices(value)
    operand = value if is_index else tensor(value).value
    known = _known(operand, place)
    if known is not None:
        return known
    if operand.type.rank > 1:
        raise Unsupported("sizes in rows that are not put together from constants and sizes")
    places = [size_arithmetic.value(place)] * operand.type.rank
    number = tensor_dialect.extract(operand, places)
    if is_index:
        return number
    unsigned = tensor_type(value).dtype[0] == "u"
    return (arith.index_castui if unsigned else arith.index_cast)(ir.IndexType.get(), number)


def elements(value: ir.Value) -> list[Size]:
    """The integers of a tensor, row by row.

    Raises:
      Unsupported: how many they are is known at run time only.
    """
    if DYNAMIC in value.type.shape:
        raise Unsupported("a shape whose rank is computed at run time")
    return [element(value, place) for place in range(prod(value.type.shape))]


def _is_of_indices(value: ir.Value) -> bool:
    return isinstance(value.type.element_type, ir.IndexType)


def _known(value: ir.Value, place: int) -> Size | None:
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    name = owner.name
    if name in (ConstOp.OPERATION_NAME, "arith.constant"):
        literal = owner.attributes["value"]
        if not isinstance(literal, ir.DenseIntElementsAttr):
            return None
        return int(literal.get_splat_value().value if literal.is_splat else literal[place])
    if name == ConcatOp.OPERATION_NAME:
        if owner.opview.dim.value != 0:
            return None
        for part in owner.operands:
            if DYNAMIC in part.type.shape:
                return None
            size = prod(part.type.shape)
            if place < size:
                return _known(part, place)
            place -= size
    if name in ("tensor.expand_shape", "tensor.collapse_shape"):
        # From a rank to another; what has more elements is none of a shape's.
        source = owner.operands[0]
        return _known(source, place) if source.type.rank <= 1 else None
    if name in (CastOp.OPERATION_NAME, "tensor.cast"):
        source = owner.operands[0]
        return _known(source, place) if _is_integer(source) else None
    if name == "tensor.from_elements":
        return _index(owner.operands[place])
    if name in _ARITHMETIC:
        left, right = (_known(operand, place) for operand in owner.operands)
        if left is not None and right is not None:
            return _ARITHMETIC[name](left, right)
    if name == SelectOp.OPERATION_NAME and value.type.rank == 0:
        return _divided(value)
    return None


def _divided(value: ir.Value) -> Size | None:
    found = division_by_constant(value)
    if found is None:
        return None
    dividend, divisor, is_remainder = found
    size = _known(dividend, 0)
    if size is None:
        return None
    quotient = size_arithmetic.divide_down(size, divisor)
    if not is_remainder:
        return quotient
    return size_arithmetic.subtract(size, size_arithmetic.multiply(quotient, divisor))


def _is_integer(value: ir.Value) -> bool:
    return isinstance(value.type.element_type, ir.IntegerType)


def _index(value: ir.Value) -> Size | None:
    """The index that an integer was made of."""
    owner = value.owner
    if not isinstance(owner, ir.Block):
        if owner.name == "arith.constant":
            return int(ir.IntegerAttr(owner.attributes["value"]).value)
        if owner.name == "arith.index_cast":
            return owner.operands[0]
    return value if isinstance(value.type, ir.IndexType) else None
