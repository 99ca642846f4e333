"""Elementwise ops."""

import re

from torch_mlir import ir

from plumbline.stablehlo_to_tcp.pattern import Pattern, Patterns, is_boolean
from plumbline.tcp.constraints import is_bool, is_float
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import elementwise as tcp

_DIRECTION = re.compile(r"comparison_direction (\w+)")


def _same(tcp_op: type[TcpOp]) -> Pattern:
    """The pattern of an op that takes and means the same."""
    return lambda op: tcp_op(*op.operands, results=op.result.type).out


def _of_numbers(tcp_op: type[TcpOp], of_booleans: type[TcpOp] | None) -> Pattern:
    """The pattern of an op that means something else for truth values, or nothing in TCP."""

    def convert(op: ir.OpView) -> ir.Value | None:
        chosen = of_booleans if is_boolean(op.operands[0]) else tcp_op
        return chosen(*op.operands, results=op.result.type).out if chosen else None

    return convert


def _of_floats(tcp_op: type[TcpOp]) -> Pattern:
    """The pattern of an op that TCP has for floats only."""

    def convert(op: ir.OpView) -> ir.Value | None:
        if not is_float(op.operands[0].type.element_type):
            return None
        return tcp_op(*op.operands, results=op.result.type).out

    return convert


def convert_divide(op: ir.OpView) -> ir.Value | None:
    """A quotient, of integers towards zero."""
    if is_float(op.result.type.element_type):
        return tcp.DivfOp(*op.operands, results=op.result.type).out
    if is_boolean(op.result):
        return None
    return tcp.DivsiOp(*op.operands, rounding_mode="Trunc", results=op.result.type).out


def convert_remainder(op: ir.OpView) -> ir.Value | None:
    """A remainder with the sign of the dividend."""
    if is_boolean(op.result):
        return None
    remainder = tcp.RemfOp if is_float(op.result.type.element_type) else tcp.RemsiOp
    return remainder(*op.operands, results=op.result.type).out


def convert_compare(op: ir.OpView) -> ir.Value | None:
    """A comparison by IEEE 754; the total order of floats is none of TCP's."""
    if "compare_type" in op.attributes and "TOTALORDER" in str(op.attributes["compare_type"]):
        return None
    direction = _direction(op.attributes["comparison_direction"])
    return tcp.CompareOp(*op.operands, predicate=direction, results=op.result.type).out


def _direction(attribute: ir.Attribute) -> str:
    # `#stablehlo<comparison_direction EQ>`
    match = _DIRECTION.search(str(attribute))
    if match is None:
        raise AssertionError(f"no direction of a comparison: {attribute}")
    return match[1].lower()


def convert_select(op: ir.OpView) -> ir.Value | None:
    """A choice for each element; one choice for all is none of TCP's."""
    condition, on_true, _ = op.operands
    if condition.type.rank != on_true.type.rank:
        return None
    return tcp.SelectOp(*op.operands, results=op.result.type).out


def convert_convert(op: ir.OpView) -> ir.Value:
    """A change of the element type."""
    source, target = op.operands[0].type.element_type, op.result.type.element_type
    return tcp.CastOp(
        op.operands[0],
        in_int_signedness=_signedness(source),
        out_int_signedness=_signedness(target),
        results=op.result.type,
    ).out


def _signedness(type_: ir.Type) -> str | None:
    if is_float(type_):
        return None
    return "Signless" if is_bool(type_) else "Signed"


PATTERNS: Patterns = {
    "stablehlo.abs": _of_numbers(tcp.AbsOp, None),
    "stablehlo.add": _of_numbers(tcp.AddOp, tcp.LogicalOrOp),
    "stablehlo.and": _of_numbers(tcp.BitwiseAndOp, tcp.LogicalAndOp),
    "stablehlo.atan2": _same(tcp.Atan2Op),
    "stablehlo.ceil": _same(tcp.CeilOp),
    "stablehlo.compare": convert_compare,
    "stablehlo.convert": convert_convert,
    "stablehlo.cosine": _same(tcp.CosOp),
    "stablehlo.divide": convert_divide,
    "stablehlo.exponential": _same(tcp.ExpOp),
    "stablehlo.exponential_minus_one": _same(tcp.Expm1Op),
    "stablehlo.floor": _same(tcp.FloorOp),
    "stablehlo.is_finite": _same(tcp.IsfiniteOp),
    "stablehlo.log": _same(tcp.LogOp),
    "stablehlo.log_plus_one": _same(tcp.Log1pOp),
    "stablehlo.logistic": _same(tcp.SigmoidOp),
    "stablehlo.maximum": _of_numbers(tcp.MaximumOp, tcp.LogicalOrOp),
    "stablehlo.minimum": _of_numbers(tcp.MinimumOp, tcp.LogicalAndOp),
    "stablehlo.multiply": _of_numbers(tcp.MulOp, tcp.LogicalAndOp),
    "stablehlo.negate": _of_numbers(tcp.NegOp, None),
    "stablehlo.not": _of_numbers(tcp.BitwiseNotOp, tcp.LogicalNotOp),
    "stablehlo.or": _of_numbers(tcp.BitwiseOrOp, tcp.LogicalOrOp),
    "stablehlo.power": _of_floats(tcp.PowOp),
    "stablehlo.remainder": convert_remainder,
    "stablehlo.round_nearest_afz": _same(tcp.RoundOp),
    "stablehlo.round_nearest_even": _same(tcp.RoundEvenOp),
    "stablehlo.rsqrt": _same(tcp.RsqrtOp),
    "stablehlo.select": convert_select,
    "stablehlo.shift_left": _of_numbers(tcp.ShliOp, None),
    "stablehlo.shift_right_arithmetic": _of_numbers(tcp.ShrsiOp, None),
    "stablehlo.shift_right_logical": _of_numbers(tcp.ShruiOp, None),
    "stablehlo.sine": _same(tcp.SinOp),
    "stablehlo.sqrt": _same(tcp.SqrtOp),
    "stablehlo.subtract": _of_numbers(tcp.SubOp, None),
    "stablehlo.tan": _same(tcp.TanOp),
    "stablehlo.tanh": _same(tcp.TanhOp),
    "stablehlo.xor": _of_numbers(tcp.BitwiseXorOp, tcp.LogicalXorOp),
}
