"""Spells remainders of floats in arithmetic of integers, as a GPU has no instructions for them.

The remainder of fraction 2^n over another fraction is exact: it is found by so many bits at a time
as the product with a power of two has room for. On a CPU the C library's fmod does the same.
"""

from collections.abc import Callable
from math import inf, nan

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, vector

from plumbline.bindings.walk import all_operations
from plumbline.elementary_functions.arithmetic import Float, Int, where, where_int


def expand_remainders(root: ir.Operation) -> None:
    """Spells each `arith.remf`, on single numbers and on vectors."""
    with root.context:
        for op in all_operations(root):
            if op.name == "arith.remf":
                with ir.InsertionPoint(op), op.location:
                    op.results[0].replace_all_uses_with(_of_each(op, _remainder_of_any))
                op.erase()


def _of_each(op: ir.Operation, build: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    """What there is of numbers, or for each element of vectors of one axis."""
    left, right = op.operands
    if not isinstance(left.type, ir.VectorType):
        return build(left, right)
    none = ir.DenseI64ArrayAttr
    (length,) = ir.VectorType(left.type).shape
    elements = [
        build(*(vector.extract(value, [], none.get([at])) for value in (left, right)))
        for at in range(length)
    ]
    return vector.from_elements(left.type, elements)


def _remainder_of_any(x: ir.Value, y: ir.Value) -> ir.Value:
    """That of half precision is computed in f32, and rounded: PyTorch does so."""
    type_ = x.type
    if isinstance(type_, ir.F16Type | ir.BF16Type):
        wide = [Float(arith.extf(ir.F32Type.get(), value)) for value in (x, y)]
        return arith.truncf(type_, _remainder(*wide).value)
    return _remainder(Float(x), Float(y)).value


def _remainder(x: Float, y: Float) -> Float:
    """What is left of x by the n that is x / y rounded towards 0: x - n y, with the sign of x."""
    size, divisor = abs(x), abs(y)
    fraction, exponent = _taken_apart(size)
    other, least = _taken_apart(divisor)
    # Where the divisor is 0 there is none, and it does not matter what is computed.
    other = where_int(other.equals(0), other.constant(1), other)
    rest = Float(
        arith.sitofp(x.value.type, _reduced(fraction, exponent - least, other, x.fraction_bits))
    )
    result = where(size < divisor, size, rest * _power_of_2(least, x))
    result = where(size < inf, result, nan)
    return where(divisor > 0.0, result, nan).with_sign_of(x)


def _taken_apart(size: Float) -> tuple[Int, Int]:
    """A fraction and an exponent, from 0 on: so many times the least float, times 2^exponent."""
    point = size.fraction_bits
    bits = size.as_int()
    exponent = bits >> point
    fraction = bits & ((1 << point) - 1)
    is_subnormal = exponent.equals(0)
    return (
        where_int(is_subnormal, fraction, fraction | (1 << point)),
        where_int(is_subnormal, exponent, exponent - 1),
    )


def _reduced(fraction: Int, exponent: Int, divisor: Int, point: int) -> ir.Value:
    """The remainder of fraction 2^exponent, where both fractions have bits up to a `point`."""
    i64 = ir.IntegerType.get_signless(64)
    at_once = Int(arith.constant(i64, 63 - point))
    first, left, by = (
        part.value if part.value.type == i64 else extend(i64, part.value)
        for part, extend in (
            (fraction, arith.extui),
            (exponent, arith.extsi),
            (divisor, arith.extui),
        )
    )
    loop = scf.WhileOp([i64, i64], [arith.remui(first, by), left])
    with ir.InsertionPoint(loop.before.blocks.append(i64, i64)) as before:
        rest, left = before.block.arguments
        more = arith.cmpi(arith.CmpIPredicate.sgt, left, arith.constant(i64, 0))
        scf.ConditionOp(more, [rest, left])
    with ir.InsertionPoint(loop.after.blocks.append(i64, i64)) as after:
        rest, left = after.block.arguments
        bits = arith.minsi(left, at_once.value)
        scf.YieldOp([arith.remui(arith.shli(rest, bits), by), arith.subi(left, bits)])
    return loop.results[0]


def _power_of_2(exponent: Int, like: Float) -> Float:
    """2^exponent times the least float, which may be subnormal itself."""
    point = like.fraction_bits
    subnormal = exponent.constant(1) << where_int(exponent < point, exponent, exponent.constant(0))
    normal = (exponent - (point - 1)) << point
    return where_int(exponent < point, subnormal, normal).as_float()
