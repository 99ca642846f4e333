"""Elementwise ops."""

from torch_mlir import ir

from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import elementwise as tcp
from plumbline.torch_to_tcp.pattern import (
    Pattern,
    Patterns,
    Tensor,
    Unsupported,
    number,
    tensor,
    tensor_type,
)
from plumbline.torch_to_tcp.shapes import broadcast, cast, full
from plumbline.torch_to_tcp.torch_types import (
    TorchTensorType,
    is_bool,
    is_float,
    promote,
    signedness,
)

_HALF_PRECISION = ("f16", "bf16")


def _unary(tcp_op: type[TcpOp]) -> Pattern:
    """The pattern of a function of one float; integers are taken to the result's type first."""

    def convert(op: ir.OpView) -> ir.Value:
        result = tensor_type(op.result)
        if not is_float(result.dtype):
            raise Unsupported("an integer result")
        return tcp_op(cast(tensor(op.operands[0]), result.dtype).value).out

    return convert


def _arithmetic(tcp_op: type[TcpOp]) -> Pattern:
    """The pattern of `self op other`, or `self op alpha * other`; other is a tensor or number."""

    def convert(op: ir.OpView) -> ir.Value:
        result = tensor_type(op.result)
        if is_bool(result.dtype):
            raise Unsupported("arithmetic on bool")
        alpha = number(op.operands[2]) if len(op.operands) == 3 else 1
        other_is_tensor = TorchTensorType.parse(op.operands[1].type) is not None
        # PyTorch computes in f32 where a number meets half precision, and rounds once.
        rounds_late = result.dtype in _HALF_PRECISION and (alpha != 1 or not other_is_tensor)
        dtype = "f32" if rounds_late else result.dtype

        left = cast(tensor(op.operands[0]), dtype)
        if other_is_tensor:
            right = cast(tensor(op.operands[1]), dtype)
            operands = (left, right)
            left = broadcast(left, operands, result.sizes)
            right = broadcast(right, operands, result.sizes)
        else:
            other = number(op.operands[1])
            left = broadcast(left, (left,), result.sizes)
            right = full(_value(other), dtype, (left,), result.sizes)
        if alpha != 1:
            factor = full(_value(alpha), dtype, (left, right), result.sizes)
            right = Tensor(tcp.MulOp(right.value, factor.value).out, right.type)
        value = tcp_op(left.value, right.value).out
        return cast(Tensor(value, TorchTensorType(result.sizes, dtype)), result.dtype).value

    return convert


def _value(number_: int | float | bool | None) -> int | float:
    if number_ is None:
        raise Unsupported("None in place of a number")
    return number_


def convert_aten_reciprocal(op: ir.OpView) -> ir.Value:
    """1 / x."""
    result = tensor_type(op.result)
    operand = cast(tensor(op.operands[0]), result.dtype)
    one = full(1, result.dtype, (operand,), result.sizes)
    return tcp.DivfOp(one.value, operand.value).out


def convert_aten_relu(op: ir.OpView) -> ir.Value:
    """max(x, 0), which keeps NaN."""
    return _clamp(tensor(op.operands[0]), 0, None)


def convert_aten_clamp(op: ir.OpView) -> ir.Value:
    """min(max(x, lower), upper), either bound left out where it is None."""
    result = tensor_type(op.result)
    lower, upper = number(op.operands[1]), number(op.operands[2])
    return _clamp(cast(tensor(op.operands[0]), result.dtype), lower, upper)


def _clamp(operand: Tensor, lower: int | float | None, upper: int | float | None) -> ir.Value:
    dtype = operand.type.dtype
    if is_float(dtype):
        return tcp.ClampOp(operand.value, min_float=lower, max_float=upper).out
    if is_bool(dtype):
        raise Unsupported("bounds on bool")
    return tcp.ClampOp(
        operand.value, min_int=lower, max_int=upper, int_signedness=signedness(dtype)
    ).out


def _compare(predicate: str) -> Pattern:
    """The pattern of a comparison of a tensor with a tensor or a number."""

    def convert(op: ir.OpView) -> ir.Value:
        result = tensor_type(op.result)
        left = tensor(op.operands[0])
        if TorchTensorType.parse(op.operands[1].type) is not None:
            right = tensor(op.operands[1])
            dtype = promote(left.type, right.type)
            left, right = cast(left, dtype), cast(right, dtype)
            operands = (left, right)
            left = broadcast(left, operands, result.sizes)
            right = broadcast(right, operands, result.sizes)
        else:
            other = _value(number(op.operands[1]))
            dtype = promote(left.type, _type_of(other))
            left = cast(left, dtype)
            right = full(other, dtype, (left,), result.sizes)
        return tcp.CompareOp(
            left.value, right.value, predicate=predicate, int_signedness=signedness(dtype)
        ).out

    return convert


def _type_of(value: int | float) -> TorchTensorType:
    """The type that a Python number has beside tensors."""
    dtype = "i1" if isinstance(value, bool) else "si64" if isinstance(value, int) else "f32"
    return TorchTensorType((), dtype)


PATTERNS: Patterns = {
    "torch.aten.acos": _unary(tcp.AcosOp),
    "torch.aten.asin": _unary(tcp.AsinOp),
    "torch.aten.atan": _unary(tcp.AtanOp),
    "torch.aten.cos": _unary(tcp.CosOp),
    "torch.aten.cosh": _unary(tcp.CoshOp),
    "torch.aten.erf": _unary(tcp.ErfOp),
    "torch.aten.exp": _unary(tcp.ExpOp),
    "torch.aten.expm1": _unary(tcp.Expm1Op),
    "torch.aten.log": _unary(tcp.LogOp),
    "torch.aten.log1p": _unary(tcp.Log1pOp),
    "torch.aten.rsqrt": _unary(tcp.RsqrtOp),
    "torch.aten.sigmoid": _unary(tcp.SigmoidOp),
    "torch.aten.sin": _unary(tcp.SinOp),
    "torch.aten.sinh": _unary(tcp.SinhOp),
    "torch.aten.sqrt": _unary(tcp.SqrtOp),
    "torch.aten.tan": _unary(tcp.TanOp),
    "torch.aten.tanh": _unary(tcp.TanhOp),
    "torch.aten.add.Scalar": _arithmetic(tcp.AddOp),
    "torch.aten.add.Tensor": _arithmetic(tcp.AddOp),
    "torch.aten.div.Scalar": _arithmetic(tcp.DivfOp),
    "torch.aten.div.Tensor": _arithmetic(tcp.DivfOp),
    "torch.aten.mul.Scalar": _arithmetic(tcp.MulOp),
    "torch.aten.mul.Tensor": _arithmetic(tcp.MulOp),
    "torch.aten.sub.Scalar": _arithmetic(tcp.SubOp),
    "torch.aten.sub.Tensor": _arithmetic(tcp.SubOp),
    "torch.aten.clamp": convert_aten_clamp,
    "torch.aten.reciprocal": convert_aten_reciprocal,
    "torch.aten.relu": convert_aten_relu,
    **{
        f"torch.aten.{predicate}.{kind}": _compare(predicate)
        for predicate in ("eq", "ne", "lt", "le", "gt", "ge")
        for kind in ("Scalar", "Tensor")
    },
}
