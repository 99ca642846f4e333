"""Tensors that are known when the program is compiled."""

from torch_mlir import ir

from plumbline.tcp.ops.data_movement import ConstOp
from plumbline.torch_to_tcp.pattern import Patterns, tensor_type


def convert_vtensor_literal(op: ir.OpView) -> ir.Value:
    """A literal tensor; its integers lose their sign, as builtin tensors carry none."""
    type_ = tensor_type(op.result).builtin()
    value = op.attributes["value"]
    if value.type != type_:
        elements, _, _ = str(value).rpartition(" : ")
        value = ir.Attribute.parse(f"{elements} : {type_}")
    return ConstOp(value=value).out


PATTERNS: Patterns = {
    "torch.vtensor.literal": convert_vtensor_literal,
}
