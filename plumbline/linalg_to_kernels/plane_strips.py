"""Copies of what windows of a plane are in, a strip of the plane at a time, on the stack.

A depthwise convolution reads each element of the image for many windows. Where elements have to be
prepared for that, it is done once for all of these, in a copy that stays in the first cache:

- zeros are laid around the image, so that a pad is no tensor of its own in memory;
- of windows that are `step` columns apart, the elements of every `step`-th column are contiguous,
  so that each element of a window is a vector that is loaded as it is;
- elements have the type that products are added up in.

A strip has some rows of windows, and as many columns as fit. Of each row of the image it holds one
phase after the other: the columns 0, step, 2 * step, ..., then 1, 1 + step, ... and so on.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from plumbline.linalg_to_kernels.building import (
    ALIGNMENT,
    FlatView,
    for_each,
    if_else,
    index,
    least,
    total,
)
from plumbline.linalg_to_kernels.pads import Pads
from plumbline.linalg_to_kernels.products import Access
from plumbline.linalg_to_kernels.vectors import cast, mask_of_first, masked_load, splat

_MOST_BYTES = 1 << 16
"""More than this is not laid on the stack."""

_ROW_BYTES = 1 << 9
"""Of a row of the image in a strip, about: to do longer ones in parts costs little."""

Span = tuple[ir.Value, ir.Value]
"""The first of some rows or columns, and the one after the last."""


@dataclass(frozen=True)
class Strip:
    """What a strip holds."""

    pads: Pads
    """The zeros around the image."""
    down_axis: int | None
    """The axis along which rows of windows are; None: there is one row."""
    step_down: int
    """How many rows of the image rows of windows are apart."""
    step: int
    """How many columns windows of a row are apart: the number of phases."""
    outer: tuple[tuple[int, int, int, int], ...]
    """The loops over windows that stay in no plane: each with how often it runs, the axis of the
    image, and how far along that a step of it leads."""
    inner: tuple[tuple[int, int], ...]
    """The loops over windows along rows, and how many columns a step of each leads."""
    window: tuple[int, int]
    """How many rows and columns of the image a window covers."""
    rows: int
    """Of windows."""
    columns: int
    """Of windows."""
    pitch: int
    """Elements of a phase of a row."""

    @property
    def margin(self) -> int:
        """Columns before the image: zeros, and as many more as let it begin with phase 0."""
        return -(-self.pads[-1][0] // self.step) * self.step

    @property
    def first(self) -> int:
        """In which of these columns the first window begins."""
        return self.margin - self.pads[-1][0]

    @property
    def row_pitch(self) -> int:
        """Elements of a row of the image, in all phases."""
        return self.step * self.pitch

    @property
    def height(self) -> int:
        """Rows of the image."""
        return (self.rows - 1) * self.step_down + self.window[0]

    @property
    def planes(self) -> int:
        """How many planes of the image a window goes through."""
        return math.prod(size for _, size, _, _ in self.outer)

    @property
    def size(self) -> int:
        """Elements of the copy."""
        return self.planes * self.height * self.row_pitch

    @property
    def outer_strides(self) -> dict[int, int]:
        """How far in the copy a step of each outer loop leads."""
        strides, stride = {}, self.height * self.row_pitch
        for loop, size, _, _ in reversed(self.outer):
            strides[loop] = stride
            stride *= size
        return strides


def strip_of_windows(
    access: Access,
    columns: tuple[int | None, int],
    window: Mapping[int, int],
    pads: Sequence[tuple[int, int]],
    tile: tuple[int, int],
    bits: int,
    bytes_: int,
) -> Strip | None:
    """The strip for windows of an image; None if it would be too large, or windows are skewed.

    Args:
      access: how loops move through the image.
      columns: the loop from one row of windows to the next, if there is one, and that along a row.
      window: the loops over a window, with how often they run.
      pads: how many zeros are before and after the image along each of its axes.
      tile: how many rows and columns of windows are computed at once.
      bits: of an element that products are added up in.
      bytes_: of a strip, unless one block of rows needs more.
    """
    axes = [dict(terms) for terms in access.axes]
    last = len(axes) - 1
    down, across = columns
    down_axis = next((axis for axis, terms in enumerate(axes) if down in terms), None)
    placed = [(loop, axis) for axis, terms in enumerate(axes) for loop in terms if loop in window]
    plane = {axis: {*window, down, across} for axis in (down_axis, last) if axis is not None}
    step = axes[last][across]
    inner = tuple((loop, axes[last][loop]) for loop, axis in placed if axis == last)
    if (
        down_axis == last
        or len(placed) != len(window.keys() & access.loops)
        or any(not axes[axis].keys() <= loops for axis, loops in plane.items())
        or (step > 1 and len(inner) > 1)
    ):
        return None

    def extent(of: int | None) -> int:
        return 1 + sum((window[loop] - 1) * axes[of][loop] for loop, axis in placed if axis == of)

    rows, lanes = tile
    element = bits // 8
    most = max(_ROW_BYTES // element // step // lanes, 1) * lanes
    # Vectors are stored whole, also those that begin with the last element of a row.
    pitch = most + -(-extent(last) // step) + lanes
    strip = Strip(
        pads=tuple(pads) or ((0, 0),) * len(axes),
        down_axis=down_axis,
        step_down=1 if down_axis is None or down is None else axes[down_axis][down],
        step=step,
        outer=tuple(
            (loop, window[loop], axis, axes[axis][loop])
            for loop, axis in placed
            if axis not in (last, down_axis)
        ),
        inner=inner,
        window=(extent(down_axis), extent(last)),
        rows=rows,
        columns=most,
        pitch=-(-pitch // lanes) * lanes,
    )
    if down is not None:
        height = bytes_ // (element * strip.planes * strip.row_pitch)
        fitting = (height - strip.window[0]) // strip.step_down + 1
        strip = replace(strip, rows=max(fitting // rows, 1) * rows)
    return strip if strip.size * element <= _MOST_BYTES else None


@dataclass(frozen=True)
class Image:
    """A plane of an image, or those that windows of a plane of the result go through."""

    base: ir.Value
    """Where its first element would be, were it not padded."""
    outside: Callable[[int], ir.Value]
    """How far the loops outside the plane lead along an axis, pads included."""


@dataclass(frozen=True)
class _Row:
    """What is copied of each row of the image, or is zero. Places are those in a phase."""

    start: ir.Value
    """The first column of the image that is copied, of phase 0."""
    stop: ir.Value
    """The one after the last."""
    before: ir.Value
    """How many zeros are before the first column."""
    after: ir.Value
    """Where the zeros begin that are after the last one."""
    end: ir.Value
    """The place after the last one that is read."""


class Strips:
    """Builds copies of strips, and says where in them elements are."""

    def __init__(self, strip: Strip, view: FlatView, lanes: int, summed_in: ir.Type) -> None:
        self._strip, self._view, self._lanes = strip, view, lanes
        self._type = summed_in
        self._zeros = splat(ir.VectorType.get([lanes], summed_in), 0)
        self._loaded = ir.VectorType.get([lanes], ir.MemRefType(view.elements.type).element_type)
        copy = ir.MemRefType.get([strip.size], summed_in)
        self.elements = memref.alloca(copy, [], [], alignment=ALIGNMENT)
        """The copy."""

    def over(
        self, rows: ir.Value, columns: ir.Value, image: Image, body: Callable[[Span, Span], None]
    ) -> None:
        """Loops over the strips of a plane with so many rows and columns of windows.

        `body` builds what is done once a strip has been copied; it takes its rows and its columns.
        """
        strip, lanes = self._strip, self._lanes
        # As few parts of rows as there must be, alike: whole vectors, but for the last one.
        parts = arith.ceildivui(columns, index(strip.columns))
        vectors = arith.ceildivui(columns, arith.muli(arith.maxui(parts, index(1)), index(lanes)))
        width = arith.muli(vectors, index(lanes))

        def part(row: ir.Value, number: ir.Value) -> list[ir.Value]:
            column = arith.muli(number, width)
            of_rows = row, least(arith.addi(row, index(strip.rows)), rows)
            of_columns = column, least(arith.addi(column, width), columns)
            self._copy(of_rows, of_columns, image)
            body(of_rows, of_columns)
            return []

        def strip_of(row: ir.Value) -> list[ir.Value]:
            for_each(index(0), parts, 1, lambda number: part(row, number), parallel=True)
            return []

        for_each(index(0), rows, strip.rows, strip_of, parallel=True)

    # -- where elements are ------------------------------------------------------------------------

    def line(self, row: ir.Value) -> ir.Value:
        """Where a row of the image begins, counted from the first one of a strip."""
        return arith.muli(row, index(self._strip.row_pitch))

    @property
    def first(self) -> ir.Value:
        """Where in its row the first window begins, but for what `step` says."""
        strip = self._strip
        return index(0) if strip.step == 1 or strip.inner else self._place(index(0))

    def step(self, loop: int, at: ir.Value) -> ir.Value:
        """How far a loop over windows leads that does not lead down."""
        strip = self._strip
        if loop in strip.outer_strides:
            return arith.muli(at, index(strip.outer_strides[loop]))
        columns = dict(strip.inner)
        if loop not in columns:
            # It is the loop of one turn of a window of which the image's place does not tell.
            return index(0)
        column = arith.muli(at, index(columns[loop]))
        return column if strip.step == 1 else self._place(column)

    def _place(self, column: ir.Value) -> ir.Value:
        """Where a column of the first window lies in its row."""
        strip = self._strip
        column, step = arith.addi(column, index(strip.first)), index(strip.step)
        phase = arith.muli(arith.remui(column, step), index(strip.pitch))
        return arith.addi(phase, arith.divui(column, step))

    # -- copying -----------------------------------------------------------------------------------

    def _copy(self, rows: Span, columns: Span, image: Image) -> None:
        """Copies what windows of such rows and columns are in."""
        strip = self._strip
        row = self._row(columns)

        def plane(
            loops: Sequence[tuple[int, int, int, int]], to: ir.Value, at: dict[int, ir.Value]
        ) -> None:
            if not loops:
                base, is_inside = self._plane(image, at)
                self._copy_plane(rows, row, base, is_inside, to)
                return
            (loop, size, _, _), *rest = loops
            stride = index(strip.outer_strides[loop])

            def one(count: ir.Value) -> list[ir.Value]:
                plane(rest, arith.addi(to, arith.muli(count, stride)), {**at, loop: count})
                return []

            for_each(index(0), index(size), 1, one)

        plane(strip.outer, index(0), {})

    def _row(self, columns: Span) -> _Row:
        strip, step = self._strip, index(self._strip.step)
        width = self._view.sizes[-1]
        margin, zero = index(strip.margin), index(0)
        column, end = columns
        # Columns of the padded image, from that in which the first window begins.
        begin = arith.muli(column, step)
        last = arith.addi(arith.muli(arith.subi(end, index(1)), step), index(strip.window[1]))
        start = arith.maxsi(arith.subi(begin, margin), zero)
        stop = least(arith.subi(last, index(strip.pads[-1][0])), width)
        stop = arith.maxsi(stop, start)
        # What column 0 of the image is away from the strip's first column.
        away = arith.subi(margin, begin)
        covered = arith.addi(arith.subi(last, begin), index(strip.first))
        places = arith.ceildivsi(covered, step)
        before = arith.divsi(arith.addi(start, away), step)
        return _Row(
            start=start,
            stop=stop,
            before=least(before, places),
            after=arith.divsi(arith.addi(stop, away), step),
            end=places,
        )

    def _plane(self, image: Image, at: dict[int, ir.Value]) -> tuple[ir.Value, ir.Value | None]:
        """Where the plane begins that outer loops have come to, and whether it is no pad."""
        strip, view = self._strip, self._view
        places, inside = [image.base], None
        for axis, (before, after) in enumerate(strip.pads[:-1]):
            if axis == strip.down_axis:
                continue
            steps = [
                arith.muli(at[loop], index(factor))
                for loop, _, other, factor in strip.outer
                if other == axis
            ]
            moved = arith.subi(total(steps), index(before))
            places.append(arith.muli(moved, view.strides[axis]))
            if before or after:
                # Below zero is beyond the last one, without a sign.
                place = arith.addi(image.outside(axis), moved)
                found = arith.cmpi(arith.CmpIPredicate.ult, place, view.sizes[axis])
                inside = found if inside is None else arith.andi(inside, found)
        return total(places), inside

    def _copy_plane(
        self, rows: Span, row: _Row, base: ir.Value, is_inside: ir.Value | None, to: ir.Value
    ) -> None:
        strip, axis = self._strip, self._strip.down_axis
        first, last, height = index(0), index(1), index(1)
        if axis is not None:
            begin, end = rows
            steps = arith.muli(arith.subi(arith.subi(end, begin), index(1)), index(strip.step_down))
            height = arith.addi(steps, index(strip.window[0]))
            # The row of the image that is the strip's first one.
            top = arith.muli(begin, index(strip.step_down))
            top = arith.subi(top, index(strip.pads[axis][0]))
            first = least(arith.maxsi(arith.subi(index(0), top), index(0)), height)
            last = least(arith.subi(self._view.sizes[axis], top), height)
            last = arith.maxsi(last, first)
            base = arith.addi(base, arith.muli(top, self._view.strides[axis]))
        if is_inside is not None:
            last = arith.select(is_inside, last, first)

        def zeros(at: ir.Value) -> list[ir.Value]:
            self._store_zeros(index(0), row.end, arith.addi(to, self.line(at)))
            return []

        def copied(at: ir.Value) -> list[ir.Value]:
            line = arith.addi(to, self.line(at))
            self._store_zeros(index(0), row.before, line)
            self._store_zeros(row.after, row.end, line)
            from_ = base
            if axis is not None:
                from_ = arith.addi(base, arith.muli(at, self._view.strides[axis]))
            self._copy_row(row, from_, line)
            return []

        for_each(index(0), first, 1, zeros)
        for_each(first, last, 1, copied)
        for_each(last, height, 1, zeros)

    def _store_zeros(self, start: ir.Value, end: ir.Value, line: ir.Value) -> None:
        """Stores zeros to such places of all phases, and maybe to some after these."""

        def one(place: ir.Value) -> list[ir.Value]:
            self._store([self._zeros] * self._strip.step, arith.addi(line, place))
            return []

        for_each(start, end, self._lanes, one)

    def _store(self, phases: Sequence[ir.Value], place: ir.Value) -> None:
        for number, phase in enumerate(phases):
            to = arith.addi(place, index(number * self._strip.pitch))
            vector.store(phase, self.elements, [to])

    def _copy_row(self, row: _Row, from_: ir.Value, line: ir.Value) -> None:
        """Copies a row of the image, by as many vectors at once as there are phases."""
        step, lanes = self._strip.step, self._lanes
        count = arith.subi(row.stop, row.start)
        from_ = arith.addi(from_, row.start)
        to = arith.addi(line, row.before)

        def copy(at: ir.Value, masks: Sequence[ir.Value | None]) -> None:
            loaded = [
                self._load(arith.addi(from_, arith.addi(at, index(number * lanes))), mask)
                for number, mask in enumerate(masks)
            ]
            phases = [_every(step, phase, loaded) for phase in range(step)]
            self._store(phases, arith.addi(to, arith.divui(at, index(step))))

        def whole(at: ir.Value) -> None:
            copy(at, [None] * step)

        def masked(at: ir.Value) -> None:
            left = [
                arith.subi(count, arith.addi(at, index(number * lanes))) for number in range(step)
            ]
            copy(at, [mask_of_first(elements, lanes) for elements in left])

        taken = index(step * lanes)
        last = arith.subi(count, taken)

        def one(at: ir.Value) -> list[ir.Value]:
            if step == 1:
                # The last ones are copied anew with those before them, if there are such.
                whole(least(at, last))
            else:
                is_whole = arith.cmpi(arith.CmpIPredicate.sle, at, last)
                if_else(is_whole, lambda: whole(at), lambda: masked(at))
            return []

        def each() -> None:
            for_each(index(0), count, step * lanes, one)

        is_long = arith.cmpi(arith.CmpIPredicate.sge, count, taken)
        if_else(is_long, each, lambda: masked(index(0)))

    def _load(self, place: ir.Value, mask: ir.Value | None) -> ir.Value:
        elements = self._view.elements
        value = (
            vector.load(self._loaded, elements, [place])
            if mask is None
            else masked_load(self._loaded, elements, place, mask)
        )
        return cast(value, self._type)


def _every(step: int, first: int, run: Sequence[ir.Value]) -> ir.Value:
    """Of `step` vectors, of contiguous elements, every `step`-th from the `first` one on."""
    if step == 1:
        return run[0]
    lanes = ir.VectorType(run[0].type).shape[0]
    wanted = [divmod(lane * step + first, lanes) for lane in range(lanes)]
    result = run[0]
    for number, other in enumerate(run[1:], 1):
        order = [
            lanes + within
            if of == number
            # The first time lanes of the first vector move to where they belong.
            else (within if of == 0 and number == 1 else lane)
            for lane, (of, within) in enumerate(wanted)
        ]
        result = vector.shuffle(result, other, order)
    return result
