"""Leaves out roundings to half precision that change nothing.

Those of integers of few bits, which it holds: quantised weights are such, less a zero point, and
each rounding of a vector to bf16 and back takes a CPU seven instructions. And those of all numbers
of which the greatest is looked for, as it is the same to round that one: of a loop that rounds to
bf16 LLVM makes no vectors, and a softmax of products took three times as long as PyTorch's.

What bf16 holds anyway, such as the greater of two, the absolute value of one, or one that another
chooses, is rounded by leaving out the bits that are zero: what is computed so of 16 bits, LLVM then
sees, takes no more. A sign is turned as the bit that it is.
"""

import itertools
import math
import operator
import struct
from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.bindings.walk import constant_float, defining_operation, operations_named
from plumbline.linalg_to_kernels.vectors import element_of, like, splat

Range = tuple[float, float]
"""Between which integers a float is one."""

_SIGNIFICANDS = {"bf16": 8, "f16": 11}
"""How many bits of an integer a float of few bits holds."""

_FUNCTIONS: dict[str, Callable[[float, float], float]] = {
    "arith.addf": operator.add,
    "arith.mulf": operator.mul,
    "arith.subf": operator.sub,
}
"""Functions of two integers that are greatest and least at ends of their ranges."""

_KEEPING = (
    "arith.maximumf",
    "arith.minimumf",
    "arith.negf",
    "arith.select",
    "math.absf",
    "math.ceil",
    "math.copysign",
    "math.floor",
    "math.round",
    "math.roundeven",
    "math.trunc",
)
"""Functions of numbers that bf16 holds whose results it holds, too: integers beyond the 8 bits of
its significands are what they are rounded to."""

_DEEPEST = 16
"""How many of them, one of another, are looked through."""

_CASTS = ("arith.extf", "arith.truncf")
_EXTREMES = ("arith.maximumf", "arith.minimumf")
_FROM_INTEGERS = ("arith.sitofp", "arith.uitofp")


def drop_exact_roundings(module: ir.Operation) -> None:
    """Has what is rounded in `module`, and widened then, be as it was if it is the same."""
    with module.context:
        for op in operations_named(module, "arith.extf"):
            if (same := _unrounded(op)) is not None:
                op.results[0].replace_all_uses_with(same)
                op.erase()
        for op in operations_named(module, "scf.for"):
            _round_extremes(op.opview)
        for op in operations_named(module, "arith.truncf"):
            if element_of(op.results[0].type) == ir.BF16Type.get() and _holds_bf16(op.operands[0]):
                _leave_out_bits(op)
        for op in operations_named(module, "arith.negf"):
            if element_of(op.results[0].type) == ir.BF16Type.get():
                _turn_sign(op)


def _holds_bf16(value: ir.Value, depth: int = 0) -> bool:
    """Whether a float is one of f32 that bf16 holds, whatever it is computed of."""
    if element_of(value.type) != ir.F32Type.get():
        return False
    number = constant_float(value)
    if number is not None:
        (bits,) = struct.unpack("<I", struct.pack("<f", number))
        return not bits & 0xFFFF
    op = defining_operation(value)
    if op is None or depth > _DEEPEST:
        return False
    if op.name == "arith.extf":
        return bool(element_of(op.operands[0].type) == ir.BF16Type.get())
    numbers = [operand for operand in op.operands if operand.type == value.type]
    return op.name in _KEEPING and all(_holds_bf16(each, depth + 1) for each in numbers)


def _leave_out_bits(op: ir.Operation) -> None:
    """Rounds to bf16 what that holds."""
    value, result = op.operands[0], op.results[0]
    with ir.InsertionPoint(op), op.location:
        wide = like(value.type, 32)
        upper = arith.shrui(arith.bitcast(wide, value), splat(wide, 16))
        kept = arith.bitcast(result.type, arith.trunci(like(value.type, 16), upper))
    result.replace_all_uses_with(kept)
    op.erase()


def _turn_sign(op: ir.Operation) -> None:
    """Negates numbers of bf16, which would be widened for that, and rounded."""
    value, result = op.operands[0], op.results[0]
    with ir.InsertionPoint(op), op.location:
        bits = like(value.type, 16)
        turned = arith.xori(arith.bitcast(bits, value), splat(bits, -(1 << 15)))
        kept = arith.bitcast(result.type, turned)
    result.replace_all_uses_with(kept)
    op.erase()


def _round_extremes(loop: scf.ForOp) -> None:
    """Rounds the extremes that a loop finds, and not what they are of."""
    last = loop.body.operations[len(loop.body.operations) - 1]
    carried = zip(loop.inner_iter_args, loop.initArgs, last.operands, loop.results, strict=True)
    for so_far, first, found, result in carried:
        extreme = defining_operation(found)
        if extreme is None or extreme.name not in _EXTREMES or so_far not in extreme.operands:
            continue
        at = 1 if extreme.operands[0] == so_far else 0
        narrow = _cast(extreme.operands[at], "arith.extf")
        if narrow is None or not math.isinf(constant_float(first) or 0):
            continue
        unrounded = _cast(narrow, "arith.truncf")
        if unrounded is None or unrounded.type != result.type:
            continue
        extreme.operands[at] = unrounded
        with ir.InsertionPoint.after(loop), loop.location:
            rounded = arith.truncf(narrow.type, result)
            widened = arith.extf(result.type, rounded)
        result.replace_all_uses_except(widened, rounded.owner.operation)


def _cast(value: ir.Value, name: str) -> ir.Value | None:
    """What a value is cast of, by the op `name`; None if it is not."""
    made = defining_operation(value)
    return made.operands[0] if made is not None and made.name == name else None


def _unrounded(op: ir.Operation) -> ir.Value | None:
    """What a float of half precision is that `op` widens, if that holds it."""
    narrow, wide = op.operands[0], op.results[0]
    made, range_ = defining_operation(narrow), _range(narrow)
    if made is None or range_ is None:
        return None
    if made.name == "arith.truncf" and made.operands[0].type == wide.type:
        return made.operands[0]
    if made.name not in _FROM_INTEGERS:
        return None
    with ir.InsertionPoint(op), op.location:
        return ir.Operation.create(made.name, [wide.type], list(made.operands)).results[0]


def _range(value: ir.Value) -> Range | None:
    """The range of a float that is an integer which its type holds; None if it may be another."""
    found = _unbounded_range(value)
    element = value.type.element_type if isinstance(value.type, ir.VectorType) else value.type
    most = 2.0 ** _SIGNIFICANDS.get(str(element), 24)
    return found if found is not None and -most <= found[0] <= found[1] <= most else None


def _unbounded_range(value: ir.Value) -> Range | None:
    number = constant_float(value)
    if number is not None:
        return (number, number) if number.is_integer() else None
    op = defining_operation(value)
    if op is None:
        return None
    if op.name in _FROM_INTEGERS:
        type_ = op.operands[0].type
        width = (type_.element_type if isinstance(type_, ir.VectorType) else type_).width
        half = 2.0 ** (width - 1)
        return (-half, half - 1) if op.name == "arith.sitofp" else (0.0, 2 * half - 1)
    if op.name in _CASTS:
        return _range(op.operands[0])
    if op.name not in _FUNCTIONS:
        return None
    ranges = [_range(operand) for operand in op.operands]
    if None in ranges:
        return None
    ends = [_FUNCTIONS[op.name](*pair) for pair in itertools.product(*filter(None, ranges))]
    return min(ends), max(ends)
