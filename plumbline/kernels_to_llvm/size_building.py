"""Sizes (`signature/size_expressions.py`) as values of type index, and floats within as f64."""

from collections.abc import Callable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from plumbline.signature.size_expressions import Operation, Size, SymbolUse


def build_size(size: Size, symbols: Mapping[int, ir.Value]) -> ir.Value:
    """Computes a size, at the insertion point, where symbols have these values."""
    match size:
        case float():
            return arith.constant(ir.F64Type.get(), size)
        case SymbolUse(index):
            return symbols[index]
        case Operation(operator, left, right):
            return _OPERATORS[operator](build_size(left, symbols), build_size(right, symbols))
        case _:
            return index_constant(size)


def index_constant(number: int) -> ir.Value:
    """A constant of type index."""
    return arith.constant(ir.IndexType.get(), number)


def _divisor(value: ir.Value) -> ir.Value:
    return arith.maxsi(value, index_constant(1))


def _floordiv(left: ir.Value, right: ir.Value) -> ir.Value:
    return arith.floordivsi(left, _divisor(right))


def _mod(left: ir.Value, right: ir.Value) -> ir.Value:
    multiple = arith.muli(_floordiv(left, right), _divisor(right))
    return arith.subi(left, multiple)


def _holds(predicate: arith.CmpIPredicate) -> Callable[[ir.Value, ir.Value], ir.Value]:
    def build(left: ir.Value, right: ir.Value) -> ir.Value:
        return arith.index_castui(ir.IndexType.get(), arith.cmpi(predicate, left, right))

    return build


def _real(value: ir.Value) -> ir.Value:
    """A number as f64."""
    if value.type == ir.F64Type.get():
        return value
    whole = arith.index_cast(ir.IntegerType.get_signless(64), value)
    return arith.sitofp(ir.F64Type.get(), whole)


def _of_reals(
    compute: Callable[[ir.Value, ir.Value], ir.Value],
) -> Callable[[ir.Value, ir.Value], ir.Value]:
    return lambda left, right: compute(_real(left), _real(right))


def _rounded(
    round_: Callable[[ir.Value], ir.Value],
) -> Callable[[ir.Value, ir.Value], ir.Value]:
    def build(left: ir.Value, right: ir.Value) -> ir.Value:
        quotient = round_(arith.divf(_real(left), _real(right)))
        whole = arith.fptosi(ir.IntegerType.get_signless(64), quotient)
        return arith.index_cast(ir.IndexType.get(), whole)

    return build


def _product_of_f32(left: ir.Value, right: ir.Value) -> ir.Value:
    product = arith.truncf(ir.F32Type.get(), arith.mulf(_real(left), _real(right)))
    return arith.extf(ir.F64Type.get(), product)


_OPERATORS: dict[str, Callable[[ir.Value, ir.Value], ir.Value]] = {
    "+": arith.addi,
    "*": arith.muli,
    "mod": _mod,
    "floordiv": _floordiv,
    "ceildiv": lambda left, right: arith.ceildivsi(left, _divisor(right)),
    "min": arith.minsi,
    "max": arith.maxsi,
    "<": _holds(arith.CmpIPredicate.slt),
    "==": _holds(arith.CmpIPredicate.eq),
    "+.": _of_reals(arith.addf),
    "*.": _of_reals(arith.mulf),
    "/.": _of_reals(arith.divf),
    "*.f32": _product_of_f32,
    "floor/.": _rounded(math.floor),
    "ceil/.": _rounded(math.ceil),
}
