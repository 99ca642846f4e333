"""A softmax along rows of which a warp sees some elements at a time, all of it in registers.

What is known of a row is its largest x so far, and the sum of the weights next to that, which are
exp(x - largest). As the largest grows, what was summed up before is made smaller.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects import math as mathematics

from plumbline.linalg_to_gpu.combinations import combined_by_warp

_LARGEST_F32 = (2.0 - 2.0**-23) * 2.0**127


@dataclass(frozen=True)
class Weighed:
    """What becomes of some elements of rows, and of what is known of these."""

    weights: list[list[ir.Value]]
    """By rows."""
    shrinking: list[ir.Value]
    """By what the sums of before are to be multiplied, for each row."""
    state: list[ir.Value]


@dataclass(frozen=True)
class RunningSoftmax:
    """A softmax of rows, of each of which neighbouring lanes have parts."""

    rows: int
    """Of a thread."""
    lanes: int
    """How many have parts of the same rows."""
    scale: float
    """What elements are multiplied by, first of all; more than 0."""
    is_bounded: bool
    """Whether elements are minus infinity or products, which are far from the largest floats, as
    those are not that are to be hidden by a mask."""

    def start(self) -> list[ir.Value]:
        """What is known of no elements: the largest of each row, and the sums of weights."""
        return [_number(-math.inf)] * self.rows + [_number(0.0)] * self.rows

    def weigh(self, xs: Sequence[Sequence[ir.Value]], state: Sequence[ir.Value]) -> Weighed:
        """Makes weights of more elements."""
        found = [
            self._weigh_row(row, state[number], state[self.rows + number])
            for number, row in enumerate(xs)
        ]
        return Weighed(
            [weights for weights, *_ in found],
            [shrinking for _, shrinking, *_ in found],
            [*(most for *_, most, _ in found), *(total for *_, total in found)],
        )

    def totals(self, state: Sequence[ir.Value]) -> list[ir.Value]:
        """The sums of the weights of whole rows."""
        return [combined_by_warp(total, arith.addf, self.lanes) for total in state[self.rows :]]

    def _weigh_row(
        self, xs: Sequence[ir.Value], most: ir.Value, total: ir.Value
    ) -> tuple[list[ir.Value], ir.Value, ir.Value, ir.Value]:
        factor = _number(self.scale * math.log2(math.e))
        largest = xs[0]
        for x in xs[1:]:
            largest = arith.maximumf(largest, x)
        largest = combined_by_warp(largest, arith.maximumf, self.lanes)
        if self.is_bounded:
            # As an exponent of 2, so that each element takes one operation, which rounds once.
            largest = arith.mulf(largest, factor)
        largest = arith.maximumf(most, largest)
        # Of a row that is masked so far infinity is not taken away: that less itself is NaN.
        base = arith.maximumf(largest, _number(-_LARGEST_F32))
        shrinking = arith.subf(most, base)
        if self.is_bounded:
            exponents = [mathematics.fma(x, factor, arith.negf(base)) for x in xs]
        else:
            exponents = [arith.mulf(arith.subf(x, base), factor) for x in xs]
            shrinking = arith.mulf(shrinking, factor)
        shrinking, *weights = map(_power_of_2, (shrinking, *exponents))
        # Each lane adds up its own.
        total = arith.mulf(total, shrinking)
        for weight in weights:
            total = arith.addf(total, weight)
        return weights, shrinking, largest, total


def _power_of_2(exponent: ir.Value) -> ir.Value:
    """The GPU's own, which is one instruction."""
    return mathematics.exp2(exponent, fastmath=arith.FastMathFlags.afn)


def _number(value: float) -> ir.Value:
    return arith.constant(ir.F32Type.get(), value)
