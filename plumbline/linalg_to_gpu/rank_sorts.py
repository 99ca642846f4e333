"""Sorts rows by merging, where each element finds its place among the others by itself.

That is its own place in its run, and how many of the other run come before it, which a binary
search tells. A block so sorts a tile of a row in shared memory; tiles are then merged in device
memory, by a thread for each element. (Satish, Harris and Garland, "Designing efficient sorting
algorithms for manycore GPUs", 2009.) Equal elements keep their order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_gpu.launches import THREADS, WARP, Thread, delinearized, launch, strided
from plumbline.linalg_to_kernels.building import for_each, index, least, product
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.sort_kernels import (
    Sort,
    call_sort_kernels,
    rounds_of_merging,
)
from plumbline.linalg_to_kernels.trimmed_sorts import sort_axis

_MOST_IN_TILE = 1024
"""Elements that a block sorts."""

_SHARED_BYTES = 40 << 10
"""What a tile may take, twice: where elements are, and where they are merged to."""

_EACH = 4
"""Elements of a full tile that a thread has."""

_Load = Callable[[ir.Value], list[ir.Value]]
"""Gives of each buffer the element at a place of a row."""

_Store = Callable[[ir.Value, Sequence[ir.Value]], None]


def rank_sorts(module: ir.Operation) -> None:
    """Makes of each `tm_tensor.sort` on buffers the call of a function with launches."""
    call_sort_kernels(module, lambda op, _: _scratch(op), lambda sort: _RankSort(sort).build())


def _scratch(op: ir.Operation) -> list[ir.Value]:
    """A second place for each buffer, if rows may be longer than a tile."""
    if ir.MemRefType(op.operands[0].type).shape[sort_axis(op)] in range(_tile(op) + 1):
        return []
    scratch = []
    for buffer in op.operands:
        type_ = ir.MemRefType(buffer.type)
        axes = [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]
        sizes = [memref.dim(buffer, index(axis)) for axis in axes]
        plain = ir.MemRefType.get(type_.shape, type_.element_type)
        scratch.append(memref.alloc(plain, sizes, []))
    return scratch


def _tile(op: ir.Operation) -> int:
    """How many elements a block sorts: a power of two, no more than there are."""
    types = [ir.MemRefType(buffer.type) for buffer in op.operands]
    bytes_ = sum(element_bytes(type_.element_type) for type_ in types)
    axis = sort_axis(op)
    tile = _MOST_IN_TILE
    while 2 * tile * bytes_ > _SHARED_BYTES:
        tile //= 2
    if not types[0].is_dynamic_dim(axis):
        while tile > WARP and tile // 2 >= types[0].shape[axis]:
            tile //= 2
    return tile


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


@dataclass(frozen=True)
class _RankSort:
    sort: Sort

    def build(self) -> None:
        """Sorts all tiles, and merges them."""
        tile = _tile(self.sort.op)
        self._sort_tiles(tile)
        if not self.sort.scratch:
            return
        size = self.sort.sizes()[self.sort.axis]
        tiles = arith.ceildivui(size, index(tile))
        first = tile.bit_length() - 1
        # There and back: where one round would have been enough, the second one copies.
        times = arith.ceildivui(rounds_of_merging(tiles), index(2))

        def merge(number: ir.Value) -> list[ir.Value]:
            round_ = arith.addi(arith.muli(number, index(2)), index(first))
            self._merge_all(self.sort.buffers, self.sort.scratch, round_)
            self._merge_all(self.sort.scratch, self.sort.buffers, arith.addi(round_, index(1)))
            return []

        for_each(index(0), times, 1, merge)

    def _place(self, rows: Sequence[ir.Value], at: ir.Value) -> list[ir.Value]:
        axis = self.sort.axis
        return [*rows[:axis], at, *rows[axis:]]

    def _sort_tiles(self, tile: int) -> None:
        sizes = self.sort.sizes()
        size = sizes.pop(self.sort.axis)
        counts = [*sizes, arith.ceildivui(size, index(tile))]
        number = product(counts)
        threads = min(max(tile // _EACH, WARP), THREADS)

        def build(thread: Thread) -> None:
            shared = [
                thread.shared([2, tile], ir.MemRefType(buffer.type).element_type)
                for buffer in self.sort.buffers
            ]

            def work(at: ir.Value) -> None:
                *rows, piece = delinearized(at, counts)
                start = arith.muli(piece, index(tile))
                self._sort_tile(
                    thread, shared, rows, start, least(arith.subi(size, start), index(tile))
                )

            strided(thread.block, number, thread.blocks, work)

        launch(number, threads, build)

    def _sort_tile(
        self,
        thread: Thread,
        shared: Sequence[ir.Value],
        rows: Sequence[ir.Value],
        start: ir.Value,
        count: ir.Value,
    ) -> None:
        """Sorts so many elements of a row in shared memory."""

        def each(work: Callable[[ir.Value], object]) -> None:
            strided(thread.number, count, index(thread.threads), work)
            thread.wait()

        def take(at: ir.Value) -> None:
            place = self._place(rows, arith.addi(start, at))
            for value, own in zip(self.sort.load(place), shared, strict=True):
                memref.store(value, own, [index(0), at])

        def merge(round_: ir.Value, source: ir.Value) -> list[ir.Value]:
            target = arith.subi(index(1), source)

            def load(at: ir.Value) -> list[ir.Value]:
                return [memref.load(own, [source, at]) for own in shared]

            def store(at: ir.Value, values: Sequence[ir.Value]) -> None:
                for own, value in zip(shared, values, strict=True):
                    memref.store(value, own, [target, at])

            each(lambda at: self._merge(at, count, round_, load, store))
            return [target]

        each(take)
        (last,) = for_each(index(0), rounds_of_merging(count), 1, merge, [index(0)])

        def give(at: ir.Value) -> None:
            place = self._place(rows, arith.addi(start, at))
            for buffer, own in zip(self.sort.buffers, shared, strict=True):
                memref.store(memref.load(own, [last, at]), buffer, place)

        each(give)

    def _merge_all(
        self, sources: Sequence[ir.Value], targets: Sequence[ir.Value], round_: ir.Value
    ) -> None:
        """Launches a thread for each element, which puts it where it belongs among two runs."""
        sizes, axis = self.sort.sizes(), self.sort.axis
        number = product(sizes)

        def build(thread: Thread) -> None:
            def work(at: ir.Value) -> None:
                rows = delinearized(at, sizes)
                own = rows.pop(axis)

                def load(at: ir.Value) -> list[ir.Value]:
                    return [memref.load(source, self._place(rows, at)) for source in sources]

                def store(at: ir.Value, values: Sequence[ir.Value]) -> None:
                    for target, value in zip(targets, values, strict=True):
                        memref.store(value, target, self._place(rows, at))

                self._merge(own, sizes[axis], round_, load, store)

            first = arith.addi(arith.muli(thread.block, index(THREADS)), thread.number)
            strided(first, number, arith.muli(thread.blocks, index(THREADS)), work)

        launch(arith.ceildivui(number, index(THREADS)), THREADS, build)

    def _merge(
        self, at: ir.Value, count: ir.Value, round_: ir.Value, load: _Load, store: _Store
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
            is_before = arith.xori(self.sort.in_order(lefts, rights), runs.is_left)
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
