"""What AVX-512 does for elementary functions in a vector of f32: look-ups, and powers of 2.

A register of it holds a table of 16 numbers, and one instruction looks up a number in that, or in
two registers, for each lane. As many short polynomials as a table has numbers take less time than a
long one, which each element has to go through.
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, llvm, vector

from plumbline.elementary_functions.arithmetic import Float, Int

LANES = 16
"""Of a register."""

_AS_IS_SET = 4
"""vscalefps's number for the rounding that is set, to the nearest."""


def looked_up(index: Int, table: Sequence[float]) -> Float:
    """The number of a table at an index, of which more bits than it takes may be set.

    A table has 16 numbers, or 32.
    """
    registers = [_register(table[at : at + LANES]) for at in range(0, len(table), LANES)]
    result = registers[0].type

    def look_up(places: ir.Value) -> ir.Value:
        if len(registers) == 1:
            return _called("permvar.sf", result, registers[0], places)
        return _called("vpermi2var.ps", result, registers[0], places, registers[1])

    return Float(_by_registers(look_up, index.value))


def times_power_of_2(x: Float, exponent: Float) -> Float:
    """The product of x and 2^n, for the greatest whole n up to `exponent`; rounded once.

    It may be infinite, or subnormal.
    """

    def scale(numbers: ir.Value, exponents: ir.Value) -> ir.Value:
        i16, i32 = map(ir.IntegerType.get_signless, (16, 32))
        of_all = arith.constant(i16, -1)
        rounding = arith.constant(i32, _AS_IS_SET)
        return _called(
            "mask.scalef.ps", numbers.type, numbers, exponents, numbers, of_all, rounding
        )

    return Float(_by_registers(scale, x.value, exponent.value))


def fits_registers(type_: ir.Type) -> bool:
    """Whether values are vectors of f32 that fill registers."""
    if not isinstance(type_, ir.VectorType):
        return False
    is_single = isinstance(type_.element_type, ir.F32Type)
    return is_single and type_.rank == 1 and not type_.scalable and type_.shape[0] % LANES == 0


def _register(numbers: Sequence[float]) -> ir.Value:
    element = ir.F32Type.get()
    type_ = ir.VectorType.get([len(numbers)], element)
    attributes = [ir.FloatAttr.get(element, number) for number in numbers]
    return arith.constant(type_, ir.DenseElementsAttr.get(attributes, type_))


def _called(intrinsic: str, result: ir.Type, *operands: ir.Value) -> ir.Value:
    name = f"llvm.x86.avx512.{intrinsic}.512"
    return llvm.call_intrinsic(result, name, operands, [], [])


def _by_registers(build: Callable[..., ir.Value], *operands: ir.Value) -> ir.Value:
    """What `build` makes of registers, for vectors that are several."""
    (lanes,) = ir.VectorType(operands[0].type).shape
    if lanes == LANES:
        return build(*operands)
    parts = [
        build(*(_part(operand, first) for operand in operands)) for first in range(0, lanes, LANES)
    ]
    type_ = ir.VectorType.get([lanes], ir.VectorType(parts[0].type).element_type)
    joined = arith.constant(type_, ir.DenseElementsAttr.get_splat(type_, _zero(type_)))
    for number, part in enumerate(parts):
        joined = vector.insert_strided_slice(part, joined, [number * LANES], [1])
    return joined


def _part(value: ir.Value, first: int) -> ir.Value:
    type_ = ir.VectorType.get([LANES], ir.VectorType(value.type).element_type)
    return vector.extract_strided_slice(type_, value, [first], [LANES], [1])


def _zero(type_: ir.VectorType) -> ir.Attribute:
    return ir.FloatAttr.get(type_.element_type, 0)
