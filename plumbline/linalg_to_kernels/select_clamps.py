"""Spells extremes of a number and a constant in a comparison, as one instruction of a CPU does it.

The extremes of arith are NaN if either operand is, and the greater of two zeros is the positive
one; of most CPUs' instructions the second operand comes out in both cases, so that LLVM puts two
more beside each. A constant is no NaN. Of two zeros what stays is the number, not the constant, as
in PyTorch, of which relu(-0.0) is -0.0.
"""

import math

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.walk import constant_float, operations_named

_BEYOND = {
    "arith.maximumf": arith.CmpFPredicate.OLT,
    "arith.minimumf": arith.CmpFPredicate.OGT,
}
"""How a number compares to a constant that takes its place."""


def select_clamps(module: ir.Operation) -> None:
    """Replaces the extremes of `module` of which one operand is a constant."""
    with module.context:
        for op in operations_named(module, *_BEYOND):
            left, right = op.operands
            bound, number = (left, right) if _is_bound(left) else (right, left)
            if not _is_bound(bound):
                continue
            with ir.InsertionPoint(op), op.location:
                is_beyond = arith.cmpf(_BEYOND[op.name], number, bound)
                clamped = arith.select(is_beyond, bound, number)
            op.results[0].replace_all_uses_with(clamped)
            op.erase()


def _is_bound(value: ir.Value) -> bool:
    """Whether a value is a constant, the same in all lanes of a vector, and not NaN."""
    number = constant_float(value)
    return number is not None and not math.isnan(number)
