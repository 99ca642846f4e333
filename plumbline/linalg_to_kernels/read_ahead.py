"""Has parts of a right operand brought near that later tiles read, by each tile its share of them.

A CPU looks ahead by some hundred instructions, and a tile's products are thousands; its own
prefetchers stop at the end of a page, and do not see the rows of a panel in an image, which are
pages apart. Measured on AMD Zen 3, with weights and images that do not stay in a second cache: 1x1
convolutions of 7x7 planes take 0.91 of the time, of 56x56 planes 0.93.

A tile asks little by little, as it goes over its products: of as many lines as tiles of vectors of
512 bits need, asked for at once, a core has to wait for some, and its own loads wait as well. With
that a 3x3 convolution of 7x7 planes took 1.25 times as long as it does, and 1.1 times if nothing
was asked for (AMD Zen 4; with vectors of 256 bits 1.1 and 1.2 times).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_kernels.building import (
    FIRST_CACHE,
    LINE,
    SECOND_CACHE,
    FlatView,
    LoopBody,
    for_each,
    index,
    least,
    rounded_up,
)
from plumbline.linalg_to_kernels.planned_memory import element_bytes

_LEAST_TILES = 4
"""Of fewer each would ask for more than comes while it is computed."""


@dataclass(frozen=True)
class Share:
    """What one of some tiles asks for."""

    number: ir.Value
    """Which of them it is."""
    tiles: ir.Value

    def of(self, count: ir.Value, step: int = 1) -> tuple[ir.Value, ir.Value]:
        """Where its part of so many begins, and how many that are: a multiple of `step`.

        The last parts may go beyond the end, which a prefetch may.
        """
        part = rounded_up(arith.ceildivui(count, self.tiles), step)
        are_few = arith.cmpi(arith.CmpIPredicate.ult, self.tiles, index(_LEAST_TILES))
        part = arith.select(are_few, index(0), part)
        return arith.muli(self.number, part), part


class RunAhead:
    """Asks for elements side by side, which are read next: the next block of a packed panel."""

    def __init__(
        self,
        view: FlatView,
        first: ir.Value,
        count: ir.Value,
        share: Share,
        *,
        is_by_rows: bool,
        step: int = 1,
    ) -> None:
        """The share of `count` elements from `first` on.

        `is_by_rows` says that each turn of the loop needs one row of the panel, or `step` of them,
        by which it counts, and not several each time.
        """
        self._view, self._is_by_rows, self._step = view, is_by_rows, step
        start, self._part = share.of(count, _line(view))
        self._start = arith.addi(first, start)

    def loop(
        self, lower: ir.Value, upper: ir.Value, body: LoopBody, carried: Sequence[ir.Value]
    ) -> list[ir.Value]:
        """A loop as `for_each` builds it, of which each turn asks for its part."""
        each = arith.ceildivui(self._part, arith.maxui(arith.subi(upper, lower), index(1)))

        def asking(at: ir.Value, *values: ir.Value) -> Sequence[ir.Value]:
            start = arith.addi(self._start, arith.muli(arith.subi(at, lower), each))

            def line(place: ir.Value) -> list[ir.Value]:
                _prefetch(self._view, arith.addi(start, place), FIRST_CACHE)
                return []

            if self._is_by_rows:
                # A line at most, roughly, as there are several tiles that share what is asked for.
                line(index(0))
            else:
                for_each(index(0), each, _line(self._view), line)
            return body(at, *values)

        return for_each(lower, upper, self._step, asking, carried)


class RowsAhead:
    """Asks for rows of a panel in an image, which are copied next."""

    def __init__(
        self,
        view: FlatView,
        first: ir.Value,
        stride: ir.Value,
        count: ir.Value,
        width: int,
        share: Share,
        *,
        step: int = 1,
    ) -> None:
        """The share of `count` rows of `width` elements, `stride` apart.

        Each turn of the loop counts by `step`.
        """
        self._view, self._stride, self._width, self._step = view, stride, width, step
        start, self._part = share.of(count)
        self._start = arith.addi(first, arith.muli(start, stride))

    def loop(
        self, lower: ir.Value, upper: ir.Value, body: LoopBody, carried: Sequence[ir.Value]
    ) -> list[ir.Value]:
        """A loop as `for_each` builds it, in pieces: before each it asks for a row."""
        pieces = arith.maxui(self._part, index(1))
        length = rounded_up(arith.ceildivui(arith.subi(upper, lower), pieces), self._step)

        def piece(number: ir.Value, *values: ir.Value) -> list[ir.Value]:
            row = arith.addi(self._start, arith.muli(number, self._stride))
            for place in _places_in(self._view, self._width):
                _prefetch(self._view, arith.addi(row, index(place)), SECOND_CACHE)
            start = arith.addi(lower, arith.muli(number, length))
            end = least(arith.addi(start, length), upper)
            return for_each(start, end, self._step, body, values)

        return for_each(index(0), pieces, 1, piece, carried)


def prefetch_row(view: FlatView, first: ir.Value, width: int) -> None:
    """Asks for `width` elements side by side, which are written."""
    for place in _places_in(view, width):
        memref.prefetch(view.elements, [arith.addi(first, index(place))], True, FIRST_CACHE, True)


def _places_in(view: FlatView, width: int) -> list[int]:
    """An element of each line that so many elements side by side may lie in."""
    return [*range(0, width, _line(view)), width - 1]


def _line(view: FlatView) -> int:
    """How many elements come from memory at once."""
    return max(LINE // element_bytes(ir.MemRefType(view.elements.type).element_type), 1)


def _prefetch(view: FlatView, at: ir.Value, locality: int) -> None:
    memref.prefetch(view.elements, [at], False, locality, True)
