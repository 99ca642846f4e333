"""Has each tensor that a loop carries, or a branch gives, be in one buffer.

`one-shot-bufferize` has a loop whose rounds compute a tensor from the last one make a new buffer in
each, and each branch make one. Who releases which can then be told as the program runs alone, by
comparing addresses, for which a workspace has no room and the host of a GPU no addresses. Here they
have one in front of the loop or the branches. What is to lie there is made there at once, unless
somebody still reads what lay there before: then it is copied, when the round or the branch ends.
What is large, or of a size that is not known, is not copied: rounds of a counted loop read one half
of a buffer and write the other, in turns.

Tensors that may be of another size after a round, or in another branch, stay as they are.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.bindings.views import only_uses, root, users_of
from plumbline.bindings.walk import (
    all_operations,
    defining_operation,
    enclosing_in,
)
from plumbline.linalg_to_kernels.buffer_sizes import BufferSizes, dynamic_axes, uncast
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.building import ALIGNMENT, index
from plumbline.linalg_to_kernels.computations import DYNAMIC
from plumbline.linalg_to_kernels.layouts import is_contiguous
from plumbline.linalg_to_kernels.work import LOOPS

_ALLOC, _BRANCHES = "memref.alloc", "scf.if"

_RESHAPES = ("memref.cast", "memref.collapse_shape", "memref.expand_shape")


def settle_buffers(module: ir.Operation) -> None:
    """Gives the loops and branches of `module` such buffers, the innermost first.

    Kernels stay as they are: what they hand on are places to write to.
    """
    with module.context:
        for view in module.regions[0].blocks[0].operations:
            function = view.operation
            if KERNEL in function.attributes:
                continue
            # No others: what makes buffers in front of them is replaced on the way.
            found = [op for op in all_operations(function) if op.name in (*LOOPS, _BRANCHES)]
            kept = _KeptSizes([op for op in found if op.name in LOOPS])
            for op in reversed(found):
                if op.name == _BRANCHES:
                    _settle_branches(op, kept.sizes)
                else:
                    _settle_loop([one for one in _carried(op) if one in kept and _moves(one)])


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


class _KeptSizes:
    """Which tensors of loops are of one size before and after each round.

    If each is that were those before it what they were, all are: loops within loops, too.
    """

    def __init__(self, loops: Sequence[ir.Operation]) -> None:
        carried = [
            one
            for loop in loops
            for one in _carried(loop)
            if isinstance(one.argument.type, ir.MemRefType)
        ]
        self._kept = {one.argument: one for one in carried}
        self._named = {value: one for one in carried for value in (one.argument, *one.aliases)}
        self.sizes = BufferSizes(self._start)
        while lost := [one for one in self._kept.values() if not self._keeps(one)]:
            for one in lost:
                del self._kept[one.argument]

    def __contains__(self, carried: _Carried) -> bool:
        return carried.argument in self._kept

    def _start(self, buffer: ir.Value) -> ir.Value | None:
        one = self._named.get(buffer)
        return None if one is None or one not in self else one.start

    def _keeps(self, carried: _Carried) -> bool:
        return all(
            self.sizes.of(carried.next, axis) == self.sizes.of(carried.start, axis)
            for axis in dynamic_axes(ir.MemRefType(carried.argument.type))
        )


def _settle_loop(carried: Sequence[_Carried]) -> None:
    alternating = [one for one in carried if _may_alternate(one)]
    for one in alternating:
        _alternate(one)
    carried = [one for one in carried if one not in alternating]
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


_LARGE = 1 << 14
"""From so many bytes on, or of a size that is not known, a tensor is not copied in each round."""


def _may_alternate(carried: _Carried) -> bool:
    """Whether rounds can read one half of a buffer and write the other, in turns."""
    types = [ir.MemRefType(carried.argument.type)]
    made = _made(carried.next)
    if carried.loop.name != "scf.for" or _is_read_before(carried) or made is None:
        return False
    if made.block != carried.end.block or not _keeps_alone(carried.end, made):
        return False
    if not all(map(only_uses, users_of(carried.argument))):
        return False
    types.append(ir.MemRefType(made.results[0].type))
    if not all(map(is_contiguous, types)):
        return False
    bytes_ = _element_bytes(types[0])
    is_large = bool(dynamic_axes(types[0])) or math.prod(types[0].shape) * bytes_ >= _LARGE
    return is_large and bytes_ > 0


@dataclass(frozen=True)
class _Halves:
    """Memory of two buffers of one size."""

    both: ir.Value
    size: ir.Value
    """Of one, in bytes."""

    @staticmethod
    def of(type_: ir.MemRefType, dynamic: Sequence[ir.Value]) -> "_Halves":
        """Makes that of buffers of a type, of such sizes where it has none."""
        known = [size for size in type_.shape if size != DYNAMIC]
        size = index(math.prod(known) * _element_bytes(type_))
        for number in dynamic:
            size = arith.muli(size, number)
        size = arith.muli(arith.ceildivui(size, index(ALIGNMENT)), index(ALIGNMENT))
        bytes_ = ir.MemRefType.get([DYNAMIC], ir.IntegerType.get_signless(8))
        both = memref.alloc(bytes_, [arith.muli(size, index(2))], [], alignment=ALIGNMENT)
        return _Halves(both, size)

    def one(self, number: ir.Value, type_: ir.MemRefType, dynamic: Sequence[ir.Value]) -> ir.Value:
        """The buffer of that number, 0 or 1, as one of a type."""
        return memref.view(type_, self.both, arith.muli(number, self.size), dynamic)


def _alternate(carried: _Carried) -> None:
    """Has rounds do so: the first reads, and an even number of them leaves, the first half."""
    loop, type_ = carried.loop, ir.MemRefType(carried.argument.type)
    lower, upper, step = list(loop.operands)[:3]
    halves = _begun(carried)
    body, made = carried.end.block, _made(carried.next)
    assert made is not None
    with ir.InsertionPoint(loop), loop.location:
        extent = [memref.dim(carried.start, index(axis)) for axis in dynamic_axes(type_)]
        rounds = arith.ceildivsi(arith.maxsi(arith.subi(upper, lower), index(0)), step)
        last = halves.one(arith.remui(rounds, index(2)), type_, extent)
    with ir.InsertionPoint.at_block_begin(body), loop.location:
        number = arith.divui(arith.subi(body.arguments[0], lower), step)
        odd = arith.remui(number, index(2))
        here, even = halves.one(odd, type_, extent), arith.subi(index(1), odd)
    with ir.InsertionPoint(made), made.location:
        there = halves.one(even, ir.MemRefType(made.results[0].type), list(made.operands))
    for alias in carried.aliases:
        alias.replace_all_uses_with(_as(alias.type, last))
    carried.end.operands[carried.handed] = carried.start
    carried.argument.replace_all_uses_with(here)
    made.results[0].replace_all_uses_with(there)
    made.erase()


def _begun(carried: _Carried) -> _Halves:
    """Two halves, of which the first has what the first round finds."""
    made = defining_operation(root(carried.start))
    if made is not None and _is_own(carried):
        own = ir.MemRefType(made.results[0].type)
        with ir.InsertionPoint(made), made.location:
            halves = _Halves.of(own, list(made.operands))
            first = halves.one(index(0), own, list(made.operands))
        made.results[0].replace_all_uses_with(first)
        made.erase()
        return halves
    with ir.InsertionPoint(carried.loop), carried.loop.location:
        type_ = ir.MemRefType(carried.argument.type)
        extent = [memref.dim(carried.start, index(axis)) for axis in dynamic_axes(type_)]
        halves = _Halves.of(type_, extent)
        memref.copy(carried.start, halves.one(index(0), type_, extent))
    return halves


def _element_bytes(type_: ir.MemRefType) -> int:
    """How many bytes an element takes; 0 if that is not told by its type."""
    element = type_.element_type
    is_number = isinstance(element, ir.IntegerType | ir.FloatType)
    return element.width // 8 if is_number else 0


def _is_read_before(carried: _Carried) -> bool:
    """Whether a round does not look at a tensor any more when it begins to make the next one."""
    body = carried.end.block
    made = _made(carried.next)
    if made is None or made.block != body:
        return False
    operations = [view.operation for view in body.operations]

    def places(buffer: ir.Value) -> list[int]:
        return [operations.index(enclosing_in(body, user)) for user in users_of(buffer)]

    return all(map(only_uses, users_of(carried.argument))) and (
        max(places(carried.argument), default=-1) < min(places(made.results[0]))
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
    if not is_contiguous(ir.MemRefType(uncast(carried.start).type)):
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


def _settle_branches(choice: ir.Operation, sizes: BufferSizes) -> None:
    ends = [_end(region.blocks[0]) for region in choice.regions if len(region.blocks) > 0]
    for number, result in enumerate(choice.results):
        given = [end.operands[number] for end in ends]
        if not isinstance(result.type, ir.MemRefType) or given[0] == given[1]:
            continue
        type_ = ir.MemRefType(result.type)
        asked = [sizes.in_front(choice, given, axis) for axis in dynamic_axes(type_)]
        known = [size for size in asked if size is not None]
        if len(known) < len(asked):
            continue
        with ir.InsertionPoint(choice), choice.location:
            buffer = _allocate(type_, [size.value() for size in known])
        for end in ends:
            if not _make_there(end, number, buffer):
                _copy_to(buffer, end.operands[number], end)
            end.operands[number] = buffer
        result.replace_all_uses_with(buffer)


# -- buffers ---------------------------------------------------------------------------------------


def _make_there(end: ir.Operation, number: int, buffer: ir.Value) -> bool:
    """Has `buffer` be what a block makes to hand on at its end, if nothing else keeps that."""
    new = end.operands[number]
    made = _made(new)
    if made is None or made.block != end.block or not _keeps_alone(end, made):
        return False
    type_ = ir.MemRefType(made.results[0].type)
    given = ir.MemRefType(buffer.type)
    if type_.shape != given.shape and not (is_contiguous(type_) and is_contiguous(given)):
        return False
    with ir.InsertionPoint(made), made.location:
        there = _reshaped(buffer, type_, list(made.operands))
        made.results[0].replace_all_uses_with(there)
    made.erase()
    return True


def _made(buffer: ir.Value) -> ir.Operation | None:
    """What makes a buffer that is handed on as it is, or reshaped."""
    while (op := defining_operation(buffer)) is not None and op.name in _RESHAPES:
        buffer = op.operands[0]
    return op if op is not None and op.name == _ALLOC else None


def _keeps_alone(end: ir.Operation, made: ir.Operation) -> bool:
    """Whether the end of a block hands on what is made there, and nothing else does."""
    others = [user for user in users_of(made.results[0]) if not only_uses(user)]
    return [user for user in others if not _hands_to_nobody(user, made)] == [end]


def _hands_to_nobody(end: ir.Operation, made: ir.Operation) -> bool:
    """Whether the end of a branch gives a buffer that nobody takes from there, as it is settled."""
    choice = end.parent
    if end.name != "scf.yield" or choice is None or choice.name != _BRANCHES:
        return False
    taken = [
        result
        for value, result in zip(end.operands, choice.operation.results, strict=True)
        if root(value) == made.results[0]
    ]
    return not any(True for result in taken for _ in result.uses)


def _reshaped(buffer: ir.Value, type_: ir.MemRefType, dynamic: Sequence[ir.Value]) -> ir.Value:
    """A buffer of as many elements as one of a type, with such sizes, as that."""
    given = ir.MemRefType(buffer.type)
    if given.rank == type_.rank:
        return _as(type_, buffer)
    elements = math.prod(given.shape) if given.has_static_shape else DYNAMIC
    flat = ir.MemRefType.get([elements], type_.element_type)
    whole = memref.collapse_shape(flat, buffer, [[*range(given.rank)]])
    return memref.expand_shape(type_, whole, [[*range(type_.rank)]], dynamic, type_.shape)


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
    copy = _allocate(type_, [memref.dim(buffer, index(axis)) for axis in dynamic_axes(type_)])
    memref.copy(buffer, copy)
    return copy


def _allocate(type_: ir.MemRefType, sizes: Sequence[ir.Value]) -> ir.Value:
    """A new buffer, as one of a type."""
    own = ir.MemRefType.get(type_.shape, type_.element_type)
    return _as(type_, memref.alloc(own, sizes, [], alignment=ALIGNMENT))
