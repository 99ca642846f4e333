"""Elementwise ops against PyTorch."""

import sys
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it

from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import elementwise as tcp
from test.AotCompile.ops.op_case import (
    ALL,
    BOOL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
    OpCase,
    Sampler,
    check,
    each,
    ops_without_case,
)

_UNSIGNED = (torch.uint8,)
_INTEGERS_AND_BOOL = (*INTEGERS, *BOOL)


def _one(s: Sampler) -> tuple[torch.Tensor, ...]:
    return (s.telling(5, 7),)


def _one_finite(s: Sampler) -> tuple[torch.Tensor, ...]:
    return (s.tensor(5, 7),)


def _one_within_one(s: Sampler) -> tuple[torch.Tensor, ...]:
    return (s.tensor(5, 7, low=-1, high=1),)


def _two(s: Sampler) -> tuple[torch.Tensor, ...]:
    return s.telling(5, 7), s.telling(5, 7)


def _two_stretched(s: Sampler) -> tuple[torch.Tensor, ...]:
    return s.telling(5, 1), s.telling(3, 1, 7)


def _dividend_and_divisor(s: Sampler) -> tuple[torch.Tensor, ...]:
    divisor = s.tensor(5, 7, low=-3, high=3)
    if s.dtype.is_floating_point:
        return s.telling(5, 7), torch.where(divisor.abs() < 0.5, s.telling(5, 7), divisor)
    # PyTorch raises an error for integers divided by zero, and dies of the least one by -1.
    dividend = s.telling(5, 7)
    divisor[divisor == 0] = 3
    dividend[(divisor + 1 == 0) & (dividend == torch.iinfo(s.dtype).min)] = 5
    return dividend, divisor


def _unary(name: str, op: type[TcpOp], function: Callable[..., torch.Tensor]) -> OpCase:
    """A function of one float, which integers and truth values are taken for too."""
    # f32 for integers: PyTorch's default dtype, of 24 bits, is what they all become.
    return OpCase(name, function, _one, [op], (*FLOATS, *_INTEGERS_AND_BOOL))


UNARY = [
    _unary("acos", tcp.AcosOp, torch.acos),
    _unary("asin", tcp.AsinOp, torch.asin),
    _unary("atan", tcp.AtanOp, torch.atan),
    _unary("cosh", tcp.CoshOp, torch.cosh),
    _unary("erf", tcp.ErfOp, torch.erf),
    _unary("exp", tcp.ExpOp, torch.exp),
    _unary("expm1", tcp.Expm1Op, torch.expm1),
    _unary("log", tcp.LogOp, torch.log),
    _unary("log1p", tcp.Log1pOp, torch.log1p),
    _unary("rsqrt", tcp.RsqrtOp, torch.rsqrt),
    _unary("sigmoid", tcp.SigmoidOp, torch.sigmoid),
    _unary("sinh", tcp.SinhOp, torch.sinh),
    _unary("sqrt", tcp.SqrtOp, torch.sqrt),
    _unary("tanh", tcp.TanhOp, torch.tanh),
    _unary("reciprocal", tcp.DivfOp, torch.reciprocal),
    # The greatest integers as angles: the rest of a division by 2 pi, of which f32 keeps nothing.
    OpCase("cos", torch.cos, _one_finite, [tcp.CosOp]),
    OpCase("sin", torch.sin, _one_finite, [tcp.SinOp]),
    OpCase("tan", torch.tan, _one_within_one, [tcp.TanOp]),
    OpCase("cos_special", torch.cos, _one, [tcp.CosOp], FLOATS),
    OpCase("abs", torch.abs, _one, [tcp.AbsOp], (*FLOATS, *SIGNED)),
    OpCase("abs_without_sign", lambda x: torch.abs(x) + 1, _one, [tcp.AddOp], _UNSIGNED),
    OpCase("neg", torch.neg, _one, [tcp.NegOp], NUMBERS),
    OpCase("sign", torch.sign, _one, [tcp.CompareOp, tcp.SubOp], NUMBERS),
    OpCase("sgn", torch.sgn, _one, [tcp.CompareOp, tcp.SubOp], NUMBERS),
    OpCase("ceil", torch.ceil, _one, [tcp.CeilOp], FLOATS),
    OpCase("floor", torch.floor, _one, [tcp.FloorOp], FLOATS),
    OpCase("round", torch.round, _one, [tcp.RoundEvenOp], FLOATS),
    OpCase(
        "round_decimals",
        lambda x: (torch.round(x, decimals=1), torch.round(x, decimals=-1)),
        _one_finite,
        [tcp.RoundEvenOp],
        (torch.float32, torch.float64),
    ),
    OpCase("trunc", torch.trunc, _one, [tcp.CeilOp, tcp.FloorOp], FLOATS),
    OpCase("frac", torch.frac, _one, [tcp.CeilOp, tcp.FloorOp], FLOATS),
    OpCase(
        "round_integers",
        lambda x: torch.ceil(x) + torch.floor(x) + torch.round(x) + torch.trunc(x),
        _one,
        [tcp.AddOp],
        INTEGERS,
    ),
    OpCase("isnan", torch.isnan, _one, [tcp.IsnanOp], FLOATS),
    OpCase("isinf", torch.isinf, _one, [tcp.IsinfOp], FLOATS),
    OpCase("isfinite", torch.isfinite, _one, [tcp.IsfiniteOp], FLOATS),
    OpCase("signbit", torch.signbit, _one, [tcp.SignbitOp], FLOATS),
    OpCase(
        "predicates_of_integers",
        lambda x: (torch.isnan(x), torch.isinf(x), torch.isfinite(x), torch.signbit(x)),
        _one,
        [],
        _INTEGERS_AND_BOOL,
    ),
    OpCase("bitwise_not", torch.bitwise_not, _one, [tcp.BitwiseNotOp], INTEGERS),
    OpCase("bitwise_not_bool", torch.bitwise_not, _one, [tcp.LogicalNotOp], BOOL),
    OpCase("logical_not", torch.logical_not, _one, [tcp.LogicalNotOp]),
    OpCase("rank_0", lambda x: torch.tanh(x) + x, lambda s: (s.tensor(),), [tcp.TanhOp], FLOATS, kinds=("static",)),
]

BINARY = [
    OpCase("add", torch.add, _two, [tcp.AddOp], NUMBERS),
    OpCase("add_bool", torch.add, _two, [tcp.LogicalOrOp], BOOL),
    OpCase("add_alpha", lambda x, y: torch.add(x, y, alpha=3), _two, [tcp.AddOp, tcp.MulOp], NUMBERS),
    OpCase("add_stretched", torch.add, _two_stretched, [tcp.AddOp], NUMBERS),
    OpCase("sub", torch.sub, _two, [tcp.SubOp], NUMBERS),
    OpCase("sub_alpha", lambda x, y: torch.sub(x, y, alpha=2), _two, [tcp.SubOp, tcp.MulOp], NUMBERS),
    OpCase("rsub", lambda x: 2 - x, _one, [tcp.SubOp], NUMBERS),
    OpCase("rsub_alpha", lambda x, y: torch.rsub(x, y, alpha=2), _two, [tcp.SubOp], NUMBERS),
    OpCase("mul", torch.mul, _two, [tcp.MulOp], NUMBERS),
    OpCase("mul_bool", torch.mul, _two, [tcp.LogicalAndOp], BOOL),
    OpCase("number", lambda x: (x + 3, x - 3, 3 * x, x / 3), _one, [tcp.AddOp, tcp.DivfOp]),
    OpCase("fraction", lambda x: (x + 0.7, x - 0.7, 0.7 * x, x / 0.7), _one, [tcp.AddOp]),
    OpCase("div", torch.div, _two, [tcp.DivfOp]),
    OpCase("atan2", torch.atan2, _two, [tcp.Atan2Op]),
    OpCase("copysign", torch.copysign, _two, [tcp.CopysignOp]),
    OpCase("copysign_number", lambda x: torch.copysign(x, -0.0), _one, [tcp.CopysignOp]),
    OpCase("maximum", torch.maximum, _two, [tcp.MaximumOp]),
    OpCase("minimum", torch.minimum, _two, [tcp.MinimumOp]),
    OpCase("fmax", torch.fmax, _two, [tcp.MaximumOp, tcp.SelectOp]),
    OpCase("fmin", torch.fmin, _two, [tcp.MinimumOp, tcp.SelectOp]),
    OpCase("fmod", torch.fmod, _dividend_and_divisor, [tcp.RemfOp], FLOATS),
    OpCase("fmod_signed", torch.fmod, _dividend_and_divisor, [tcp.RemsiOp], SIGNED),
    OpCase("fmod_unsigned", torch.fmod, _dividend_and_divisor, [tcp.RemuiOp], _UNSIGNED),
    OpCase("fmod_number", lambda x: (torch.fmod(x, 3), torch.fmod(x, 2.5)), _one_finite, [tcp.RemfOp], NUMBERS),
    OpCase("remainder", torch.remainder, _dividend_and_divisor, [tcp.RemfOp], FLOATS),
    OpCase("remainder_signed", torch.remainder, _dividend_and_divisor, [tcp.RemsiOp], SIGNED),
    OpCase("remainder_unsigned", torch.remainder, _dividend_and_divisor, [tcp.RemuiOp], _UNSIGNED),
    OpCase("remainder_number", lambda x: (x % 3, x % 2.5), _one_finite, [tcp.RemfOp], NUMBERS),
    OpCase("remainder_of_number", lambda x: 7 % (x.abs() + 1), lambda s: (s.tensor(5, 7, high=9),), [tcp.AddOp], INTEGERS),
    OpCase("floor_divide", torch.floor_divide, _dividend_and_divisor, [tcp.FloorOp], FLOATS),
    OpCase("floor_divide_signed", torch.floor_divide, _dividend_and_divisor, [tcp.DivsiOp], SIGNED),
    OpCase("floor_divide_unsigned", torch.floor_divide, _dividend_and_divisor, [tcp.DivuiOp], _UNSIGNED),
    OpCase("floor_divide_number", lambda x: (x // 3, x // -2), _one, [tcp.DivsiOp], SIGNED),
    OpCase(
        "div_trunc",
        lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        _dividend_and_divisor,
        [tcp.CeilOp, tcp.FloorOp],
        FLOATS,
    ),
    OpCase(
        "div_trunc_integers",
        lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        _dividend_and_divisor,
        [tcp.DivsiOp, tcp.DivuiOp],
        INTEGERS,
    ),
    OpCase("pow", torch.pow, lambda s: (s.telling(5, 7), s.tensor(5, 7)), [tcp.PowOp], FLOATS),
    OpCase("pow_integers", torch.pow, lambda s: (s.telling(5, 7), s.tensor(5, 7, low=-3, high=70)), [tcp.PowOp], INTEGERS),
    OpCase("pow_number", lambda x: (x**5, x**1, x**0), _one, [tcp.PowOp], INTEGERS),
    OpCase("pow_of_number", lambda x: (2**x, (-1.5) ** x.to(torch.float32)), lambda s: (s.tensor(5, 7, low=0, high=6),), [tcp.PowOp], NUMBERS),
    OpCase(
        "pow_special",
        lambda x: (x**0.5, x**2, x**3, x**-1, x**-2, x**-0.5, x**1.7),
        _one,
        [tcp.SqrtOp, tcp.RsqrtOp, tcp.MulOp, tcp.DivfOp, tcp.PowOp],
        FLOATS,
    ),
]

BITS = [
    OpCase("bitwise_and", torch.bitwise_and, _two, [tcp.BitwiseAndOp], INTEGERS),
    OpCase("bitwise_or", torch.bitwise_or, _two, [tcp.BitwiseOrOp], INTEGERS),
    OpCase("bitwise_xor", torch.bitwise_xor, _two, [tcp.BitwiseXorOp], INTEGERS),
    OpCase("bitwise_number", lambda x: (x & 6, x | 6, x ^ 6), _one, [tcp.BitwiseXorOp], INTEGERS),
    OpCase(
        "bitwise_bool",
        lambda x, y: (x & y, x | y, x ^ y),
        _two,
        [tcp.LogicalAndOp, tcp.LogicalOrOp, tcp.LogicalXorOp],
        BOOL,
    ),
    OpCase("logical_and", torch.logical_and, _two, [tcp.LogicalAndOp]),
    OpCase("logical_or", torch.logical_or, _two, [tcp.LogicalOrOp]),
    OpCase("logical_xor", torch.logical_xor, _two, [tcp.LogicalXorOp]),
    # Amounts beyond the width, and below zero.
    OpCase("shift_left", lambda x, y: x << y, lambda s: (s.telling(5, 7), s.tensor(5, 7, low=-2, high=80)), [tcp.ShliOp], INTEGERS),
    OpCase("shift_right", lambda x, y: x >> y, lambda s: (s.telling(5, 7), s.tensor(5, 7, low=-2, high=80)), [tcp.ShrsiOp], SIGNED),
    OpCase("shift_right_unsigned", lambda x, y: x >> y, lambda s: (s.telling(5, 7), s.tensor(5, 7, high=20)), [tcp.ShruiOp], _UNSIGNED),
    OpCase("shift_number", lambda x: (x << 3, x >> 2, x << 64, x >> 64), _one, [tcp.ShliOp], INTEGERS),
]

CHOICES = [
    *(
        OpCase(
            name,
            lambda x, y, function=function: (function(x, y), function(x, 1), function(x, 0.5)),
            _two,
            [tcp.CompareOp],
        )
        for name, function in (
            ("eq", torch.eq),
            ("ne", torch.ne),
            ("lt", torch.lt),
            ("le", torch.le),
            ("gt", torch.gt),
            ("ge", torch.ge),
        )
    ),
    OpCase("where", torch.where, lambda s: (s.tensor(5, 7, dtype=torch.bool), *_two(s)), [tcp.SelectOp]),
    OpCase("where_stretched", torch.where, lambda s: (s.tensor(1, 7, dtype=torch.bool), s.telling(5, 1), s.telling()), [tcp.SelectOp]),
    OpCase("where_number", lambda c, x: torch.where(c, x, 3), lambda s: (s.tensor(5, 7, dtype=torch.bool), *_one(s)), [tcp.SelectOp]),
    OpCase("masked_fill", lambda c, x: x.masked_fill(c, 1), lambda s: (s.tensor(5, 7, dtype=torch.bool), *_one(s)), [tcp.SelectOp]),
    OpCase("clamp", lambda x: (x.clamp(1, 3), x.clamp(min=2), x.clamp(max=2), x.clamp(3, 1)), _one, [tcp.ClampOp], NUMBERS),
    OpCase("clamp_fraction", lambda x: x.clamp(-0.7, 2.1), _one, [tcp.ClampOp], FLOATS),
    OpCase("clamp_min_max", lambda x: (torch.clamp_min(x, 1), torch.clamp_max(x, 1)), _one, [tcp.ClampOp], NUMBERS),
    OpCase(
        "clamp_tensor",
        lambda x, y, z: (x.clamp(y, z), x.clamp(min=y), x.clamp(max=z)),
        lambda s: (*_two(s), s.tensor(7)),
        [tcp.MaximumOp, tcp.MinimumOp],
        NUMBERS,
    ),
    OpCase("relu", torch.relu, _one, [tcp.ClampOp], NUMBERS),
]

_DTYPES = (*NUMBERS, torch.bool)


def _values_that_fit(s: Sampler) -> tuple[torch.Tensor, ...]:
    # What does not fit is undefined in PyTorch too; -1 to an unsigned dtype is such a one.
    return (s.tensor(5, 7, low=0, high=100),)


def _to(dtype: torch.dtype) -> OpCase:
    name = str(dtype).removeprefix("torch.")
    others = [other for other in _DTYPES if other != dtype]
    return OpCase(f"to_{name}", lambda x: x.to(dtype), _values_that_fit, [tcp.CastOp], others)


CASTS = [
    *map(_to, _DTYPES),
    OpCase("float_to_signed", lambda x: (x.to(torch.int8), x.to(torch.int64)), _one_finite, [tcp.CastOp], FLOATS),
    OpCase("float_to_float", lambda x: (x.half(), x.bfloat16(), x.float(), x.double()), _one, [tcp.CastOp], FLOATS),
    OpCase("integer_wraps", lambda x: (x.to(torch.int8), x.to(torch.uint8), x.to(torch.int16), x.to(torch.int64)), _one, [tcp.CastOp], INTEGERS),
    OpCase("integer_to_float", lambda x: (x.half(), x.bfloat16(), x.float(), x.double()), _one, [tcp.CastOp], INTEGERS),
    OpCase("nan_to_bool", lambda x: x.bool(), _one, [tcp.CastOp], FLOATS),
    OpCase("type_as", lambda x, y: x.type_as(y), lambda s: (s.tensor(5, 7), s.tensor(3, dtype=torch.float64)), [tcp.CastOp], FLOATS[:3]),
    *(
        # Operands of two dtypes; the one of rank 0 counts by its category only.
        OpCase(
            f"promote_{str(dtype).removeprefix('torch.')}",
            lambda x, y, z: (x + y, y * x, x + z, z * y, torch.maximum(x, y), x < y),
            lambda s, dtype=dtype: (s.tensor(5, 7), s.tensor(5, 7, dtype=dtype), s.tensor(dtype=dtype)),
            [tcp.CastOp],
            [other for other in _DTYPES if other != dtype],
        )
        for dtype in _DTYPES
    ),
]

COMPOSITIONS = [
    OpCase("gelu", F.gelu, _one, [tcp.ErfOp], FLOATS),
    OpCase("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), _one, [tcp.TanhOp], FLOATS),
    OpCase("silu", F.silu, _one, [tcp.SigmoidOp], FLOATS),
    OpCase("mish", F.mish, _one, [tcp.TanhOp], FLOATS),
    OpCase("elu", lambda x: F.elu(x, alpha=1.5), _one, [tcp.Expm1Op], FLOATS),
    OpCase("selu", F.selu, _one, [tcp.Expm1Op], FLOATS),
    OpCase("celu", lambda x: F.celu(x, alpha=1.5), _one, [tcp.Expm1Op], FLOATS),
    OpCase("leaky_relu", lambda x: F.leaky_relu(x, 0.1), _one, [tcp.SelectOp], FLOATS),
    OpCase("prelu", F.prelu, lambda s: (s.telling(5, 7), s.tensor(7)), [tcp.SelectOp], FLOATS),
    OpCase("hardtanh", F.hardtanh, _one, [], FLOATS),
    OpCase("relu6", F.relu6, _one, [], FLOATS),
    OpCase("hardsigmoid", F.hardsigmoid, _one, [tcp.ClampOp], FLOATS),
    OpCase("hardswish", F.hardswish, _one, [tcp.ClampOp], FLOATS),
    OpCase("softplus", F.softplus, _one, [tcp.Log1pOp], FLOATS),
    OpCase("logsigmoid", F.logsigmoid, _one, [tcp.Log1pOp], FLOATS),
    OpCase("softsign", F.softsign, _one, [tcp.DivfOp], FLOATS),
    OpCase("softshrink", F.softshrink, _one, [], FLOATS),
    OpCase("hardshrink", F.hardshrink, _one, [], FLOATS),
    OpCase("tanhshrink", F.tanhshrink, _one, [tcp.TanhOp], FLOATS),
    OpCase("threshold", lambda x: F.threshold(x, 0.1, 20), _one, [tcp.SelectOp], FLOATS),
    OpCase("lerp", torch.lerp, lambda s: (s.tensor(5, 7), s.tensor(5, 7), s.tensor(5, 7, low=0, high=1)), [tcp.SelectOp], FLOATS),
    OpCase("lerp_number", lambda x, y: torch.lerp(x, y, 0.3), lambda s: (s.tensor(5, 7), s.tensor(5, 7)), [], FLOATS),
    OpCase("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=2), lambda s: (s.tensor(5, 7),) * 3, [tcp.MulOp], NUMBERS),
    OpCase("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=0.5), lambda s: (s.tensor(5, 7), s.tensor(5, 7), s.tensor(5, 7, low=1)), [tcp.DivfOp], FLOATS),
    OpCase("square", torch.square, _one, [tcp.MulOp], FLOATS),
    OpCase("nan_to_num", torch.nan_to_num, _one, [tcp.SelectOp], FLOATS),
    OpCase("logaddexp", torch.logaddexp, lambda s: (s.tensor(5, 7), s.tensor(5, 7)), [tcp.Log1pOp], (torch.float32, torch.float64)),
    OpCase("xlogy", torch.xlogy, _two, [tcp.LogOp], (torch.float32, torch.float64)),
]

CASES = [*UNARY, *BINARY, *BITS, *CHOICES, *CASTS, *COMPOSITIONS]


@each(CASES)
def test_against_pytorch(case: OpCase, kind: str) -> None:
    """The compiled function answers as PyTorch does."""
    check(case, kind)


def test_every_op_has_a_case() -> None:
    """No op of the family is left out."""
    # PyTorch has no function that rounds halves away from zero.
    assert ops_without_case(tcp, CASES) == {tcp.RoundOp.OPERATION_NAME}


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
