"""Builds attention as one kernel: scores, softmax and the sum of values, by blocks of queries.

A block of threads has some queries, and goes along the keys. For some of these at a time it adds up
the products with the queries, makes weights of these scores, and adds the weighted values to the
sums that it has. Each warp does so for rows of its own, and has all but the operands in registers:
scores, weights, what it knows of its rows, and sums (Dao, "FlashAttention-2", 2023). The next keys
and values are copied to shared memory meanwhile. Where there is no room there for these, or for all
that a query is summed over, the scores are those of a contraction, by stages of the sums.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_gpu.attention_groups import (
    MOST_REGISTERS,
    WARP_GROUP_WIDTH,
    WARPS,
    AttentionGroup,
)
from plumbline.linalg_to_gpu.contraction_tiles import VECTOR_BYTES, Instruction, Tile, TileProduct
from plumbline.linalg_to_gpu.epilogues import Epilogue, converted, scaled
from plumbline.linalg_to_gpu.launches import (
    Thread,
    buffer_bytes,
    delinearized,
    launch,
    strided,
)
from plumbline.linalg_to_gpu.running_softmax import RunningSoftmax
from plumbline.linalg_to_gpu.tile_copies import LEAST_STAGES, Loops, TileCopy, pipelined
from plumbline.linalg_to_gpu.warp_groups import WarpGroups
from plumbline.linalg_to_gpu.warp_instructions import warp_tile
from plumbline.linalg_to_gpu.warp_tiles import Left, Staged
from plumbline.linalg_to_kernels.building import either, for_each, if_else, index, least, product
from plumbline.linalg_to_kernels.computations import DYNAMIC, Computation, Indices
from plumbline.linalg_to_kernels.evaluation import Evaluation
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.sizes import loop_size
from plumbline.target.gpu_chip import SHARED_ALIGNMENT

Values = Mapping[ir.Value, ir.Value]
Scores = Sequence[Sequence[ir.Value]]
"""Those that a thread has, by rows."""

_DEPTH = {Instruction.FMA: 16, Instruction.MMA: 16, Instruction.WGMMA: WARP_GROUP_WIDTH}
"""What the summed elements of a query are filled up to a multiple of."""

_COLUMNS = {Instruction.FMA: 32, Instruction.MMA: 16, Instruction.WGMMA: WARP_GROUP_WIDTH}
"""What the columns of values are filled up to a multiple of."""

_ROWS_OF_WARP_GROUPS = 16
"""That a warp of these has."""


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
    batches = product([sizes[loop] for loop in found.batches])
    blocks = arith.ceildivui(queries, index(found.queries))
    number = arith.muli(batches, blocks)

    def build(thread: Thread) -> None:
        kernel = _Kernel(found, given, output, sizes, thread)

        def tile(at: ir.Value) -> None:
            if found.is_causal:
                # Those that take longest, the last queries of all batches, come first.
                block, batch = delinearized(at, [blocks, batches])
                block = arith.subi(arith.subi(blocks, index(1)), block)
            else:
                batch, block = delinearized(at, [batches, blocks])
            outer = delinearized(batch, [sizes[loop] for loop in found.batches])
            loops = dict(zip(found.batches, outer, strict=True))
            kernel.build(loops, arith.muli(block, index(found.queries)))

        strided(thread.block, number, thread.blocks, tile)

    launch(number, _tile(found, found.keys).threads, build)


def _tile(found: AttentionGroup, columns: int) -> Tile:
    rows = _ROWS_OF_WARP_GROUPS if found.is_of_warp_groups else found.queries // WARPS
    return Tile(found.queries, columns, rows, columns, 1.0)


def _size(found: AttentionGroup, loops: Sequence[int]) -> int | None:
    """How many iterations loops have; None if that is not known."""
    sizes = [found.sizes[loop] for loop in loops]
    return None if DYNAMIC in sizes else math.prod(sizes)


def _filled(size: int, to: int) -> int:
    return -(-size // to) * to


@dataclass(frozen=True)
class _Row:
    """A row of scores: those of a query."""

    place: ir.Value
    """The number of the query, which may not be there."""
    loops: Loops
    """What says the same to an evaluation, or then another query."""


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
        is_half = found.instruction is not Instruction.FMA
        self._own_columns = _size(found, found.value.lines)
        assert self._own_columns is not None
        self._second = TileProduct(
            found.instruction,
            _tile(found, _filled(self._own_columns, _COLUMNS[found.instruction])),
            (found.value.element if is_half else self._f32, found.value.element),
            (True, found.value.along_sums),
            self._f32,
            1,
            found.keys,
        )
        self._value_warps = warp_tile(self._second, thread)
        width = _size(found, found.summed)
        self._is_whole = width is not None and self._take(_filled(width, _DEPTH[found.instruction]))
        if not self._is_whole:
            self._take(None)
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
        self._softmax = RunningSoftmax(
            len(self._score_warps.rows.offsets),
            self._score_warps.lanes_of_row,
            found.scale,
            found.is_score,
        )

    def _take(self, summed: int | None) -> bool:
        """Says how scores are summed up, and what lies where in shared memory, if there is room.

        With so many summed elements there are the queries, and two stages of keys and values; with
        None there are stages of queries and keys, and the values of these keys.
        """
        found = self._found
        first = TileProduct(
            found.instruction,
            _tile(found, found.keys),
            (found.query.element, found.key.element),
            (found.query.along_sums, found.key.along_sums),
            self._f32,
            1,
            summed,
        )
        warps = warp_tile(first, self._thread)
        tiles = (*warps.shared, self._value_warps.shared[1])
        two = LEAST_STAGES
        stages = (1, two, two) if summed is not None else (two, two, 1)
        types = [tile.type(count) for tile, count in zip(tiles, stages, strict=True)]
        room = self._value_warps.left_room
        types += [] if room is None else [room]
        alignment = SHARED_ALIGNMENT if found.is_of_warp_groups else VECTOR_BYTES
        places = [0]
        for type_ in types:
            places.append(_filled(places[-1] + buffer_bytes(type_), alignment))
        if summed is not None and places[-1] > found.shared_bytes:
            return False
        raw = self._thread.shared([places[-1]], ir.IntegerType.get_signless(8))
        self._query, self._key, self._value, *rest = (
            memref.ViewOp(type_, raw, index(at), []).result
            for type_, at in zip(types, places, strict=False)
        )
        self._weights = rest[0] if rest else None
        self._first, self._score_warps = first, warps
        return True

    def build(self, batch: Loops, first: ir.Value) -> None:
        """Builds all of the block whose first query this is."""
        found = self._found
        self._query_copy.start(batch, first, [self._sizes[loop] for loop in found.query.lines])
        self._value_copy.start(batch, index(0), [self._sizes[loop] for loop in found.value.lines])
        scoring, adding = self._score_warps, self._value_warps
        if self._is_whole and isinstance(scoring, WarpGroups) and isinstance(adding, WarpGroups):
            state, sums = self._sums_behind(batch, first, scoring, adding)
        else:
            state, sums = self._sums(batch, first)
        self._finish(self._rows(batch, first), state, sums)
        # Who comes next copies to where all have read.
        self._thread.wait_for_copies()
        self._thread.wait()

    def _sums(self, batch: Loops, first: ir.Value) -> tuple[list[ir.Value], list[ir.Value]]:
        """What is known of rows in the end, and their sums of weighted values."""
        warps = self._value_warps
        query = self._start(batch)
        count = len(self._softmax.start())

        def keys(at: ir.Value, carried: Sequence[ir.Value], *, all_seen: bool) -> list[ir.Value]:
            state, sums = carried[:count], carried[count:]
            scores = self._score_warps.by_rows(self._scores(batch, query, at))
            # Not kept in registers from one time to the next, nor to the end, if it is not of use.
            xs = self._xs(scores, self._rows(batch, first), at, all_seen=all_seen)
            weighed = self._softmax.weigh(xs, state)
            left = warps.as_left(weighed.weights, self._weights)
            right = Staged(self._value, self._stage(at))
            return [
                *weighed.state,
                *warps.add(left, right, warps.scaled(sums, weighed.shrinking)),
            ]

        carried = [*self._softmax.start(), *warps.start()]
        begin = index(0)
        for end, all_seen in self._extents(first):
            carried = for_each(
                begin,
                end,
                self._found.keys,
                lambda at, *carried, all_seen=all_seen: keys(at, carried, all_seen=all_seen),
                carried,
            )
            begin = end
        return carried[:count], carried[count:]

    def _sums_behind(
        self,
        batch: Loops,
        first: ir.Value,
        score_warps: WarpGroups,
        value_warps: WarpGroups,
    ) -> tuple[list[ir.Value], list[ir.Value]]:
        """The same, where tensor cores add weighted values up while weights are made of scores.

        Those are the scores of the keys after, whose products begin before: so tensor cores have
        something to do all the time (Shah et al., "FlashAttention-3", 2024). Keys are copied one
        step ahead of values.
        """
        thread, zero, step = self._thread, index(0), index(self._found.keys)
        self._copy(self._query_copy, (zero, self._summed), zero)
        self._copy_keys(batch, zero)
        thread.commit()
        self._wait_for_copies()
        query = score_warps.loaded(Staged(self._query, zero))
        count = len(self._softmax.start())

        def weigh(
            at: ir.Value,
            state: Sequence[ir.Value],
            sums: Sequence[ir.Value],
            *,
            all_seen: bool,
            before: Sequence[ir.Value] | None,
        ) -> list[ir.Value]:
            if before is not None:
                # What was copied is there for all, and nobody reads what was there any more.
                self._wait_for_copies()
            self._copy_keys(batch, arith.addi(at, step))
            self._copy_values(at, self._stage(at))
            thread.commit()
            key = Staged(self._key, self._stage(at))
            of_scores = score_warps.prepared(query, key)
            if before is None:
                scores = score_warps.begin(of_scores, score_warps.start())
                thread.wait_for_products()
            else:
                value = Staged(self._value, self._stage(arith.subi(at, step)))
                of_values = value_warps.prepared([[one] for one in before], value)
                scores = score_warps.begin(of_scores, score_warps.start())
                sums = value_warps.begin(of_values, sums)
                thread.wait_for_products(1)
            xs = self._xs(
                score_warps.by_rows(scores), self._rows(batch, first), at, all_seen=all_seen
            )
            weighed = self._softmax.weigh(xs, state)
            if before is not None:
                thread.wait_for_products()
                sums = value_warps.scaled(sums, weighed.shrinking)
            weights = value_warps.as_left(weighed.weights, None)
            assert not isinstance(weights, Staged)
            return [*weighed.state, *sums, *(one for (one,) in weights)]

        extents = self._extents(first)
        carried = weigh(
            zero, self._softmax.start(), value_warps.start(), all_seen=extents[-1][1], before=None
        )
        end_of_sums = count + len(value_warps.start())
        begin = step
        for end, all_seen in extents:
            carried = for_each(
                begin,
                end,
                self._found.keys,
                lambda at, *carried, all_seen=all_seen: weigh(
                    at,
                    carried[:count],
                    carried[count:end_of_sums],
                    all_seen=all_seen,
                    before=carried[end_of_sums:],
                ),
                carried,
            )
            begin = arith.maxsi(end, step)
        state, sums, before = carried[:count], carried[count:end_of_sums], carried[end_of_sums:]
        self._wait_for_copies()
        end, _ = extents[-1]
        last = self._stage(arith.subi(arith.maxsi(end, index(1)), index(1)))
        return state, value_warps.add([[one] for one in before], Staged(self._value, last), sums)

    def _extents(self, first: ir.Value) -> list[tuple[ir.Value, bool]]:
        """How far the keys go of which all queries of a block see all, and how far all keys do."""
        found = self._found
        known = _size(found, (found.key_loop,))
        if not found.is_causal and known is not None and known % found.keys == 0:
            return [(self._keys, True)]
        end, seen = self._keys, self._keys
        if found.is_causal:
            # As far as the block's last query, and as its first one.
            end = least(end, arith.addi(first, index(found.queries)))
            seen = least(seen, arith.addi(first, index(1)))
        return [(arith.subi(seen, arith.remui(seen, index(found.keys))), True), (end, False)]

    def _start(self, batch: Loops) -> Left | None:
        """Has the queries and the first keys copied, if they are as a whole; gives the queries."""
        if not self._is_whole:
            return None
        zero = index(0)
        self._copy(self._query_copy, (zero, self._summed), zero)
        self._copy_both(batch, zero)
        self._wait_for_copies()
        query = Staged(self._query, zero)
        return self._score_warps.loaded(query) if self._has_registers() else query

    def _has_registers(self) -> bool:
        """Whether threads have room for the queries next to scores and sums, and for addresses."""
        found, width = self._found, self._first.depth * element_bytes(self._found.query.element)
        wide = self._first.tile.columns + self._second.tile.columns + width // 4
        registers = found.queries * wide // self._thread.threads
        return registers <= MOST_REGISTERS and found.is_score and DYNAMIC not in found.sizes

    def _copy(self, copy: TileCopy, extent: tuple[ir.Value, ir.Value], stage: ir.Value) -> None:
        """Begins to copy a stage of an operand: sums from one to another."""
        copy.finish(copy.begin(*extent, stage), stage)

    def _wait_for_copies(self) -> None:
        """Waits until what was copied is there for all threads, and for what multiplies it."""
        self._thread.wait_for_copies()
        if self._found.is_of_warp_groups:
            self._thread.show_copies()
        self._thread.wait()

    def _copy_values(self, at: ir.Value, stage: ir.Value) -> None:
        end = arith.addi(at, index(self._found.keys))
        self._copy(self._value_copy, (at, end), stage)

    def _copy_keys(self, batch: Loops, at: ir.Value) -> None:
        """Begins to copy some keys, all of these."""
        self._key_copy.start(batch, at, [self._keys])
        self._copy(self._key_copy, (index(0), self._summed), self._stage(at))

    def _copy_both(self, batch: Loops, at: ir.Value) -> None:
        """Begins to copy some keys and their values."""
        self._copy_keys(batch, at)
        self._copy_values(at, self._stage(at))
        self._thread.commit()

    def _stage(self, at: ir.Value) -> ir.Value:
        """In which of the stages some keys and values are."""
        if not self._is_whole:
            return index(0)
        return arith.remui(arith.divui(at, index(self._found.keys)), index(LEAST_STAGES))

    def _scores(self, batch: Loops, query: Left | None, at: ir.Value) -> list[ir.Value]:
        """The scores of some keys; when they are there, the values of these are too."""
        thread, start = self._thread, self._score_warps.start()
        if query is None:
            thread.wait()
            self._copy_values(at, index(0))
            self._key_copy.start(batch, at, [self._keys])
            return pipelined(
                (self._query_copy, self._key_copy),
                LEAST_STAGES,
                thread,
                (index(0), self._summed, self._first.depth),
                self._add_scores,
                start,
            )
        # What was copied is there for all, and nobody reads what was there before any more.
        self._wait_for_copies()
        self._copy_both(batch, arith.addi(at, index(self._found.keys)))
        return self._score_warps.add(query, Staged(self._key, self._stage(at)), start)

    def _add_scores(self, _: ir.Value, stage: ir.Value, sums: Sequence[ir.Value]) -> list[ir.Value]:
        left, right = Staged(self._query, stage), Staged(self._key, stage)
        return self._score_warps.add(left, right, sums)

    def _rows(self, batch: Loops, first: ir.Value) -> list[_Row]:
        rows = self._value_warps.rows
        own = arith.addi(first, rows.first)
        return [self._row(batch, arith.addi(own, index(offset))) for offset in rows.offsets]

    def _row(self, batch: Loops, place: ir.Value) -> _Row:
        found = self._found
        known = _size(found, found.query.lines)
        is_there = place
        if known is None or known % found.queries:
            # What is read for others must be somewhere.
            is_there = least(place, arith.subi(self._queries, index(1)))
        places = delinearized(is_there, [self._sizes[loop] for loop in found.query.lines])
        loops = {
            **dict.fromkeys(range(len(found.values.reduces)), index(0)),
            **batch,
            **dict(zip(found.query.lines, places, strict=True)),
        }
        return _Row(place, loops)

    def _xs(self, scores: Scores, rows: Sequence[_Row], at: ir.Value, *, all_seen: bool) -> Scores:
        """What is made of scores; of keys that are not there or masked it is minus infinity.

        Args:
          scores: by rows.
          rows: which these are.
          at: the first of the keys.
          all_seen: whether there are none such.
        """
        columns = self._score_warps.columns
        first = arith.addi(at, columns.first)
        keys = [arith.addi(first, index(offset)) for offset in columns.offsets]
        if all_seen:
            return [
                [self._x(score, row, key) for score, key in zip(line, keys, strict=True)]
                for row, line in zip(rows, scores, strict=True)
            ]
        i32 = ir.IntegerType.get_signless(32)
        last = arith.subi(self._keys, index(1))
        hidden = arith.constant(self._f32, -math.inf)

        def of_row(row: _Row, line: Sequence[ir.Value]) -> Iterator[ir.Value]:
            end = least(row.place, last) if self._found.is_causal else last
            # Numbers of 32 bits tell what is known apart.
            most = arith.index_cast(i32, arith.subi(end, first))
            for offset, key, score in zip(columns.offsets, keys, line, strict=True):
                own = arith.constant(i32, offset)
                is_seen = arith.cmpi(arith.CmpIPredicate.sle, own, most)
                yield from either(
                    [self._f32],
                    is_seen,
                    lambda key=key, score=score: [self._x(score, row, key)],  # type: ignore[misc]
                    lambda: [hidden],
                )

        return [[*of_row(row, line)] for row, line in zip(rows, scores, strict=True)]

    def _x(self, score: ir.Value, row: _Row, key: ir.Value) -> ir.Value:
        """What is made of the score of a query and a key, but for a causal mask."""
        found = self._found
        score = scaled(score, found.factor)
        if found.is_score:
            return score

        def load(producer: Computation, source: ir.Value, indices: Indices) -> ir.Value:
            return score

        evaluation = Evaluation(found.group, found.values, self._given, load)
        evaluation.loops = {**row.loops, found.key_loop: key}
        return converted(evaluation.element(found.x.value, found.x.indices), self._f32)

    def _finish(
        self,
        rows: Sequence[_Row],
        state: Sequence[ir.Value],
        sums: Sequence[ir.Value],
    ) -> None:
        """Divides the sums by those of the weights, and does the epilogue."""
        found, warps = self._found, self._value_warps
        one, zero = (arith.constant(self._f32, number) for number in (found.value.factor, 0.0))
        factors = []
        for total in self._softmax.totals(state):
            factor = arith.divf(one, total)
            if found.is_safe:
                is_masked = arith.cmpf(arith.CmpFPredicate.OEQ, total, zero)
                factor = arith.select(is_masked, zero, factor)
            factors.append(factor)
        results = warps.by_rows(warps.scaled(sums, factors))
        columns = [
            arith.addi(warps.columns.first, index(offset)) for offset in warps.columns.offsets
        ]
        sizes = [self._sizes[loop] for loop in found.value.lines]
        is_full = self._own_columns == self._second.tile.columns

        def store_row(row: _Row, values: Sequence[ir.Value]) -> None:
            for column, value in zip(columns, values, strict=True):

                def store(column: ir.Value = column, value: ir.Value = value) -> None:
                    at = dict(zip(found.value.lines, delinearized(column, sizes), strict=True))
                    self._epilogue.store([value], {**row.loops, **at})

                if is_full:
                    store()
                else:
                    is_there = arith.cmpi(arith.CmpIPredicate.ult, column, self._columns)
                    if_else(is_there, store)

        for row, values in zip(rows, results, strict=True):
            is_there = arith.cmpi(arith.CmpIPredicate.ult, row.place, self._queries)
            if_else(is_there, lambda row=row, values=values: store_row(row, values))  # type: ignore[misc]
