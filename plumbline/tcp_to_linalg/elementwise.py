"""Elementwise ops: each becomes one `linalg.generic`, whose body a table of payloads builds."""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, math, scf, tensor

from plumbline.tcp.attributes import case_of
from plumbline.tcp.constraints import is_bool, is_float, is_quantized
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import elementwise as tcp
from plumbline.tcp_to_linalg import scalars
from plumbline.tcp_to_linalg.building import DYNAMIC, dim, empty, generic
from plumbline.tcp_to_linalg.pattern import Pattern, Patterns
from plumbline.tcp_to_linalg.scalars import constant

Payload = Callable[[TcpOp, Sequence[ir.Value]], ir.Value]
"""Builds the computation of one element of the result from those of the operands."""


def _lower(payload: Payload) -> Pattern:
    def convert(op: TcpOp) -> ir.Value | None:
        type_ = op.out.type
        if is_quantized(type_.element_type):
            return None
        if type_.rank == 0 and _is_of_a_sort(op):
            elements = [tensor.extract(operand, []) for operand in op.operands]
            return tensor.from_elements(type_, [payload(op, elements)])
        # What a mask is laid over has the sizes that the program knows, not the mask.
        like = op.operands[-1 if isinstance(op, tcp.SelectOp) else 0]
        sizes = [dim(like, axis) for axis, n in enumerate(type_.shape) if n == DYNAMIC]
        identity = ir.AffineMap.get_identity(type_.rank)
        return generic(
            empty(type_, sizes),
            list(op.operands),
            [identity] * len(op.operands),
            lambda elements: payload(op, elements),
        )

    return convert


def _is_of_a_sort(op: TcpOp) -> bool:
    """Whether an op is part of a comparison, of which a sort makes many, of single elements."""
    return bool(op.operation.parent.name == "tm_tensor.sort")


def _in_f32(payload: Payload) -> Payload:
    """`payload`, computed in f32 for half precision and rounded once, as PyTorch does."""

    def build(op: TcpOp, elements: Sequence[ir.Value]) -> ir.Value:
        type_ = elements[0].type
        if not scalars.is_half_precision(type_):
            return payload(op, elements)
        f32 = ir.F32Type.get()
        return arith.truncf(type_, payload(op, [arith.extf(f32, element) for element in elements]))

    return build


def _plain(build: Callable[..., ir.Value]) -> Payload:
    """The payload that is one operation."""
    return lambda op, elements: build(*elements)


def _by_kind(on_floats: Callable[..., ir.Value], on_ints: Callable[..., ir.Value]) -> Payload:
    """One operation for floats and another for integers."""

    def build(op: TcpOp, elements: Sequence[ir.Value]) -> ir.Value:
        return (on_floats if is_float(elements[0].type) else on_ints)(*elements)

    return build


def _is_unsigned(op: TcpOp, type_: ir.Type) -> bool:
    """Whether an op with `int_signedness` takes its integers as unsigned; i1 is 0 or 1."""
    stated = op.int_signedness
    return is_bool(type_) or (stated is not None and case_of(stated) == "Unsigned")


def _sigmoid(op: TcpOp, elements: Sequence[ir.Value]) -> ir.Value:
    (x,) = elements
    one = constant(x.type, 1)
    return arith.divf(one, arith.addf(one, math.exp(arith.negf(x))))


def _neg_int(x: ir.Value) -> ir.Value:
    return arith.subi(constant(x.type, 0), x)


def _all_bits_turned(x: ir.Value) -> ir.Value:
    return arith.xori(x, constant(x.type, -1))


def _not(x: ir.Value) -> ir.Value:
    return arith.xori(x, constant(x.type, 1))


def _isnan(x: ir.Value) -> ir.Value:
    return arith.cmpf(arith.CmpFPredicate.UNO, x, x)


def _isinf(x: ir.Value) -> ir.Value:
    return arith.cmpf(arith.CmpFPredicate.OEQ, math.absf(x), constant(x.type, float("inf")))


def _isfinite(x: ir.Value) -> ir.Value:
    return arith.cmpf(arith.CmpFPredicate.OLT, math.absf(x), constant(x.type, float("inf")))


def _signbit(x: ir.Value) -> ir.Value:
    bits = ir.IntegerType.get_signless(x.type.width)
    return arith.cmpi(arith.CmpIPredicate.slt, arith.bitcast(bits, x), constant(bits, 0))


def _clamp(op: tcp.ClampOp, elements: Sequence[ir.Value]) -> ir.Value:
    (x,) = elements
    for lower, upper in ((op.min_float, op.max_float), (op.min_int, op.max_int)):
        if lower is not None:
            x = _greater(op, [x, constant(x.type, lower.value)])
        if upper is not None:
            x = _lesser(op, [x, constant(x.type, upper.value)])
    return x


def _greater(op: TcpOp, elements: Sequence[ir.Value]) -> ir.Value:
    left, right = elements
    if is_float(left.type):
        return arith.maximumf(left, right)
    if _is_unsigned(op, left.type):
        return arith.maxui(left, right)
    return arith.maxsi(left, right)


def _lesser(op: TcpOp, elements: Sequence[ir.Value]) -> ir.Value:
    left, right = elements
    if is_float(left.type):
        return arith.minimumf(left, right)
    if _is_unsigned(op, left.type):
        return arith.minui(left, right)
    return arith.minsi(left, right)


def _signed_quotient(x: ir.Value, y: ir.Value) -> ir.Value:
    """Divides x by y, towards zero.

    A machine stops the whole process at a division by zero, and at that of the least number by -1,
    which has no quotient: neither is let get so far.
    """
    minus_one = arith.cmpi(arith.CmpIPredicate.eq, y, constant(y.type, -1))
    quotient = arith.divsi(x, _divisor(y, minus_one))
    return arith.select(minus_one, _neg_int(x), quotient)


def _signed_remainder(x: ir.Value, y: ir.Value) -> ir.Value:
    minus_one = arith.cmpi(arith.CmpIPredicate.eq, y, constant(y.type, -1))
    return arith.remsi(x, _divisor(y, minus_one))


def _unsigned_remainder(x: ir.Value, y: ir.Value) -> ir.Value:
    return arith.remui(x, _divisor(y))


def _divisor(y: ir.Value, other: ir.Value | None = None) -> ir.Value:
    """y, or 1 where it is zero or where `other` holds."""
    replaced = arith.cmpi(arith.CmpIPredicate.eq, y, constant(y.type, 0))
    if other is not None:
        replaced = arith.ori(replaced, other)
    return arith.select(replaced, constant(y.type, 1), y)


def _divsi(op: tcp.DivsiOp, elements: Sequence[ir.Value]) -> ir.Value:
    x, y = elements
    quotient = _signed_quotient(x, y)
    rounding_mode = case_of(op.rounding_mode)
    if rounding_mode == "Trunc":
        return quotient
    zero = constant(x.type, 0)
    remainder = arith.subi(x, arith.muli(quotient, y))
    inexact = arith.cmpi(arith.CmpIPredicate.ne, remainder, zero)
    # Below zero, and so rounded up so far, where the signs of remainder and divisor differ.
    sign = arith.xori(remainder, y)
    step, predicate = (
        (-1, arith.CmpIPredicate.slt) if rounding_mode == "Floor" else (1, arith.CmpIPredicate.sge)
    )
    moved = arith.andi(inexact, arith.cmpi(predicate, sign, zero))
    return arith.select(moved, arith.addi(quotient, constant(x.type, step)), quotient)


def _divui(op: tcp.DivuiOp, elements: Sequence[ir.Value]) -> ir.Value:
    x, y = elements
    divisor = _divisor(y)
    quotient = arith.divui(x, divisor)
    if case_of(op.rounding_mode) != "Ceil":
        return quotient
    remainder = arith.subi(x, arith.muli(quotient, divisor))
    inexact = arith.cmpi(arith.CmpIPredicate.ne, remainder, constant(x.type, 0))
    return arith.select(inexact, arith.addi(quotient, constant(x.type, 1)), quotient)


def _int_power(x: ir.Value, exponent: ir.Value) -> ir.Value:
    """Raises x to the power of a signed integer, by squaring."""
    type_ = x.type
    zero, one = constant(type_, 0), constant(type_, 1)
    loop = scf.WhileOp([type_] * 3, [one, x, exponent])
    before = loop.before.blocks.append(*[type_] * 3)
    with ir.InsertionPoint(before):
        remaining = arith.cmpi(arith.CmpIPredicate.sgt, before.arguments[2], zero)
        scf.ConditionOp(remaining, before.arguments)
    after = loop.after.blocks.append(*[type_] * 3)
    with ir.InsertionPoint(after):
        power, square, left = after.arguments
        odd = arith.trunci(ir.IntegerType.get_signless(1), left)
        scf.YieldOp(
            [
                arith.select(odd, arith.muli(power, square), power),
                arith.muli(square, square),
                arith.shrsi(left, one),
            ]
        )
    # The reciprocal of anything but 1 and -1 truncates to 0.
    odd = arith.trunci(ir.IntegerType.get_signless(1), exponent)
    is_one = arith.cmpi(arith.CmpIPredicate.eq, x, one)
    is_minus_one = arith.cmpi(arith.CmpIPredicate.eq, x, constant(type_, -1))
    of_minus_one = arith.select(odd, constant(type_, -1), one)
    reciprocal = arith.select(is_one, one, arith.select(is_minus_one, of_minus_one, zero))
    negative = arith.cmpi(arith.CmpIPredicate.slt, exponent, zero)
    return arith.select(negative, reciprocal, loop.results[0])


def _shift(
    build: Callable[[ir.Value, ir.Value], ir.Value], *, keeps_sign: bool = False
) -> Callable[[ir.Value, ir.Value], ir.Value]:
    """A shift that is defined for amounts beyond the width too, where the machine's is not."""

    def shift(x: ir.Value, amount: ir.Value) -> ir.Value:
        width = constant(x.type, x.type.width)
        within = arith.cmpi(arith.CmpIPredicate.ult, amount, width)
        last = constant(x.type, x.type.width - 1)
        shifted = build(x, arith.select(within, amount, last))
        return shifted if keeps_sign else arith.select(within, shifted, constant(x.type, 0))

    return shift


_FLOAT_PREDICATES = {
    "eq": arith.CmpFPredicate.OEQ,
    "ne": arith.CmpFPredicate.UNE,
    "lt": arith.CmpFPredicate.OLT,
    "le": arith.CmpFPredicate.OLE,
    "gt": arith.CmpFPredicate.OGT,
    "ge": arith.CmpFPredicate.OGE,
}
_SIGNED_PREDICATES = {
    "eq": arith.CmpIPredicate.eq,
    "ne": arith.CmpIPredicate.ne,
    "lt": arith.CmpIPredicate.slt,
    "le": arith.CmpIPredicate.sle,
    "gt": arith.CmpIPredicate.sgt,
    "ge": arith.CmpIPredicate.sge,
}
_UNSIGNED_PREDICATES = {
    "eq": arith.CmpIPredicate.eq,
    "ne": arith.CmpIPredicate.ne,
    "lt": arith.CmpIPredicate.ult,
    "le": arith.CmpIPredicate.ule,
    "gt": arith.CmpIPredicate.ugt,
    "ge": arith.CmpIPredicate.uge,
}


def _compare(op: tcp.CompareOp, elements: Sequence[ir.Value]) -> ir.Value:
    left, right = elements
    predicate = case_of(op.predicate)
    if is_float(left.type):
        return arith.cmpf(_FLOAT_PREDICATES[predicate], left, right)
    unsigned = _is_unsigned(op, left.type)
    return arith.cmpi(
        (_UNSIGNED_PREDICATES if unsigned else _SIGNED_PREDICATES)[predicate], left, right
    )


def _cast(op: tcp.CastOp, elements: Sequence[ir.Value]) -> ir.Value:
    def unsigned(signedness: ir.Attribute | None) -> bool:
        return signedness is not None and case_of(signedness) == "Unsigned"

    return scalars.cast(
        elements[0],
        op.out.type.element_type,
        from_unsigned=unsigned(op.in_int_signedness),
        to_unsigned=unsigned(op.out_int_signedness),
    )


def _bitcast(op: tcp.BitcastOp, elements: Sequence[ir.Value]) -> ir.Value:
    element_type = op.out.type.element_type
    return (
        elements[0]
        if elements[0].type == element_type
        else arith.bitcast(element_type, elements[0])
    )


def _multiply_add(first: ir.Value, second: ir.Value, third: ir.Value) -> ir.Value:
    contract = arith.FastMathFlags.contract
    return arith.addf(arith.mulf(first, second, fastmath=contract), third, fastmath=contract)


def _polynomial(op: tcp.PolynomialOp, elements: Sequence[ir.Value]) -> ir.Value:
    (x,) = elements
    *others, result = (constant(x.type, item.value) for item in op.coefficients)
    for other in reversed(others):
        result = _multiply_add(result, x, other)
    return result


_PAYLOADS: dict[type[TcpOp], Payload] = {
    tcp.TanhOp: _in_f32(_plain(math.tanh)),
    tcp.SigmoidOp: _in_f32(_sigmoid),
    tcp.SqrtOp: _in_f32(_plain(math.sqrt)),
    tcp.RsqrtOp: _in_f32(_plain(math.rsqrt)),
    tcp.CeilOp: _in_f32(_plain(math.ceil)),
    tcp.FloorOp: _in_f32(_plain(math.floor)),
    tcp.RoundOp: _in_f32(_plain(math.round)),
    tcp.RoundEvenOp: _in_f32(_plain(math.roundeven)),
    tcp.ExpOp: _in_f32(_plain(math.exp)),
    tcp.Expm1Op: _in_f32(_plain(math.expm1)),
    tcp.LogOp: _in_f32(_plain(math.log)),
    tcp.Log1pOp: _in_f32(_plain(math.log1p)),
    tcp.ErfOp: _in_f32(_plain(math.erf)),
    tcp.ErfcOp: _in_f32(_plain(math.erfc)),
    tcp.SinOp: _in_f32(_plain(math.sin)),
    tcp.PolynomialOp: _in_f32(_polynomial),
    tcp.CosOp: _in_f32(_plain(math.cos)),
    tcp.TanOp: _in_f32(_plain(math.tan)),
    tcp.AsinOp: _in_f32(_plain(math.asin)),
    tcp.AcosOp: _in_f32(_plain(math.acos)),
    tcp.AtanOp: _in_f32(_plain(math.atan)),
    tcp.AsinhOp: _in_f32(_plain(math.asinh)),
    tcp.SinhOp: _in_f32(_plain(math.sinh)),
    tcp.CoshOp: _in_f32(_plain(math.cosh)),
    tcp.AbsOp: _by_kind(math.absf, math.absi),
    tcp.NegOp: _by_kind(arith.negf, _neg_int),
    tcp.ClampOp: _clamp,
    tcp.LogicalNotOp: _plain(_not),
    tcp.BitwiseNotOp: _plain(_all_bits_turned),
    tcp.IsnanOp: _plain(_isnan),
    tcp.IsinfOp: _plain(_isinf),
    tcp.IsfiniteOp: _plain(_isfinite),
    tcp.SignbitOp: _plain(_signbit),
    tcp.AddOp: _in_f32(_by_kind(arith.addf, arith.addi)),
    tcp.SubOp: _in_f32(_by_kind(arith.subf, arith.subi)),
    tcp.MulOp: _in_f32(_by_kind(arith.mulf, arith.muli)),
    tcp.PowOp: _in_f32(_by_kind(math.powf, _int_power)),
    tcp.DivfOp: _in_f32(_plain(arith.divf)),
    tcp.RemfOp: _in_f32(_plain(arith.remf)),
    tcp.Atan2Op: _in_f32(_plain(math.atan2)),
    tcp.CopysignOp: _plain(math.copysign),
    tcp.FmuladdOp: _in_f32(_plain(_multiply_add)),
    tcp.DivsiOp: _divsi,
    tcp.DivuiOp: _divui,
    tcp.RemsiOp: _plain(_signed_remainder),
    tcp.RemuiOp: _plain(_unsigned_remainder),
    tcp.BitwiseAndOp: _plain(arith.andi),
    tcp.BitwiseOrOp: _plain(arith.ori),
    tcp.BitwiseXorOp: _plain(arith.xori),
    tcp.ShliOp: _plain(_shift(arith.shli)),
    tcp.ShrsiOp: _plain(_shift(arith.shrsi, keeps_sign=True)),
    tcp.ShruiOp: _plain(_shift(arith.shrui)),
    tcp.LogicalAndOp: _plain(arith.andi),
    tcp.LogicalOrOp: _plain(arith.ori),
    tcp.LogicalXorOp: _plain(arith.xori),
    tcp.MaximumOp: _greater,
    tcp.MinimumOp: _lesser,
    tcp.CompareOp: _compare,
    tcp.SelectOp: _plain(arith.select),
    tcp.CastOp: _cast,
    tcp.BitcastOp: _bitcast,
}

PATTERNS: Patterns = {op: _lower(payload) for op, payload in _PAYLOADS.items()}
