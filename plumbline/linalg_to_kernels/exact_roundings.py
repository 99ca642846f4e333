"""Leaves out roundings to half precision that change nothing.

Those of integers of few bits, which it holds: quantised weights are such, less a zero point, and
each rounding of a vector to bf16 and back takes a CPU seven instructions. And those of all numbers
of which the greatest is looked for, as it is the same to round that one: of a loop that rounds to
bf16 LLVM makes no vectors, and a softmax of products took three times as long as PyTorch's.
"""

import itertools
import math
import operator
from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.bindings.walk import constant_float, defining_operation, operations_named

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
