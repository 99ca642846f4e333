"""Rounds what is clamped to a few integers by a sum, whose bits are the integer.

Of a float32 in [2^23, 2^24) the last bit counts for 1, so that a sum with 1.5 * 2^23 is rounded to
an integer, of two that are as near to the even one; less the bits of that number, its bits are the
integer. What is quantized is so once it is clamped, to bounds less the zero point: these are
integers, so that it makes no difference which comes first. That is a sum and a difference in place
of a rounding, a sum and a conversion; a Cortex-M4 rounds by a dozen instructions.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.walk import constant_float, defining_operation, operations_named
from plumbline.linalg_to_kernels.vectors import element_of, like, splat

_WHOLE, _BITS_OF_WHOLE = 1.5 * 2**23, 0x4B400000

_FAR = 1 << 22
"""How far from 0 is too far for a sum within [2^23, 2^24)."""

_BITS = 32

_CLAMPS = ("arith.maximumf", "arith.minimumf")


@dataclass(frozen=True)
class _Rounded:
    """What is rounded, moved by an integer, and clamped to bounds that are moved with it."""

    number: ir.Value
    offset: int
    least: int
    greatest: int


def round_by_sums(module: ir.Operation) -> None:
    """Replaces what in `module` makes integers of float32 that are rounded and clamped."""
    with module.context:
        for op in operations_named(module, "arith.fptosi", "arith.fptoui"):
            found = _rounded(op)
            if found is not None:
                with ir.InsertionPoint(op), op.location:
                    op.results[0].replace_all_uses_with(_integer(found, op.results[0].type))
                op.erase()


def _rounded(conversion: ir.Operation) -> _Rounded | None:
    (number,) = conversion.operands
    if not isinstance(element_of(number.type), ir.F32Type):
        return None
    least, greatest = -math.inf, math.inf
    while (clamp := _made_for_one(number, *_CLAMPS)) is not None:
        number, bound = _with_constant(clamp)
        if bound is None:
            return None
        if clamp.name == "arith.maximumf":
            least, greatest = max(least, bound), max(greatest, bound)
        else:
            least, greatest = min(least, bound), min(greatest, bound)
    offset: float | None = 0.0
    if (moved := _made_for_one(number, "arith.addf")) is not None:
        number, offset = _with_constant(moved)
    rounding = _made_for_one(number, "math.roundeven")
    if rounding is None or offset is None:
        return None
    known = (offset, least - offset, greatest - offset)
    return _Rounded(rounding.operands[0], *map(int, known)) if all(map(_is_near, known)) else None


def _is_near(number: float) -> bool:
    """Whether it is an integer that a sum may be rounded to."""
    return abs(number) < _FAR and number.is_integer()


def _made_for_one(value: ir.Value, *names: str) -> ir.Operation | None:
    """The operation of such a name that gives a value which nothing else reads, if one does."""
    op = defining_operation(value)
    is_read_once = len(list(value.uses)) == 1
    return op if op is not None and op.name in names and is_read_once else None


def _with_constant(op: ir.Operation) -> tuple[ir.Value, float | None]:
    """An operand, and the other one if that is a constant."""
    left, right = op.operands
    bound = constant_float(right)
    return (left, bound) if bound is not None else (right, constant_float(left))


def _integer(found: _Rounded, type_: ir.Type) -> ir.Value:
    of = found.number.type
    clamped = arith.maximumf(found.number, splat(of, found.least))
    clamped = arith.minimumf(clamped, splat(of, found.greatest))
    words = like(of, _BITS)
    bits = arith.bitcast(words, arith.addf(clamped, splat(of, _WHOLE)))
    integer = arith.subi(bits, splat(words, _BITS_OF_WHOLE - found.offset))
    if words == type_:
        return integer
    is_wider = element_of(type_).width > _BITS
    return (arith.extsi if is_wider else arith.trunci)(type_, integer)
