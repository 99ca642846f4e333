"""exp, tanh and erf of f32 in plain arithmetic, of which LLVM can make loops over vectors.

A call of libm takes one element at a time. Here both sides of every case are computed, and one is
selected. The polynomials are minimax fits, made in f64 and rounded to f32; where they hold and what
is left of the argument before (Cody and Waite, "Software Manual for the Elementary Functions",
1980, chapters 6 and 13) is said at each. Errors stay below 2 units in the last place (3 for tanh),
subnormal results included; test/linalg_to_kernels/elementary_functions_test.py measures them.
"""

import math
from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects import math as math_dialect

from plumbline.walk import all_operations

_CONTRACT = arith.FastMathFlags.contract

_EXP = (0.5, 0.16666521, 0.041668389, 0.0083687101, 0.0013814612)
"""(exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, in powers of r."""

_TANH = (-0.33333284, 0.13331491, -0.053743493, 0.020650575, -0.0057170326)
"""(tanh(x) / x - 1) / x^2 for |x| <= 0.625, in powers of x^2."""

_ERF = (
    0.12837917,
    -0.37612638,
    0.11283782,
    -0.0268654,
    0.0052209455,
    -0.00084828289,
    0.00011256948,
    -9.641516e-06,
)
"""erf(x) / x - 1 for |x| <= 1, in powers of x^2."""

_LOG_ERFC = (
    0.00020435886,
    -1.1296612,
    -0.63303965,
    -0.10863899,
    0.025373546,
    -0.0042823781,
    0.00046378671,
    -2.5314597e-05,
    2.5131206e-07,
)
"""log(1 - erf(x)) for 1 <= x <= 4, in powers of x; beyond 4, erf(x) rounds to 1."""

_LOG_2_HIGH, _LOG_2_LOW = 0.693359375, -2.12194440e-4
"""log(2) in two parts; the first has few enough bits that multiples of it up to 2^9 are exact."""

_ROUNDER = 1.5 * 2.0**23
"""Added to a small number, it leaves that, rounded, in the last bits."""


def expand_elementary_functions(module: ir.Operation) -> None:
    """Spells `math.exp`, `math.tanh` and `math.erf` of f32 in arithmetic."""
    with module.context:
        f32 = ir.F32Type.get()
        for op in all_operations(module):
            build = _FUNCTIONS.get(op.name)
            if build is None or op.result.type != f32:
                continue
            with ir.InsertionPoint(op), op.location:
                op.result.replace_all_uses_with(build(op.operands[0]))
            op.erase()


def _number(value: float) -> ir.Value:
    return arith.constant(ir.F32Type.get(), value)


def _integer(value: int) -> ir.Value:
    return arith.constant(ir.IntegerType.get_signless(32), value)


def _add(left: ir.Value, right: ir.Value) -> ir.Value:
    return arith.addf(left, right, fastmath=_CONTRACT)


def _multiply(left: ir.Value, right: ir.Value) -> ir.Value:
    return arith.mulf(left, right, fastmath=_CONTRACT)


def _polynomial(x: ir.Value, coefficients: Sequence[float]) -> ir.Value:
    """By Horner's rule."""
    result = _number(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = _add(_multiply(result, x), _number(coefficient))
    return result


def _compare(predicate: str, left: ir.Value, right: ir.Value) -> ir.Value:
    return arith.cmpf(getattr(arith.CmpFPredicate, predicate), left, right)


def _limited(x: ir.Value, lower: float, upper: float) -> ir.Value:
    """`x` between two bounds; a NaN stays."""
    for predicate, bound in (("OLT", lower), ("OGT", upper)):
        limit = _number(bound)
        x = arith.select(_compare(predicate, x, limit), limit, x)
    return x


def _power_of_2(exponent: ir.Value) -> ir.Value:
    """2 to the power of an integer from -126 to 127."""
    bits = arith.shli(arith.addi(exponent, _integer(127)), _integer(23))
    return arith.bitcast(ir.F32Type.get(), bits)


def _exp(x: ir.Value) -> ir.Value:
    """2^n exp(r), where x = n log(2) + r.

    Beyond these bounds it is infinite, or less than half of the least subnormal number.
    """
    x = _limited(x, -104.0, 89.0)
    rounder = _number(_ROUNDER)
    # No contraction here: it is the rounding that counts.
    shifted = arith.addf(arith.mulf(x, _number(1 / math.log(2))), rounder)
    n = arith.subf(shifted, rounder)
    rest = _add(x, _multiply(n, _number(-_LOG_2_HIGH)))
    rest = _add(rest, _multiply(n, _number(-_LOG_2_LOW)))
    power = _multiply(_polynomial(rest, _EXP), _multiply(rest, rest))
    power = arith.addf(_number(1.0), _add(rest, power))
    i32 = ir.IntegerType.get_signless(32)
    exponent = arith.subi(arith.bitcast(i32, shifted), arith.bitcast(i32, rounder))
    # In two steps, as 2^n itself may be out of range; only the second one rounds.
    half = arith.shrsi(exponent, _integer(1))
    power = arith.mulf(power, _power_of_2(half))
    return arith.mulf(power, _power_of_2(arith.subi(exponent, half)))


def _tanh(x: ir.Value) -> ir.Value:
    """1 - 2 / (exp(2 |x|) + 1), but a polynomial near 0, where that cancels; with the sign of x."""
    size = math_dialect.absf(x)
    square = _multiply(x, x)
    near = _add(_multiply(_multiply(_polynomial(square, _TANH), square), size), size)
    # From 10 on it rounds to 1; a NaN fails the comparison, and stays.
    grown = _exp(_limited(_multiply(size, _number(2.0)), 0.0, 20.0))
    far = arith.subf(_number(1.0), arith.divf(_number(2.0), arith.addf(grown, _number(1.0))))
    result = arith.select(_compare("OLT", size, _number(0.625)), near, far)
    return math_dialect.copysign(result, x)


def _erf(x: ir.Value) -> ir.Value:
    """1 - exp(log(1 - erf(|x|))), but a polynomial near 0; with the sign of x."""
    size = math_dialect.absf(x)
    near = _add(_multiply(_polynomial(_multiply(x, x), _ERF), size), size)
    log = _polynomial(_limited(size, 0.0, 4.0), _LOG_ERFC)
    far = arith.subf(_number(1.0), _exp(log))
    result = arith.select(_compare("OLT", size, _number(1.0)), near, far)
    return math_dialect.copysign(result, x)


_FUNCTIONS: dict[str, Callable[[ir.Value], ir.Value]] = {
    "math.erf": _erf,
    "math.exp": _exp,
    "math.tanh": _tanh,
}
