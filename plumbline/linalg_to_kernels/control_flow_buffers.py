"""Has each tensor that a loop carries, or a branch gives, be in one buffer.

`one-shot-bufferize` has a loop whose rounds compute a tensor from the last one make a new buffer in
each, and each branch make one. Who releases which can then be told as the program runs alone, by
comparing addresses, for which a workspace has no room and the host of a GPU no addresses. Here they
have one in front of the loop or the branches. What is to lie there is made there at once, unless
somebody still reads what lay there before: then it is copied, when the round or the branch ends.

Tensors that may be of another size after a round, or in another branch, stay as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.bindings.views import only_uses, root, users_of
from plumbline.bindings.walk import (
    all_operations,
    constant_integer,
    defining_operation,
    enclosing_in,
    is_inside,
)
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.building import ALIGNMENT, index
from plumbline.linalg_to_kernels.layouts import is_contiguous
from plumbline.linalg_to_kernels.work import LOOPS

_ALLOC = "memref.alloc"
_DIM = "memref.dim"


def settle_buffers(module: ir.Operation) -> None:
    """Gives the loops and branches of `module` such buffers, the innermost first.

    Kernels stay as they are: what they hand on are places to write to.
    """
    with module.context:
        for view in module.regions[0].blocks[0].operations:
            function = view.operation
            if KERNEL in function.attributes:
                continue
            for op in reversed(all_operations(function)):
                if op.name in LOOPS:
                    _settle_loop(_as_large(op))
                elif op.name == "scf.if":
                    _settle_branches(op)


# -- loops -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Carried:
    """A tensor that a loop carries in a buffer."""

    loop: ir.Operation
    place: int
    """Of its first buffer among the operands of the loop."""
    argument: ir.Value
    """Where a round finds it."""
    end: ir.Operation
    """What hands it on."""
    handed: int
    """Its place among the operands of that."""
    aliases: tuple[ir.Value, ...]
    """What else its buffer is called, in the condition of an `scf.while` and behind the loop."""
    copying: ir.Operation | None = None
    """What an `scf.while` copies a buffer by to hand the copy from its condition to its body."""

    @property
    def start(self) -> ir.Value:
        """Its buffer before the first round."""
        return self.loop.operands[self.place]

    @property
    def next(self) -> ir.Value:
        """Its buffer after a round."""
        return self.end.operands[self.handed]


def _carried(loop: ir.Operation) -> Iterator[_Carried]:
    if loop.name == "scf.for":
        body = loop.regions[0].blocks[0]
        for number, argument in enumerate(list(body.arguments)[1:]):
            yield _Carried(loop, 3 + number, argument, _end(body), number, (loop.results[number],))
        return
    before, after = (region.blocks[0] for region in loop.regions)
    given, handed = list(before.arguments), list(_end(before).operands)[1:]
    copies = [_copying(value, before) for value in handed]
    kept = [
        value if copy is None else copy.operands[0]
        for value, copy in zip(handed, copies, strict=True)
    ]
    for number, (value, copy) in enumerate(zip(kept, copies, strict=True)):
        if value in given and kept.count(value) == 1:
            place = given.index(value)
            aliases = (value, loop.results[number])
            yield _Carried(loop, place, after.arguments[number], _end(after), place, aliases, copy)


def _end(block: ir.Block) -> ir.Operation:
    return list(block.operations)[-1].operation


def _copying(buffer: ir.Value, before: ir.Block) -> ir.Operation | None:
    """What fills a buffer that a condition makes for nothing but to hand on."""
    made = defining_operation(buffer)
    if made is None or made.name != _ALLOC or made.block != before:
        return None
    users = [use.owner.operation for use in buffer.uses]
    fills = [user for user in users if user != _end(before)]
    is_filled = len(users) == 2 and len(fills) == 1 and fills[0].name == "memref.copy"
    return fills[0] if is_filled else None


def _moves(carried: _Carried) -> bool:
    return isinstance(carried.argument.type, ir.MemRefType) and (
        carried.copying is not None or root(carried.next) != carried.argument
    )


def _as_large(loop: ir.Operation) -> list[_Carried]:
    """The tensors that move, and are seen to be of one size before and after each round.

    If those of all are what they were, and so is one that follows from these, it is so each time.
    """
    carried = list(_carried(loop))
    while (kept := [one for one in carried if not _moves(one) or _keeps_sizes(one, carried)]) != (
        carried
    ):
        carried = kept
    return [one for one in carried if _moves(one)]


def _keeps_sizes(carried: _Carried, others: Sequence[_Carried]) -> bool:
    starts = {one.argument: one.start for one in others}

    def keeps(axis: int) -> bool:
        after = _size(carried.next, axis)
        if after.of in starts and after.axis is not None:
            after = _size(starts[after.of], after.axis)
        return after == _size(carried.start, axis)

    return all(map(keeps, _dynamic_axes(ir.MemRefType(carried.argument.type))))


def _settle_loop(carried: Sequence[_Carried]) -> None:
    copied = [
        one
        for one in carried
        if root(one.next) != one.argument
        and not (_is_read_before(one) and _make_there(one.end, one.handed, one.argument))
    ]
    written = [one.argument for one in copied]
    sources = [_source(one, written) for one in copied]
    for one, source in zip(copied, sources, strict=True):
        _copy_to(one.argument, source, one.end)
    for one in carried:
        if one.copying is not None:
            _drop_copy(one.copying)
        if not _is_own(one):
            with ir.InsertionPoint(one.loop), one.loop.location:
                one.loop.operands[one.place] = _copy(one.start)
        one.end.operands[one.handed] = one.start
        with ir.InsertionPoint(one.loop), one.loop.location:
            for value in (one.argument, *one.aliases):
                value.replace_all_uses_with(_as(value.type, one.start))


def _is_read_before(carried: _Carried) -> bool:
    """Whether a round does not look at a tensor any more when it begins to make the next one."""
    body = carried.end.block
    new = _uncast(carried.next)
    made = defining_operation(new)
    if made is None or made.block != body:
        return False
    operations = [view.operation for view in body.operations]

    def places(buffer: ir.Value) -> list[int]:
        return [operations.index(enclosing_in(body, user)) for user in users_of(buffer)]

    return all(map(only_uses, users_of(carried.argument))) and (
        max(places(carried.argument), default=-1) < min(places(new))
    )


def _source(carried: _Carried, written: Sequence[ir.Value]) -> ir.Value:
    """What a round hands on, in a buffer that is not written as others are handed on."""
    buffer = root(carried.next)
    made = defining_operation(buffer)
    is_new = made is not None and made.name == _ALLOC
    is_kept = made is None and buffer.owner == carried.end.block and buffer not in written
    if is_new or is_kept:
        return carried.next
    with ir.InsertionPoint(carried.end), carried.loop.location:
        return _copy(carried.next)


def _drop_copy(copying: ir.Operation) -> None:
    """Has a condition hand on a buffer in place of its copy."""
    buffer, copy = copying.operands
    with ir.InsertionPoint(copying), copying.location:
        itself = _as(copy.type, buffer)
    copying.erase()
    made = copy.owner.operation
    copy.replace_all_uses_with(itself)
    made.erase()


def _is_own(carried: _Carried) -> bool:
    """Whether nobody but the loop has use for what the first round finds.

    What is a part of a buffer is none: what a round makes would be taken for one by itself.
    """
    if not is_contiguous(ir.MemRefType(_uncast(carried.start).type)):
        return False
    buffer = root(carried.start)
    made = defining_operation(buffer)
    block = carried.loop.block
    if made is None or made.name != _ALLOC or made.block != block:
        return False
    others = users_of(buffer)
    if others.count(carried.loop) != 1:
        return False
    others.remove(carried.loop)
    return all(
        only_uses(user) and enclosing_in(block, user).is_before_in_block(carried.loop)
        for user in others
    )


# -- branches --------------------------------------------------------------------------------------


def _settle_branches(choice: ir.Operation) -> None:
    ends = [_end(region.blocks[0]) for region in choice.regions if len(region.blocks) > 0]
    for number, result in enumerate(choice.results):
        given = [end.operands[number] for end in ends]
        if not isinstance(result.type, ir.MemRefType) or given[0] == given[1]:
            continue
        type_ = ir.MemRefType(result.type)
        sizes = [_size_in_front(choice, given, axis) for axis in _dynamic_axes(type_)]
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            continue
        with ir.InsertionPoint(choice), choice.location:
            buffer = _allocate(type_, [size.value() for size in known])
        for end in ends:
            if not _make_there(end, number, buffer):
                _copy_to(buffer, end.operands[number], end)
            end.operands[number] = buffer
        result.replace_all_uses_with(buffer)


def _size_in_front(choice: ir.Operation, given: Sequence[ir.Value], axis: int) -> "_Size | None":
    """How large the buffers of all branches are along an axis, as it is known in front of them."""
    size, *others = {_size(buffer, axis) for buffer in given}
    return None if others or is_inside(size.of, choice) else size


# -- buffers ---------------------------------------------------------------------------------------


def _dynamic_axes(type_: ir.MemRefType) -> list[int]:
    return [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]


@dataclass(frozen=True)
class _Size:
    """A number, or how large a buffer is along an axis."""

    of: ir.Value
    axis: int | None = None

    def value(self) -> ir.Value:
        return self.of if self.axis is None else memref.dim(self.of, index(self.axis))


def _size(buffer: ir.Value, axis: int) -> _Size:
    """How large a buffer is along an axis: as large as has been asked for, if that can be told."""
    buffer = _uncast(buffer)
    op = defining_operation(buffer)
    axes = _dynamic_axes(ir.MemRefType(buffer.type))
    if op is None or axis not in axes:
        return _Size(buffer, axis)
    if op.name == _ALLOC:
        return _asked(op.operands[axes.index(axis)])
    if op.name == "memref.expand_shape":
        return _asked(op.operands[1 + axes.index(axis)])
    if op.name == "memref.collapse_shape":
        first, *others = op.attributes["reassociation"][axis]
        if not others:
            return _size(op.operands[0], ir.IntegerAttr(first).value)
    return _Size(buffer, axis)


def _asked(number: ir.Value) -> _Size:
    """How large something is that is asked to be so large."""
    dim = defining_operation(number)
    if dim is None or dim.name != _DIM:
        return _Size(number)
    axis = constant_integer(dim.operands[1])
    return _Size(number) if axis is None else _size(dim.operands[0], axis)


def _make_there(end: ir.Operation, number: int, buffer: ir.Value) -> bool:
    """Has `buffer` be what a block makes to hand on at its end, if nothing else keeps that."""
    new = _uncast(end.operands[number])
    made = defining_operation(new)
    if made is None or made.name != _ALLOC or made.block != end.block:
        return False
    if [user for user in users_of(new) if not only_uses(user)] != [end]:
        return False
    with ir.InsertionPoint(made), made.location:
        new.replace_all_uses_with(_as(new.type, buffer))
    made.erase()
    return True


def _uncast(buffer: ir.Value) -> ir.Value:
    while (op := defining_operation(buffer)) is not None and op.name == "memref.cast":
        buffer = op.operands[0]
    return buffer


def _copy_to(buffer: ir.Value, source: ir.Value, end: ir.Operation) -> None:
    """Copies elements at the end of a block."""
    with ir.InsertionPoint(end), end.location:
        memref.copy(source, buffer)


def _as(type_: ir.Type, buffer: ir.Value) -> ir.Value:
    """A buffer as one of a type with the same sizes."""
    return buffer if buffer.type == type_ else memref.cast(type_, buffer)


def _copy(buffer: ir.Value) -> ir.Value:
    """A buffer of the same type with the same elements."""
    type_ = ir.MemRefType(buffer.type)
    copy = _allocate(type_, [memref.dim(buffer, index(axis)) for axis in _dynamic_axes(type_)])
    memref.copy(buffer, copy)
    return copy


def _allocate(type_: ir.MemRefType, sizes: Sequence[ir.Value]) -> ir.Value:
    """A new buffer, as one of a type."""
    own = ir.MemRefType.get(type_.shape, type_.element_type)
    return _as(type_, memref.alloc(own, sizes, [], alignment=ALIGNMENT))
