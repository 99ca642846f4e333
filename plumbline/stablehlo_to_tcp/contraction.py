"""Ops that sum products."""

import re

from torch_mlir import ir

from plumbline.stablehlo_to_tcp.pattern import Patterns, is_boolean
from plumbline.tcp.ops.contraction import BatchMatmulOp, MatmulOp

_DIMENSIONS = re.compile(r"(\w+) = \[([\d, ]*)\]")


def convert_dot_general(op: ir.OpView) -> ir.Value | None:
    """The product of two matrices, or of two stacks of such, laid out as TCP has them."""
    if is_boolean(op.operands[0]):
        return None
    types = {value.type.element_type for value in (*op.operands, op.result)}
    dims = {
        name: [int(dim) for dim in text.split(",") if dim.strip()]
        for name, text in _DIMENSIONS.findall(str(op.attributes["dot_dimension_numbers"]))
    }
    left, right = (dims.get(f"{side}_contracting_dimensions", []) for side in ("lhs", "rhs"))
    batch = [dims.get(f"{side}_batching_dimensions", []) for side in ("lhs", "rhs")]
    if len(types) == 1 and (left, right, batch) == ([1], [0], [[], []]):
        product = MatmulOp
    elif len(types) == 1 and (left, right, batch) == ([2], [1], [[0], [0]]):
        product = BatchMatmulOp
    else:
        return None
    if any(value.type.rank != product.rank for value in op.operands):
        return None
    return product(*op.operands, results=op.result.type).out


PATTERNS: Patterns = {"stablehlo.dot_general": convert_dot_general}
