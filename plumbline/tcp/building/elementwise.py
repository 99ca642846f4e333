"""Ops that compute element by element."""

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building.dtypes import bit_width, is_bool, signedness
from plumbline.tcp.building.shapes import full
from plumbline.tcp.building.tensors import Tensor, TensorType, built
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops.elementwise import BitcastOp, CompareOp


def apply(op_class: type[TcpOp], *operands: Tensor, **attributes: object) -> Tensor:
    """An elementwise op whose result is of its last operand's dtype."""
    values = [operand.value for operand in operands]
    return built(op_class(*values, **attributes), operands[-1].type.dtype)


def like(operand: Tensor, number: int | float) -> Tensor:
    """`number` in the shape and dtype of `operand`."""
    return full(number, operand.type.dtype, (operand,), operand.type.sizes)


def compare(predicate: str, left: Tensor, right: Tensor) -> Tensor:
    """Truth values, of a comparison of two tensors of one dtype."""
    kind = signedness(left.type.dtype)
    op = CompareOp(left.value, right.value, predicate=predicate, int_signedness=kind)
    return Tensor(op.out, TensorType(left.type.sizes, "i1"))


def bitcast(operand: Tensor, dtype: str) -> Tensor:
    """The bits of each element taken for one of another dtype.

    Raises:
      Unsupported: that one is of another width, or one of the two is bool.
    """
    if is_bool(operand.type.dtype) or is_bool(dtype):
        raise Unsupported("truth values, whose bits are no one's concern")
    if bit_width(operand.type.dtype) != bit_width(dtype):
        raise Unsupported(f"bits of {operand.type.dtype} as {dtype}, which has others in number")
    type_ = TensorType(operand.type.sizes, dtype)
    if operand.value.type == type_.builtin():
        return Tensor(operand.value, type_)
    return Tensor(BitcastOp(operand.value, results=type_.builtin()).out, type_)
