"""The remainder of a division truncated, C's fmod. As that it is exact."""

import math

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.bindings.walk import constant_float
from plumbline.elementary_functions.arithmetic import Float, Int, where, where_int
from plumbline.elementary_functions.pairs import halves

_AT_ONCE = 28
"""Bits of a quotient that are taken off at once: 24 more are a divisor's, and a double has 53."""

_LEAST = 2.0**-149
"""The least float of 32 bits."""


def remf(x: Float, y: Float) -> Float:
    """What is left of x by the n that is x / y rounded towards 0: x - n y, with the sign of x."""
    return _remf_of_single(x, y) if x.bits == 32 else _remf_of_double(x, y)


def _remf_of_single(x: Float, y: Float) -> Float:
    """In f64, the bits of n from the left on, by products without a loss.

    A step that is for greater quotients than the one at hand subtracts 0, so that all numbers go
    the same way.
    """
    # Infinity, which leaves x alone, as a number that does so too: 0 times that is 0.
    divisor = abs(y).in_double().at_most(2.0**129)
    inverse = 1.0 / divisor
    rest = abs(x).in_double()
    for step in reversed(range(_steps(constant_float(y.value)))):
        scale = 2.0 ** (_AT_ONCE * step)
        rest = _reduced(rest, rest * (inverse * (1 / scale)), divisor * scale)
    return _not_negative(rest, divisor).in_single().with_sign_of(x)


def _steps(divisor: float | None) -> int:
    """In how many of them the quotient of any float by such a one is taken off."""
    least = abs(divisor or _LEAST)
    return math.ceil((129 - math.frexp(least)[1]) / _AT_ONCE) if math.isfinite(least) else 1


def _reduced(x: Float, quotient: Float, divisor: Float) -> Float:
    """What a quotient, rounded, leaves: about half a divisor or less, of either sign."""
    return x - ((quotient + x.rounder) - x.rounder) * divisor


def _not_negative(rest: Float, divisor: Float) -> Float:
    return where(rest < 0.0, rest + divisor, rest)


def _remf_of_double(x: Float, y: Float) -> Float:
    """At once, where the quotient has no more than 24 bits; else in arithmetic of integers.

    Vectors are left to LLVM.
    """
    if isinstance(x.value.type, ir.VectorType):
        return Float(arith.remf(x.value, y.value))
    size, divisor = abs(x), abs(y)
    # No product is subnormal, or infinite.
    at_once = (size < divisor * 2.0**24) & (divisor > 2.0**-900) & (divisor < 2.0**900)
    branches = scf.IfOp(at_once.value, [x.value.type], has_else=True)
    with ir.InsertionPoint(branches.then_block):
        quotient = size / divisor
        whole = (quotient + size.rounder) - size.rounder
        high, low = halves(divisor)
        rest = _not_negative((size - whole * high) - whole * low, divisor)
        scf.YieldOp([rest.with_sign_of(x).value])
    with ir.InsertionPoint(branches.else_block):
        scf.YieldOp([remf_of_integers(x, y).value])
    return Float(branches.results[0])


def remf_of_integers(x: Float, y: Float) -> Float:
    """The same, in arithmetic of integers, of numbers that are no vectors.

    The remainder of fraction 2^n over another fraction is found by so many bits at a time as the
    product with a power of two has room for.
    """
    size, divisor = abs(x), abs(y)
    fraction, exponent = _taken_apart(size)
    other, least = _taken_apart(divisor)
    # Where the divisor is 0 there is none, and it does not matter what is computed.
    other = where_int(other.equals(0), other.constant(1), other)
    rest = Float(
        arith.sitofp(
            x.value.type, _reduced_integers(fraction, exponent - least, other, x.fraction_bits)
        )
    )
    result = where(size < divisor, size, rest * _power_of_2(least, x))
    result = where(size < math.inf, result, math.nan)
    return where(divisor > 0.0, result, math.nan).with_sign_of(x)


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


def _reduced_integers(fraction: Int, exponent: Int, divisor: Int, point: int) -> ir.Value:
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
