"""Depthwise convolutions: each plane of the image has a window of weights of its own.

There is nothing to share between planes, so that register tiles have one row. Instead several rows
of a plane of the result are computed at once: a vector of the image that is loaded for one of them
serves all the others whose windows it is in.

Vectors are loaded from the image where it lies, or from copies of strips of it (`plane_strips`), if
it is to be padded or its windows are some columns apart.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product as all_pairs

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from plumbline.linalg_to_kernels.building import ALIGNMENT, for_each, if_else, index, least, total
from plumbline.linalg_to_kernels.contraction_loops import Epilogue, LoopNest, Region, finished
from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan
from plumbline.linalg_to_kernels.plane_strips import Image, Span, Strips
from plumbline.linalg_to_kernels.vectors import (
    cast,
    mask_of_first,
    masked_load,
    masked_store,
    multiply,
    multiply_add,
    splat,
)

_UNROLLED = 12
"""How many elements of a window are worth code of their own: vectors of weights fill registers."""


def build_depthwise(
    plan: ContractionPlan,
    arguments: Sequence[ir.Value],
    summed_in: ir.Type,
    epilogue: Epilogue | None,
) -> None:
    """Builds the body of a kernel as `build_contraction` does, for `Strategy.DEPTHWISE`."""
    _Depthwise(plan, arguments, summed_in, epilogue).build()


@dataclass(frozen=True)
class _Window:
    """Where a tile's windows are in the image, or in the copy of a strip."""

    base: ir.Value
    """Its first row."""
    row: ir.Value
    """Which row of windows the first one is of, counted from there."""
    down: ir.Value | None = None
    """How many rows below the window's first one; None: not at all."""
    lines: dict[int, ir.Value] = field(default_factory=dict)
    """What `_lines` gives, if that is known already."""
    weights: Sequence[ir.Value] = ()
    """What `_weights` gives, if that is known already."""
    column: ir.Value | None = None
    mask: ir.Value | None = None
    """The lanes that are inside, if not all are."""


def _split(
    loops: Sequence[tuple[int, int]],
) -> tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]:
    """Loops over a window, with their sizes: those that stay loops, and those that are unrolled."""
    first = next(
        first
        for first in range(len(loops) + 1)
        if math.prod(size for _, size in loops[first:]) <= _UNROLLED
    )
    return loops[:first], loops[first:]


class _Depthwise:
    def __init__(
        self,
        plan: ContractionPlan,
        arguments: Sequence[ir.Value],
        summed_in: ir.Type,
        epilogue: Epilogue | None,
    ) -> None:
        self._plan, self._tile, self._epilogue = plan, plan.tile, epilogue
        self._nest = LoopNest(plan, arguments)
        self._type = summed_in
        self._vector = ir.VectorType.get([self._tile.lanes], summed_in)
        self._down = plan.rows[0] if plan.rows else None
        # How far windows and their elements move along the image's rows.
        self._axes = [dict(terms) for terms in plan.sum.accesses[plan.right].axes]
        self._down_axis, self._steps_down = next(
            ((axis, steps) for axis, steps in enumerate(self._axes) if self._down in steps), (0, {})
        )
        self._looped, self._unrolled = _split(plan.static_sizes)
        self._strips: Strips | None = None

    def build(self) -> None:
        plan, tile = self._plan, self._tile
        self._rows, self._columns = self._nest.size(plan.rows), self._nest.size(plan.columns)
        scratch = ir.MemRefType.get([tile.rows * tile.lanes], self._type)
        self._scratch = memref.alloca(scratch, [], [], alignment=ALIGNMENT)
        if plan.strip is not None:
            self._strips = Strips(plan.strip, self._nest.right, tile.lanes, self._type)
        nothing = Region((index(0), index(0), index(0)), {})
        self._nest.over(plan.batches, nothing, self._plane)

    def _plane(self, region: Region) -> None:
        weights = () if self._looped else self._weights(region.bases[self._plan.left])
        blocks = partial(self._blocks, region, weights)
        if self._strips is None:
            blocks((index(0), self._rows), (index(0), self._columns))
            return

        def outside(axis: int) -> ir.Value:
            return total(
                [
                    arith.muli(region.loops[loop](), index(factor))
                    for loop, factor in self._axes[axis].items()
                    if loop in region.loops
                ]
            )

        image = Image(region.bases[self._plan.right], outside)
        self._strips.over(self._rows, self._columns, image, blocks)

    def _blocks(
        self, region: Region, weights: Sequence[ir.Value], rows: Span, columns: Span
    ) -> None:
        """Builds what does such rows and columns of a plane of the result: all, or a strip."""
        plan, tile, strips = self._plan, self._tile, self._strips
        weight = region.bases[plan.left]
        base = strips.first if strips else region.bases[plan.right]

        def block(row: ir.Value) -> list[ir.Value]:
            first = _Window(base, arith.subi(row, rows[0]), weights=weights)
            if not self._looped:
                # The same for all columns.
                first = replace(first, lines=self._lines(first))

            def sums(column: ir.Value, mask: ir.Value | None) -> Iterator[tuple[int, ir.Value]]:
                window = replace(first, column=arith.subi(column, columns[0]), mask=mask)
                return self._sums(window, weight)

            def whole(column: ir.Value) -> None:
                for down, value in sums(column, None):
                    place = row, index(down), column
                    self._store(region, place, value, None)

            def edge(column: ir.Value) -> None:
                mask = mask_of_first(arith.subi(columns[1], column), tile.lanes)
                for down, value in sums(column, mask):
                    vector.store(value, self._scratch, [index(down * tile.lanes)])

                def stored(down: ir.Value) -> list[ir.Value]:
                    at = arith.muli(down, index(tile.lanes))
                    value = vector.load(self._vector, self._scratch, [at])
                    self._store(region, (row, down, column), value, mask)
                    return []

                for_each(index(0), least(inside, index(tile.rows)), 1, stored)

            inside = arith.subi(rows[1], row)
            are_inside = arith.cmpi(arith.CmpIPredicate.sge, inside, index(tile.rows))
            self._parts(columns, are_inside, whole, edge)
            return []

        for_each(rows[0], rows[1], tile.rows, block, parallel=True)

    def _sums(self, window: _Window, weight: ir.Value) -> Iterator[tuple[int, ir.Value]]:
        """The sums of a tile, each by its row, as soon as it is complete.

        There are loops over all but the last elements of a window of many.
        """
        if not self._looped:
            yield from self._unrolled_sums(window, weight, [None] * self._tile.rows)
            return
        zeros = [splat(self._vector, 0)] * self._tile.rows
        yield from enumerate(self._looped_sums(self._looped, window, weight, zeros))

    def _looped_sums(
        self,
        loops: Sequence[tuple[int, int]],
        window: _Window,
        weight: ir.Value,
        sums: Sequence[ir.Value],
    ) -> list[ir.Value]:
        """The sums of a tile, added to those so far."""
        if not loops:
            return list(dict(self._unrolled_sums(window, weight, sums)).values())
        (loop, size), *rest = loops
        stride = self._nest.stride(self._plan.left, loop)

        def body(at: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            moved = self._moved(window, loop, at)
            return self._looped_sums(rest, moved, arith.addi(weight, arith.muli(at, stride)), sums)

        return for_each(index(0), index(size), 1, body, sums)

    def _moved(self, window: _Window, loop: int, at: ir.Value) -> _Window:
        """The same windows, from the element on that a loop over their elements has come to."""
        if loop in self._steps_down:
            step = arith.muli(at, index(self._steps_down[loop]))
            return replace(window, down=arith.addi(window.down, step) if window.down else step)
        return replace(window, base=arith.addi(window.base, self._step(loop, at)))

    def _step(self, loop: int, at: ir.Value) -> ir.Value:
        """How far a loop leads that does not lead down."""
        if self._strips is not None:
            return self._strips.step(loop, at)
        if loop in self._axes[-1]:
            # The last axis is contiguous, which the type of the argument need not tell.
            return arith.muli(at, index(self._axes[-1][loop]))
        return arith.muli(at, self._nest.stride(self._plan.right, loop))

    def _unrolled_sums(
        self, window: _Window, weight: ir.Value, sums: Sequence[ir.Value | None]
    ) -> Iterator[tuple[int, ir.Value]]:
        """The sums so far, if there are any, and what unrolled elements add; rows in order."""
        # By the vector of the image that is loaded, what it is multiplied with for which row: so
        # each is in a register for a short while only.
        uses: dict[tuple[int, ...], list[tuple[int, ir.Value]]] = {}
        weights = window.weights or self._weights(weight)
        for element, factor in zip(self._elements(), weights, strict=True):
            others = [at for loop, at in element.items() if loop not in self._steps_down]
            for tile_row in range(self._tile.rows):
                place = (self._steps_to(element, tile_row), *others)
                uses.setdefault(place, []).append((tile_row, factor))
        loops = [loop for loop, _ in self._unrolled if loop not in self._steps_down]
        lines = window.lines or self._lines(window)
        result = list(sums)
        last = {tile_row: place for place in sorted(uses) for tile_row, _ in uses[place]}
        for place in sorted(uses):
            down, *others = place
            steps = [self._step(loop, index(at)) for loop, at in zip(loops, others, strict=True)]
            value = self._load(total([lines[down], window.column, *steps]), window.mask)
            for tile_row, factor in uses[place]:
                so_far = result[tile_row]
                result[tile_row] = (
                    multiply(value, factor)
                    if so_far is None
                    else multiply_add(value, factor, so_far)
                )
            for tile_row, end in last.items():
                value = result[tile_row]
                if end == place and value is not None:
                    yield tile_row, value

    def _elements(self) -> list[dict[int, int]]:
        """The elements of a window that are unrolled, by the counts of these loops."""
        loops = [loop for loop, _ in self._unrolled]
        counts = all_pairs(*(range(size) for _, size in self._unrolled))
        return [dict(zip(loops, at, strict=True)) for at in counts]

    def _steps_to(self, element: dict[int, int], tile_row: int) -> int:
        """Rows of the image from a tile's first window to an element of a row's window."""
        down = sum(at * self._steps_down.get(loop, 0) for loop, at in element.items())
        return down + (0 if self._down is None else tile_row * self._steps_down[self._down])

    def _lines(self, window: _Window) -> dict[int, ir.Value]:
        """Where rows of the image begin, by how far they are from a tile's first window."""
        steps = {
            self._steps_to(element, row)
            for element in self._elements()
            for row in range(self._tile.rows)
        }
        return {down: self._line(window, down) for down in sorted(steps)}

    def _weights(self, first: ir.Value) -> list[ir.Value]:
        """The weights of the elements that are unrolled, each in all lanes."""
        return [self._weight(first, element) for element in self._elements()]

    def _weight(self, first: ir.Value, element: dict[int, int]) -> ir.Value:
        steps = [
            arith.muli(self._nest.stride(self._plan.left, loop), index(at))
            for loop, at in element.items()
            if at
        ]
        value = memref.load(self._nest.left.elements, [total([first, *steps])])
        return vector.broadcast(self._vector, cast(value, self._type))

    def _line(self, window: _Window, down: int) -> ir.Value:
        """Where a row of the image begins, `down` rows from a tile's first window."""
        if self._down is None:
            return window.base
        step = self._steps_down[self._down]
        line = arith.addi(arith.muli(window.row, index(step)), index(down))
        if window.down is not None:
            line = arith.addi(line, window.down)
        if self._strips is not None:
            return arith.addi(window.base, self._strips.line(line))
        height = sum(
            (size - 1) * self._steps_down.get(loop, 0) for loop, size in self._plan.static_sizes
        )
        last_window = arith.muli(arith.subi(self._rows, index(1)), index(step))
        # Beyond the last row of the image it is read again, for sums that are not stored.
        line = least(line, arith.addi(last_window, index(height)))
        stride = self._nest.right.strides[self._down_axis]
        return arith.addi(window.base, arith.muli(line, stride))

    def _parts(
        self,
        columns: Span,
        are_inside: ir.Value,
        whole: Callable[[ir.Value], object],
        edge: Callable[[ir.Value], object],
    ) -> None:
        """Builds what does columns, by what does a whole tile, or what is inside of one.

        `are_inside` says whether all rows of tiles are. With a mask on each vector that is loaded,
        112x112 planes took twice as long (Zen 3).
        """
        lanes = index(self._tile.lanes)
        first, last = columns
        count = arith.subi(last, first)
        whole_count = arith.muli(arith.divsi(count, lanes), lanes)
        end = arith.addi(first, arith.select(are_inside, whole_count, index(0)))

        def one(column: ir.Value) -> list[ir.Value]:
            whole(column)
            return []

        def one_edge(column: ir.Value) -> list[ir.Value]:
            edge(column)
            return []

        for_each(first, end, self._tile.lanes, one, parallel=True)

        def rest() -> None:
            # The last ones are done anew with those before them, if there are such.
            if_else(
                arith.andi(are_inside, arith.cmpi(arith.CmpIPredicate.sge, count, lanes)),
                lambda: whole(arith.subi(last, lanes)),
                lambda: for_each(end, last, self._tile.lanes, one_edge),
            )

        if_else(arith.cmpi(arith.CmpIPredicate.slt, end, last), rest)

    def _load(self, place: ir.Value, mask: ir.Value | None) -> ir.Value:
        """Elements of the image, one for each lane."""
        if self._strips is not None:
            # Lanes that are not inside are in the copy too, whatever they hold.
            return vector.load(self._vector, self._strips.elements, [place])
        type_, elements = self._nest.vector_of(self._nest.right), self._nest.right.elements
        value = (
            vector.load(type_, elements, [place])
            if mask is None
            else masked_load(type_, elements, place, mask)
        )
        return cast(value, self._type)

    def _store(
        self,
        region: Region,
        place: tuple[ir.Value, ir.Value, ir.Value],
        value: ir.Value,
        mask: ir.Value | None,
    ) -> None:
        """Finishes and stores sums of a tile: its first row, how far down they are, the column."""
        row, down, column = place
        at = arith.addi(row, down)
        offset = self._nest.offset(2, self._plan.rows_of_result, at)
        to = total([region.bases[2], offset, column])
        lanes = self._tile.lanes
        inside = mask_of_first(index(lanes), lanes) if mask is None else mask
        value = finished(self._epilogue, value, self._nest.place(region, at, column, to, inside))
        out = self._nest.out.elements
        if mask is None:
            vector.store(value, out, [to])
        else:
            masked_store(value, out, to, mask)
