"""How many elements tensors have along their axes, as values of type index."""

from collections.abc import Iterator, Mapping

from torch_mlir import ir
from torch_mlir.dialects import memref, tensor

from plumbline.bindings.walk import defining_operation
from plumbline.linalg_to_kernels.building import index, product
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    GENERIC,
    Computation,
    reassociation,
)


def size_of(value: ir.Value, axis: int, given: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """Builds the size of a tensor along an axis.

    `given` are values to use in place of others: for tensors these are tensors or buffers.
    """
    type_ = ir.RankedTensorType(value.type)
    if type_.shape[axis] != DYNAMIC:
        return index(type_.shape[axis])
    if value in given:
        other = given[value]
        if isinstance(other.type, ir.MemRefType):
            return memref.dim(other, index(axis))
        return tensor.dim(other, index(axis))
    told = _told_by(value, axis)
    if told is None:
        raise NotImplementedError(f"the size of {value}")
    if isinstance(told, list):
        return product([size_of(other, at, given) for other, at in told])
    return given.get(told, told)


def told_size(value: ir.Value, axis: int) -> ir.Value:
    """Builds the size of a tensor along an axis, of which no more is read than it takes to know it.

    To ask a tensor that is computed would be one use of it more: it is computed for that, if it has
    no other, and does not become one kernel with what uses it.
    """
    size = ir.RankedTensorType(value.type).shape[axis]
    if size != DYNAMIC:
        return index(size)
    told = _told_by(value, axis)
    if told is None:
        return tensor.dim(value, index(axis))
    if isinstance(told, list):
        return product([told_size(other, at) for other, at in told])
    return told


def _told_by(value: ir.Value, axis: int) -> ir.Value | list[tuple[ir.Value, int]] | None:
    """What tells the size of a tensor along an axis that its type does not tell.

    It is a number, or the axes of other tensors of whose sizes it is the product; None where there
    is nothing but the tensor.
    """
    op = defining_operation(value)
    if op is None:
        return None
    before = [*ir.RankedTensorType(value.type).shape[:axis]].count(DYNAMIC)
    match op.name:
        case "tensor.empty":
            return op.operands[before]
        case "tensor.cast":
            return [(op.operands[0], axis)]
        case "tensor.expand_shape":
            return op.operands[1 + before]
        case "tensor.extract_slice":
            offsets = ir.DenseI64ArrayAttr(op.attributes["static_offsets"])
            return op.operands[1 + [*offsets].count(DYNAMIC) + before]
        case "tensor.collapse_shape":
            return [(op.operands[0], inner) for inner in reassociation(op)[axis]]
        case name if name == GENERIC:
            inits = list(op.operands)[len(op.operands) - len(op.results) :]
            return [(inits[list(op.results).index(value)], axis)]
    return None


def loop_size(computation: Computation, loop: int, given: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """Builds how often a loop of a computation runs."""
    if computation.sizes[loop] != DYNAMIC:
        return index(computation.sizes[loop])
    size = next(loop_sizes(computation, loop, given), None)
    if size is None:
        raise NotImplementedError(f"the size of loop {loop} of {computation.op.name}")
    return size


def loop_sizes(
    computation: Computation, loop: int, given: Mapping[ir.Value, ir.Value]
) -> Iterator[ir.Value]:
    """Builds the same as the size of each operand that the loop runs along."""
    # The last operands are results, which have sizes wherever loops do.
    operands = list(zip(computation.op.operands, computation.maps, strict=True))
    for operand, map_ in reversed(operands):
        for axis, expression in enumerate(map_.results):
            dim = expression.maybe_downcast()
            if isinstance(dim, ir.AffineDimExpr) and dim.position == loop:
                yield size_of(operand, axis, given)
