"""Ops that compute element by element."""

from plumbline.tcp.building.shapes import full
from plumbline.tcp.building.tensors import Tensor, built
from plumbline.tcp.dialect import TcpOp


def apply(op_class: type[TcpOp], *operands: Tensor, **attributes: object) -> Tensor:
    """An elementwise op whose result is of its last operand's dtype."""
    values = [operand.value for operand in operands]
    return built(op_class(*values, **attributes), operands[-1].type.dtype)


def like(operand: Tensor, number: int | float) -> Tensor:
    """`number` in the shape and dtype of `operand`."""
    return full(number, operand.type.dtype, (operand,), operand.type.sizes)
