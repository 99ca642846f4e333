"""Has what is only copied into a part of a buffer be computed there.

The parts of a concatenation are computed into memory of their own, as any result of a kernel is,
and would then be copied next to each other: a pass over memory for nothing. A kernel writes
wherever it is told to.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.bindings.views import VIEWS, only_uses, root, users_of
from plumbline.bindings.walk import (
    callee,
    defining_operation,
    enclosing_in,
    operations_named,
    users_through,
)
from plumbline.linalg_to_kernels.build_kernels import ANY_AXES, CONTIGUOUS, KERNEL
from plumbline.linalg_to_kernels.computations import DYNAMIC, reassociation
from plumbline.linalg_to_kernels.planned_memory import OF_SIZES
from plumbline.linalg_to_kernels.replaced_buffers import part_type, replace_buffer

_RUN = 32
"""How many elements in a row a part has at least that is worth it.

Shorter rows are computed faster one after the other, and moved apart by the copy.
"""

_RELEASE, _EXPAND = "memref.dealloc", "memref.expand_shape"

_LAST = frozenset({_RELEASE, "func.return"})
"""What a function does with a buffer when all else is done with it."""

_MOVED = OF_SIZES | {"arith.addi"}
"""What is computed earlier where a size is needed earlier."""


def separate_destinations(module: ir.Operation) -> None:
    """Gives all that is put together of parts memory of its own, where it is put together.

    What has no elements yet is one value, wherever it is used: it is in front of a loop, for what
    each round puts together too, and for what comes of that next.
    """
    with module.context:
        for op in operations_named(module, "tensor.insert_slice"):
            empty = defining_operation(op.operands[1])
            if empty is not None and empty.name == "tensor.empty":
                with ir.InsertionPoint(op):
                    op.operands[1] = empty.clone().results[0]


def compute_parts_in_place(module: ir.Operation) -> None:
    """Does away with copies into parts of buffers, in all functions of `module` but kernels."""
    with module.context:
        functions = [
            view.operation
            for view in module.regions[0].blocks[0].operations
            if view.operation.name == "func.func"
        ]
        kernels = {
            ir.StringAttr(function.attributes["sym_name"]).value: function
            for function in functions
            if KERNEL in function.attributes
        }
        needs = {name: _needs(kernel) for name, kernel in kernels.items()}
        for function in functions:
            if KERNEL in function.attributes:
                continue
            # Of what is erased on the way nobody can be asked what it is.
            copies = operations_named(function, "memref.copy")
            for copy in copies:
                _copy_expanded(copy)
                part = _part(copy, needs)
                if part is not None:
                    part.compute_in_place()
        for kernel in kernels.values():
            if CONTIGUOUS in kernel.attributes:
                del kernel.attributes[CONTIGUOUS]


def _copy_expanded(copy: ir.Operation) -> None:
    """Has what is collapsed to be copied be copied as it is, into the part that is expanded."""
    source, target = copy.operands
    collapse = defining_operation(source)
    if collapse is None or collapse.name != "memref.collapse_shape" or len(list(source.uses)) > 1:
        return
    type_, part = (ir.MemRefType(value.type) for value in (collapse.operands[0], target))
    groups = reassociation(collapse)
    if DYNAMIC in type_.shape or not groups:
        return
    if part.affine_map == ir.AffineMap.get_identity(part.rank):
        # Such a buffer is a whole one, or has one axis that is.
        return
    strides, offset = part.get_strides_and_offset()
    apart = []
    for group, stride in zip(groups, strides, strict=True):
        sizes = [type_.shape[axis] for axis in group]
        inner = (math.prod(sizes[place + 1 :]) for place in range(len(sizes)))
        apart += [DYNAMIC if stride == DYNAMIC else stride * size for size in inner]
    layout = ir.StridedLayoutAttr.get(offset, apart)
    expanded = ir.MemRefType.get(type_.shape, type_.element_type, layout, part.memory_space)
    with ir.InsertionPoint(copy), copy.location:
        copy.operands[1] = memref.expand_shape(expanded, target, groups, [], list(type_.shape))
    copy.operands[0] = collapse.operands[0]
    collapse.erase()


_Needs = Mapping[str, Sequence[int]]
"""For each argument of a kernel the axis from which on its elements have to be contiguous."""


def _needs(kernel: ir.Operation) -> Sequence[int]:
    if CONTIGUOUS in kernel.attributes:
        return list(ir.DenseI64ArrayAttr(kernel.attributes[CONTIGUOUS]))
    return [ANY_AXES] * len(kernel.regions[0].blocks[0].arguments)


@dataclass(frozen=True)
class _Part:
    """What is copied into a part of a buffer, and could be computed there."""

    copy: ir.Operation
    made: ir.Operation
    """What allocates the memory that is copied."""
    first: ir.Operation
    """Where that is used first."""
    needed: Sequence[ir.Operation]
    """What has to be there before, in order: the buffer, and the views of it."""

    def compute_in_place(self) -> None:
        """Gives all that use the memory the part of the buffer, and drops the copy."""
        for op in self.needed:
            op.move_before(self.first)
        target = self.copy.operands[1]
        with ir.InsertionPoint(self.first), self.copy.location:
            place = memref.cast(_shared_type(target.type), target)
        self.copy.erase()
        for use in list(self.made.results[0].uses):
            if use.owner.operation.name == _RELEASE:
                use.owner.operation.erase()
        replace_buffer(self.made.results[0], place)
        self.made.erase()


def _part(copy: ir.Operation, needs: _Needs) -> _Part | None:
    source, target = copy.operands
    made = defining_operation(source)
    if made is None or made.name != "memref.alloc" or made.block != copy.block:
        return None
    views = list(_views(target))
    if not views or views[0].name != "memref.alloc" or views[0] == made:
        return None
    if _run(target.type) < _RUN:
        return None
    if not _can_lie(source, _shared_type(target.type), needs):
        return None
    users = [
        enclosing_in(copy.block, user)
        for user in users_through(source, VIEWS)
        if user != copy and user.name != _RELEASE
    ]
    if not users or any(copy.is_before_in_block(user) for user in users):
        return None
    first = users[0]
    for user in users:
        first = user if user.is_before_in_block(first) else first
    others = [user for user in users_of(views[0].results[0]) if user != copy]
    if views[0].block != copy.block:
        # What a loop or a branch hands on has names that are not known here.
        if not all(only_uses(user) or user.name in _LAST for user in others):
            return None
        others = [user for user in others if _is_within(user, copy.block)]
    between = (
        user for user in others if _lies_between(first, enclosing_in(copy.block, user), copy)
    )
    if not all(_is_clear_of(user, views[0].results[0], target) for user in between):
        return None
    needed = _needed(views, first)
    return None if needed is None else _Part(copy, made, first, needed)


def _views(buffer: ir.Value) -> Iterator[ir.Operation]:
    """What allocates a buffer, and the views by which it becomes the one that is given."""
    op = defining_operation(buffer)
    if op is not None:
        if op.name in ("memref.subview", "memref.cast", _EXPAND):
            yield from _views(op.operands[0])
        yield op


def _contiguous_from(type_: ir.MemRefType) -> int:
    """The first axis of those from which on the elements of a buffer are known to be contiguous."""
    strides, _ = type_.get_strides_and_offset()
    first, run = len(strides), 1
    for axis in reversed(range(len(strides))):
        if type_.shape[axis] != 1:
            if strides[axis] != run:
                break
            run *= type_.shape[axis]
        first = axis
        if type_.shape[axis] == DYNAMIC:
            # How far the slices of such an axis are apart is not known.
            break
    return first


def _run(type_: ir.Type) -> int:
    """How many elements of a buffer at least follow one another; of axes of any size, enough."""
    part = ir.MemRefType(type_)
    run = part.shape[_contiguous_from(part) :]
    return _RUN if DYNAMIC in run else math.prod(run)


def _can_lie(buffer: ir.Value, type_: ir.MemRefType, needs: _Needs) -> bool:
    """Whether all that use a buffer can use one of another type, whose elements lie elsewhere."""
    return all(
        _can_use(use.owner.operation, use.operand_number, type_, needs) for use in buffer.uses
    )


def _can_use(user: ir.Operation, number: int, type_: ir.MemRefType, needs: _Needs) -> bool:
    if user.name == "memref.cast":
        return _can_lie(user.results[0], type_, needs)
    if user.name == "memref.subview":
        has_all_axes = ir.MemRefType(user.results[0].type).rank == type_.rank
        return has_all_axes and _can_lie(user.results[0], part_type(user, type_), needs)
    if user.name == "func.call":
        # Kernels take casts, which tell nothing of how elements lie.
        name = callee(user)
        given = defining_operation(user.operands[number])
        if given is None or given.name != "memref.cast" or name not in needs:
            return False
        return _contiguous_from(type_) <= needs[name][number]
    return user.name == _RELEASE or only_uses(user)


def _is_within(op: ir.Operation, block: ir.Block) -> bool:
    """Whether an operation is one of a block, or in one of it."""
    around: ir.Operation | None = op
    while around is not None and around.block != block:
        parent = around.parent
        around = None if parent is None or parent.name == "func.func" else parent.operation
    return around is not None


def _lies_between(first: ir.Operation, op: ir.Operation, last: ir.Operation) -> bool:
    return not op.is_before_in_block(first) and op.is_before_in_block(last)


def _is_clear_of(user: ir.Operation, whole: ir.Value, part: ir.Value) -> bool:
    """Whether an operation uses parts of a buffer only that have nothing in common with `part`."""
    used = [operand for operand in user.operands if root(operand) == whole]
    return bool(used) and all(_are_apart(operand, part) for operand in used)


def _are_apart(first: ir.Value, second: ir.Value) -> bool:
    """Whether two parts of one buffer are known to have no element in common."""
    views = [list(_views(buffer)) for buffer in (first, second)]
    # Places in what reshapes the buffer are others.
    unshaped = (itertools.takewhile(lambda op: op.name != _EXPAND, each) for each in views)
    parts = [[op for op in each if op.name == "memref.subview"] for each in unshaped]
    if views[0][0] != views[1][0] or any(not each for each in parts):
        return False
    bounds = [_bounds(each[0]) for each in parts]
    return any(
        _ends_before(one, other) or _ends_before(other, one)
        for one, other in zip(*bounds, strict=True)
    )


def _ends_before(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether a part ends where another begins, or before, along an axis."""
    return DYNAMIC not in (*one, other[0]) and sum(one) <= other[0]


def _bounds(subview: ir.Operation) -> list[tuple[int, int]]:
    """For each axis where a part begins and how many elements it has."""
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(subview.attributes[name]))
        for name in ("static_offsets", "static_sizes", "static_strides")
    )
    return [
        (offset, size if stride == 1 else DYNAMIC)
        for offset, size, stride in zip(offsets, sizes, strides, strict=True)
    ]


def _needed(views: Sequence[ir.Operation], first: ir.Operation) -> list[ir.Operation] | None:
    """What is to be moved before an operation for `views` to be there; None if it cannot be."""
    needed: list[ir.Operation] = []

    def is_there(op: ir.Operation, movable: bool) -> bool:
        if op in needed or op.block != first.block or op.is_before_in_block(first):
            return True
        if not movable:
            return False
        for operand in op.operands:
            owner = defining_operation(operand)
            if owner is not None and not is_there(owner, owner in views or owner.name in _MOVED):
                return False
        needed.append(op)
        return True

    return needed if all(is_there(op, movable=True) for op in views) else None


def _shared_type(type_: ir.Type) -> ir.MemRefType:
    """The type of a part that says of the whole only what kernels are faster for to know.

    What is known of where it begins, and how far its outer slices are apart, would have each part
    of each buffer take a kernel of its own.
    """
    part = ir.MemRefType(type_)
    strides, _ = part.get_strides_and_offset()
    first = _contiguous_from(part)
    known = [DYNAMIC] * first + list(strides[first:])
    layout = ir.StridedLayoutAttr.get(DYNAMIC, known)
    return ir.MemRefType.get(part.shape, part.element_type, layout, part.memory_space)
