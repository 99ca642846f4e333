"""Contractions of few rows, by sums of rows of a matrix: it is read once, in place, along these.

What takes time is to bring the matrix from memory, which is fastest where it is read in long
stretches. Tiles would go down a few of its columns, through a page of memory for each of its rows.
So some rows of it are added, each with its weight, to sums that are kept in memory, before the next
ones are.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from plumbline.linalg_to_kernels.building import (
    ALIGNMENT,
    LINE,
    LoopBody,
    for_each,
    if_else,
    index,
    least,
    rounded_down,
    total,
)
from plumbline.linalg_to_kernels.contraction_loops import Epilogue, LoopNest, Region, finished
from plumbline.linalg_to_kernels.contraction_plan import SUM_BYTES, ContractionPlan
from plumbline.linalg_to_kernels.vectors import (
    add,
    cast,
    mask_of_first,
    masked_load,
    masked_store,
    multiply_add,
    splat,
)

_AT_ONCE, _AT_ONCE_OF_ONE = 4, 8
"""How many rows of the matrix are added at once, whose weights stay in registers; the second where
the result has one row. So one row by 1024x1024 takes 0.9 of the time, and with 8 of them 4 rows by
1024x4096 take 1.1 times as long (AMD Zen 1)."""

_NEAR_SUMS = 4
"""How many times as many bytes of sums there are as a kernel has elsewhere: they come from a second
cache, one after another. The longer the stretches of the matrix that are read, the better: with
those that a first cache holds one row by 4096x4096 takes 1.3 times as long, 4 rows by 1024x4096 1.2
times (AMD Zen 1)."""


def build_weighted_rows(
    plan: ContractionPlan,
    arguments: Sequence[ir.Value],
    summed_in: ir.Type,
    epilogue: Epilogue | None,
) -> None:
    """Builds the body of a kernel as `build_contraction` does, for `Strategy.WEIGHTED_ROWS`."""
    _WeightedRows(plan, arguments, summed_in, epilogue).build()


class _WeightedRows:
    """All rows of the result, and a piece of its columns, for some summed elements at a time."""

    def __init__(
        self,
        plan: ContractionPlan,
        arguments: Sequence[ir.Value],
        summed_in: ir.Type,
        epilogue: Epilogue | None,
    ) -> None:
        self._plan, self._epilogue = plan, epilogue
        self._nest = LoopNest(plan, arguments)
        self._lanes, self._rows = plan.tile.lanes, plan.tile.rows
        self._type = summed_in
        self._vector = ir.VectorType.get([self._lanes], summed_in)
        # Two of each row: those of a block of summed elements, and of all blocks before.
        bytes_ = plan.sums_at_once * SUM_BYTES * (_NEAR_SUMS if plan.fetches_ahead else 1)
        element = summed_in.width // 8
        most = bytes_ // (2 * self._rows * element)
        self._width = max(most // self._lanes, 1) * self._lanes
        # Rows that are a power of two apart have places in a cache in common: 8 of them by
        # 1024x1024 took 1.6 times as long (AMD Zen 1).
        self._apart = self._width + LINE // element
        self._at_once = _AT_ONCE_OF_ONE if self._rows == 1 else _AT_ONCE

    def build(self) -> None:
        plan = self._plan
        self._columns, self._summed = (
            self._nest.size(loops) for loops in (plan.columns, plan.summed)
        )
        buffer = ir.MemRefType.get([self._rows * self._apart], self._type)
        self._sums, self._block = (
            memref.alloca(buffer, [], [], alignment=ALIGNMENT) for _ in range(2)
        )
        nothing = Region((index(0), index(0), index(0)), {})
        self._nest.over(plan.batches, nothing, self._pieces)

    def _pieces(self, region: Region) -> None:
        def piece(first: ir.Value) -> list[ir.Value]:
            self._first = first
            self._end = arith.addi(first, index(self._width))
            self._piece(region)
            return []

        for_each(index(0), self._columns, self._width, piece)

    def _piece(self, region: Region) -> None:
        """Some columns of the result."""
        self._set_to_zero(self._sums)

        def some(begin: ir.Value) -> list[ir.Value]:
            self._set_to_zero(self._block)
            end = least(arith.addi(begin, index(self._plan.summed_at_once)), self._summed)
            whole = arith.addi(begin, rounded_down(arith.subi(end, begin), self._at_once))

            def rows(at: ir.Value) -> list[ir.Value]:
                self._add_rows(region, at, self._at_once)
                return []

            def row(at: ir.Value) -> list[ir.Value]:
                self._add_rows(region, at, 1)
                return []

            for_each(begin, whole, self._at_once, rows)
            for_each(whole, end, 1, row)

            def add_block(column: ir.Value) -> list[ir.Value]:
                for place in self._places(column):
                    parts = [
                        vector.load(self._vector, part, [place])
                        for part in (self._sums, self._block)
                    ]
                    vector.store(add(*parts), self._sums, [place])
                return []

            self._each_vector(add_block)
            return []

        for_each(index(0), self._summed, self._plan.summed_at_once, some)
        self._store(region)

    def _each_vector(self, body: LoopBody) -> None:
        """A loop over a piece's columns, vector by vector."""
        for_each(self._first, least(self._end, self._columns), self._lanes, body)

    def _places(self, column: ir.Value) -> list[ir.Value]:
        """Where the sums of each row are of a vector of columns that begins there."""
        within = arith.subi(column, self._first)
        return [arith.addi(within, index(row * self._apart)) for row in range(self._rows)]

    def _set_to_zero(self, sums: ir.Value) -> None:
        def zero(column: ir.Value) -> list[ir.Value]:
            for place in self._places(column):
                vector.store(splat(self._vector, 0), sums, [place])
            return []

        self._each_vector(zero)

    def _add_rows(self, region: Region, summed: ir.Value, count: int) -> None:
        """Adds so many rows of the matrix, times elements of the left operand, to a block."""
        plan, nest = self._plan, self._nest
        numbers = [arith.addi(summed, index(number)) for number in range(count)]

        def weight(row: int, number: ir.Value) -> ir.Value:
            offsets = (
                region.bases[plan.left],
                nest.offset(plan.left, plan.rows_of_left, index(row)),
                nest.offset(plan.left, plan.summed_of_both, number),
            )
            element = memref.load(nest.left.elements, [total(offsets)])
            return vector.broadcast(self._vector, cast(element, self._type))

        weights = [[weight(row, number) for number in numbers] for row in range(self._rows)]
        streams = [
            arith.addi(
                region.bases[plan.right], nest.offset(plan.right, plan.summed_of_both, number)
            )
            for number in numbers
        ]
        type_ = nest.vector_of(nest.right)

        def add_to(column: ir.Value, mask: ir.Value | None) -> None:
            rows = []
            for stream in streams:
                place = arith.addi(stream, column)
                if mask is None:
                    row = vector.load(type_, nest.right.elements, [place])
                else:
                    row = masked_load(type_, nest.right.elements, place, mask)
                rows.append(cast(row, self._type))
            for place, factors in zip(self._places(column), weights, strict=True):
                sum_ = vector.load(self._vector, self._block, [place])
                for factor, row in zip(factors, rows, strict=True):
                    sum_ = multiply_add(factor, row, sum_)
                vector.store(sum_, self._block, [place])

        def add_whole(column: ir.Value) -> list[ir.Value]:
            add_to(column, None)
            return []

        whole = rounded_down(self._columns, self._lanes)
        left = arith.subi(self._columns, whole)
        for_each(self._first, least(self._end, whole), self._lanes, add_whole)
        # Masks are slow with AVX2: the last vector alone has one.
        is_last = arith.cmpi(arith.CmpIPredicate.sge, self._end, self._columns)
        has_left = arith.cmpi(arith.CmpIPredicate.ne, left, index(0))
        if_else(
            arith.andi(is_last, has_left),
            lambda: add_to(whole, mask_of_first(left, self._lanes)),
        )

    def _store(self, region: Region) -> None:
        plan, nest = self._plan, self._nest

        def store(column: ir.Value) -> list[ir.Value]:
            mask = mask_of_first(arith.subi(self._columns, column), self._lanes)
            for row, place in enumerate(self._places(column)):
                offset = nest.offset(2, plan.rows_of_result, index(row))
                to = total([region.bases[2], offset, column])
                sum_ = vector.load(self._vector, self._sums, [place])
                where = nest.place(region, index(row), column, to, mask)
                masked_store(finished(self._epilogue, sum_, where), nest.out.elements, to, mask)
            return []

        self._each_vector(store)
