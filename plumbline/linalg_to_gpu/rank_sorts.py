"""Sorts rows by merging: a block sorts a tile of a row in shared memory (`shared_sorts.py`).

Runs of these are then merged, to runs twice as long by each launch: a block finds a tile of what
two of them are merged to, from where binary searches tell which elements of both are in it. Equal
elements keep their order. Where only the first elements of long rows are read afterwards, these
are found without sorting the others (`first_selects.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_gpu.first_selects import (
    FirstSelect,
    scratch_of_parts,
    selected_elements,
)
from plumbline.linalg_to_gpu.launches import THREADS, WARP, Thread, delinearized, launch, strided
from plumbline.linalg_to_gpu.shared_sorts import EACH, Runs, Shared
from plumbline.linalg_to_kernels.building import for_each, index, least, product
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.sort_kernels import (
    Sort,
    call_sort_kernels,
    rounds_of_merging,
)
from plumbline.linalg_to_kernels.trimmed_sorts import sort_axis

_MOST_IN_TILE = 2048
"""Elements that a block sorts."""

_SHARED_BYTES = 40 << 10
"""What a tile may take, twice: where elements are, and where they are merged to."""


def rank_sorts(module: ir.Operation) -> None:
    """Makes of each `tm_tensor.sort` on buffers the call of a function with launches."""
    call_sort_kernels(module, _scratch, _build, lambda op: selected_elements(op, _tile(op)))


def _build(sort: Sort) -> None:
    if sort.first is not None:
        FirstSelect(sort, _tile(sort.op)).build()
    else:
        _RankSort(sort).build()


def _scratch(op: ir.Operation, first: int | None) -> list[ir.Value]:
    """A second place for each buffer, if rows may be longer than a tile."""
    if first is not None:
        return scratch_of_parts(op, first)
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

        def merge_twice(number: ir.Value) -> list[ir.Value]:
            round_ = arith.addi(arith.muli(number, index(2)), index(first))
            self._merge_all(self.sort.buffers, self.sort.scratch, round_, tile)
            after = arith.addi(round_, index(1))
            self._merge_all(self.sort.scratch, self.sort.buffers, after, tile)
            return []

        for_each(index(0), times, 1, merge_twice)

    def _place(self, rows: Sequence[ir.Value], at: ir.Value) -> list[ir.Value]:
        axis = self.sort.axis
        return [*rows[:axis], at, *rows[axis:]]

    def _sort_tiles(self, tile: int) -> None:
        sizes = self.sort.sizes()
        size = sizes.pop(self.sort.axis)
        counts = [*sizes, arith.ceildivui(size, index(tile))]
        number = product(counts)

        def build(thread: Thread) -> None:
            shared = Shared(self.sort, thread, tile)

            def work(at: ir.Value) -> None:
                *rows, piece = delinearized(at, counts)
                start = arith.muli(piece, index(tile))
                count = least(arith.subi(size, start), index(tile))

                def place(at: ir.Value) -> list[ir.Value]:
                    return self._place(rows, arith.addi(start, at))

                def give(at: ir.Value) -> None:
                    for buffer, value in zip(self.sort.buffers, shared.load(at), strict=True):
                        memref.store(value, buffer, place(at))

                shared.each(count, lambda at: shared.store(at, self.sort.load(place(at))))
                shared.sort(count)
                shared.each(count, give)

            strided(thread.block, number, thread.blocks, work)

        launch(number, _threads(tile), build)

    def _merge_all(
        self, sources: Sequence[ir.Value], targets: Sequence[ir.Value], round_: ir.Value, tile: int
    ) -> None:
        """Launches a block for each tile of what runs are merged to, two by two."""
        sizes, axis = self.sort.sizes(), self.sort.axis
        size = sizes.pop(axis)
        counts = [*sizes, arith.ceildivui(size, index(tile))]
        number = product(counts)

        def build(thread: Thread) -> None:
            shared = Shared(self.sort, thread, tile)

            def work(at: ir.Value) -> None:
                *rows, piece = delinearized(at, counts)

                def load(at: ir.Value) -> list[ir.Value]:
                    return [memref.load(source, self._place(rows, at)) for source in sources]

                def give(own: ir.Value) -> None:
                    place = self._place(rows, arith.addi(first, own))
                    for target, value in zip(targets, shared.load(own), strict=True):
                        memref.store(value, target, place)

                first = arith.muli(piece, index(tile))
                runs = Runs.around(first, size, round_)
                before = arith.subi(first, runs.start)
                end = least(arith.addi(first, index(tile)), runs.end)
                until = arith.subi(end, runs.start)
                halvings = arith.addi(round_, index(1))
                taken = runs.taken(self.sort, load, [before, until], halvings)
                lefts = arith.subi(taken[1], taken[0])
                left = arith.addi(runs.start, taken[0])
                # After those of the first run that are of the tile come those of the second one.
                right = arith.addi(runs.middle, arith.subi(arith.subi(before, taken[0]), lefts))

                def take(own: ir.Value) -> None:
                    is_left = arith.cmpi(arith.CmpIPredicate.ult, own, lefts)
                    from_ = arith.addi(arith.select(is_left, left, right), own)
                    shared.store(own, load(from_))

                count = arith.subi(end, first)
                shared.each(count, take)
                shared.merge(lefts, count)
                shared.each(count, give)

            strided(thread.block, number, thread.blocks, work)

        launch(number, _threads(tile), build)


def _threads(tile: int) -> int:
    """Of a block that sorts or merges so many elements."""
    return min(max(tile // EACH, WARP), THREADS)
