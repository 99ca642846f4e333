"""Puts the temporaries of a function into one arena, sharing bytes by lifetime.

A temporary lives from where it is allocated to its last use. The largest are placed first, each at
the lowest offset where it is clear of those that live at the same time (greedy by size: Pisarchyk
and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).

Of those whose sizes are known as the program runs, such as all that have a row for each image of a
batch, those that grow with the same sizes have an arena that does: it is planned for one of each.

Those of a round of a loop have an arena that lives as long as the loop, and lies in the one around.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.bindings.views import VIEWS, only_uses, users_of
from plumbline.bindings.walk import (
    all_operations,
    defining_operation,
    enclosing_in,
    is_inside,
)
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.building import ALIGNMENT, index
from plumbline.linalg_to_kernels.computations import DYNAMIC
from plumbline.linalg_to_kernels.planned_memory import (
    LIVE,
    OF_SIZES,
    PLAN,
    buffer_bytes,
    planned_bytes,
)
from plumbline.linalg_to_kernels.work import LOOPS

_VIEWS = VIEWS | {"memref.view"}
"""The operations that give a part of a buffer; by a `view`, one of an arena."""

_ADDRESSABLE = 2**63 - 1
"""The most bytes that a type can say it has."""

_WASTED = 16
"""Of how many bytes one may be left between two temporaries, so that both begin where they are to,
however often there are these bytes."""


@dataclass(eq=False)
class _Temporary:
    """A buffer that is used in its block alone."""

    allocation: ir.Operation
    release: ir.Operation
    bytes: int
    """Those of one of each of `counts`."""
    counts: tuple[ir.Value, ...]
    """What it is so many times as large as; nothing if its size is static."""
    first: int
    """When it is allocated: the place of an operation in the block."""
    last: int
    """When it is last used."""
    offset: int = field(default=0, init=False)


def plan_memory(module: ir.Operation) -> None:
    """Gives each function of `module` but kernels an arena, if it has several temporaries."""
    with module.context:
        for view in module.regions[0].blocks[0].operations:
            function = view.operation
            if function.name == "func.func" and KERNEL not in function.attributes:
                for block in function.regions[0].blocks:
                    _plan(block)


def _plan(block: ir.Block) -> None:
    for view in list(block.operations):
        for region in view.operation.regions:
            for inner in region.blocks:
                _plan(inner)
                if view.operation.name in LOOPS:
                    _take_out(view.operation, inner)
    arenas: dict[Hashable, list[_Temporary]] = {}
    for temporary in _temporaries(block):
        counts = Counter(map(_told_apart, temporary.counts))
        arenas.setdefault(frozenset(counts.items()), []).append(temporary)
    for temporaries in arenas.values():
        if len(temporaries) > 1:
            _put_into_arena(block, temporaries)


def _put_into_arena(block: ir.Block, temporaries: Sequence[_Temporary]) -> None:
    peak = _place(temporaries)
    if peak > _ADDRESSABLE:
        # No such memory is to be had, by one allocation or by several.
        return
    first = temporaries[0].allocation
    sizes = {
        "peak": peak,
        "sum": sum(planned_bytes(one.allocation, "sum", one.bytes) for one in temporaries),
        "lower_bound": _lower_bound(temporaries),
    }
    i64 = ir.IntegerType.get_signless(64)
    if not temporaries[0].counts:
        _mark_calls(block, temporaries)
    with ir.InsertionPoint(first), first.location:
        arena = _Arena.allocated(peak, temporaries[0].counts)
    arena.allocation.attributes[PLAN] = ir.DictAttr.get(
        {name: ir.IntegerAttr.get(i64, size) for name, size in sizes.items()}
    )
    with ir.InsertionPoint(_last(temporaries)), first.location:
        memref.dealloc(arena.allocation.results[0])
    for temporary in temporaries:
        allocation = temporary.allocation
        with ir.InsertionPoint(allocation), allocation.location:
            allocation.results[0].replace_all_uses_with(arena.part(temporary))
        temporary.release.erase()
        allocation.erase()


@dataclass(frozen=True)
class _Arena:
    """The memory of several temporaries."""

    allocation: ir.Operation
    bytes: ir.Value
    """All of it, along one axis."""
    count: ir.Value | None
    """How often it has what it is planned for; None: once."""

    @staticmethod
    def allocated(peak: int, counts: Sequence[ir.Value]) -> "_Arena":
        """An arena of so many bytes for one of each of `counts`."""
        i8 = ir.IntegerType.get_signless(8)
        if not counts:
            arena = memref.AllocOp(ir.MemRefType.get([peak], i8), [], [], alignment=ALIGNMENT)
            return _Arena(arena.operation, arena.result, None)
        count = functools.reduce(arith.muli, counts)
        type_ = ir.MemRefType.get([DYNAMIC, peak], i8)
        arena = memref.AllocOp(type_, [count], [], alignment=ALIGNMENT)
        flat = memref.collapse_shape(ir.MemRefType.get([DYNAMIC], i8), arena.result, [[0, 1]])
        return _Arena(arena.operation, flat, count)

    def part(self, temporary: _Temporary) -> ir.Value:
        """The place of a temporary."""
        offset = index(temporary.offset)
        if self.count is not None:
            offset = arith.muli(self.count, offset)
        allocation = temporary.allocation
        return memref.view(allocation.results[0].type, self.bytes, offset, allocation.operands)


def _take_out(loop: ir.Operation, block: ir.Block) -> None:
    """Has what each round of a loop allocates be there for all rounds, if its size is known."""
    for allocation, release, _ in list(_released(block)):
        computed = _computed_in(loop, allocation.operands)
        if computed is not None:
            for op in (*computed, allocation):
                op.move_before(loop)
            release.move_after(loop)


def _computed_in(loop: ir.Operation, sizes: Sequence[ir.Value]) -> list[ir.Operation] | None:
    """What computes sizes in a loop, in order, of sizes of buffers around; None if of others."""
    found: list[ir.Operation] = []
    for size in sizes:
        if not is_inside(size, loop):
            continue
        op = defining_operation(size)
        if op is None or op.name not in OF_SIZES:
            return None
        before = _computed_in(loop, op.operands)
        if before is None:
            return None
        found += [other for other in (*before, op) if other not in found]
    return found


def _mark_calls(block: ir.Block, temporaries: Sequence[_Temporary]) -> None:
    i64 = ir.IntegerType.get_signless(64)
    lived_at = _sums(temporaries, [one.bytes for one in temporaries])
    for live, view in zip(lived_at, block.operations, strict=False):
        for op in all_operations(view.operation) if live else ():
            if op.name == "func.call":
                op.attributes[LIVE] = ir.IntegerAttr.get(i64, live)


def _last(temporaries: Sequence[_Temporary]) -> ir.Operation:
    """The operation that releases the last of them."""
    last = temporaries[0].release
    for temporary in temporaries:
        if last.is_before_in_block(temporary.release):
            last = temporary.release
    return last


def _temporaries(block: ir.Block) -> Iterator[_Temporary]:
    places = {view.operation: place for place, view in enumerate(block.operations)}
    for allocation, release, users in _released(block):
        bytes_, counts = _bytes(allocation)
        if bytes_:
            first = places[allocation]
            last = max((places[enclosing_in(block, user)] for user in users), default=first)
            yield _Temporary(allocation, release, bytes_, counts, first, last)


def _released(
    block: ir.Block,
) -> Iterator[tuple[ir.Operation, ir.Operation, Sequence[ir.Operation]]]:
    """What allocates in a block, what releases that there, and what else uses it."""
    for view in block.operations:
        op = view.operation
        if op.name != "memref.alloc":
            continue
        users = users_of(op.results[0], _VIEWS)
        releases = [user for user in users if user.name == "memref.dealloc"]
        others = [user for user in users if user.name != "memref.dealloc"]
        if len(releases) == 1 and releases[0].block == block and all(map(only_uses, others)):
            yield op, releases[0], others


def _bytes(allocation: ir.Operation) -> tuple[int, tuple[ir.Value, ...]]:
    """The bytes of an allocation, and what they are times; none if it is to stay as it is."""
    bytes_ = buffer_bytes(ir.MemRefType(allocation.results[0].type))
    counts: list[ir.Value] = []
    for operand in allocation.operands:
        factor, leaves = _factors(operand)
        bytes_ *= factor
        counts += leaves
    if not counts:
        return bytes_, ()
    # Of any number of them, what lies behind begins at a multiple of the alignment.
    rounded = -(-bytes_ // ALIGNMENT) * ALIGNMENT
    return rounded if (rounded - bytes_) * _WASTED <= rounded else 0, tuple(counts)


def _factors(size: ir.Value) -> tuple[int, list[ir.Value]]:
    """A number, and sizes, whose product a size is."""
    alone = 1, [size]
    op = defining_operation(size)
    if op is None:
        return alone
    match op.name:
        case "arith.constant":
            return int(ir.IntegerAttr(op.attributes["value"]).value), []
        case "arith.muli":
            return _product(*map(_factors, op.operands))
        case "affine.apply":
            map_ = ir.AffineMapAttr(op.attributes["map"]).value
            return _factors_of(map_.results[0], map_.n_dims, op.operands) or alone
    return alone


def _factors_of(
    expression: ir.AffineExpr, dims: int, operands: Sequence[ir.Value]
) -> tuple[int, list[ir.Value]] | None:
    """The same of an expression of operands, the first ones of which are dimensions."""
    match expression.maybe_downcast():
        case ir.AffineConstantExpr() as number:
            return number.value, []
        case ir.AffineDimExpr() as dim:
            return _factors(operands[dim.position])
        case ir.AffineSymbolExpr() as symbol:
            return _factors(operands[dims + symbol.position])
        case ir.AffineMulExpr() as both:
            first = _factors_of(both.lhs, dims, operands)
            second = _factors_of(both.rhs, dims, operands)
            return None if first is None or second is None else _product(first, second)
    return None


def _told_apart(size: ir.Value) -> tuple[Hashable, ...]:
    """What is equal for sizes that are known to be equal."""
    op = defining_operation(size)
    if op is not None and op.name == "memref.dim":
        buffer, axis = op.operands
        number, sizes = _factors(axis)
        if not sizes:
            return buffer, number
    return (size,)


def _product(
    first: tuple[int, list[ir.Value]], second: tuple[int, list[ir.Value]]
) -> tuple[int, list[ir.Value]]:
    return first[0] * second[0], [*first[1], *second[1]]


def _place(temporaries: Sequence[_Temporary]) -> int:
    """Gives each temporary its offset, and gives the end of the last one."""
    in_order = sorted(temporaries, key=lambda one: -one.bytes)
    firsts = np.array([one.first for one in in_order])
    lasts = np.array([one.last for one in in_order])
    for number, temporary in enumerate(in_order):
        offset = 0
        # Of all pairs of them numpy asks in a hundredth of the time.
        is_beside = (firsts[:number] <= temporary.last) & (temporary.first <= lasts[:number])
        beside = [in_order[place] for place in np.flatnonzero(is_beside)]
        for other in sorted(beside, key=lambda one: one.offset):
            if offset + temporary.bytes <= other.offset:
                break
            end = other.offset + other.bytes
            offset = max(offset, -(-end // ALIGNMENT) * ALIGNMENT)
        temporary.offset = offset
    return max(temporary.offset + temporary.bytes for temporary in temporaries)


def _lower_bound(temporaries: Sequence[_Temporary]) -> int:
    """The bytes of those that live at once, where these are most."""
    return max(
        _sums(
            temporaries,
            [planned_bytes(one.allocation, "lower_bound", one.bytes) for one in temporaries],
        )
    )


def _sums(temporaries: Sequence[_Temporary], numbers: Sequence[int]) -> list[int]:
    """At each place as far as one lives the sum of the numbers of the temporaries that live."""
    changes = [0] * (max(one.last for one in temporaries) + 2)
    for one, number in zip(temporaries, numbers, strict=True):
        changes[one.first] += number
        changes[one.last + 1] -= number
    return [*itertools.accumulate(changes)]
