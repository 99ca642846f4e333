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
    computation,
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
    assert not isinstance(value.owner, ir.Block)
    op = value.owner.operation
    match op.name:
        case "tensor.empty":
            size = op.operands[_dynamic_before(type_, axis)]
            return given.get(size, size)
        case "tensor.cast":
            return size_of(op.operands[0], axis, given)
        case "tensor.expand_shape" | "tensor.extract_slice":
            size = op.operands[1 + _dynamic_before(type_, axis)]
            return given.get(size, size)
        case "tensor.collapse_shape":
            axes = reassociation(op)[axis]
            return product([size_of(op.operands[0], inner, given) for inner in axes])
        case name if name == GENERIC:
            number = list(op.results).index(value)
            inits = list(op.operands)[len(op.operands) - len(op.results) :]
            return size_of(inits[number], axis, given)
    raise NotImplementedError(f"the size of a result of {op.name}")


def told_size(value: ir.Value, axis: int) -> int | ir.Value:
    """The size of a tensor along an axis, of which no more is read than it takes to know it.

    A tensor that is asked for its size is computed for that, if it has no other use.
    """
    type_ = ir.RankedTensorType(value.type)
    if type_.shape[axis] != DYNAMIC:
        return type_.shape[axis]
    op = defining_operation(value)
    made = None if op is None else computation(op)
    if made is not None:
        return told_size(made.inits[made.results.index(value)], axis)
    if op is not None:
        match op.name:
            case "tensor.empty":
                return op.operands[_dynamic_before(type_, axis)]
            case "tensor.expand_shape":
                return op.operands[1 + _dynamic_before(type_, axis)]
            case "tensor.collapse_shape":
                sizes = [told_size(op.operands[0], inner) for inner in reassociation(op)[axis]]
                return product([index(size) if isinstance(size, int) else size for size in sizes])
    return tensor.dim(value, index(axis))


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


def _dynamic_before(type_: ir.RankedTensorType, axis: int) -> int:
    return sum(size == DYNAMIC for size in list(type_.shape)[:axis])
