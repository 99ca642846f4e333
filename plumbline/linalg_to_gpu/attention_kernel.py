"""Builds attention as one kernel: scores, softmax and the sum of values, by blocks of queries.

A block of threads has some queries, and goes along the keys. For some of these at a time it adds up
the products with the queries, puts these scores into shared memory, makes weights of them there,
and adds the weighted values to the sums that it has in registers. What it knows of a row is its
largest x so far, and the sum of the weights next to that; as that grows, the sums are made smaller.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf
from torch_mlir.dialects import math as mathematics

from plumbline.linalg_to_gpu.attention_groups import AttentionGroup
from plumbline.linalg_to_gpu.combinations import combined_by_warp
from plumbline.linalg_to_gpu.contraction_tiles import Instruction, Tile, TileProduct
from plumbline.linalg_to_gpu.epilogues import Epilogue, converted, scaled
from plumbline.linalg_to_gpu.launches import (
    WARP,
    Thread,
    buffer_bytes,
    delinearized,
    launch,
    shared_type,
    strided,
)
from plumbline.linalg_to_gpu.tile_copies import LEAST_STAGES, Loops, TileCopy, pipelined
from plumbline.linalg_to_gpu.warp_tiles import Staged, into, warp_tile
from plumbline.linalg_to_kernels.building import for_each, if_else, index, least, product
from plumbline.linalg_to_kernels.computations import Computation, Indices
from plumbline.linalg_to_kernels.evaluation import Evaluation
from plumbline.linalg_to_kernels.sizes import loop_size

Values = Mapping[ir.Value, ir.Value]

_QUERIES = 64
"""Of a block."""

_KEYS = 64
"""That are done at a time: two for each lane of a warp."""

_PADDING = 4
"""Elements between rows of scores and of sums."""

_ALIGNMENT = 16


def build_attention(found: AttentionGroup, given: Values, output: ir.Value) -> None:
    """Builds the launch of a kernel that does attention.

    Args:
      found: its tensors are those of a function.
      given: for each argument of that function a buffer or a scalar.
      output: the buffer that takes the result.
    """
    values, scores = found.values, found.scores
    sizes = [loop_size(values, loop, given) for loop in range(len(values.reduces))]
    sizes += [
        loop_size(scores, loop, given) for loop, reduces in enumerate(scores.reduces) if reduces
    ]
    queries = product([sizes[loop] for loop in found.query.lines])
    tiles = [
        product([sizes[loop] for loop in found.batches]),
        arith.ceildivui(queries, index(_QUERIES)),
    ]
    number = product(tiles)

    def build(thread: Thread) -> None:
        kernel = _Kernel(found, given, output, sizes, thread)

        def tile(at: ir.Value) -> None:
            batch, block = delinearized(at, tiles)
            outer = delinearized(batch, [sizes[loop] for loop in found.batches])
            loops = dict(zip(found.batches, outer, strict=True))
            kernel.build(loops, arith.muli(block, index(_QUERIES)))

        strided(thread.block, number, thread.blocks, tile)

    launch(number, _scores_tile().threads, build)


def _scores_tile() -> Tile:
    return Tile(_QUERIES, _KEYS, 32, 32, 1.0)


def _values_tile(found: AttentionGroup) -> Tile:
    """As many columns as there are, rounded up to those of all warps."""
    columns = math.prod(found.sizes[loop] for loop in found.value.lines)
    half = 32 if columns <= _KEYS else 64
    return Tile(_QUERIES, 2 * half, 32, half, 1.0)


@dataclass(frozen=True)
class _Row:
    """What is known of the rows of a block, in shared memory."""

    most: ir.Value
    """The largest x so far."""
    total: ir.Value
    """The sum of the weights, each of which is exp(x - most)."""
    shrinking: ir.Value
    """By what the sums of before are to be multiplied."""


class _Kernel:
    def __init__(
        self,
        found: AttentionGroup,
        given: Values,
        output: ir.Value,
        sizes: Sequence[ir.Value],
        thread: Thread,
    ) -> None:
        self._found, self._given, self._sizes, self._thread = found, given, sizes, thread
        self._f32 = ir.F32Type.get()
        self._epilogue = Epilogue(found.group, found.values, found.axes, given, output)
        is_half = found.instruction is Instruction.MMA
        weights = found.value.element if is_half else self._f32
        self._first = TileProduct(
            found.instruction,
            _scores_tile(),
            (found.query.element, found.key.element),
            (found.query.along_sums, found.key.along_sums),
            self._f32,
            1,
        )
        self._second = TileProduct(
            found.instruction,
            _values_tile(found),
            (weights, found.value.element),
            (True, found.value.along_sums),
            self._f32,
            1,
        )
        self._score_warps = warp_tile(self._first, thread)
        self._value_warps = warp_tile(self._second, thread)
        self._divide_memory()
        self._queries = product([sizes[loop] for loop in found.query.lines])
        self._columns = product([sizes[loop] for loop in found.value.lines])
        self._keys = sizes[found.key_loop]
        summed = (found.summed, [sizes[loop] for loop in found.summed])
        self._summed = product(summed[1])
        query_tile, key_tile = self._score_warps.shared
        _, value_tile = self._value_warps.shared
        along_keys = ((found.key_loop,), [self._keys])
        self._query_copy = TileCopy(
            found.query, given[found.query.value], query_tile, self._query, thread, summed
        )
        self._key_copy = TileCopy(
            found.key, given[found.key.value], key_tile, self._key, thread, summed
        )
        self._value_copy = TileCopy(
            found.value, given[found.value.value], value_tile, self._value, thread, along_keys
        )

    def _divide_memory(self) -> None:
        """Says what lies where in shared memory.

        Both products have their stages in one place, one after the other; what is done at the end
        has all of it.
        """
        query, key = (tile.type(LEAST_STAGES) for tile in self._score_warps.shared)
        weights_tile, value_tile = self._value_warps.shared
        value = value_tile.type(LEAST_STAGES)
        weights = weights_tile.type(_KEYS // self._second.depth)
        scores = shared_type([_QUERIES, _KEYS + _PADDING], self._f32)
        row = shared_type([_QUERIES], self._f32)
        sums = shared_type([_QUERIES, self._second.tile.columns + _PADDING], self._f32)
        stages = max(buffer_bytes(query) + buffer_bytes(key), buffer_bytes(value))
        # The sums of rows are needed to the end.
        at_scores = _aligned(stages)
        at_weights = _aligned(at_scores + buffer_bytes(scores))
        at_rows = max(_aligned(at_weights + buffer_bytes(weights)), _aligned(buffer_bytes(sums)))
        bytes_ = at_rows + 3 * buffer_bytes(row)
        raw = self._thread.shared([bytes_], ir.IntegerType.get_signless(8))

        def view(type_: ir.MemRefType, at: int) -> ir.Value:
            return memref.ViewOp(type_, raw, index(at), []).result

        self._query, self._key = view(query, 0), view(key, buffer_bytes(query))
        self._value = view(value, 0)
        self._scores, self._weights = view(scores, at_scores), view(weights, at_weights)
        self._sums = view(sums, 0)
        self._rows = _Row(*(view(row, at_rows + n * buffer_bytes(row)) for n in range(3)))

    def build(self, batch: Loops, first: ir.Value) -> None:
        """Builds all of the block whose first query this is."""
        found, thread = self._found, self._thread
        self._query_copy.start(batch, first, [self._sizes[loop] for loop in found.query.lines])
        self._value_copy.start(batch, index(0), [self._sizes[loop] for loop in found.value.lines])
        self._begin_rows()

        def keys(at: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            self._key_copy.start(batch, at, [self._keys])
            scores = pipelined(
                (self._query_copy, self._key_copy),
                LEAST_STAGES,
                thread,
                (index(0), self._summed, self._first.depth),
                self._add_scores,
                self._score_warps.start(),
            )
            self._score_warps.put(0, scores, into(self._scores))
            thread.wait()
            self._weigh(batch, first, at)
            thread.wait()
            smaller = self._value_warps.scaled(
                sums, lambda row: memref.load(self._rows.shrinking, [row])
            )
            return pipelined(
                (self._value_copy,),
                LEAST_STAGES,
                thread,
                (at, index(_KEYS), self._second.depth),
                self._add_values,
                smaller,
            )

        end = self._keys
        if found.is_causal:
            # As far as the block's last query.
            end = least(end, arith.addi(first, index(_QUERIES)))
        sums = for_each(index(0), end, _KEYS, keys, self._value_warps.start())
        thread.wait()
        self._value_warps.put(0, sums, into(self._sums))
        thread.wait()
        self._finish(batch, first)
        thread.wait()

    def _add_scores(self, _: ir.Value, stage: ir.Value, sums: Sequence[ir.Value]) -> list[ir.Value]:
        left, right = Staged(self._query, stage), Staged(self._key, stage)
        return self._score_warps.add(left, right, sums)

    def _add_values(
        self, number: ir.Value, stage: ir.Value, sums: Sequence[ir.Value]
    ) -> list[ir.Value]:
        left, right = Staged(self._weights, number), Staged(self._value, stage)
        return self._value_warps.add(left, right, sums)

    def _number(self, value: float) -> ir.Value:
        return arith.constant(self._f32, value)

    def _begin_rows(self) -> None:
        def begin(row: ir.Value) -> None:
            memref.store(self._number(-math.inf), self._rows.most, [row])
            memref.store(self._number(0.0), self._rows.total, [row])

        threads = index(self._thread.threads)
        strided(self._thread.number, index(_QUERIES), threads, begin)

    def _weigh(self, batch: Loops, first: ir.Value, first_key: ir.Value) -> None:
        """Makes weights of the scores of some keys: a warp does one row after the other."""
        thread, rows = self._thread, self._rows
        warp = arith.divui(thread.number, index(WARP))
        lane = arith.remui(thread.number, index(WARP))

        def weigh(row: ir.Value) -> None:
            most, total = (memref.load(buffer, [row]) for buffer in (rows.most, rows.total))
            columns = [arith.addi(lane, index(WARP * number)) for number in range(_KEYS // WARP)]
            xs = [self._x(batch, first, first_key, row, column) for column in columns]
            largest = xs[0]
            for x in xs[1:]:
                largest = arith.maximumf(largest, x)
            largest = combined_by_warp(largest, arith.maximumf)
            largest = arith.maximumf(most, largest)
            # Nothing is taken away of a row that is masked so far: infinity less infinity is NaN.
            none = arith.cmpf(arith.CmpFPredicate.OEQ, largest, self._number(-math.inf))
            base = arith.select(none, self._number(0.0), largest)
            weights = [mathematics.exp(arith.subf(x, base)) for x in xs]
            added = weights[0]
            for weight in weights[1:]:
                added = arith.addf(added, weight)
            added = combined_by_warp(added, arith.addf)
            shrinking = mathematics.exp(arith.subf(most, base))
            for column, weight in zip(columns, weights, strict=True):
                self._store_weight(row, column, weight)
            # All lanes have the same.
            memref.store(largest, rows.most, [row])
            memref.store(arith.addf(arith.mulf(total, shrinking), added), rows.total, [row])
            memref.store(shrinking, rows.shrinking, [row])

        strided(warp, index(_QUERIES), index(thread.threads // WARP), weigh)

    def _store_weight(self, row: ir.Value, column: ir.Value, weight: ir.Value) -> None:
        tile, _ = self._value_warps.shared
        number, depth = delinearized(
            column, [index(_KEYS // self._second.depth), index(self._second.depth)]
        )
        place = [number, *tile.place(row, depth)]
        memref.store(converted(weight, tile.element), self._weights, place)

    def _x(
        self,
        batch: Loops,
        first: ir.Value,
        first_key: ir.Value,
        row: ir.Value,
        column: ir.Value,
    ) -> ir.Value:
        """What is made of a score; of a key that is not there it is minus infinity."""
        found = self._found
        query, key = arith.addi(first, row), arith.addi(first_key, column)
        is_there = arith.andi(
            arith.cmpi(arith.CmpIPredicate.ult, query, self._queries),
            arith.cmpi(arith.CmpIPredicate.ult, key, self._keys),
        )
        op = scf.IfOp(is_there, [self._f32], has_else=True)
        with ir.InsertionPoint(op.then_block):
            score = memref.load(self._scores, [row, column])
            score = scaled(score, found.query.factor * found.key.factor)

            def load(producer: Computation, source: ir.Value, indices: Indices) -> ir.Value:
                return score

            evaluation = Evaluation(found.group, found.values, self._given, load)
            places = delinearized(query, [self._sizes[loop] for loop in found.query.lines])
            evaluation.loops = {
                **dict.fromkeys(range(len(found.values.reduces)), index(0)),
                **batch,
                **dict(zip(found.query.lines, places, strict=True)),
                found.key_loop: key,
            }
            scf.YieldOp([evaluation.element(*found.x)])
        with ir.InsertionPoint(op.else_block):
            scf.YieldOp([self._number(-math.inf)])
        return op.results[0]

    def _finish(self, batch: Loops, first: ir.Value) -> None:
        """Divides the sums by those of the weights, and does the epilogue."""
        found, columns = self._found, self._second.tile.columns

        def element(number: ir.Value) -> None:
            row, column = delinearized(number, [index(_QUERIES), index(columns)])
            query = arith.addi(first, row)
            is_there = arith.andi(
                arith.cmpi(arith.CmpIPredicate.ult, query, self._queries),
                arith.cmpi(arith.CmpIPredicate.ult, column, self._columns),
            )

            def store() -> None:
                loops = dict(batch)
                for lines, at in ((found.query.lines, query), (found.value.lines, column)):
                    places = delinearized(at, [self._sizes[loop] for loop in lines])
                    loops |= zip(lines, places, strict=True)
                value = memref.load(self._sums, [row, column])
                total = memref.load(self._rows.total, [row])
                value = arith.divf(scaled(value, found.value.factor), total)
                if found.is_safe:
                    zero = self._number(0.0)
                    is_masked = arith.cmpf(arith.CmpFPredicate.OEQ, total, zero)
                    value = arith.select(is_masked, zero, value)
                self._epilogue.store(value, loops)

            if_else(is_there, store)

        count = index(_QUERIES * columns)
        strided(self._thread.number, count, index(self._thread.threads), element)


def _aligned(bytes_: int) -> int:
    return -(-bytes_ // _ALIGNMENT) * _ALIGNMENT
