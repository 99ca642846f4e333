"""Instructions that add up the products of several summed elements in each lane at once.

Those of x86-64 are called by their names: LLVM's intrinsic for bf16 takes vectors of it, which LLVM
cannot handle otherwise (`kernels_to_llvm/bfloats.py`), and types of others differ between its
versions. Products of int8 by `vpmulld`, which every CPU has, take five times as long as by
`vpmaddwd`. That of AArch64 is an operation of MLIR's. Those of microcontrollers add to one register
of integers: `smlad` the products of two halves of such, and `vmlava` of whole vectors of Helium.
Those of AMX multiply matrices, and name their registers: MLIR has operations on values in these, of
which a loop can carry none.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from plumbline.linalg_to_kernels.vectors import like, splat
from plumbline.target.vector_unit import AVX512_BYTES, VectorUnit

LANE_BITS = 32
"""Of a sum, and of the elements that are multiplied for it at once."""


@dataclass(frozen=True)
class DotInstruction:
    """One of two operands whose lanes hold several elements each."""

    mnemonic: str
    of: str
    """The type of the elements."""
    sums: str
    """Of which type they are."""
    bits: int
    """What an element takes in a lane; narrower integers get copies of their sign there."""
    adds: bool = True
    """Whether it adds to the sums so far, rather than only those in a lane to one another."""
    left_offset: int = 0
    """What is added to each element of the left operand before, which it takes without a sign."""
    is_prepared: bool = False
    """Whether the left operand's elements have that already."""
    operation: str | None = None
    """MLIR's operation for it, of vectors of elements."""

    @property
    def elements(self) -> int:
        """How many a lane holds."""
        return LANE_BITS // self.bits

    @property
    def has_one_sum(self) -> bool:
        """Whether it adds to a register of integers, in place of one of vectors."""
        return False

    def for_count(self, count: int) -> "DotInstruction | None":
        """The same for so many summed elements, if there is one that adds up all of them."""
        return self if count % self.elements == 0 else None

    def broadcast(self, elements: ir.Value, lanes: int) -> ir.Value:
        """So many lanes that have the elements of one each."""
        type_ = ir.VectorType.get([lanes], ir.IntegerType.get_signless(LANE_BITS))
        return vector.broadcast(type_, vector.extract(self.lanes(elements), [], [0]))

    def add_products(self, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
        """`sums` with the products of elements in the lanes, which are i32 here."""
        if self.operation is not None:
            operands = [sums, *map(self._elements, (left, right))]
            return ir.Operation.create(self.operation, [sums.type], operands).result
        if not self.adds:
            return arith.addi(sums, self.products(left, right))
        return self._called("=v,v,v,0", left, right, sums, to=sums.type)

    def products(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """The products of elements in the lanes, added up; of an instruction that adds no more."""
        return self._called("=v,v,v", left, right, to=left.type)

    def _called(self, constraints: str, *operands: ir.Value, to: ir.Type) -> ir.Value:
        return ir.Operation.create(
            "llvm.inline_asm",
            results=[to],
            operands=operands,
            attributes={
                "asm_string": ir.StringAttr.get(f"{self.mnemonic} $2, $1, $0"),
                "constraints": ir.StringAttr.get(constraints),
            },
        ).result

    def _elements(self, lanes: ir.Value) -> ir.Value:
        """The vector of elements of one of lanes."""
        (count,) = ir.VectorType(lanes.type).shape
        type_ = ir.VectorType.get([count * self.elements], ir.Type.parse(self.of))
        return vector.bitcast(type_, lanes)

    def joined(self, elements: Sequence[ir.Value]) -> ir.Value:
        """A lane of its elements, or a vector of lanes of vectors of them."""
        lanes = [self._shifted(element, place) for place, element in enumerate(elements)]
        return functools.reduce(arith.ori, lanes)

    def _shifted(self, element: ir.Value, place: int) -> ir.Value:
        """An element at its place in a lane of zeros."""
        element = self._widened(element)
        narrow, lane = (like(element.type, width) for width in (self.bits, LANE_BITS))
        alone = arith.extui(lane, arith.bitcast(narrow, element))
        if place == 0:
            return alone
        by = arith.constant(ir.IntegerType.get_signless(LANE_BITS), self.bits * place)
        return arith.shli(alone, by if by.type == lane else vector.broadcast(lane, by))

    def lanes(self, elements: ir.Value) -> ir.Value:
        """A vector of lanes of one of elements, those of a lane side by side."""
        (count,) = ir.VectorType(elements.type).shape
        lane = ir.IntegerType.get_signless(LANE_BITS)
        type_ = ir.VectorType.get([count // self.elements], lane)
        return vector.bitcast(type_, self._widened(elements))

    def _widened(self, elements: ir.Value) -> ir.Value:
        wide = like(elements.type, self.bits)
        of = elements.type.element_type if isinstance(wide, ir.VectorType) else elements.type
        return elements if of.width == self.bits else arith.extsi(wide, elements)

    def prepares(self, element: ir.Type) -> bool:
        """Whether elements of that type are something else as the left operand."""
        return element.width != self.bits or (self.left_offset != 0 and not self.is_prepared)

    def prepared(self, element: ir.Value) -> ir.Value:
        """An element of the left operand as the instruction takes it."""
        element = self._widened(element)
        if not self.left_offset or self.is_prepared:
            return element
        sign = ir.IntegerAttr.get(element.type, -self.left_offset)
        return arith.xori(element, arith.constant(element.type, sign))

    def offsets(self, lanes: int) -> ir.Value:
        """The left operand that has only what was added to its elements."""
        bits = int.from_bytes(self.left_offset.to_bytes() * self.elements, signed=True)
        return splat(ir.VectorType.get([lanes], ir.IntegerType.get_signless(LANE_BITS)), bits)


@dataclass(frozen=True)
class OneSum(DotInstruction):
    """One that adds to a register of integers. A lane is a vector of its elements."""

    counts: tuple[int, ...] = ()
    """How many elements may be multiplied at once, of which the first is best."""

    @property
    def elements(self) -> int:
        """As `DotInstruction` says."""
        return self.counts[0]

    @property
    def has_one_sum(self) -> bool:
        """As `DotInstruction` says."""
        return True

    def for_count(self, count: int) -> "DotInstruction | None":
        """As `DotInstruction` says."""
        each = (replace(self, counts=(some,)) for some in self.counts if count % some == 0)
        return next(each, None)

    def add_products(self, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
        """As `DotInstruction` says, in operations of which LLVM or `halves.py` makes it."""
        products = arith.muli(*(arith.extsi(like(each.type, 32), each) for each in (left, right)))
        so_far = vector.extract(sums, [], [0])
        sum_ = vector.reduction(so_far.type, vector.CombiningKind.ADD, products, acc=so_far)
        return vector.from_elements(sums.type, [sum_])

    def lanes(self, elements: ir.Value) -> ir.Value:
        """As `DotInstruction` says."""
        return elements

    def broadcast(self, elements: ir.Value, lanes: int) -> ir.Value:
        """As `DotInstruction` says, of one lane."""
        return elements


@dataclass(frozen=True)
class TileInstruction(DotInstruction):
    """One that multiplies matrices in registers for them (AMX), and adds to sums in such.

    Of the left operand a row is a row of its register; of the right one a row has lanes, as
    vectors of other instructions do.
    """

    count: int | None = 0
    """How many summed elements there are in all, if that is known."""
    run: int | None = None
    """How many of them lie side by side in the left operand, from each multiple of as many on; None
    if all do."""
    is_turned: bool = False
    """Whether signs of the left operand's elements have been turned about."""

    @property
    def at_once(self) -> int:
        """How many of them it adds up the products of, at most."""
        return REGISTER_ROW * 8 // self.bits

    @property
    def fills_lanes(self) -> bool:
        """Whether it is known that as many are summed as fill lanes."""
        return self.count is not None and self.count % self.elements == 0

    def multiply(self, left: int, right: int, sums: int) -> None:
        """Builds it, for registers of such numbers."""
        operands = (f"%tmm{register}" for register in (right, left, sums))
        run_assembly(f"{self.mnemonic} {', '.join(operands)}")


REGISTER_ROW = 64
"""Bytes of a row of a register for matrices, which has `REGISTER_ROWS` of them."""

REGISTER_ROWS = 16


def run_assembly(text: str, *operands: ir.Value) -> None:
    """Builds what has effects alone; its operands are `$0` and so on in the text."""
    ir.Operation.create(
        "llvm.inline_asm",
        results=[],
        operands=operands,
        attributes={
            "asm_string": ir.StringAttr.get(text),
            "constraints": ir.StringAttr.get(",".join(["r"] * len(operands) + ["~{memory}"])),
            "has_side_effects": ir.UnitAttr.get(),
        },
    )


_INSTRUCTIONS = {
    instruction.mnemonic: instruction
    for instruction in (
        DotInstruction("vdpbf16ps", "bf16", "f32", 16),
        # Of bytes with a sign by such without: the sign bit turned about adds 128.
        DotInstruction("vpdpbusd", "i8", "i32", 8, left_offset=128),
        DotInstruction("vpmaddwd", "i16", "i32", 16, adds=False),
        # Its sums are words, of two products each, and do not go beyond what these hold.
        DotInstruction("vpmaddubsw", "i8", "i16", 8, adds=False),
        DotInstruction("sdot", "i8", "i32", 8, operation="arm_neon.intr.sdot"),
        TileInstruction("tdpbf16ps", "bf16", "f32", 16),
        TileInstruction("tdpbssd", "i8", "i32", 8),
        OneSum("smlad", "i8", "i32", 8, counts=(4,)),
        # Of fewer bytes than a vector has those are loaded as wider integers.
        OneSum("vmlava", "i8", "i32", 8, counts=(16, 8, 4)),
    )
}
"""By their mnemonics, which are those of `VectorUnit.dots`."""

_WIDER = {"i8": "i16"}
"""As which elements are multiplied where there is no instruction for them."""


def dot_instruction(
    operands: Sequence[ir.Type], summed_in: ir.Type, unit: VectorUnit
) -> DotInstruction | None:
    """What a CPU has for operands of such elements and such sums.

    One of them may have been widened already as it would be.
    """
    names = {*map(str, operands)}
    wider = {_WIDER.get(name, "") for name in names}
    is_widened = not names.isdisjoint(wider)
    names -= wider
    if len(names) != 1:
        return None
    (name,) = names
    every = (_INSTRUCTIONS[mnemonic] for mnemonic in unit.dots)
    has = {each.of: each for each in every if not isinstance(each, TileInstruction)}
    instruction = None if is_widened else has.get(name)
    instruction = instruction or has.get(_WIDER.get(name, ""))
    if instruction is None or str(summed_in) != instruction.sums:
        return None
    return instruction_called(instruction.mnemonic, unit)


def tile_instruction(
    operands: Sequence[ir.Type], summed_in: ir.Type, unit: VectorUnit
) -> TileInstruction | None:
    """What a CPU has for matrices of such elements and such sums."""
    types = [*map(str, operands)], str(summed_in)
    every = (_INSTRUCTIONS[mnemonic] for mnemonic in unit.dots)
    tiles = (each for each in every if isinstance(each, TileInstruction))
    return next((each for each in tiles if ([each.of] * 2, each.sums) == types), None)


def is_tile_product(op: ir.Operation) -> bool:
    """Whether an operation is one of these."""
    if op.name != "llvm.inline_asm":
        return False
    mnemonic, _, _ = ir.StringAttr(op.attributes["asm_string"]).value.partition(" ")
    return isinstance(_INSTRUCTIONS.get(mnemonic), TileInstruction)


def instruction_called(mnemonic: str, unit: VectorUnit) -> DotInstruction:
    """The instruction with that mnemonic, for vectors of such a CPU."""
    found = _INSTRUCTIONS[mnemonic]
    if mnemonic == "vpdpbusd" and unit.bytes < AVX512_BYTES:
        # That of AVX-VNNI: other assemblers than LLVM's take it for that of AVX-512 otherwise.
        return replace(found, mnemonic=f"{{vex}} {mnemonic}")
    return found
