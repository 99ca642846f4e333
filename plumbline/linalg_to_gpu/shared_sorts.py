"""Sorts elements in shared memory: a block merges runs of 1, 2, 4, ... of them.

Each element finds its place among the others by itself. That is its own place in its run, and how
many of the other run come before it, which a binary search tells. Equal elements keep their order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_gpu.launches import Thread, strided
from plumbline.linalg_to_kernels.building import for_each, index, least
from plumbline.linalg_to_kernels.sort_kernels import Sort, rounds_of_merging

Load = Callable[[ir.Value], list[ir.Value]]
"""Gives of each buffer the element at a place of a row."""

Store = Callable[[ir.Value, Sequence[ir.Value]], None]


@dataclass(frozen=True)
class _Runs:
    """Two sorted runs of a row, of which one has the place `at`: what is to be known of them."""

    middle: ir.Value
    """Where the second one begins, or would if there were one."""
    first: ir.Value
    """Of the run that `at` is not in."""
    end: ir.Value
    """Of that too."""
    is_left: ir.Value
    """Whether `at` is in the first of them."""


def merge(
    sort: Sort, at: ir.Value, count: ir.Value, round_: ir.Value, load: Load, store: Store
) -> None:
    """Puts an element where it belongs when runs of two to the power of `round_` are merged."""
    runs = _runs(at, count, round_)
    own = load(at)
    last = arith.subi(count, index(1))

    def halve(_: ir.Value, low: ir.Value, high: ir.Value) -> list[ir.Value]:
        middle = arith.shrui(arith.addi(low, high), index(1))
        # What is read when the search has ended already is of no account.
        others = load(least(middle, last))
        lefts, rights = (
            [arith.select(runs.is_left, *pair) for pair in zip(*sides, strict=True)]
            for sides in ((own, others), (others, own))
        )
        # An element of the first run comes before those of the second that are equal to it.
        is_before = arith.xori(sort.in_order(lefts, rights), runs.is_left)
        is_open = arith.cmpi(arith.CmpIPredicate.ult, low, high)
        moves = arith.andi(is_before, is_open)
        return [
            arith.select(moves, arith.addi(middle, index(1)), low),
            arith.select(moves, high, middle),
        ]

    halvings = arith.addi(round_, index(1))
    place, _ = for_each(index(0), halvings, 1, halve, [runs.first, runs.end])
    # Its place in its own run, and those of the other that come before it, after both begin.
    store(arith.subi(arith.addi(at, place), runs.middle), own)


def _runs(at: ir.Value, count: ir.Value, round_: ir.Value) -> _Runs:
    """The two runs of which one has the place `at`, where each is two to the power of `round_`."""
    run = arith.shli(index(1), round_)
    pair = arith.addi(round_, index(1))
    start = arith.shli(arith.shrui(at, pair), pair)
    middle = least(arith.addi(start, run), count)
    end = least(arith.addi(middle, run), count)
    is_left = arith.cmpi(arith.CmpIPredicate.ult, at, middle)
    return _Runs(
        middle,
        arith.select(is_left, middle, start),
        arith.select(is_left, end, middle),
        is_left,
    )


class Shared:
    """Elements of each buffer that is sorted, in memory that the threads of a block share."""

    def __init__(self, sort: Sort, thread: Thread, tile: int) -> None:
        self._sort, self._thread = sort, thread
        self.buffers = [
            thread.shared([2, tile], ir.MemRefType(buffer.type).element_type)
            for buffer in sort.buffers
        ]
        """Twice: where elements are, and where they are merged to."""
        self._side = index(0)

    def store(self, at: ir.Value, values: Sequence[ir.Value]) -> None:
        """Puts an element there, before they are sorted."""
        for value, own in zip(values, self.buffers, strict=True):
            memref.store(value, own, [index(0), at])

    def load(self, at: ir.Value) -> list[ir.Value]:
        """What is there once they are sorted."""
        return [memref.load(own, [self._side, at]) for own in self.buffers]

    def each(self, count: ir.Value, work: Callable[[ir.Value], object]) -> None:
        """Does work for each of so many elements, and waits until it has been done for all."""
        strided(self._thread.number, count, index(self._thread.threads), work)
        self._thread.wait()

    def sort(self, count: ir.Value) -> None:
        """Sorts so many elements."""

        def merge_runs(round_: ir.Value, source: ir.Value) -> list[ir.Value]:
            target = arith.subi(index(1), source)

            def load(at: ir.Value) -> list[ir.Value]:
                return [memref.load(own, [source, at]) for own in self.buffers]

            def store(at: ir.Value, values: Sequence[ir.Value]) -> None:
                for own, value in zip(self.buffers, values, strict=True):
                    memref.store(value, own, [target, at])

            self.each(count, lambda at: merge(self._sort, at, count, round_, load, store))
            return [target]

        (self._side,) = for_each(index(0), rounds_of_merging(count), 1, merge_runs, [index(0)])
