"""Builds a contraction as a kernel of tiles: products of what lies in shared memory.

A block of threads does one tile of the result after the other. For each it goes along the sums:
while the products of one stage in shared memory are added up, the next ones are copied. Then the
sums go through shared memory too, from where each thread takes elements that are contiguous in the
result, and does to them what follows the contraction: the epilogue. Where a result has few tiles,
a block does a part of the sums of one, and a second launch adds up what the parts come to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from plumbline.linalg_to_gpu.contraction_tiles import VECTOR_BYTES, TiledContraction
from plumbline.linalg_to_gpu.element_runs import common_length
from plumbline.linalg_to_gpu.epilogues import Epilogue, scaled
from plumbline.linalg_to_gpu.launches import (
    THREADS,
    Thread,
    buffer_bytes,
    delinearized,
    launch,
    shared_type,
    strided,
)
from plumbline.linalg_to_gpu.tile_copies import Loops, TileCopy, pipelined, stages_of
from plumbline.linalg_to_gpu.warp_instructions import warp_tile
from plumbline.linalg_to_gpu.warp_tiles import Staged, WarpTile, into
from plumbline.linalg_to_kernels.building import (
    for_each,
    if_else,
    index,
    least,
    product,
    rounded_up,
)
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.sizes import loop_size

Values = Mapping[ir.Value, ir.Value]

PADDING = 8
"""Elements between rows of the sums: warps that write four rows find these in different banks."""


def build_tiled_contraction(found: TiledContraction, given: Values, output: ir.Value) -> None:
    """Builds the launch of a kernel that does a contraction's group.

    Args:
      found: its tensors are those of a function.
      given: for each argument of that function a buffer or a scalar; if there are parts, for the
        contraction's result one of `partials_type`.
      output: the buffer that takes the result.
    """
    contraction = found.contraction
    partials = given[contraction.results[0]] if found.parts > 1 else None
    sizes = [loop_size(contraction, loop, given) for loop in range(len(contraction.reduces))]
    counts = [
        product([sizes[loop] for loop in loops])
        for loops in (found.batches, found.left.lines, found.right.lines)
    ]
    tiles = [
        *([index(found.parts)] if partials is not None else []),
        counts[0],
        arith.ceildivui(counts[2], index(found.product.tile.columns)),
        arith.ceildivui(counts[1], index(found.product.tile.rows)),
    ]
    number = product(tiles)

    def build(thread: Thread) -> None:
        kernel = _Kernel(found, given, output, sizes, thread, partials)

        def tile(at: ir.Value) -> None:
            # Blocks that run at once share columns: those of weights, which are many.
            *parts, batch, column, row = delinearized(at, tiles)
            outer = delinearized(batch, [sizes[loop] for loop in found.batches])
            loops = dict(zip(found.batches, outer, strict=True))
            kernel.build(
                _Part(parts[0] if parts else None, batch),
                loops,
                arith.muli(row, index(found.product.tile.rows)),
                arith.muli(column, index(found.product.tile.columns)),
            )

        strided(thread.block, number, thread.blocks, tile)

    launch(number, found.product.tile.threads, build)
    if partials is not None:
        _build_sums_of_parts(found, given, output, sizes, partials)


def _build_sums_of_parts(
    found: TiledContraction,
    given: Values,
    output: ir.Value,
    sizes: Sequence[ir.Value],
    partials: ir.Value,
) -> None:
    """Builds the launch that adds up what the parts come to, always in the same order.

    A thread does so for an element, and then does the epilogue.
    """
    lines = (found.batches, found.left.lines, found.right.lines)
    counts = [product([sizes[loop] for loop in loops]) for loops in lines]
    number = product(counts)
    epilogue = Epilogue(found.group, found.contraction, found.axes, given, output)

    def build(thread: Thread) -> None:
        def element(at: ir.Value) -> None:
            places = delinearized(at, counts)

            def add(part: ir.Value, so_far: ir.Value) -> list[ir.Value]:
                value = memref.load(partials, [part, *places])
                is_float = isinstance(value.type, ir.FloatType)
                return [(arith.addf if is_float else arith.addi)(so_far, value)]

            first = memref.load(partials, [index(0), *places])
            (sum_,) = for_each(index(1), index(found.parts), 1, add, [first])
            loops: dict[int, ir.Value] = {}
            for own, place in zip(lines, places, strict=True):
                own_places = delinearized(place, [sizes[loop] for loop in own])
                loops |= zip(own, own_places, strict=True)
            epilogue.store([scaled(sum_, found.left.factor * found.right.factor)], loops)

        first = arith.addi(arith.muli(thread.block, index(THREADS)), thread.number)
        strided(first, number, arith.muli(thread.blocks, index(THREADS)), element)

    launch(arith.ceildivui(number, index(THREADS)), THREADS, build)


@dataclass(frozen=True)
class _Part:
    """Whose sums a block does."""

    part: ir.Value | None
    """Its number; None: it does all."""
    batch: ir.Value
    """Its number, of all loops over batches."""


class _Kernel:
    def __init__(
        self,
        found: TiledContraction,
        given: Values,
        output: ir.Value,
        sizes: Sequence[ir.Value],
        thread: Thread,
        partials: ir.Value | None,
    ) -> None:
        self._found, self._partials = found, partials
        self._sizes, self._thread = sizes, thread
        self._epilogue = Epilogue(found.group, found.contraction, found.axes, given, output)
        self._warps: WarpTile = warp_tile(found.product, thread)
        copied = list(zip((found.left, found.right), self._warps.shared, strict=True))
        self._length = self._run_length()
        self._behind = found.product.behind
        self._stages = stages_of(copied, found.shared_bytes, found.rounds, self._behind)
        types = [tile.type(self._stages) for tile in self._warps.shared]
        self._rows = found.product.tile.rows // found.product.parts
        sums = shared_type(
            [self._rows, found.product.tile.columns + PADDING], found.product.summed_in
        )
        bytes_ = [buffer_bytes(type_) for type_ in (*types, sums)]
        raw = thread.shared([max(sum(bytes_[:2]), bytes_[2])], ir.IntegerType.get_signless(8))
        self._left = memref.ViewOp(types[0], raw, index(0), []).result
        self._right = memref.ViewOp(types[1], raw, index(bytes_[0]), []).result
        self._staged = memref.ViewOp(sums, raw, index(0), []).result
        self._lines = found.left.lines, found.right.lines
        summed = (found.summed, [sizes[loop] for loop in found.summed])
        self._summed = product(summed[1])
        self._copies = [
            TileCopy(operand, given[operand.value], tile, shared, thread, summed)
            for (operand, tile), shared in zip(copied, (self._left, self._right), strict=True)
        ]

    def _run_length(self) -> int:
        """How many sums next to one another in a row a thread takes at once."""
        lines = self._found.right.lines
        if not lines:
            return 1
        if self._partials is None:
            return self._epilogue.run_length(lines[-1])
        return common_length(
            [self._found.product.summed_in], self._found.contraction.sizes[lines[-1]]
        )

    def build(self, part: _Part, batch: Loops, row: ir.Value, column: ir.Value) -> None:
        """Builds all of the tile whose first row and column these are."""
        for copy, lines, first in zip(self._copies, self._lines, (row, column), strict=True):
            copy.start(batch, first, [self._sizes[loop] for loop in lines])
        sums = self._summed_up(part.part)
        for piece in range(self._found.product.parts):
            self._warps.put(piece, sums, into(self._staged))
            self._thread.wait()
            self._finish(piece, part, batch, row, column)
            self._thread.wait()

    def _summed_up(self, part: ir.Value | None) -> list[ir.Value]:
        """The sums of a tile, of all stages of a part."""

        def add(_: ir.Value, stage: ir.Value, sums: Sequence[ir.Value]) -> list[ir.Value]:
            return self._warps.add(Staged(self._left, stage), Staged(self._right, stage), sums)

        first, count, depth = index(0), self._summed, self._found.product.depth
        if part is not None:
            # So many that no stage has elements of two parts.
            most = rounded_up(arith.ceildivui(count, index(self._found.parts)), depth)
            first = arith.muli(part, most)
            count = least(arith.subi(count, first), most)
        extent = (first, count, depth)
        start = self._warps.start()
        return pipelined(self._copies, self._stages, self._thread, extent, add, start, self._behind)

    def _finish(
        self, piece: int, part: _Part, batch: Loops, row: ir.Value, column: ir.Value
    ) -> None:
        """Does the epilogue for a piece of the sums, or leaves it to who adds up the parts."""
        found, sizes, length = self._found, self._sizes, self._length
        tile, own = found.product.tile, self._warps.part_rows
        alignment = min(length * element_bytes(found.product.summed_in), VECTOR_BYTES)
        rows = product([sizes[loop] for loop in found.left.lines])
        columns = product([sizes[loop] for loop in found.right.lines])

        def run(number: ir.Value) -> None:
            staged, run = delinearized(number, [index(self._rows), index(tile.columns // length)])
            line = arith.muli(run, index(length))
            warp, inner = delinearized(staged, [index(self._rows // own), index(own)])
            in_tile = arith.addi(arith.muli(warp, index(tile.warp_rows)), inner)
            at_row = arith.addi(row, arith.addi(in_tile, index(piece * own)))
            at_column = arith.addi(column, line)
            is_there = arith.andi(
                arith.cmpi(arith.CmpIPredicate.ult, at_row, rows),
                arith.cmpi(arith.CmpIPredicate.ult, at_column, columns),
            )

            def store() -> None:
                values = vector.LoadOp(
                    ir.VectorType.get([length], found.product.summed_in),
                    self._staged,
                    [staged, line],
                    alignment=alignment,
                ).result
                if self._partials is not None and part.part is not None:
                    places = [part.part, part.batch, at_row, at_column]
                    vector.StoreOp(values, self._partials, places, alignment=alignment)
                    return
                loops = dict(batch)
                for lines, at in ((found.left.lines, at_row), (found.right.lines, at_column)):
                    places = delinearized(at, [sizes[loop] for loop in lines])
                    loops |= zip(lines, places, strict=True)
                factor = found.left.factor * found.right.factor
                elements = [vector.extract(values, [], [lane]) for lane in range(length)]
                self._epilogue.store([scaled(each, factor) for each in elements], loops)

            if_else(is_there, store)

        count = index(self._rows * tile.columns // length)
        strided(self._thread.number, count, index(self._thread.threads), run)
