"""Has what is read of a right operand brought near in time.

Of a packed panel tiles ask for parts that later ones read, each for its share of them.

A CPU looks ahead by some hundred instructions, and a tile's products are thousands; its own
prefetchers stop at the end of a page. Measured on AMD Zen 3, with weights that do not stay in a
second cache: 1x1 convolutions of 7x7 planes take 0.91 of the time.

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
    FlatView,
    LoopBody,
    for_each,
    index,
    rounded_up,
)
from plumbline.linalg_to_kernels.contraction_loops import LoopNest
from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan
from plumbline.linalg_to_kernels.planned_memory import element_bytes

_ROWS_AHEAD = 8
"""Of a right operand that is read in place, or copied. Each may be in another page, where a CPU's
own prefetchers do not look. So 8 rows by 1024x1024, in place, take 0.6 of the time, by 512x512 0.8,
and 16 rows by 4096x1024, which is copied, 0.8 (AMD Zen 1); with 4 about as long."""

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
                _prefetch(self._view, arith.addi(start, place), is_written=False)
                return []

            if self._is_by_rows:
                # A line at most, roughly, as there are several tiles that share what is asked for.
                line(index(0))
            else:
                for_each(index(0), each, _line(self._view), line)
            return body(at, *values)

        return for_each(lower, upper, self._step, asking, carried)


def rows_ahead(nest: LoopNest, plan: ContractionPlan) -> ir.Value | None:
    """How far on in the right operand memory is asked for, as a row of a panel is read there.

    None where not all rows lie one step apart.
    """
    if len(plan.summed_of_right) != 1:
        return None
    return arith.muli(nest.stride(plan.right, plan.summed[-1]), index(_ROWS_AHEAD))


def prefetch_row(view: FlatView, first: ir.Value, width: int, *, is_written: bool) -> None:
    """Asks for `width` elements side by side, which are written, or read."""
    # One of each line that they may lie in.
    for place in (*range(0, width, _line(view)), width - 1):
        _prefetch(view, arith.addi(first, index(place)), is_written=is_written)


def _line(view: FlatView) -> int:
    """How many elements come from memory at once."""
    return max(LINE // element_bytes(ir.MemRefType(view.elements.type).element_type), 1)


def _prefetch(view: FlatView, at: ir.Value, *, is_written: bool) -> None:
    memref.prefetch(view.elements, [at], is_written, FIRST_CACHE, True)
