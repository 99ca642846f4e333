"""Puts the temporaries of a function into one arena, sharing bytes by lifetime.

A temporary lives from where it is allocated to its last use. The largest are placed first, each at
the lowest offset where it is clear of those that live at the same time (greedy by size: Pisarchyk
and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).

Those of a round of a loop have an arena that lives as long as the loop, and lies in the one around.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.bindings.views import VIEWS, only_uses, users_of
from plumbline.bindings.walk import (
    all_operations,
    defining_operation,
    enclosing_in,
    is_inside,
)
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.building import ALIGNMENT, index
from plumbline.linalg_to_kernels.planned_memory import LIVE, PLAN, buffer_bytes, planned_bytes
from plumbline.linalg_to_kernels.work import LOOPS

_VIEWS = VIEWS | {"memref.view"}
"""The operations that give a part of a buffer; by a `view`, one of an arena."""

_ADDRESSABLE = 2**63 - 1
"""The most bytes that a type can say it has."""


@dataclass(eq=False)
class _Temporary:
    """A buffer of a static size that is used in its block alone."""

    allocation: ir.Operation
    release: ir.Operation
    bytes: int
    first: int
    """When it is allocated: the place of an operation in the block."""
    last: int
    """When it is last used."""
    offset: int = field(default=0, init=False)

    def lives_with(self, other: "_Temporary") -> bool:
        """Whether both live at once."""
        return self.first <= other.last and other.first <= self.last


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
    temporaries = list(_temporaries(block))
    if len(temporaries) < 2:
        return
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
    i8 = ir.IntegerType.get_signless(8)
    _mark_calls(block, temporaries)
    with ir.InsertionPoint(first), first.location:
        arena = memref.AllocOp(ir.MemRefType.get([peak], i8), [], [], alignment=ALIGNMENT)
        arena.operation.attributes[PLAN] = ir.DictAttr.get(
            {name: ir.IntegerAttr.get(i64, size) for name, size in sizes.items()}
        )
    with ir.InsertionPoint(_last(temporaries)), first.location:
        memref.dealloc(arena.result)
    for temporary in temporaries:
        allocation = temporary.allocation
        with ir.InsertionPoint(allocation), allocation.location:
            placed = memref.view(
                allocation.results[0].type, arena.result, index(temporary.offset), []
            )
        allocation.results[0].replace_all_uses_with(placed)
        temporary.release.erase()
        allocation.erase()


def _take_out(loop: ir.Operation, block: ir.Block) -> None:
    """Has what each round of a loop allocates be there for all rounds, if its size is known."""
    for allocation, release, _ in list(_released(block)):
        sizes = [size for size in allocation.operands if is_inside(size, loop)]
        if all(_is_of_buffer_around(size, loop) for size in sizes):
            for size in sizes:
                size.owner.operation.move_before(loop)
            allocation.move_before(loop)
            release.move_after(loop)


def _is_of_buffer_around(size: ir.Value, loop: ir.Operation) -> bool:
    op = defining_operation(size)
    return (
        op is not None
        and op.name == "memref.dim"
        and not any(is_inside(operand, loop) for operand in op.operands)
    )


def _mark_calls(block: ir.Block, temporaries: Sequence[_Temporary]) -> None:
    i64 = ir.IntegerType.get_signless(64)
    for place, view in enumerate(block.operations):
        live = sum(one.bytes for one in temporaries if one.first <= place <= one.last)
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
    operations = [view.operation for view in block.operations]
    for allocation, release, users in _released(block):
        if not allocation.operands and (bytes_ := _bytes(allocation)):
            first = operations.index(allocation)
            last = max(
                (operations.index(enclosing_in(block, user)) for user in users), default=first
            )
            yield _Temporary(allocation, release, bytes_, first, last)


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


def _bytes(allocation: ir.Operation) -> int:
    return buffer_bytes(ir.MemRefType(allocation.results[0].type))


def _place(temporaries: Sequence[_Temporary]) -> int:
    """Gives each temporary its offset, and gives the end of the last one."""
    placed: list[_Temporary] = []
    for temporary in sorted(temporaries, key=lambda one: -one.bytes):
        offset = 0
        beside = [other for other in placed if other.lives_with(temporary)]
        for other in sorted(beside, key=lambda one: one.offset):
            if offset + temporary.bytes <= other.offset:
                break
            end = other.offset + other.bytes
            offset = max(offset, -(-end // ALIGNMENT) * ALIGNMENT)
        temporary.offset = offset
        placed.append(temporary)
    return max(temporary.offset + temporary.bytes for temporary in temporaries)


def _lower_bound(temporaries: Sequence[_Temporary]) -> int:
    """The bytes of those that live at once, where these are most."""
    return max(
        sum(
            planned_bytes(other.allocation, "lower_bound", other.bytes)
            for other in temporaries
            if other.first <= one.first <= other.last
        )
        for one in temporaries
    )
