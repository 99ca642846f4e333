"""Assertions are requirements without numbers."""

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_named
from plumbline.runtime.requirement import BRACES, require


def _lower(operation: ir.Operation) -> None:
    with operation.context:
        for op in operations_named(operation, "cf.assert"):
            with ir.InsertionPoint(op), op.location:
                message = ir.StringAttr(op.attributes["msg"]).value
                require(op.operands[0], message.replace("{}", BRACES))
            op.erase()


LOWER_ASSERTIONS = Pass(
    "lower-assertions",
    "Make requirements of assertions, in place of what ends the process",
    _lower,
)
