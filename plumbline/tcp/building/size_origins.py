"""Where sizes come from."""

from collections.abc import Iterator

from torch_mlir import ir

from plumbline.bindings.walk import constant_integer, defining_operation
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.ops.contraction import BatchMatmulOp, MatmulOp
from plumbline.tcp.ops.data_movement import (
    BroadcastOp,
    IotaOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from plumbline.tcp.ops.elementwise import ElementwiseOp
from plumbline.tcp.ops.indexing import GatherNdOp, GatherOp, UpdateOp
from plumbline.tcp.ops.reduction import ReduceOp, ScanOp
from plumbline.tcp.ops.symbolic_shape import BindSymbolicShapeOp, SymbolicIntOp
from plumbline.tcp.shapes import DYNAMIC

Place = tuple[ir.Value, int]
"""An axis of a tensor, whose size is meant."""

_KEEP_SIZES = ("builtin.unrealized_conversion_cast", "tensor.cast")
"""Ops, beside those of TCP, whose result has the sizes of its operand."""


def origin_of_dimension(dim: ir.Operation) -> Place | None:
    """Where a `tensor.dim` is best read: of a symbol, at the first argument that has it."""
    found = origin(dim.results[0])
    if isinstance(found, tuple):
        return found
    if isinstance(found, int):
        return None
    owner = defining_operation(found)
    if owner is None or owner.name != SymbolicIntOp.OPERATION_NAME:
        return None
    arguments = {
        use.owner.operands[0]: None
        for use in found.uses
        if isinstance(use.owner.opview, BindSymbolicShapeOp)
        and isinstance(use.owner.operands[0].owner, ir.Block)
    }
    places = [
        (argument, axis)
        for argument in sorted(arguments, key=lambda value: ir.BlockArgument(value).arg_number)
        for axis in range(argument.type.rank)
        if (symbol := _symbol(argument, axis)) is not None and symbol == found
    ]
    return places[0] if places else None


def origin(size: Size) -> Size | Place:
    """What a size is: a number, a value, or the size of a tensor along an axis.

    It is followed as far up as can be told.
    """
    if isinstance(size, int):
        return size
    number = constant_integer(size)
    if number is not None:
        return number
    owner = defining_operation(size)
    if owner is None or owner.name != "tensor.dim":
        return size
    axis = constant_integer(owner.operands[1])
    return size if axis is None else origin_of_place((owner.operands[0], axis))


def origin_of_place(place: Place) -> Size | Place:
    """The same of the size of a tensor along an axis."""
    while True:
        tensor, axis = place
        if tensor.type.shape[axis] != DYNAMIC:
            return int(tensor.type.shape[axis])
        above = _above(tensor, axis)
        match above:
            case None:
                return place
            case (_, _):
                place = above
            case _:
                return origin(above)


def _above(tensor: ir.Value, axis: int) -> Size | Place | None:
    """What the size of a tensor is by the op that makes it, or by what is said of an argument."""
    op = defining_operation(tensor)
    if op is None:
        return _symbol(tensor, axis)
    operands, view = list(op.operands), op.opview
    match view:
        case TransposeOp():
            return operands[0], view.permutation[axis].value
        case BroadcastOp():
            stretched = [entry.value for entry in view.axes]
            if axis in stretched:
                return operands[1 + stretched.index(axis)]
            return operands[0], axis
        case ElementwiseOp() | ReverseOp() | ScanOp() | UpdateOp():
            return operands[0], axis
        case SliceOp():
            return view.sizes[axis]
        case ReduceOp():
            reduced = {entry.value for entry in view.axes}
            kept = [each for each in range(operands[0].type.rank) if each not in reduced]
            return operands[0], kept[axis]
        case MatmulOp() | BatchMatmulOp():
            return operands[axis == tensor.type.rank - 1], axis
        case GatherOp():
            return operands[1], axis
        case GatherNdOp():
            # The last axis of the indices has those of a place, whose axes are gone.
            rows, depth = view.indices.type.rank - 1, view.indices.type.shape[-1]
            return (view.indices, axis) if axis < rows else (view.input, axis - rows + depth)
        case IotaOp():
            return operands[[*_dynamic(tensor)].index(axis)]
    match op.name:
        case "tensor.expand_shape":
            return operands[1 + [*_dynamic(tensor)].index(axis)]
        case "tensor.collapse_shape":
            merged = [entry.value for entry in ir.ArrayAttr(op.attributes["reassociation"])[axis]]
            larger = [each for each in merged if operands[0].type.shape[each] != 1]
            return (operands[0], larger[0]) if len(larger) == 1 else None
        case "torch_c.to_builtin_tensor":
            # What is not converted yet has one for each op that is.
            casts = (use.owner for use in operands[0].uses if use.owner.name == op.name)
            first = next(casts).results[0]
            return (first, axis) if first != tensor else None
        case name if name in _KEEP_SIZES and len(operands) == 1:
            return operands[0], axis
    return None


def _dynamic(tensor: ir.Value) -> Iterator[int]:
    return (axis for axis, size in enumerate(tensor.type.shape) if size == DYNAMIC)


def _symbol(argument: ir.Value, axis: int) -> ir.Value | None:
    """The symbol that an argument's size is said to be, if it is just that."""
    for use in argument.uses:
        if isinstance(use.owner.opview, BindSymbolicShapeOp):
            expression = use.owner.opview.shape_expressions.value.results[axis]
            if isinstance(expression, ir.AffineSymbolExpr):
                return use.owner.operands[1 + expression.position]
    return None
