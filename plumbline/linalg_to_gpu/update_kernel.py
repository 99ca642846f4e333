"""Builds updates: writes to places that are computed, of which several may be one.

Threads part the places of what is written between them. Each goes through all updates in their
order, and does those whose places are its own: so the last one stays where several meet, sums are
added up in order, and no thread waits for another. Along loops that are axes of what is written
each thread has a place of its own anyway.
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf

from plumbline.bindings.walk import constant_integer, needed_for
from plumbline.linalg_to_gpu.launches import THREADS, Thread, delinearized, launch, strided
from plumbline.linalg_to_gpu.loop_kernels import LoopKernel
from plumbline.linalg_to_kernels.building import PARALLEL, for_each, if_else, index, product

_ALL_THREADS = 1 << 16
"""Among so many places are parted: what runs at once on a large GPU, or a few times that."""

_HASH_BITS = 32

_MULTIPLIER = 2654435769
"""Two to the power of `_HASH_BITS` by the golden ratio."""

_USUAL = 64
"""What a size that is not known is taken for."""


def build_updates(kernel: LoopKernel) -> bool:
    """Builds the launch of a kernel that updates a buffer; says whether it is such.

    Where all iterations are independent their loops are marked so (`building.PARALLEL`), and left
    to whoever launches these.
    """
    if not kernel.loops or any(op.regions for op in kernel.body):
        return False
    free = [loop for loop in kernel.loops if kernel.is_independent(loop)]
    if len(free) == len(kernel.loops):
        for loop in free:
            loop.operation.attributes[PARALLEL] = ir.UnitAttr.get()
        return False
    if len(kernel.written) != 1:
        return False
    (buffer,) = kernel.written
    places = set(kernel.accesses(buffer))
    if len(places) != 1:
        return False
    (place,) = places
    ordered = [loop for loop in kernel.loops if loop not in free]
    _build(kernel, buffer, place, free, ordered)
    kernel.loops[0].operation.erase()
    return True


def _build(
    kernel: LoopKernel,
    buffer: ir.Value,
    place: Sequence[ir.Value],
    free: Sequence[scf.ForOp],
    ordered: Sequence[scf.ForOp],
) -> None:
    parts = _parts(free, ordered)
    counts = [index(parts), *(loop.upperBound for loop in free)]
    number = product(counts)
    placing = needed_for(place, kernel.body)
    computed = [op for op in kernel.body if op not in placing]
    axes = [
        axis for axis, at in enumerate(place) if all(at != loop.induction_variable for loop in free)
    ]

    def build(thread: Thread) -> None:
        def work(at: ir.Value) -> None:
            part, *own = delinearized(at, counts)
            for loop, value in zip(free, own, strict=True):
                loop.induction_variable.replace_all_uses_with(value)
            _in_order(ordered, lambda: update(part))

        def update(part: ir.Value) -> None:
            _move(placing)
            where = index(0)
            for axis in axes:
                size = memref.dim(buffer, index(axis))
                where = arith.addi(arith.muli(where, size), place[axis])
            if_else(
                arith.cmpi(arith.CmpIPredicate.eq, _part_of(where, parts), part),
                lambda: _move(computed),
            )

        first = arith.addi(arith.muli(thread.block, index(THREADS)), thread.number)
        strided(first, number, arith.muli(thread.blocks, index(THREADS)), work)

    launch(arith.ceildivui(number, index(THREADS)), THREADS, build)


def _part_of(where: ir.Value, parts: int) -> ir.Value:
    """Who has a place, by the upper bits of a product, as places may all be multiples of something.

    (Knuth, The Art of Computer Programming, volume 3, 6.4: multiplicative hashing.)
    """
    low = arith.andi(arith.muli(where, index(_MULTIPLIER)), index((1 << _HASH_BITS) - 1))
    return arith.shrui(low, index(_HASH_BITS - parts.bit_length() + 1))


def _parts(free: Sequence[scf.ForOp], ordered: Sequence[scf.ForOp]) -> int:
    """Among how many threads places are parted: a power of two, no more than there are updates."""
    most = _ALL_THREADS // max(_count(free, _USUAL), 1)
    updates = _count(ordered, _ALL_THREADS)
    return 1 << max(min(most, updates).bit_length() - 1, 0)


def _count(loops: Sequence[scf.ForOp], usual: int) -> int:
    count = 1
    for loop in loops:
        known = constant_integer(loop.upperBound)
        count *= usual if known is None else known
    return count


def _in_order(loops: Sequence[scf.ForOp], body: Callable[[], None]) -> None:
    """Builds such loops anew, around a body that uses the places of the old ones."""
    if not loops:
        body()
        return
    loop, *rest = loops

    def inside(at: ir.Value) -> list[ir.Value]:
        loop.induction_variable.replace_all_uses_with(at)
        _in_order(rest, body)
        return []

    for_each(index(0), loop.upperBound, 1, inside)


def _move(operations: Sequence[ir.Operation]) -> None:
    for op in operations:
        op.detach_from_parent()
        ir.InsertionPoint.current.insert(op)
