"""Elementwise ops."""

import math
from collections.abc import Callable, Sequence

from torch_mlir import ir

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building.dtypes import computed_in, is_bool, is_float, signedness
from plumbline.tcp.building.elementwise import apply, bitcast, compare, like
from plumbline.tcp.building.shapes import broadcast, cast, full
from plumbline.tcp.building.tensors import Tensor
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import elementwise as tcp
from plumbline.torch_to_tcp.pattern import (
    Pattern,
    Patterns,
    items,
    number,
    string,
    tensor,
    tensor_type,
)
from plumbline.torch_to_tcp.run_time_numbers import run_time_number
from plumbline.torch_to_tcp.torch_ops import is_constant
from plumbline.torch_to_tcp.torch_types import parse_tensor_type, promote, promote_number

Unary = Callable[[Tensor], Tensor]
Binary = Callable[[Tensor, Tensor], Tensor]
"""What computes a tensor from two of the same shape and dtype."""


def _op(tcp_op: type[TcpOp]) -> Callable[..., Tensor]:
    """What builds one op, which keeps shape and dtype."""
    return lambda *operands: apply(tcp_op, *operands)


def _signed_op(tcp_op: type[TcpOp]) -> Callable[..., Tensor]:
    """The same for an op that integers give their signedness to."""
    return lambda *operands: apply(
        tcp_op, *operands, int_signedness=signedness(operands[0].type.dtype)
    )


def _number(value: ir.Value) -> int | float:
    constant = number(value)
    if constant is None:
        raise Unsupported("None in place of a number")
    return constant


def _select(condition: Tensor, on_true: Tensor, on_false: Tensor) -> Tensor:
    return apply(tcp.SelectOp, condition, on_true, on_false)


# -- one operand -----------------------------------------------------------------------------------


def _unary(build: Unary) -> Pattern:
    """The pattern of a function of one float; integers are taken to the result's type first."""

    def convert(op: ir.OpView) -> ir.Value:
        result = tensor_type(op.result)
        if not is_float(result.dtype):
            raise Unsupported("an integer result")
        return build(cast(tensor(op.operands[0]), result.dtype)).value

    return convert


def _opmath(build: Unary) -> Pattern:
    """The same for a composition of ops, which is rounded to half precision at its end only."""

    def convert(op: ir.OpView) -> ir.Value:
        result = tensor_type(op.result)
        if not is_float(result.dtype):
            raise Unsupported("an integer result")
        operand = cast(tensor(op.operands[0]), computed_in(result.dtype))
        return cast(build(operand), result.dtype).value

    return convert


def _rounding(build: Unary) -> Pattern:
    """The pattern of an op that makes floats whole and leaves integers as they are."""

    def convert(op: ir.OpView) -> ir.Value:
        operand = tensor(op.operands[0])
        return (build(operand) if is_float(operand.type.dtype) else operand).value

    return convert


def _trunc(operand: Tensor) -> Tensor:
    below = compare("lt", operand, like(operand, 0))
    return _select(below, apply(tcp.CeilOp, operand), apply(tcp.FloorOp, operand))


def _reciprocal(operand: Tensor) -> Tensor:
    return apply(tcp.DivfOp, like(operand, 1), operand)


def _gelu_erf(x: Tensor) -> Tensor:
    """The product x / 2 (1 + erf(x / sqrt(2)))."""
    scaled = apply(tcp.MulOp, x, like(x, math.sqrt(0.5)))
    grown = apply(tcp.AddOp, apply(tcp.ErfOp, scaled), like(x, 1))
    return apply(tcp.MulOp, apply(tcp.MulOp, x, like(x, 0.5)), grown)


def _gelu_tanh(x: Tensor) -> Tensor:
    """The product x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))."""
    cube = apply(tcp.MulOp, apply(tcp.MulOp, x, x), x)
    inner = apply(tcp.AddOp, x, apply(tcp.MulOp, cube, like(x, 0.044715)))
    scaled = apply(tcp.MulOp, inner, like(x, math.sqrt(2 / math.pi)))
    grown = apply(tcp.AddOp, apply(tcp.TanhOp, scaled), like(x, 1))
    return apply(tcp.MulOp, apply(tcp.MulOp, x, like(x, 0.5)), grown)


def convert_aten_gelu(op: ir.OpView) -> ir.Value:
    """The Gaussian error linear unit, by the error function or by its approximation."""
    approximate = string(op.operands[1])
    return _opmath(_gelu_tanh if approximate == "tanh" else _gelu_erf)(op)


def convert_aten_elu(op: ir.OpView) -> ir.Value:
    """Above 0 scale x, below it scale alpha (exp(input_scale x) - 1)."""
    alpha, scale, input_scale = (_number(operand) for operand in op.operands[1:])

    def build(x: Tensor) -> Tensor:
        above = compare("gt", x, like(x, 0))
        grown = apply(tcp.Expm1Op, apply(tcp.MulOp, x, like(x, input_scale)))
        return _select(
            above,
            apply(tcp.MulOp, x, like(x, scale)),
            apply(tcp.MulOp, grown, like(x, alpha * scale)),
        )

    return _opmath(build)(op)


def convert_aten_leaky_relu(op: ir.OpView) -> ir.Value:
    """Above 0 x itself, below it slope x."""
    slope = _number(op.operands[1])

    def build(x: Tensor) -> Tensor:
        above = compare("gt", x, like(x, 0))
        return _select(above, x, apply(tcp.MulOp, x, like(x, slope)))

    return _opmath(build)(op)


def convert_aten_round_decimals(op: ir.OpView) -> ir.Value:
    """Round to some decimals, or to a power of ten for a negative number of them."""
    decimals = int(_number(op.operands[1]))
    operand = tensor(op.operands[0])
    dtype = operand.type.dtype
    if not is_float(dtype):
        return operand.value
    ten = 10.0 ** abs(decimals)
    scale, unscale = (tcp.MulOp, tcp.DivfOp) if decimals >= 0 else (tcp.DivfOp, tcp.MulOp)
    operand = cast(operand, computed_in(dtype))
    rounded = apply(tcp.RoundEvenOp, apply(scale, operand, like(operand, ten)))
    return cast(apply(unscale, rounded, like(operand, ten)), dtype).value


def convert_aten_abs(op: ir.OpView) -> ir.Value:
    """The absolute value; what has no sign stays."""
    operand = tensor(op.operands[0])
    if is_bool(operand.type.dtype) or signedness(operand.type.dtype) == "Unsigned":
        return operand.value
    return apply(tcp.AbsOp, operand).value


def convert_aten_neg(op: ir.OpView) -> ir.Value:
    """The number with its sign turned."""
    return apply(tcp.NegOp, tensor(op.operands[0])).value


def convert_aten_sign(op: ir.OpView) -> ir.Value:
    """-1, 0 or 1; 0 for a NaN, as in PyTorch."""
    operand = tensor(op.operands[0])
    dtype = operand.type.dtype
    if is_bool(dtype):
        return operand.value
    zero = like(operand, 0)
    positive = cast(compare("gt", operand, zero), dtype)
    negative = cast(compare("lt", operand, zero), dtype)
    return apply(tcp.SubOp, positive, negative).value


def convert_aten_bitwise_not(op: ir.OpView) -> ir.Value:
    """All bits turned; of a truth value there is one."""
    operand = tensor(op.operands[0])
    not_op = tcp.LogicalNotOp if is_bool(operand.type.dtype) else tcp.BitwiseNotOp
    return apply(not_op, operand).value


def convert_aten_logical_not(op: ir.OpView) -> ir.Value:
    """Whether it is zero."""
    return apply(tcp.LogicalNotOp, cast(tensor(op.operands[0]), "i1")).value


def _float_predicate(tcp_op: type[TcpOp], *, of_integers: bool) -> Pattern:
    """The pattern of a question about floats; integers all have the same answer."""

    def convert(op: ir.OpView) -> ir.Value:
        operand = tensor(op.operands[0])
        if is_float(operand.type.dtype):
            return tcp_op(operand.value).out
        return full(int(of_integers), "i1", (operand,), operand.type.sizes).value

    return convert


def convert_aten_signbit(op: ir.OpView) -> ir.Value:
    """Whether the sign is minus, as that of -0.0 is."""
    operand = tensor(op.operands[0])
    if is_float(operand.type.dtype):
        return tcp.SignbitOp(operand.value).out
    return compare("lt", operand, like(operand, 0)).value


def convert_aten_to_dtype(op: ir.OpView) -> ir.Value:
    """The numbers in another dtype, which the result's type names."""
    return cast(tensor(op.operands[0]), tensor_type(op.result).dtype).value


def convert_aten_view_dtype(op: ir.OpView) -> ir.Value:
    """The bits of each element as one of another dtype of the same width."""
    return bitcast(tensor(op.operands[0]), tensor_type(op.result).dtype).value


# -- two operands ----------------------------------------------------------------------------------


def _is_tensor(value: ir.Value) -> bool:
    return parse_tensor_type(value.type) is not None


def _operands(values: Sequence[ir.Value], dtype: str, sizes: Sequence[int]) -> list[Tensor]:
    """Operands, tensors and numbers, brought to one dtype and shape.

    Raises:
      Unsupported: one is neither.
    """
    found = [tensor(value) if _is_tensor(value) else _constant_or_tensor(value) for value in values]
    like = [cast(operand, dtype) for operand in found if isinstance(operand, Tensor)]
    return [
        broadcast(cast(operand, dtype), like, sizes)
        if isinstance(operand, Tensor)
        else full(operand, dtype, like, sizes)
        for operand in found
    ]


def _constant_or_tensor(value: ir.Value) -> int | float | Tensor:
    """A number: itself if it is a constant, else a tensor of rank 0."""
    return _number(value) if is_constant(value) else run_time_number(value)


def _dtype_of_operands(values: Sequence[ir.Value]) -> str:
    """The dtype that PyTorch takes two operands to, where the result's does not tell."""
    first, second = values
    if not _is_tensor(second):
        return promote_number(tensor_type(first), _category_of(second))
    if not _is_tensor(first):
        return promote_number(tensor_type(second), _category_of(first))
    return promote(tensor_type(first), tensor_type(second))


def _category_of(value: ir.Value) -> int | float:
    """A number of the same kind, which it is itself if it is a constant."""
    if is_constant(value):
        return _number(value)
    return 0 if str(value.type) == "!torch.int" else 0.0


def _binary(
    on_floats: Binary | None = None,
    on_signed: Binary | None = None,
    on_unsigned: Binary | None = None,
    on_bools: Binary | None = None,
    *,
    exact_numbers: bool = True,
) -> Pattern:
    """The pattern of a function of two operands that are taken to the result's dtype first.

    Half precision is computed in f32 and rounded once. A number beside it is taken as it is, or
    rounded first, whichever PyTorch does (`exact_numbers`); a tensor is rounded. A kind of dtype
    that has no function is refused.
    """

    def convert(op: ir.OpView) -> ir.Value:
        result = tensor_type(op.result)
        kind = signedness(result.dtype)
        build = {
            None: on_floats,
            "Signed": on_signed,
            "Unsigned": on_unsigned,
            "Signless": on_bools,
        }[kind]
        if build is None:
            raise Unsupported(f"there is no such operation on {result.dtype}")
        dtype = computed_in(result.dtype)
        values = list(op.operands)[:2]
        as_is = exact_numbers and not all(map(_is_tensor, values))
        operands = _operands(values, dtype if as_is else result.dtype, result.sizes)
        left, right = (cast(operand, dtype) for operand in operands)
        return cast(build(left, right), result.dtype).value

    return convert


def _arithmetic(
    tcp_op: type[TcpOp],
    on_bools: type[TcpOp] | None = None,
    *,
    exact_numbers: bool = False,
    turned: bool = False,
) -> Pattern:
    """The pattern of `self op other`, or `self op alpha * other`; with the two swapped if `turned`.

    Beside half precision PyTorch rounds a number first where it adds or subtracts, and takes it as
    it is (`exact_numbers`) where it multiplies or divides: a Python number, or one in a tensor of
    rank 0 that is multiplied with, or divided by.
    """

    def convert(op: ir.OpView) -> ir.Value:
        result = tensor_type(op.result)
        alpha = _number(op.operands[2]) if len(op.operands) == 3 else 1
        first, second, *_ = op.operands
        values = [second, first] if turned else [first, second]
        if is_bool(result.dtype):
            if on_bools is None or alpha != 1:
                raise Unsupported("there is no such operation on bool")
            left, right = _operands(values, result.dtype, result.sizes)
            return apply(on_bools, left, right).value
        if tcp_op is tcp.DivfOp and not is_float(result.dtype):
            raise Unsupported("an integer result")
        as_is = exact_numbers and not (_is_tensor(second) and tensor_type(second).rank)
        dtype = computed_in(result.dtype) if as_is else result.dtype
        left, right = _operands(values, dtype, result.sizes)
        if as_is and not is_float(tensor_type(first).dtype):
            left = cast(cast(left, result.dtype), dtype)
        if alpha != 1:
            # Which is of half precision, too, where the others are.
            is_real = is_float(dtype)
            factor = like(right, -alpha if is_real and tcp_op is tcp.SubOp else alpha)
            left, right, factor = (
                cast(operand, computed_in(dtype)) for operand in (left, right, factor)
            )
            if is_real:
                return cast(apply(tcp.FmuladdOp, right, factor, left), result.dtype).value
            right = apply(tcp.MulOp, right, factor)
        return cast(apply(tcp_op, left, right), result.dtype).value

    return convert


def _compare(predicate: str) -> Pattern:
    """The pattern of a comparison of a tensor with a tensor or a number."""

    def convert(op: ir.OpView) -> ir.Value:
        values = list(op.operands)
        dtype = _dtype_of_operands(values)
        left, right = _operands(values, dtype, tensor_type(op.result).sizes)
        return compare(predicate, left, right).value

    return convert


def _logical(tcp_op: type[TcpOp]) -> Pattern:
    """The pattern of a function of two truth values, which numbers are taken for."""

    def convert(op: ir.OpView) -> ir.Value:
        left, right = _operands(list(op.operands), "i1", tensor_type(op.result).sizes)
        return apply(tcp_op, left, right).value

    return convert


def _bitwise(on_ints: type[TcpOp], on_bools: type[TcpOp]) -> Pattern:
    return _binary(on_signed=_op(on_ints), on_unsigned=_op(on_ints), on_bools=_op(on_bools))


_SHIFT_LEFT = _binary(on_signed=_op(tcp.ShliOp), on_unsigned=_op(tcp.ShliOp))
_SHIFT_RIGHT = _binary(on_signed=_op(tcp.ShrsiOp), on_unsigned=_op(tcp.ShruiOp))


def _needs_step(remainder: Tensor, divisor: Tensor) -> Tensor:
    """Whether a truncated division leaves a remainder that points away from the divisor."""
    zero = like(divisor, 0)
    differ = apply(tcp.LogicalXorOp, compare("lt", remainder, zero), compare("lt", divisor, zero))
    return apply(tcp.LogicalAndOp, compare("ne", remainder, zero), differ)


def _needs_step_of_floats(remainder: Tensor, divisor: Tensor) -> Tensor:
    """The same in one comparison, for which a select of single floats takes no branch.

    A NaN needs none, but stays what it is.
    """
    return compare("ne", apply(tcp.CopysignOp, remainder, divisor), remainder)


def _remainder(tcp_op: type[TcpOp], needs_step: Binary = _needs_step) -> Binary:
    """Python's remainder, which has the sign of the divisor."""

    def build(left: Tensor, right: Tensor) -> Tensor:
        remainder = apply(tcp_op, left, right)
        stepped = apply(tcp.AddOp, remainder, right)
        return _select(needs_step(remainder, right), stepped, remainder)

    return build


def _floor_divide(left: Tensor, right: Tensor) -> Tensor:
    """Python's `//` of floats: exact where left / right rounds up to a whole number.

    By way of the remainder, as PyTorch and CPython do it.
    """
    remainder = apply(tcp.RemfOp, left, right)
    quotient = apply(tcp.DivfOp, apply(tcp.SubOp, left, remainder), right)
    one = like(left, 1)
    quotient = _select(
        _needs_step_of_floats(remainder, right), apply(tcp.SubOp, quotient, one), quotient
    )
    floor = apply(tcp.FloorOp, quotient)
    too_low = compare("gt", apply(tcp.SubOp, quotient, floor), like(left, 0.5))
    floor = _select(too_low, apply(tcp.AddOp, floor, one), floor)
    exact = apply(tcp.DivfOp, left, right)
    is_zero = compare("eq", floor, like(floor, 0))
    floor = _select(is_zero, apply(tcp.CopysignOp, floor, exact), floor)
    # By zero there is no remainder, and the quotient is infinite or NaN.
    by_zero = compare("eq", right, like(right, 0))
    return _select(by_zero, exact, floor)


def _truncated_quotient(left: Tensor, right: Tensor) -> Tensor:
    return _trunc(apply(tcp.DivfOp, left, right))


def _integer_division(tcp_op: type[TcpOp], rounding_mode: str) -> Binary:
    return lambda left, right: apply(tcp_op, left, right, rounding_mode=rounding_mode)


_DIVISION = {
    None: _binary(_op(tcp.DivfOp)),
    "trunc": _binary(
        _truncated_quotient,
        _integer_division(tcp.DivsiOp, "Trunc"),
        _integer_division(tcp.DivuiOp, "Trunc"),
    ),
    "floor": _binary(
        _floor_divide,
        _integer_division(tcp.DivsiOp, "Floor"),
        _integer_division(tcp.DivuiOp, "Floor"),
    ),
}


def convert_aten_div_mode(op: ir.OpView) -> ir.Value:
    """A quotient, whole if a rounding mode is given."""
    return _DIVISION[string(op.operands[2])](op)


def _unsigned_power(left: Tensor, right: Tensor) -> Tensor:
    # TCP's powers are signed: the next wider type has room for both operands.
    width = int(left.type.dtype.removeprefix("ui"))
    if width == 64:
        raise Unsupported("powers of ui64")
    wide = f"si{2 * width}"
    power = apply(tcp.PowOp, cast(left, wide), cast(right, wide))
    return cast(power, left.type.dtype)


_POWER = _binary(_op(tcp.PowOp), _op(tcp.PowOp), _unsigned_power)


def _square(x: Tensor) -> Tensor:
    return apply(tcp.MulOp, x, x)


# As PyTorch has them too: cheaper than a power, and exact where that is not.
_SPECIAL_POWERS: dict[float, Unary] = {
    0.5: _op(tcp.SqrtOp),
    -0.5: _op(tcp.RsqrtOp),
    1: lambda x: x,
    2: _square,
    3: lambda x: apply(tcp.MulOp, _square(x), x),
    -1: _reciprocal,
    -2: lambda x: _reciprocal(_square(x)),
}


def convert_aten_pow_tensor_scalar(op: ir.OpView) -> ir.Value:
    """The same power of all elements."""
    if not is_constant(op.operands[1]):
        return _POWER(op)
    exponent, dtype = _number(op.operands[1]), tensor_type(op.result).dtype
    # In f16 alone PyTorch takes no roots: the power of -inf is inf there, its root is NaN.
    is_special = exponent in _SPECIAL_POWERS and not (dtype == "f16" and abs(exponent) == 0.5)
    if is_float(dtype) and is_special:
        return _opmath(_SPECIAL_POWERS[exponent])(op)
    return _POWER(op)


# -- choices and bounds ----------------------------------------------------------------------------


def convert_aten_relu(op: ir.OpView) -> ir.Value:
    """max(x, 0), which keeps NaN."""
    return _clamp(tensor(op.operands[0]), 0, None)


def convert_aten_clamp(op: ir.OpView) -> ir.Value:
    """min(max(x, lower), upper), either bound left out where it is None."""
    if not all(map(is_constant, list(op.operands)[1:])):
        return convert_aten_clamp_tensor(op)
    result = tensor_type(op.result)
    lower, upper = number(op.operands[1]), number(op.operands[2])
    return _clamp(cast(tensor(op.operands[0]), result.dtype), lower, upper)


def _clamp(operand: Tensor, lower: int | float | None, upper: int | float | None) -> ir.Value:
    dtype = operand.type.dtype
    if is_float(dtype):
        least, greatest = (
            None
            if bound is None
            else ir.FloatAttr.get(operand.value.type.element_type, float(bound))
            for bound in (lower, upper)
        )
        return tcp.ClampOp(operand.value, min_float=least, max_float=greatest).out
    if is_bool(dtype):
        raise Unsupported("bounds on bool")
    return tcp.ClampOp(
        operand.value, min_int=lower, max_int=upper, int_signedness=signedness(dtype)
    ).out


def convert_aten_clamp_tensor(op: ir.OpView) -> ir.Value:
    """The same with a bound for each element."""
    result = tensor_type(op.result)
    bounds = [
        (value, tcp_op)
        for value, tcp_op in zip(list(op.operands)[1:], (tcp.MaximumOp, tcp.MinimumOp), strict=True)
        if str(value.type) != "!torch.none"
    ]
    values = [op.operands[0], *(value for value, _ in bounds)]
    clamped, *limits = _operands(values, result.dtype, result.sizes)
    for limit, (_, tcp_op) in zip(limits, bounds, strict=True):
        clamped = _signed_op(tcp_op)(clamped, limit)
    return clamped.value


def convert_aten_where(op: ir.OpView) -> ir.Value:
    """The second operand where the first is true, the third elsewhere."""
    result = tensor_type(op.result)
    condition, on_true, on_false = (tensor(operand) for operand in op.operands)
    condition = cast(condition, "i1")
    on_true, on_false = cast(on_true, result.dtype), cast(on_false, result.dtype)
    operands = (condition, on_true, on_false)
    return _select(*(broadcast(operand, operands, result.sizes) for operand in operands)).value


def convert_plumbline_polynomial(op: ir.OpView) -> ir.Value:
    """A sum of powers of a float, which decompositions name."""
    coefficients = [float(_number(item)) for item in items(op.operands[1])]
    return tcp.PolynomialOp(tensor(op.operands[0]).value, coefficients=coefficients).out


_EXTREMA = {
    "maximum": _signed_op(tcp.MaximumOp),
    "minimum": _signed_op(tcp.MinimumOp),
}

PATTERNS: Patterns = {
    "torch.aten.abs": convert_aten_abs,
    "torch.aten.acos": _unary(_op(tcp.AcosOp)),
    "torch.aten.asin": _unary(_op(tcp.AsinOp)),
    "torch.aten.atan": _unary(_op(tcp.AtanOp)),
    "torch.aten.bitwise_not": convert_aten_bitwise_not,
    "torch.aten.ceil": _rounding(_op(tcp.CeilOp)),
    "torch.aten.cos": _unary(_op(tcp.CosOp)),
    "torch.aten.cosh": _unary(_op(tcp.CoshOp)),
    "torch.aten.elu": convert_aten_elu,
    "torch.aten.erf": _unary(_op(tcp.ErfOp)),
    "torch.aten.erfc": _unary(_op(tcp.ErfcOp)),
    "torch.aten.exp": _unary(_op(tcp.ExpOp)),
    "torch.aten.expm1": _unary(_op(tcp.Expm1Op)),
    "torch.aten.floor": _rounding(_op(tcp.FloorOp)),
    "torch.aten.gelu": convert_aten_gelu,
    "torch.aten.isfinite": _float_predicate(tcp.IsfiniteOp, of_integers=True),
    "torch.aten.isinf": _float_predicate(tcp.IsinfOp, of_integers=False),
    "torch.aten.isnan": _float_predicate(tcp.IsnanOp, of_integers=False),
    "torch.aten.leaky_relu": convert_aten_leaky_relu,
    "torch.aten.log": _unary(_op(tcp.LogOp)),
    "torch.aten.log1p": _unary(_op(tcp.Log1pOp)),
    "torch.aten.logical_not": convert_aten_logical_not,
    "torch.aten.neg": convert_aten_neg,
    "torch.aten.reciprocal": _unary(_reciprocal),
    "torch.plumbline.polynomial": convert_plumbline_polynomial,
    "torch.aten.relu": convert_aten_relu,
    "torch.aten.round": _rounding(_op(tcp.RoundEvenOp)),
    "torch.aten.round.decimals": convert_aten_round_decimals,
    "torch.aten.rsqrt": _unary(_op(tcp.RsqrtOp)),
    "torch.aten.sgn": convert_aten_sign,
    "torch.aten.sigmoid": _unary(_op(tcp.SigmoidOp)),
    "torch.aten.sign": convert_aten_sign,
    "torch.aten.signbit": convert_aten_signbit,
    "torch.aten.sin": _unary(_op(tcp.SinOp)),
    "torch.aten.asinh": _unary(_op(tcp.AsinhOp)),
    "torch.aten.sinh": _unary(_op(tcp.SinhOp)),
    "torch.aten.sqrt": _unary(_op(tcp.SqrtOp)),
    "torch.aten.tan": _unary(_op(tcp.TanOp)),
    "torch.aten.tanh": _unary(_op(tcp.TanhOp)),
    "torch.aten.to.dtype": convert_aten_to_dtype,
    "torch.aten.view.dtype": convert_aten_view_dtype,
    "torch.aten.trunc": _rounding(_trunc),
    "torch.aten.add.Scalar": _arithmetic(tcp.AddOp, tcp.LogicalOrOp),
    "torch.aten.add.Tensor": _arithmetic(tcp.AddOp, tcp.LogicalOrOp),
    "torch.aten.mul.Scalar": _arithmetic(tcp.MulOp, tcp.LogicalAndOp, exact_numbers=True),
    "torch.aten.mul.Tensor": _arithmetic(tcp.MulOp, tcp.LogicalAndOp, exact_numbers=True),
    "torch.aten.sub.Scalar": _arithmetic(tcp.SubOp),
    "torch.aten.sub.Tensor": _arithmetic(tcp.SubOp),
    "torch.aten.rsub.Scalar": _arithmetic(tcp.SubOp, turned=True),
    "torch.aten.div.Scalar": _arithmetic(tcp.DivfOp, exact_numbers=True),
    "torch.aten.div.Tensor": _arithmetic(tcp.DivfOp, exact_numbers=True),
    "torch.aten.div.Scalar_mode": convert_aten_div_mode,
    "torch.aten.div.Tensor_mode": convert_aten_div_mode,
    "torch.aten.floor_divide": _DIVISION["floor"],
    "torch.aten.floor_divide.Scalar": _DIVISION["floor"],
    "torch.aten.atan2": _binary(_op(tcp.Atan2Op)),
    "torch.aten.copysign.Tensor": _binary(_op(tcp.CopysignOp)),
    "torch.aten.pow.Scalar": _POWER,
    "torch.aten.pow.Tensor_Scalar": convert_aten_pow_tensor_scalar,
    "torch.aten.pow.Tensor_Tensor": _POWER,
    **{
        f"torch.aten.{name}": _binary(build, build, build, build)
        for name, build in _EXTREMA.items()
    },
    **{
        f"torch.aten.fmod.{kind}": _binary(
            _op(tcp.RemfOp), _op(tcp.RemsiOp), _op(tcp.RemuiOp), exact_numbers=False
        )
        for kind in ("Scalar", "Tensor")
    },
    **{
        f"torch.aten.remainder.{kind}": _binary(
            _remainder(tcp.RemfOp, _needs_step_of_floats),
            _remainder(tcp.RemsiOp),
            _op(tcp.RemuiOp),
            exact_numbers=False,
        )
        for kind in ("Scalar", "Tensor")
    },
    **{
        f"torch.aten.bitwise_{name}.{kind}": _bitwise(on_ints, on_bools)
        for name, on_ints, on_bools in (
            ("and", tcp.BitwiseAndOp, tcp.LogicalAndOp),
            ("or", tcp.BitwiseOrOp, tcp.LogicalOrOp),
            ("xor", tcp.BitwiseXorOp, tcp.LogicalXorOp),
        )
        for kind in ("Scalar", "Tensor")
    },
    "torch.aten.__lshift__.Scalar": _SHIFT_LEFT,
    "torch.aten.__rshift__.Scalar": _SHIFT_RIGHT,
    "torch.aten.bitwise_left_shift.Tensor": _SHIFT_LEFT,
    "torch.aten.bitwise_right_shift.Tensor": _SHIFT_RIGHT,
    "torch.aten.logical_and": _logical(tcp.LogicalAndOp),
    "torch.aten.logical_or": _logical(tcp.LogicalOrOp),
    "torch.aten.logical_xor": _logical(tcp.LogicalXorOp),
    **{
        f"torch.aten.{predicate}.{kind}": _compare(predicate)
        for predicate in ("eq", "ne", "lt", "le", "gt", "ge")
        for kind in ("Scalar", "Tensor")
    },
    "torch.aten.clamp": convert_aten_clamp,
    "torch.aten.clamp.Tensor": convert_aten_clamp_tensor,
    "torch.aten.where.self": convert_aten_where,
}
