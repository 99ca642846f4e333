"""Instructions that add up the products of several summed elements in each lane at once.

They are called by their names: LLVM's intrinsic for bf16 takes vectors of it, which LLVM cannot
handle otherwise (`kernels_to_llvm/bfloats.py`), and types of others differ between its versions.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from plumbline.linalg_to_kernels.vectors import like, splat
from plumbline.target.vector_unit import VectorUnit

_LANE_BITS = 32


@dataclass(frozen=True)
class DotInstruction:
    """One of x86-64, of two operands whose lanes hold several elements, and of their sums."""

    mnemonic: str
    sums: str
    """Of which type they are."""
    elements: int
    """How many a lane holds."""
    left_offset: int = 0
    """What is added to each element of the left operand before, which it takes without a sign."""

    def add_products(self, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
        """`sums` with the products of elements in the lanes, which are i32 here."""
        return ir.Operation.create(
            "llvm.inline_asm",
            results=[sums.type],
            operands=[left, right, sums],
            attributes={
                "asm_string": ir.StringAttr.get(f"{self.mnemonic} $2, $1, $0"),
                "constraints": ir.StringAttr.get("=v,v,v,0"),
            },
        ).result

    def joined(self, elements: Sequence[ir.Value]) -> ir.Value:
        """A lane of its elements, or a vector of lanes of vectors of them."""
        lanes = [self._shifted(element, place) for place, element in enumerate(elements)]
        return functools.reduce(arith.ori, lanes)

    def _shifted(self, element: ir.Value, place: int) -> ir.Value:
        """An element at its place in a lane of zeros."""
        bits = _LANE_BITS // self.elements
        narrow, lane = (like(element.type, width) for width in (bits, _LANE_BITS))
        alone = arith.extui(lane, arith.bitcast(narrow, element))
        if place == 0:
            return alone
        by = arith.constant(ir.IntegerType.get_signless(_LANE_BITS), bits * place)
        return arith.shli(alone, by if by.type == lane else vector.broadcast(lane, by))

    def prepared(self, element: ir.Value) -> ir.Value:
        """An element of the left operand as the instruction takes it."""
        if not self.left_offset:
            return element
        sign = ir.IntegerAttr.get(element.type, -self.left_offset)
        return arith.xori(element, arith.constant(element.type, sign))

    def offsets(self, lanes: int) -> ir.Value:
        """The left operand that has only what was added to its elements."""
        bits = int.from_bytes(self.left_offset.to_bytes() * self.elements, signed=True)
        return splat(ir.VectorType.get([lanes], ir.IntegerType.get_signless(_LANE_BITS)), bits)


_INSTRUCTIONS = {
    "bf16": DotInstruction("vdpbf16ps", "f32", 2),
    # Of bytes with a sign by such without: the sign bit turned about adds 128.
    "i8": DotInstruction("vpdpbusd", "i32", 4, 128),
}
"""By the names of element types, which are those of `VectorUnit.dots`."""


def dot_instruction(
    operands: Sequence[ir.Type], summed_in: ir.Type, unit: VectorUnit
) -> DotInstruction | None:
    """What a CPU has for operands of such elements and such sums."""
    (name, *others) = {*map(str, operands)}
    if others or name not in unit.dots:
        return None
    instruction = _INSTRUCTIONS[name]
    return instruction if str(summed_in) == instruction.sums else None
