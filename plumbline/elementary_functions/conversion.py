"""Spells elementary functions in arithmetic, of which LLVM can make loops over vectors.

A call of libm takes one number at a time.
"""

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_of
from plumbline.elementary_functions.arithmetic import Float
from plumbline.elementary_functions.functions import FUNCTIONS


def expand_elementary_functions(root: ir.Operation) -> None:
    """Spells ops of the math dialect in arithmetic, on single numbers and on vectors."""
    with root.context:
        for op in operations_of(root, "math"):
            type_ = op.results[0].type
            element = type_.element_type if isinstance(type_, ir.VectorType) else type_
            build = FUNCTIONS.get(op.name)
            if build is None or not isinstance(element, ir.F32Type | ir.F64Type):
                continue
            with ir.InsertionPoint(op), op.location:
                result = build(*map(Float, op.operands))
            op.results[0].replace_all_uses_with(result.value)
            op.erase()


EXPAND_ELEMENTARY_FUNCTIONS = Pass(
    "expand-elementary-functions",
    "Spell elementary functions, such as exp and sin, in arithmetic",
    expand_elementary_functions,
)
