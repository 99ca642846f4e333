"""Contractions of few rows, by dot products: a matrix is read once, in place, along its rows.

What takes time is to bring the matrix from memory. So nothing of it is copied, and several rows of
it are read at once, each as a stream of its own.
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from plumbline.linalg_to_kernels.building import (
    for_each,
    if_else,
    index,
    least,
    rounded_down,
    total,
)
from plumbline.linalg_to_kernels.contraction_loops import Epilogue, LoopNest, Region, finished
from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan
from plumbline.linalg_to_kernels.vectors import (
    add,
    cast,
    mask_of_first,
    masked_load,
    masked_store,
    multiply_add,
    splat,
    transpose,
)

Load = Callable[[ir.VectorType, ir.Value, ir.Value], ir.Value]
"""Builds a load of a vector, of elements and where it begins there."""


def build_dot_products(
    plan: ContractionPlan,
    arguments: Sequence[ir.Value],
    summed_in: ir.Type,
    epilogue: Epilogue | None,
) -> None:
    """Builds the body of a kernel as `build_contraction` does, for `Strategy.DOT_PRODUCTS`."""
    _DotProducts(plan, arguments, summed_in, epilogue).build()


class _DotProducts:
    """One row of the result at a time, and as many columns as a vector has lanes."""

    def __init__(
        self,
        plan: ContractionPlan,
        arguments: Sequence[ir.Value],
        summed_in: ir.Type,
        epilogue: Epilogue | None,
    ) -> None:
        self._plan, self._epilogue = plan, epilogue
        self._nest = LoopNest(plan, arguments)
        self._lanes = plan.tile.lanes
        self._type = summed_in
        self._vector = ir.VectorType.get([self._lanes], summed_in)

    def build(self) -> None:
        plan = self._plan
        self._rows, self._columns, self._summed = (
            self._nest.size(loops) for loops in (plan.rows, plan.columns, plan.summed)
        )
        nothing = Region((index(0), index(0), index(0)), {})
        self._nest.over(plan.batches, nothing, self._column_blocks)

    def _column_blocks(self, region: Region) -> None:
        plan, lanes = self._plan, self._lanes
        last = arith.subi(self._columns, index(1))

        def block(column: ir.Value) -> list[ir.Value]:
            inside = arith.subi(self._columns, column)
            mask = mask_of_first(inside, lanes)
            whole = arith.cmpi(arith.CmpIPredicate.sge, inside, index(lanes))
            # Beyond the last column it is read again, for sums that are not stored.
            streams = [
                arith.addi(
                    region.bases[plan.right],
                    self._nest.offset(
                        plan.right,
                        plan.columns_of_right,
                        least(arith.addi(column, index(lane)), last),
                    ),
                )
                for lane in range(lanes)
            ]

            def row(at: ir.Value) -> list[ir.Value]:
                offset = self._nest.offset(plan.left, plan.rows_of_left, at)
                left = arith.addi(region.bases[plan.left], offset)
                sums = transpose(self._sums(left, streams))
                while len(sums) > 1:
                    half = len(sums) // 2
                    sums = [add(*pair) for pair in zip(sums[:half], sums[half:], strict=True)]
                offset = self._nest.offset(2, plan.rows_of_result, at)
                to = total([region.bases[2], offset, column])
                value = finished(
                    self._epilogue, sums[0], self._nest.place(region, at, column, to, mask)
                )
                out = self._nest.out.elements
                if_else(
                    whole,
                    lambda: vector.store(value, out, [to]),
                    lambda: masked_store(value, out, to, mask),
                )
                return []

            for_each(index(0), self._rows, 1, row, parallel=True)
            return []

        for_each(index(0), self._columns, lanes, block, parallel=True)

    def _sums(self, left: ir.Value, streams: Sequence[ir.Value]) -> list[ir.Value]:
        """For each stream a vector whose lanes add up to its dot product."""
        lanes = self._lanes
        left_type = self._nest.vector_of(self._nest.left)
        right_type = self._nest.vector_of(self._nest.right)

        def products(load: Load, at: ir.Value, sums: Sequence[ir.Value]) -> list[ir.Value]:
            def vector_at(type_: ir.VectorType, elements: ir.Value, stream: ir.Value) -> ir.Value:
                return cast(load(type_, elements, arith.addi(stream, at)), self._type)

            factor = vector_at(left_type, self._nest.left.elements, left)
            return [
                multiply_add(factor, vector_at(right_type, self._nest.right.elements, stream), sum_)
                for stream, sum_ in zip(streams, sums, strict=True)
            ]

        def load(type_: ir.VectorType, elements: ir.Value, place: ir.Value) -> ir.Value:
            return vector.load(type_, elements, [place])

        def whole(at: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            return products(load, at, sums)

        def rest(at: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            mask = mask_of_first(arith.subi(self._summed, at), lanes)

            def load(type_: ir.VectorType, elements: ir.Value, place: ir.Value) -> ir.Value:
                return masked_load(type_, elements, place, mask)

            return products(load, at, sums)

        end = rounded_down(self._summed, lanes)
        zero = splat(self._vector, 0)
        # Without masks, by which AVX2 loads slowly: on AMD Zen 1 it took seven times as long.
        sums = for_each(index(0), end, lanes, whole, [zero] * len(streams))
        return for_each(end, self._summed, lanes, rest, sums)
