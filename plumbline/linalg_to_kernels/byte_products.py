"""Sums of products of the four bytes in each lane of 32 bits, by the instructions that a CPU has.

Those of x86-64 take one operand without a sign, which weights of few bits have none anyway.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from plumbline.linalg_to_kernels.dot_instructions import DotInstruction, instruction_called
from plumbline.linalg_to_kernels.vectors import splat
from plumbline.target.vector_unit import VectorUnit

_BYTES = 4
"""Of a lane."""

_SIGNS, _ONES = 0x80808080, 0x00010001
"""In each byte its sign; in each half of a lane a 1."""


@dataclass(frozen=True)
class ByteProducts:
    """How lanes of bytes are multiplied and added up. Those of rows have a sign."""

    unit: VectorUnit
    are_below_128: bool
    """Whether weights are known to have no sign."""

    @property
    def _dots(self) -> DotInstruction | None:
        names = [name for name in ("vpdpbusd", "sdot") if name in self.unit.dots]
        return instruction_called(names[0], self.unit) if names else None

    @property
    def adds_128(self) -> bool:
        """Whether weights are multiplied with 128 added to each, which is to be taken off again."""
        dots = self._dots
        return dots is not None and bool(dots.left_offset) and not self.are_below_128

    def weights(self, lanes: ir.Value) -> ir.Value:
        """Lanes of weights as they are multiplied."""
        return arith.xori(lanes, splat(lanes.type, _signed(_SIGNS))) if self.adds_128 else lanes

    def added(self, rows: ir.Value, sums: ir.Value) -> ir.Value:
        """`sums` with what 128 added to each weight comes to."""
        dots = self._dots
        assert dots is not None
        return dots.add_products(splat(rows.type, _signed(_SIGNS)), rows, sums)

    def add(self, weights: ir.Value, rows: ir.Value, sums: ir.Value) -> ir.Value:
        """`sums` with the products of bytes of weights and of rows, which are lanes of i32."""
        if (dots := self._dots) is not None:
            return dots.add_products(weights, rows, sums)
        words = None
        if "vpmaddwd" in self.unit.dots:
            words = instruction_called("vpmaddwd", self.unit)
            if self.are_below_128:
                # A pair of products is below 2^15, so that it is not cut off.
                pairs = instruction_called("vpmaddubsw", self.unit).products(weights, rows)
                return words.add_products(pairs, splat(sums.type, _ONES), sums)
        for left, right in zip(_words(weights), _words(rows), strict=True):
            if words is None:
                sums = _add_pairs(left, right, sums)
            else:
                of_lanes = [vector.bitcast(sums.type, each) for each in (left, right)]
                sums = words.add_products(of_lanes[0], of_lanes[1], sums)
        return sums


def _signed(bits: int) -> int:
    return int.from_bytes(bits.to_bytes(_BYTES, "little"), "little", signed=True)


def _words(lanes: ir.Value) -> Sequence[ir.Value]:
    """The even bytes of lanes as two words for each lane, and the odd ones."""
    (count,) = ir.VectorType(lanes.type).shape
    type_ = ir.VectorType.get([2 * count], ir.IntegerType.get_signless(16))
    words, byte = vector.bitcast(type_, lanes), splat(type_, 8)
    return [arith.shrsi(arith.shli(words, byte), byte), arith.shrsi(words, byte)]


def _add_pairs(left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
    """`sums` with the products of two words in each lane, as LLVM knows an instruction for them."""
    (count,) = ir.VectorType(left.type).shape
    for first in (0, 1):
        order = [*range(first, count, 2)]
        words = [
            arith.extsi(sums.type, vector.shuffle(each, each, order)) for each in (left, right)
        ]
        sums = arith.addi(sums, arith.muli(*words))
    return sums
