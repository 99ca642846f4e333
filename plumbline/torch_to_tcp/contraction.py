"""Products of matrices."""

from torch_mlir import ir

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building.dtypes import is_bool
from plumbline.tcp.building.shapes import cast
from plumbline.tcp.ops.contraction import BatchMatmulOp, MatmulOp, MatrixProductOp
from plumbline.torch_to_tcp.pattern import Pattern, Patterns, tensor, tensor_type


def _product(tcp_op: type[MatrixProductOp]) -> Pattern:
    """The pattern of a product; what PyTorch adds to one is an op of its own by then."""

    def convert(op: ir.OpView) -> ir.Value:
        result = tensor_type(op.result)
        if is_bool(result.dtype):
            raise Unsupported("a product of truth values")
        left, right = (cast(tensor(operand), result.dtype) for operand in op.operands[:2])
        return tcp_op(left.value, right.value).out

    return convert


PATTERNS: Patterns = {
    "torch.aten.bmm": _product(BatchMatmulOp),
    "torch.aten.mm": _product(MatmulOp),
}
