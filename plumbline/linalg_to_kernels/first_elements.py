"""Sorts of which the first elements of rows are read alone, as of `topk`: how many, and where."""

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.bindings.views import VIEWS, only_uses
from plumbline.bindings.walk import defining_operation, enclosing_in
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.computations import DYNAMIC
from plumbline.linalg_to_kernels.replaced_buffers import part_type, replace_part
from plumbline.linalg_to_kernels.trimmed_sorts import counted_operands, sort_axis

_RELEASE = "memref.dealloc"

_PART = "memref.subview"


def first_elements(op: ir.Operation) -> int | None:
    """How many of the first elements of rows are read after a sort, if they are not all."""
    axis = sort_axis(op)
    last = 0
    for buffer in op.operands:
        made = defining_operation(buffer)
        if made is None or made.name != "memref.alloc" or made.block != op.block:
            return None
        for user in _users_after(buffer, op):
            if user.name != _PART:
                return None
            offset, size, stride = (
                list(ir.DenseI64ArrayAttr(user.attributes[f"static_{name}"]))[axis]
                for name in ("offsets", "sizes", "strides")
            )
            # What is not known is a large negative number.
            if min(offset, size, stride) < 0:
                return None
            last = max(last, offset + (size - 1) * stride + 1)
    size = ir.MemRefType(op.operands[0].type).shape[axis]
    is_part = last > 0 and (size < 0 or last < size)
    return last if is_part and len(counted_operands(op)) < len(op.operands) else None


def _users_after(buffer: ir.Value, op: ir.Operation) -> Iterator[ir.Operation]:
    """What uses a buffer when it has been sorted."""
    for use in buffer.uses:
        user = use.owner.operation
        if user != op and user.name != _RELEASE and not _is_done_before(user, op):
            yield user


def _is_done_before(user: ir.Operation, op: ir.Operation) -> bool:
    if user.name in VIEWS:
        return all(_is_done_before(each.owner.operation, op) for each in user.results[0].uses)
    return only_uses(user) and enclosing_in(op.block, user).is_before_in_block(op)


def hold_first_elements(op: ir.Operation, count: int) -> list[ir.Value] | None:
    """Allocates what holds so many elements of each row, for all that read them after a sort.

    None if these depend on how the elements of the sorted buffers lie.
    """
    kept = [_kept_type(buffer, sort_axis(op), count) for buffer in op.operands]
    for buffer, type_ in zip(op.operands, kept, strict=True):
        if not all(_can_read(user, type_, op) for user in _users_after(buffer, op)):
            return None
    return [
        _moved(buffer, type_, op) for buffer, type_ in zip(list(op.operands), kept, strict=True)
    ]


def _kept_type(buffer: ir.Value, axis: int, count: int) -> ir.MemRefType:
    type_ = ir.MemRefType(buffer.type)
    shape = [count if each == axis else size for each, size in enumerate(type_.shape)]
    return ir.MemRefType.get(shape, type_.element_type, memory_space=type_.memory_space)


def _can_read(part: ir.Operation, type_: ir.MemRefType, op: ir.Operation) -> bool:
    """Whether a part of a sorted buffer could be one of a buffer of another type."""
    given = ir.MemRefType(part.results[0].type)
    if given.rank != type_.rank or part.block != op.block or part.is_before_in_block(op):
        return False
    if part_type(part, type_) == given:
        return True
    users = [use.owner.operation for use in part.results[0].uses]
    return all(user.name == "memref.copy" or _is_loose_cast(user) for user in users)


def _is_loose_cast(op: ir.Operation) -> bool:
    if op.name != "memref.cast":
        return False
    strides, _ = ir.MemRefType(op.results[0].type).get_strides_and_offset()
    return all(stride == DYNAMIC for stride in strides)


def _moved(buffer: ir.Value, type_: ir.MemRefType, op: ir.Operation) -> ir.Value:
    """Allocates a buffer of a type which what reads parts of a sorted one reads in its place."""
    axes = [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]
    held = memref.alloc(type_, [memref.dim(buffer, index(axis)) for axis in axes], [])
    for use in list(buffer.uses):
        user = use.owner.operation
        if user.name == _RELEASE:
            with ir.InsertionPoint(user), user.location:
                memref.dealloc(held)
    for part in list(_users_after(buffer, op)):
        replace_part(part, held)
    return held
