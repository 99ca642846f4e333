"""Depthwise convolutions: each plane of the image has a window of weights of its own.

There is nothing to share between planes, so that register tiles have one row. Instead several rows
of a plane of the result are computed at once: a vector of the image that is loaded for one of them
serves all the others whose windows it is in.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product as all_pairs

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from plumbline.linalg_to_kernels.building import ALIGNMENT, for_each, if_else, index, least, total
from plumbline.linalg_to_kernels.contraction_loops import Epilogue, LoopNest, Region, finished
from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan
from plumbline.linalg_to_kernels.vectors import (
    cast,
    mask_of_first,
    masked_load,
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
    """Where a tile's windows are in the image."""

    base: ir.Value
    """Its first row."""
    row: ir.Value
    """Which row of windows the first one is of."""
    down: ir.Value | None = None
    """How many rows below the window's first one; None: not at all."""
    lines: dict[int, ir.Value] = field(default_factory=dict)
    """What `_lines` gives, if that is known already."""
    weights: Sequence[ir.Value] = ()
    """What `_weights` gives, if that is known already."""
    column: ir.Value | None = None
    masks: Sequence[ir.Value] = ()


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
        (self._across,) = plan.columns
        self._down = plan.rows[0] if plan.rows else None
        # How far windows and their elements move along the image's last two axes.
        axes = [dict(terms) for terms in plan.sum.accesses[plan.right].axes]
        self._steps_across = axes[-1]
        self._down_axis, self._steps_down = next(
            ((axis, steps) for axis, steps in enumerate(axes) if self._down in steps), (0, {})
        )
        self._looped, self._unrolled = _split(plan.static_sizes)

    def build(self) -> None:
        plan, tile = self._plan, self._tile
        self._rows, self._columns = self._nest.size(plan.rows), self._nest.size(plan.columns)
        scratch = ir.MemRefType.get([tile.rows * tile.lanes], self._type)
        self._scratch = memref.alloca(scratch, [], [], alignment=ALIGNMENT)
        nothing = Region((index(0), index(0), index(0)), {})
        self._nest.over(plan.batches, nothing, self._plane)

    def _plane(self, region: Region) -> None:
        plan, tile = self._plan, self._tile

        weight = region.bases[plan.left]
        weights = () if self._looped else self._weights(weight)

        def block(row: ir.Value) -> list[ir.Value]:
            base = _Window(region.bases[plan.right], row, weights=weights)
            if not self._looped:
                # The same for all columns.
                base = replace(base, lines=self._lines(base))

            def part(column: ir.Value, *, is_whole: bool) -> list[ir.Value]:
                step = index(self._steps_across[self._across])
                inside = None if is_whole else arith.subi(self._columns, column)
                masks = () if inside is None else self._masks(inside)
                window = replace(base, column=arith.muli(column, step), masks=masks)
                zeros = [splat(self._vector, 0)] * tile.rows if self._looped else []
                sums = self._sums(self._looped, window, weight, zeros)
                for down, value in enumerate(sums):
                    vector.store(value, self._scratch, [index(down * tile.lanes)])
                self._store(region, row, column, inside)
                return []

            self._parts(partial(part, is_whole=True), partial(part, is_whole=False))
            return []

        for_each(index(0), self._rows, tile.rows, block, parallel=True)

    def _sums(
        self,
        loops: Sequence[tuple[int, int]],
        window: _Window,
        weight: ir.Value,
        sums: Sequence[ir.Value],
    ) -> list[ir.Value]:
        """The sums of a tile, added to those so far, if there are any.

        There are loops over all but the last elements of a window of many.
        """
        if not loops:
            return self._unrolled_sums(window, weight, sums)
        (loop, size), *rest = loops
        stride = self._nest.stride(self._plan.left, loop)

        def body(at: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            moved = self._moved(window, loop, at)
            return self._sums(rest, moved, arith.addi(weight, arith.muli(at, stride)), sums)

        return for_each(index(0), index(size), 1, body, sums)

    def _moved(self, window: _Window, loop: int, at: ir.Value) -> _Window:
        """The same windows, from the element on that a loop over their elements has come to."""
        if loop in self._steps_down:
            step = arith.muli(at, index(self._steps_down[loop]))
            return replace(window, down=arith.addi(window.down, step) if window.down else step)
        return replace(
            window,
            base=arith.addi(window.base, arith.muli(at, self._stride(loop))),
        )

    def _stride(self, loop: int) -> ir.Value:
        """How far a step of a loop that does not lead down leads in the image."""
        if loop in self._steps_across:
            # The last axis is contiguous, which the type of the argument need not tell.
            return index(self._steps_across[loop])
        return self._nest.stride(self._plan.right, loop)

    def _unrolled_sums(
        self, window: _Window, weight: ir.Value, sums: Sequence[ir.Value]
    ) -> list[ir.Value]:
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
        result: list[ir.Value | None] = list(sums) or [None] * self._tile.rows
        for place in sorted(uses):
            down, *others = place
            offsets = [
                arith.muli(index(at), self._stride(loop))
                for loop, at in zip(loops, others, strict=True)
                if at
            ]
            value = self._load(total([lines[down], window.column, *offsets]), window.masks)
            for tile_row, factor in uses[place]:
                so_far = result[tile_row]
                result[tile_row] = (
                    multiply(value, factor)
                    if so_far is None
                    else multiply_add(value, factor, so_far)
                )
        return [value for value in result if value is not None]

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
        height = sum(
            (size - 1) * self._steps_down.get(loop, 0) for loop, size in self._plan.static_sizes
        )
        last_window = arith.muli(arith.subi(self._rows, index(1)), index(step))
        line = arith.addi(arith.muli(window.row, index(step)), index(down))
        if window.down is not None:
            line = arith.addi(line, window.down)
        # Beyond the last row of the image it is read again, for sums that are not stored.
        line = least(line, arith.addi(last_window, index(height)))
        stride = self._nest.views[self._plan.right].strides[self._down_axis]
        return arith.addi(window.base, arith.muli(line, stride))

    def _parts(
        self, whole: Callable[[ir.Value], object], edge: Callable[[ir.Value], object]
    ) -> None:
        """Builds what does all columns, by what does as many as there are lanes, or fewer.

        With a mask on each vector that is loaded, 112x112 planes took twice as long (Zen 3).
        """
        lanes = index(self._tile.lanes)
        has_gaps = self._steps_across[self._across] > 1
        # Vectors of windows some columns apart hold more than these need, beyond the last one.
        columns = arith.subi(self._columns, index(1)) if has_gaps else self._columns
        end = arith.muli(arith.divsi(columns, lanes), lanes)

        def one(column: ir.Value) -> list[ir.Value]:
            whole(column)
            return []

        for_each(index(0), end, self._tile.lanes, one, parallel=True)

        def rest() -> None:
            if has_gaps:
                edge(end)
                return
            # The last ones are done anew with those before them, if there are such.
            if_else(
                arith.cmpi(arith.CmpIPredicate.uge, columns, lanes),
                lambda: whole(arith.subi(columns, lanes)),
                lambda: edge(end),
            )

        if_else(arith.cmpi(arith.CmpIPredicate.ult, end, self._columns), rest)

    def _masks(self, inside: ir.Value) -> list[ir.Value]:
        """Of the vectors that hold what each lane that is inside needs of the image."""
        step = self._steps_across[self._across]
        needed = arith.addi(arith.muli(arith.subi(inside, index(1)), index(step)), index(1))
        lanes = self._tile.lanes
        return [
            mask_of_first(arith.subi(needed, index(number * lanes)), lanes)
            for number in range(step)
        ]

    def _load(self, place: ir.Value, masks: Sequence[ir.Value]) -> ir.Value:
        """Elements of the image as far apart as windows are, one for each lane."""
        type_ = self._nest.vector_of(self._nest.right)
        lanes, elements = self._tile.lanes, self._nest.right.elements
        step = self._steps_across[self._across]
        vectors = []
        for number in range(step):
            at = arith.addi(place, index(number * lanes)) if number else place
            vectors.append(
                masked_load(type_, elements, at, masks[number])
                if masks
                else vector.load(type_, elements, [at])
            )
        result = vectors[0]
        for number, other in enumerate(vectors[1:], 1):
            result = _merge(result, other, number, step, lanes)
        return cast(result, self._type)

    def _store(
        self, region: Region, row: ir.Value, column: ir.Value, inside: ir.Value | None
    ) -> None:
        """Finishes and stores a tile; of its columns some are inside, or all."""
        plan, tile = self._plan, self._tile
        mask = mask_of_first(index(tile.lanes) if inside is None else inside, tile.lanes)
        out = self._nest.out.elements

        def one(down: ir.Value) -> list[ir.Value]:
            at = arith.addi(row, down)
            offset = self._nest.offset(2, plan.rows_of_result, at)
            to = total([region.bases[2], offset, column])
            value = vector.load(self._vector, self._scratch, [arith.muli(down, index(tile.lanes))])
            value = finished(self._epilogue, value, self._nest.place(region, at, column, to, mask))
            if inside is None:
                vector.store(value, out, [to])
            else:
                vector.maskedstore(out, [to], mask, value)
            return []

        for_each(index(0), least(arith.subi(self._rows, row), index(tile.rows)), 1, one)


def _merge(so_far: ir.Value, next_: ir.Value, number: int, step: int, lanes: int) -> ir.Value:
    """Puts what vector `number` of a run of elements has of every `step`th one in its lanes."""
    order = []
    for lane in range(lanes):
        of, within = divmod(lane * step, lanes)
        if of == number:
            order.append(lanes + within)
        else:
            # The first time lanes of the first vector move to where they belong.
            order.append(within if of == 0 and number == 1 else lane)
    return vector.shuffle(so_far, next_, order)
