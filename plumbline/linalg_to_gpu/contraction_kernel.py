"""Builds a contraction as a kernel of tiles: products of what lies in shared memory.

A block of threads does one tile of the result after the other. For each it goes along the sums:
while the products of one stage in shared memory are added up, the next one is copied. Then the sums
go through shared memory too, from where each thread takes elements that are contiguous in the
result, and does to them what follows the contraction: the epilogue.
"""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from plumbline.linalg_to_gpu.contraction_tiles import TiledContraction
from plumbline.linalg_to_gpu.launches import WORKGROUP, Thread, delinearized, launch, strided
from plumbline.linalg_to_gpu.tile_copies import Loops, TileCopy
from plumbline.linalg_to_gpu.warp_tiles import PARTS, WarpTile, warp_tile
from plumbline.linalg_to_kernels.building import for_each, if_else, index, product
from plumbline.linalg_to_kernels.computations import Computation, Indices
from plumbline.linalg_to_kernels.contraction_groups import starts_from_zero
from plumbline.linalg_to_kernels.evaluation import Evaluation
from plumbline.linalg_to_kernels.sizes import loop_size
from plumbline.planned_memory import element_bytes

Values = Mapping[ir.Value, ir.Value]

STAGES = 2
"""One that is computed of, and one that is copied to."""

_PADDING = 8
"""Elements between rows of the sums: warps that write four rows find these in different banks."""


def build_tiled_contraction(found: TiledContraction, given: Values, output: ir.Value) -> None:
    """Builds the launch of a kernel that does a contraction's group.

    Args:
      found: its tensors are those of a function.
      given: for each argument of that function a buffer or a scalar.
      output: the buffer that takes the result.
    """
    contraction = found.contraction
    sizes = [loop_size(contraction, loop, given) for loop in range(len(contraction.reduces))]
    counts = [
        product([sizes[loop] for loop in loops])
        for loops in (found.batches, found.left.lines, found.right.lines)
    ]
    tiles = [
        counts[0],
        arith.ceildivui(counts[2], index(found.tile.columns)),
        arith.ceildivui(counts[1], index(found.tile.rows)),
    ]
    number = product(tiles)

    def build(thread: Thread) -> None:
        kernel = _Kernel(found, given, output, sizes, thread)

        def tile(at: ir.Value) -> None:
            # Blocks that run at once share columns: those of weights, which are many.
            batch, column, row = delinearized(at, tiles)
            outer = delinearized(batch, [sizes[loop] for loop in found.batches])
            loops = dict(zip(found.batches, outer, strict=True))
            kernel.build(
                loops,
                arith.muli(row, index(found.tile.rows)),
                arith.muli(column, index(found.tile.columns)),
            )

        strided(thread.block, number, thread.blocks, tile)

    launch(number, found.tile.threads, build)


class _Kernel:
    def __init__(
        self,
        found: TiledContraction,
        given: Values,
        output: ir.Value,
        sizes: Sequence[ir.Value],
        thread: Thread,
    ) -> None:
        self._found, self._given, self._output = found, given, output
        self._sizes, self._thread = sizes, thread
        self._warps: WarpTile = warp_tile(found, thread)
        space = ir.Attribute.parse(WORKGROUP)
        types = [tile.type(STAGES, space) for tile in self._warps.shared]
        self._rows = found.tile.rows // PARTS
        sums = ir.MemRefType.get(
            [self._rows, found.tile.columns + _PADDING], found.summed_in, memory_space=space
        )
        bytes_ = [_bytes(type_) for type_ in (*types, sums)]
        raw = thread.shared([max(sum(bytes_[:2]), bytes_[2])], ir.IntegerType.get_signless(8))
        self._left = memref.ViewOp(types[0], raw, index(0), []).result
        self._right = memref.ViewOp(types[1], raw, index(bytes_[0]), []).result
        self._staged = memref.ViewOp(sums, raw, index(0), []).result
        self._lines = found.left.lines, found.right.lines
        summed = (found.summed, [sizes[loop] for loop in found.summed])
        self._summed = product(summed[1])
        self._copies = [
            TileCopy(operand, given[operand.value], tile, shared, thread, summed)
            for operand, tile, shared in zip(
                (found.left, found.right),
                self._warps.shared,
                (self._left, self._right),
                strict=True,
            )
        ]

    def build(self, batch: Loops, row: ir.Value, column: ir.Value) -> None:
        """Builds all of the tile whose first row and column these are."""
        for copy, lines, first in zip(self._copies, self._lines, (row, column), strict=True):
            copy.start(batch, first, [self._sizes[loop] for loop in lines])
        sums = self._summed_up()
        contraction = self._found.contraction
        from_zero = starts_from_zero(contraction)
        for part in range(PARTS):
            self._warps.put(part, sums, self._put)
            self._thread.wait()
            self._finish(part, batch, row, column, from_zero=from_zero)
            self._thread.wait()

    def _summed_up(self) -> list[ir.Value]:
        """The sums of a tile, of all stages."""
        thread, depth = self._thread, index(self._found.depth)
        one, two = index(1), index(STAGES)
        loaded = [copy.begin(index(0), index(0)) for copy in self._copies]
        for copy, values in zip(self._copies, loaded, strict=True):
            copy.finish(values, index(0))
        thread.commit()

        def body(first: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            number = arith.divui(first, depth)
            stage = arith.remui(number, two)
            following = arith.remui(arith.addi(number, one), two)
            thread.wait_for_copies()
            # What was copied is there for all, and nobody computes of the other stage any more.
            thread.wait()
            next_ = arith.addi(first, depth)
            loaded = [copy.begin(next_, following) for copy in self._copies]
            thread.commit()
            results = self._warps.add(self._left, self._right, stage, sums)
            for copy, values in zip(self._copies, loaded, strict=True):
                copy.finish(values, following)
            return results

        sums = for_each(index(0), self._summed, self._found.depth, body, self._warps.start())
        # The sums go where stages were.
        thread.wait_for_copies()
        thread.wait()
        return sums

    def _put(self, sums: ir.Value, row: ir.Value, column: ir.Value) -> None:
        type_ = ir.VectorType(sums.type)
        alignment = type_.shape[0] * element_bytes(type_.element_type)
        vector.StoreOp(sums, self._staged, [row, column], alignment=alignment)

    def _finish(
        self, part: int, batch: Loops, row: ir.Value, column: ir.Value, *, from_zero: bool
    ) -> None:
        """Does the epilogue for a part of the sums, and stores the results."""
        found, sizes = self._found, self._sizes
        tile, own = found.tile, self._warps.part_rows
        rows = product([sizes[loop] for loop in found.left.lines])
        columns = product([sizes[loop] for loop in found.right.lines])

        def element(number: ir.Value) -> None:
            staged, line = delinearized(number, [index(self._rows), index(tile.columns)])
            warp, inner = delinearized(staged, [index(self._rows // own), index(own)])
            in_tile = arith.addi(arith.muli(warp, index(tile.warp_rows)), inner)
            at_row = arith.addi(row, arith.addi(in_tile, index(part * own)))
            at_column = arith.addi(column, line)
            is_there = arith.andi(
                arith.cmpi(arith.CmpIPredicate.ult, at_row, rows),
                arith.cmpi(arith.CmpIPredicate.ult, at_column, columns),
            )

            def store() -> None:
                loops = dict(batch)
                for lines, at in ((found.left.lines, at_row), (found.right.lines, at_column)):
                    places = delinearized(at, [sizes[loop] for loop in lines])
                    loops |= zip(lines, places, strict=True)
                value = memref.load(self._staged, [staged, line])
                self._store(value, loops, from_zero=from_zero)

            if_else(is_there, store)

        count = index(self._rows * tile.columns)
        strided(self._thread.number, count, index(self._thread.threads), element)

    def _store(self, value: ir.Value, loops: Loops, *, from_zero: bool) -> None:
        found = self._found
        contraction, root = found.contraction, found.group.root
        type_ = ir.RankedTensorType(contraction.results[0].type).element_type
        if not from_zero:
            evaluation = self._evaluation(contraction, loops, value)
            init = evaluation.init(contraction, 0, contraction.loops)
            value = _sum(value, _converted(init, value.type))
        value = _converted(value, type_)
        along = root.result_loops(0)
        assert along is not None
        if root is not contraction:
            own = {
                loop: loops[other] if other in loops else index(0)
                for loop, other in zip(along, found.axes, strict=True)
                if other is not None
            }
            (value,) = self._evaluation(root, own, value).results(
                root, root.loops, self._needed(root, own, value)
            )
        zero = index(0)
        places = [zero if loop is None else loops.get(loop, zero) for loop in found.axes]
        memref.store(value, self._output, places)

    def _needed(self, root: Computation, loops: Loops, value: ir.Value) -> list[ir.Value]:
        return self._evaluation(root, loops, value).needed_inits(root, root.loops)

    def _evaluation(self, step: Computation, loops: Loops, value: ir.Value) -> Evaluation:
        def load(producer: Computation, source: ir.Value, indices: Indices) -> ir.Value:
            return value

        evaluation = Evaluation(self._found.group, step, self._given, load)
        evaluation.loops = dict.fromkeys(range(len(step.reduces)), index(0)) | dict(loops)
        return evaluation


def _bytes(type_: ir.MemRefType) -> int:
    count = element_bytes(type_.element_type)
    for size in type_.shape:
        count *= size
    return count


def _sum(left: ir.Value, right: ir.Value) -> ir.Value:
    if isinstance(left.type, ir.FloatType):
        return arith.addf(left, right)
    return arith.addi(left, right)


def _converted(value: ir.Value, type_: ir.Type) -> ir.Value:
    """A float of another width."""
    if value.type == type_:
        return value
    convert = arith.extf if value.type.width < type_.width else arith.truncf
    return convert(type_, value)
