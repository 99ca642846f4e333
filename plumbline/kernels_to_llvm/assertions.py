"""Assertions are requirements without numbers."""

from torch_mlir import ir

from plumbline.pipeline import Pass
from plumbline.requirement import require
from plumbline.walk import all_operations


def _lower(operation: ir.Operation) -> None:
    with operation.context:
        for op in all_operations(operation):
            if op.name == "cf.assert":
                with ir.InsertionPoint(op), op.location:
                    require(op.operands[0], ir.StringAttr(op.attributes["msg"]).value)
                op.erase()


LOWER_ASSERTIONS = Pass(
    "lower-assertions",
    "Make requirements of assertions, in place of what ends the process",
    _lower,
)
