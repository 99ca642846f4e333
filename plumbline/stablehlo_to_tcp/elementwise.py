"""Elementwise ops."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import math

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp.attributes import compares_in_total_order, direction
from plumbline.stablehlo_to_tcp.pattern import (
    Pattern,
    Patterns,
    integer,
    tensor,
    tensor_type,
    tensors,
)
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import iota
from plumbline.tcp.building.dtypes import bit_width, is_bool, is_float, signedness
from plumbline.tcp.building.elementwise import apply, bitcast, compare, like
from plumbline.tcp.building.reduction import reduce
from plumbline.tcp.building.shapes import broadcast, broadcast_to, cast, scalar, unsqueeze
from plumbline.tcp.building.tensors import Tensor, built
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import elementwise as tcp
from plumbline.tcp.ops.data_movement import BroadcastOp, ConstOp


def _kind(op: ir.OpView) -> str:
    """The dtype of the first operand: "float", "bool", "signed" or "unsigned".

    Raises:
      Unsupported: it is none that TCP has.
    """
    dtype = tensor_type(op.operands[0]).dtype
    if is_float(dtype):
        return "float"
    return "bool" if is_bool(dtype) else "unsigned" if dtype[0] == "u" else "signed"


_Builder = Callable[..., Tensor]


def _by_kind(**builders: type[TcpOp] | _Builder) -> Pattern:
    """The pattern of an op that means one op of TCP, or what a function builds, for each kind.

    `integer` stands for the signed and the unsigned, `number` for those and floats.
    """

    def convert(op: ir.OpView) -> Tensor:
        kind = _kind(op)
        names = [kind]
        if kind in ("signed", "unsigned"):
            names.append("integer")
        if kind != "bool":
            names.append("number")
        for name in names:
            if name in builders:
                builder = builders[name]
                if isinstance(builder, type):
                    return apply(builder, *tensors(op))
                return builder(*tensors(op))
        raise Unsupported(f"elements of type {tensor_type(op.operands[0]).dtype}")

    return convert


def _signed(op_class: type[TcpOp]) -> _Builder:
    """An op that takes integers as signed unless told otherwise."""

    def build(*operands: Tensor) -> Tensor:
        return apply(op_class, *operands, int_signedness=signedness(operands[-1].type.dtype))

    return build


def _truncating(op_class: type[TcpOp]) -> _Builder:
    return lambda left, right: apply(op_class, left, right, rounding_mode="Trunc")


def _predicate(op_class: type[TcpOp]) -> _Builder:
    return lambda operand: built(op_class(operand.value), "i1")


# -- arithmetic ------------------------------------------------------------------------------------


def _total(divide: _Builder, by_zero: Callable[[Tensor], Tensor]) -> _Builder:
    """A division that is defined for 0 too, as XLA has it, of which programs of JAX make use.

    They take quotients of all elements, and then choose: `jnp.gcd` does, and so does masked code.
    """

    def build(left: Tensor, right: Tensor) -> Tensor:
        if _has_no_zero(right.value):
            return divide(left, right)
        is_zero = compare("eq", right, like(right, 0))
        divided = divide(left, apply(tcp.SelectOp, is_zero, like(right, 1), right))
        return apply(tcp.SelectOp, is_zero, by_zero(left), divided)

    return build


def _has_no_zero(value: ir.Value) -> bool:
    """Whether a value is certain to be a constant without a 0."""
    owner = value.owner
    while not isinstance(owner, ir.Block) and owner.name in _SHAPING:
        owner = owner.operands[0].owner
    if isinstance(owner, ir.Block) or owner.name != ConstOp.OPERATION_NAME:
        return False
    literal = owner.attributes["value"]
    if not isinstance(literal, ir.DenseIntElementsAttr):
        return False
    return bool(literal.get_splat_value().value) if literal.is_splat else all(literal)


_SHAPING = (
    *(BroadcastOp.OPERATION_NAME, "tensor.cast", "tensor.collapse_shape", "tensor.expand_shape"),
)
"""Ops that have the elements of their first operand and no others."""


def _all_bits(operand: Tensor) -> Tensor:
    """-1, or the greatest number without a sign."""
    return like(operand, -1)


def _unsigned_power(base: Tensor, exponent: Tensor) -> Tensor:
    """A power whose exponent would be negative if its integer were signed."""
    if base.type.dtype == "ui64":
        raise Unsupported("powers of 64-bit unsigned integers; convert them to signed ones")
    # Of 64 bits the lowest are those that are asked for.
    wide = apply(tcp.PowOp, cast(base, "si64"), cast(exponent, "si64"))
    return cast(wide, base.type.dtype)


def _float_sign(operand: Tensor) -> Tensor:
    """1 with the sign of a number; zeros and NaN as they are."""
    result, zero = operand, like(operand, 0)
    for predicate, number in (("gt", 1), ("lt", -1)):
        holds = built(tcp.CompareOp(operand.value, zero.value, predicate=predicate), "i1")
        result = apply(tcp.SelectOp, holds, like(operand, number), result)
    return result


def _integer_sign(operand: Tensor) -> Tensor:
    """-1, 0 or 1."""
    kind = signedness(operand.type.dtype)
    low = apply(tcp.MinimumOp, operand, like(operand, 1), int_signedness=kind)
    if kind == "Unsigned":
        return low
    return apply(tcp.MaximumOp, low, like(operand, -1), int_signedness=kind)


def _clamp(operand: Tensor, least: Tensor, greatest: Tensor) -> Tensor:
    sizes = operand.type.sizes
    raised = _signed(tcp.MaximumOp)(operand, broadcast(least, (operand,), sizes))
    return _signed(tcp.MinimumOp)(raised, broadcast(greatest, (operand,), sizes))


def convert_clamp(op: ir.OpView) -> Tensor:
    """The nearest value within bounds; a bound may be one for all elements."""
    least, operand, greatest = tensors(op)
    return _clamp(operand, least, greatest)


def convert_reduce_precision(op: ir.OpView) -> Tensor:
    """A float rounded to what another float type can hold."""
    operand = tensor(op.operands[0])
    bits = integer(op, "exponent_bits"), integer(op, "mantissa_bits")
    through = {(8, 7): "bf16", (5, 10): "f16", (8, 23): "f32", (11, 52): "f64"}.get(bits)
    if through is None:
        raise Unsupported(f"a float of {bits[0]} and {bits[1]} bits, which is no element type")
    return cast(cast(operand, through), operand.type.dtype)


# -- choices ---------------------------------------------------------------------------------------


def convert_compare(op: ir.OpView) -> Tensor:
    """A comparison by IEEE 754, or of floats in total order."""
    left, right = tensors(op)
    if is_float(left.type.dtype) and compares_in_total_order(op):
        left, right = _in_order(left), _in_order(right)
    kind = signedness(left.type.dtype)
    compared = tcp.CompareOp(left.value, right.value, predicate=direction(op), int_signedness=kind)
    return built(compared, "i1")


def _in_order(operand: Tensor) -> Tensor:
    """Integers that are ordered as floats are in total order, -0.0 below 0.0 and NaN outermost."""
    bits = bitcast(operand, f"si{bit_width(operand.type.dtype)}")
    # Below zero the bits without the sign count backwards.
    width = bit_width(bits.type.dtype)
    zero, magnitude = like(bits, 0), like(bits, 2 ** (width - 1) - 1)
    negative = built(tcp.CompareOp(bits.value, zero.value, predicate="lt"), "i1")
    turned = apply(tcp.BitwiseXorOp, bits, magnitude)
    return apply(tcp.SelectOp, negative, turned, bits)


def convert_select(op: ir.OpView) -> Tensor:
    """A choice for each element, or one for all."""
    condition, on_true, on_false = tensors(op)
    condition = broadcast(condition, (on_true, on_false), on_true.type.sizes)
    return apply(tcp.SelectOp, condition, on_true, on_false)


# -- types -----------------------------------------------------------------------------------------


def convert_convert(op: ir.OpView) -> Tensor:
    """A change of the element type; what is beyond an integer's range becomes its limit."""
    operand, dtype = tensor(op.operands[0]), tensor_type(op.results[0]).dtype
    if is_float(operand.type.dtype) and not is_float(dtype) and not is_bool(dtype):
        return _saturated(operand, dtype)
    return cast(operand, dtype)


def _saturated(operand: Tensor, dtype: str) -> Tensor:
    """Floats as integers, of which NaN becomes 0 and the others the nearest one, as XLA has it."""
    if bit_width(operand.type.dtype) == 16:
        # Its own range is less than that of some integers.
        operand = cast(operand, "f32")
    limits = np.iinfo(dtype.replace("si", "int").replace("ui", "uint"))
    wide = np.float64 if operand.type.dtype == "f64" else np.float32
    # The greatest integer may lie between two floats.
    highest = wide(limits.max)
    if int(highest) > limits.max:
        highest = np.nextafter(highest, wide(0))
    numbers = apply(tcp.SelectOp, compare("eq", operand, operand), operand, like(operand, 0))
    limits_of_floats = (
        scalar(number, operand.type.dtype) for number in (int(limits.min), float(highest))
    )
    bounded = _clamp(numbers, *limits_of_floats)
    result = cast(bounded, dtype)
    if int(highest) == limits.max:
        return result
    beyond = compare("gt", numbers, like(numbers, float(highest)))
    # Without a sign, all bits are set in it.
    greatest = int(limits.max) if limits.min else -1
    return apply(tcp.SelectOp, beyond, like(result, greatest), result)


def convert_bitcast_convert(op: ir.OpView) -> Tensor:
    """The bits of each element as one of another type, or as several, or of several as one.

    Those that one is made of lie along a last dimension, the lowest bits first.
    """
    operand, dtype = tensor(op.operands[0]), tensor_type(op.results[0]).dtype
    if is_bool(operand.type.dtype) or is_bool(dtype):
        return bitcast(operand, dtype)
    have, want = bit_width(operand.type.dtype), bit_width(dtype)
    if have == want:
        return bitcast(operand, dtype)
    bits = bitcast(operand, f"ui{have}")
    if have > want:
        sizes = [*size_arithmetic.all_of(bits), have // want]
        spread = broadcast_to(unsqueeze(bits, [bits.type.rank]), sizes)
        shifted = apply(tcp.ShruiOp, spread, _amounts(spread, want))
        return bitcast(cast(shifted, f"ui{want}"), dtype)
    wide = cast(bits, f"ui{want}")
    shifted = apply(tcp.ShliOp, wide, _amounts(wide, have))
    # They have no bit in common.
    return bitcast(reduce(shifted, [shifted.type.rank - 1], "sum"), dtype)


def _amounts(operand: Tensor, step: int) -> Tensor:
    """0, `step`, twice that and so on along the last dimension of `operand`."""
    sizes = size_arithmetic.all_of(operand)
    numbers = iota(sizes, operand.type.rank - 1, operand.type.dtype)
    return apply(tcp.MulOp, numbers, like(numbers, step))


# -- what TCP has no op for ------------------------------------------------------------------------


def _beside_tcp(build: Callable[[ir.Value], ir.Value]) -> _Builder:
    """An op of another dialect, on tensors."""
    return lambda operand: Tensor(build(operand.value), operand.type)


def _cube_root(operand: Tensor) -> Tensor:
    # In half precision the C library has none.
    dtype = operand.type.dtype
    wide = cast(operand, "f32") if bit_width(dtype) == 16 else operand
    return cast(Tensor(math.cbrt(wide.value), wide.type), dtype)


_FLOAT_FUNCTIONS: Mapping[str, type[TcpOp]] = {
    "chlo.acos": tcp.AcosOp,
    "chlo.asin": tcp.AsinOp,
    "chlo.asinh": tcp.AsinhOp,
    "chlo.atan": tcp.AtanOp,
    "chlo.cosh": tcp.CoshOp,
    "chlo.erf": tcp.ErfOp,
    "chlo.erfc": tcp.ErfcOp,
    "chlo.sinh": tcp.SinhOp,
    "chlo.tan": tcp.TanOp,
    "stablehlo.atan2": tcp.Atan2Op,
    "stablehlo.ceil": tcp.CeilOp,
    "stablehlo.cosine": tcp.CosOp,
    "stablehlo.exponential": tcp.ExpOp,
    "stablehlo.exponential_minus_one": tcp.Expm1Op,
    "stablehlo.floor": tcp.FloorOp,
    "stablehlo.log": tcp.LogOp,
    "stablehlo.log_plus_one": tcp.Log1pOp,
    "stablehlo.logistic": tcp.SigmoidOp,
    "stablehlo.round_nearest_afz": tcp.RoundOp,
    "stablehlo.round_nearest_even": tcp.RoundEvenOp,
    "stablehlo.rsqrt": tcp.RsqrtOp,
    "stablehlo.sine": tcp.SinOp,
    "stablehlo.sqrt": tcp.SqrtOp,
    "stablehlo.tan": tcp.TanOp,
    "stablehlo.tanh": tcp.TanhOp,
}

PATTERNS: Patterns = {
    **{name: _by_kind(float=op_class) for name, op_class in _FLOAT_FUNCTIONS.items()},
    "chlo.is_inf": _by_kind(float=_predicate(tcp.IsinfOp)),
    "stablehlo.abs": _by_kind(float=tcp.AbsOp, signed=tcp.AbsOp),
    "stablehlo.add": _by_kind(number=tcp.AddOp, bool=tcp.LogicalOrOp),
    "stablehlo.and": _by_kind(integer=tcp.BitwiseAndOp, bool=tcp.LogicalAndOp),
    "stablehlo.bitcast_convert": convert_bitcast_convert,
    "stablehlo.cbrt": _by_kind(float=_cube_root),
    "stablehlo.clamp": convert_clamp,
    "stablehlo.compare": convert_compare,
    "stablehlo.convert": convert_convert,
    "stablehlo.count_leading_zeros": _by_kind(integer=_beside_tcp(math.ctlz)),
    "stablehlo.divide": _by_kind(
        float=tcp.DivfOp,
        signed=_total(_truncating(tcp.DivsiOp), _all_bits),
        unsigned=_total(_truncating(tcp.DivuiOp), _all_bits),
    ),
    "stablehlo.is_finite": _by_kind(float=_predicate(tcp.IsfiniteOp)),
    "stablehlo.maximum": _by_kind(number=_signed(tcp.MaximumOp), bool=tcp.LogicalOrOp),
    "stablehlo.minimum": _by_kind(number=_signed(tcp.MinimumOp), bool=tcp.LogicalAndOp),
    "stablehlo.multiply": _by_kind(number=tcp.MulOp, bool=tcp.LogicalAndOp),
    "stablehlo.negate": _by_kind(number=tcp.NegOp),
    "stablehlo.not": _by_kind(integer=tcp.BitwiseNotOp, bool=tcp.LogicalNotOp),
    "stablehlo.or": _by_kind(integer=tcp.BitwiseOrOp, bool=tcp.LogicalOrOp),
    "stablehlo.popcnt": _by_kind(integer=_beside_tcp(math.ctpop)),
    "stablehlo.power": _by_kind(float=tcp.PowOp, signed=tcp.PowOp, unsigned=_unsigned_power),
    "stablehlo.reduce_precision": convert_reduce_precision,
    "stablehlo.remainder": _by_kind(
        float=tcp.RemfOp,
        signed=_total(partial(apply, tcp.RemsiOp), lambda dividend: dividend),
        unsigned=_total(partial(apply, tcp.RemuiOp), lambda dividend: dividend),
    ),
    "stablehlo.select": convert_select,
    "stablehlo.shift_left": _by_kind(integer=tcp.ShliOp),
    "stablehlo.shift_right_arithmetic": _by_kind(integer=tcp.ShrsiOp),
    "stablehlo.shift_right_logical": _by_kind(integer=tcp.ShruiOp),
    "stablehlo.sign": _by_kind(float=_float_sign, integer=_integer_sign),
    "stablehlo.subtract": _by_kind(number=tcp.SubOp),
    "stablehlo.xor": _by_kind(integer=tcp.BitwiseXorOp, bool=tcp.LogicalXorOp),
}
