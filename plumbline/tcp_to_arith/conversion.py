"""Converts what TCP has in common with arith."""

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.pipeline import Pass
from plumbline.tcp.ops.data_movement import ConstOp
from plumbline.tcp.transforms.lower import lower


def convert_const(op: ConstOp) -> ir.Value:
    """An `arith.constant`."""
    return arith.ConstantOp(op.out.type, op.value).result


PATTERNS = {ConstOp: convert_const}

CONVERT_TCP_TO_ARITH = Pass(
    "convert-tcp-to-arith",
    "Convert constants of TCP to arith",
    lambda operation: lower(operation, PATTERNS),
)
