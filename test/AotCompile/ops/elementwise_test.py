"""Elementwise ops against PyTorch."""

import functools
import sys
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it

import plumbline
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import elementwise as tcp
from test.AotCompile.ops.op_case import (
    BOOL,
    FLOATS,
    INTEGERS,
    KINDS,
    NUMBERS,
    SIGNED,
    Batch,
    OpCase,
    Sampler,
    each,
    ops_without_case,
)

# Shapes are alike for all elementwise ops: empty static ones are left to a few cases.
_case = functools.partial(OpCase, kinds=("static", "dynamic"))

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
    return _case(name, function, _one, [op], (*FLOATS, *_INTEGERS_AND_BOOL))


def _multiples(
    name: str, function: Callable[..., torch.Tensor], of_integers: type[TcpOp]
) -> list[OpCase]:
    """A sum with a multiple, which is one op of floats, and two of integers."""
    return [
        _case(name, function, _two, [tcp.FmuladdOp], FLOATS),
        _case(f"{name}_of_integers", function, _two, [of_integers, tcp.MulOp], INTEGERS),
    ]


UNARY = [
    _unary("acos", tcp.AcosOp, torch.acos),
    _unary("asin", tcp.AsinOp, torch.asin),
    _unary("atan", tcp.AtanOp, torch.atan),
    _unary("cosh", tcp.CoshOp, torch.cosh),
    _unary("erf", tcp.ErfOp, torch.erf),
    _unary("erfc", tcp.ErfcOp, torch.erfc),
    _unary("exp", tcp.ExpOp, torch.exp),
    _unary("expm1", tcp.Expm1Op, torch.expm1),
    _unary("log", tcp.LogOp, torch.log),
    _unary("log1p", tcp.Log1pOp, torch.log1p),
    _unary("rsqrt", tcp.RsqrtOp, torch.rsqrt),
    _unary("sigmoid", tcp.SigmoidOp, torch.sigmoid),
    _unary("asinh", tcp.AsinhOp, torch.asinh),
    _unary("sinh", tcp.SinhOp, torch.sinh),
    _unary("sqrt", tcp.SqrtOp, torch.sqrt),
    _unary("tanh", tcp.TanhOp, torch.tanh),
    _unary("reciprocal", tcp.DivfOp, torch.reciprocal),
    # The greatest integers as angles: the rest of a division by 2 pi, of which f32 keeps nothing.
    _case("cos", torch.cos, _one_finite, [tcp.CosOp]),
    _case("sin", torch.sin, _one_finite, [tcp.SinOp]),
    _case("tan", torch.tan, _one_within_one, [tcp.TanOp]),
    _case("cos_special", torch.cos, _one, [tcp.CosOp], FLOATS),
    _case("abs", torch.abs, _one, [tcp.AbsOp], (*FLOATS, *SIGNED)),
    _case("abs_without_sign", lambda x: torch.abs(x) + 1, _one, [tcp.AddOp], _UNSIGNED),
    _case("neg", torch.neg, _one, [tcp.NegOp], NUMBERS),
    _case("sign", torch.sign, _one, [tcp.CompareOp, tcp.SubOp], NUMBERS),
    _case("sgn", torch.sgn, _one, [tcp.CompareOp, tcp.SubOp], NUMBERS),
    _case("ceil", torch.ceil, _one, [tcp.CeilOp], FLOATS),
    _case("floor", torch.floor, _one, [tcp.FloorOp], FLOATS),
    _case("round", torch.round, _one, [tcp.RoundEvenOp], FLOATS),
    _case(
        "round_decimals",
        lambda x: (torch.round(x, decimals=1), torch.round(x, decimals=-1)),
        _one_finite,
        [tcp.RoundEvenOp],
        (torch.float32, torch.float64),
    ),
    _case("trunc", torch.trunc, _one, [tcp.CeilOp, tcp.FloorOp], FLOATS),
    _case("frac", torch.frac, _one, [tcp.CeilOp, tcp.FloorOp], FLOATS),
    _case(
        "round_integers",
        lambda x: torch.ceil(x) + torch.floor(x) + torch.round(x) + torch.trunc(x),
        _one,
        [tcp.AddOp],
        INTEGERS,
    ),
    _case("isnan", torch.isnan, _one, [tcp.IsnanOp], FLOATS),
    _case("isinf", torch.isinf, _one, [tcp.IsinfOp], FLOATS),
    _case("isfinite", torch.isfinite, _one, [tcp.IsfiniteOp], FLOATS),
    _case("signbit", torch.signbit, _one, [tcp.SignbitOp], FLOATS),
    _case(
        "predicates_of_integers",
        lambda x: (torch.isnan(x), torch.isinf(x), torch.isfinite(x), torch.signbit(x)),
        _one,
        [],
        _INTEGERS_AND_BOOL,
    ),
    _case("bitwise_not", torch.bitwise_not, _one, [tcp.BitwiseNotOp], INTEGERS),
    _case("bitwise_not_bool", torch.bitwise_not, _one, [tcp.LogicalNotOp], BOOL),
    _case("logical_not", torch.logical_not, _one, [tcp.LogicalNotOp]),
    _case(
        "rank_0",
        lambda x: torch.tanh(x) + x,
        lambda s: (s.tensor(),),
        [tcp.TanhOp],
        FLOATS,
        kinds=("static",),
    ),
]

BINARY = [
    _case("add", torch.add, _two, [tcp.AddOp], NUMBERS),
    _case("add_bool", torch.add, _two, [tcp.LogicalOrOp], BOOL),
    *_multiples("add_alpha", lambda x, y: torch.add(x, y, alpha=3), tcp.AddOp),
    _case("add_stretched", torch.add, _two_stretched, [tcp.AddOp], NUMBERS, kinds=KINDS),
    _case("sub", torch.sub, _two, [tcp.SubOp], NUMBERS),
    *_multiples("sub_alpha", lambda x, y: torch.sub(x, y, alpha=2), tcp.SubOp),
    _case("rsub", lambda x: 2 - x, _one, [tcp.SubOp], NUMBERS),
    *_multiples("rsub_alpha", lambda x, y: torch.rsub(x, y, alpha=2), tcp.SubOp),
    _case("mul", torch.mul, _two, [tcp.MulOp], NUMBERS),
    _case("mul_bool", torch.mul, _two, [tcp.LogicalAndOp], BOOL),
    _case("number", lambda x: (x + 3, x - 3, 3 * x, x / 3), _one, [tcp.AddOp, tcp.DivfOp], NUMBERS),
    _case("fraction", lambda x: (x + 0.7, x - 0.7, 0.7 * x, x / 0.7), _one, [tcp.AddOp], NUMBERS),
    _case("div", torch.div, _two, [tcp.DivfOp]),
    _case("atan2", torch.atan2, _two, [tcp.Atan2Op]),
    _case("copysign", torch.copysign, _two, [tcp.CopysignOp]),
    _case("copysign_number", lambda x: torch.copysign(x, -0.0), _one, [tcp.CopysignOp]),
    _case("maximum", torch.maximum, _two, [tcp.MaximumOp]),
    _case("minimum", torch.minimum, _two, [tcp.MinimumOp]),
    _case("fmax", torch.fmax, _two, [tcp.MaximumOp, tcp.SelectOp]),
    _case("fmin", torch.fmin, _two, [tcp.MinimumOp, tcp.SelectOp]),
    _case("fmod", torch.fmod, _dividend_and_divisor, [tcp.RemfOp], FLOATS),
    _case("fmod_signed", torch.fmod, _dividend_and_divisor, [tcp.RemsiOp], SIGNED),
    _case("fmod_unsigned", torch.fmod, _dividend_and_divisor, [tcp.RemuiOp], _UNSIGNED),
    _case(
        "fmod_number",
        lambda x: (torch.fmod(x, 3), torch.fmod(x, 0.7)),
        _one_finite,
        [tcp.RemfOp],
        NUMBERS,
    ),
    _case("remainder", torch.remainder, _dividend_and_divisor, [tcp.RemfOp], FLOATS),
    _case("remainder_signed", torch.remainder, _dividend_and_divisor, [tcp.RemsiOp], SIGNED),
    _case("remainder_unsigned", torch.remainder, _dividend_and_divisor, [tcp.RemuiOp], _UNSIGNED),
    _case("remainder_number", lambda x: (x % 3, x % 0.7), _one_finite, [tcp.RemfOp], NUMBERS),
    _case(
        "remainder_of_number",
        lambda x: 7 % (x.abs() + 1),
        lambda s: (s.tensor(5, 7, high=9),),
        [tcp.AddOp],
        INTEGERS,
    ),
    _case("floor_divide", torch.floor_divide, _dividend_and_divisor, [tcp.FloorOp], FLOATS),
    # The sign of zero is that of the quotient.
    _case(
        "floor_divide_of_zeros",
        lambda x, y: torch.signbit(torch.nan_to_num(x // y)),
        _dividend_and_divisor,
        [tcp.FloorOp],
        FLOATS,
    ),
    _case("floor_divide_signed", torch.floor_divide, _dividend_and_divisor, [tcp.DivsiOp], SIGNED),
    _case(
        "floor_divide_unsigned", torch.floor_divide, _dividend_and_divisor, [tcp.DivuiOp], _UNSIGNED
    ),
    _case("floor_divide_number", lambda x: (x // 3, x // -2), _one, [tcp.DivsiOp], SIGNED),
    _case(
        "div_trunc",
        lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        _dividend_and_divisor,
        [tcp.CeilOp, tcp.FloorOp],
        FLOATS,
    ),
    _case(
        "div_trunc_integers",
        lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        _dividend_and_divisor,
        [tcp.DivsiOp],
        SIGNED,
    ),
    _case("pow", torch.pow, lambda s: (s.telling(5, 7), s.tensor(5, 7)), [tcp.PowOp], FLOATS),
    _case(
        "pow_integers",
        torch.pow,
        lambda s: (s.telling(5, 7), s.tensor(5, 7, low=-3, high=70)),
        [tcp.PowOp],
        INTEGERS,
    ),
    _case("pow_number", lambda x: (x**5, x**1, x**0), _one, [tcp.PowOp], INTEGERS),
    _case(
        "pow_of_number",
        lambda x: (2**x, (-1.5) ** x.to(torch.float32)),
        lambda s: (s.tensor(5, 7, low=0, high=6),),
        [tcp.PowOp],
        NUMBERS,
    ),
    _case(
        "pow_special",
        lambda x: (x**0.5, x**2, x**3, x**-1, x**-2, x**-0.5, x**1.7),
        _one,
        [tcp.SqrtOp, tcp.RsqrtOp, tcp.MulOp, tcp.DivfOp, tcp.PowOp],
        FLOATS,
    ),
]

BITS = [
    _case("bitwise_and", torch.bitwise_and, _two, [tcp.BitwiseAndOp], INTEGERS),
    _case("bitwise_or", torch.bitwise_or, _two, [tcp.BitwiseOrOp], INTEGERS),
    _case("bitwise_xor", torch.bitwise_xor, _two, [tcp.BitwiseXorOp], INTEGERS),
    _case("bitwise_number", lambda x: (x & 6, x | 6, x ^ 6), _one, [tcp.BitwiseXorOp], INTEGERS),
    _case(
        "bitwise_bool",
        lambda x, y: (x & y, x | y, x ^ y),
        _two,
        [tcp.LogicalAndOp, tcp.LogicalOrOp, tcp.LogicalXorOp],
        BOOL,
    ),
    _case("logical_and", torch.logical_and, _two, [tcp.LogicalAndOp]),
    _case("logical_or", torch.logical_or, _two, [tcp.LogicalOrOp]),
    _case("logical_xor", torch.logical_xor, _two, [tcp.LogicalXorOp]),
    # Amounts beyond the width, and below zero.
    _case(
        "shift_left",
        lambda x, y: x << y,
        lambda s: (s.telling(5, 7), s.tensor(5, 7, low=-2, high=80)),
        [tcp.ShliOp],
        INTEGERS,
    ),
    _case(
        "shift_right",
        lambda x, y: x >> y,
        lambda s: (s.telling(5, 7), s.tensor(5, 7, low=-2, high=80)),
        [tcp.ShrsiOp],
        SIGNED,
    ),
    _case(
        "shift_right_unsigned",
        lambda x, y: x >> y,
        lambda s: (s.telling(5, 7), s.tensor(5, 7, high=20)),
        [tcp.ShruiOp],
        _UNSIGNED,
    ),
    _case(
        "shift_number", lambda x: (x << 3, x >> 2, x << 64, x >> 64), _one, [tcp.ShliOp], INTEGERS
    ),
]

CHOICES = [
    *(
        _case(
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
    _case(
        "where", torch.where, lambda s: (s.tensor(5, 7, dtype=torch.bool), *_two(s)), [tcp.SelectOp]
    ),
    _case(
        "where_stretched",
        torch.where,
        lambda s: (s.tensor(1, 7, dtype=torch.bool), s.telling(5, 1), s.telling()),
        [tcp.SelectOp],
        kinds=KINDS,
    ),
    _case(
        "where_same",
        lambda c, x: (torch.where(c, x, x), torch.where(c, 3, 3).sum()),
        lambda s: (s.tensor(5, 7, dtype=torch.bool), s.telling(1, 7)),
        [],
    ),
    _case(
        "where_number",
        lambda c, x: torch.where(c, x, 3),
        lambda s: (s.tensor(5, 7, dtype=torch.bool), *_one(s)),
        [tcp.SelectOp],
    ),
    _case(
        "masked_fill",
        lambda c, x: x.masked_fill(c, 1),
        lambda s: (s.tensor(5, 7, dtype=torch.bool), *_one(s)),
        [tcp.SelectOp],
    ),
    _case(
        "clamp",
        lambda x: (x.clamp(1, 3), x.clamp(min=2), x.clamp(max=2), x.clamp(3, 1)),
        _one,
        [tcp.ClampOp],
        NUMBERS,
    ),
    _case("clamp_fraction", lambda x: x.clamp(-0.7, 2.1), _one, [tcp.ClampOp], FLOATS),
    _case(
        "clamp_min_max",
        lambda x: (torch.clamp_min(x, 1), torch.clamp_max(x, 1)),
        _one,
        [tcp.ClampOp],
        NUMBERS,
    ),
    _case(
        "clamp_tensor",
        lambda x, y, z: (x.clamp(y, z), x.clamp(min=y), x.clamp(max=z)),
        lambda s: (*_two(s), s.tensor(7)),
        [tcp.MaximumOp, tcp.MinimumOp],
        NUMBERS,
    ),
    _case("relu", torch.relu, _one, [tcp.ClampOp], NUMBERS),
]

_DTYPES = (*NUMBERS, torch.bool)


def _values_that_fit(s: Sampler) -> tuple[torch.Tensor, ...]:
    # What does not fit is undefined in PyTorch too; -1 to an unsigned dtype is such a one.
    return (s.tensor(5, 7, low=0, high=100),)


def _to(dtype: torch.dtype) -> OpCase:
    name = str(dtype).removeprefix("torch.")
    others = [other for other in _DTYPES if other != dtype]
    return OpCase(
        f"to_{name}",
        lambda x: x.to(dtype),
        _values_that_fit,
        [tcp.CastOp],
        others,
        kinds=["static"],
    )


def _promoting(dtype: torch.dtype) -> OpCase:
    """Operands of two dtypes; the one of rank 0 counts by its category only."""
    return OpCase(
        f"promote_{str(dtype).removeprefix('torch.')}",
        lambda x, y, z: (x + y, x * z, x < y),
        lambda s: (s.tensor(5, 7), s.tensor(5, 7, dtype=dtype), s.tensor(dtype=dtype)),
        [tcp.CastOp],
        [other for other in _DTYPES if other != dtype],
        kinds=["static"],
    )


def _bits(x: torch.Tensor) -> torch.Tensor:
    integers = {2: torch.int16, 4: torch.int32, 8: torch.int64}
    return (x.view(integers[x.element_size()]) ^ 1).view(x.dtype)


CASTS = [
    *map(_to, _DTYPES),
    _case(
        "float_to_signed",
        lambda x: (x.to(torch.int8), x.to(torch.int64)),
        _one_finite,
        [tcp.CastOp],
        FLOATS,
    ),
    _case(
        "float_to_float",
        lambda x: (x.half(), x.bfloat16(), x.float(), x.double()),
        _one,
        [tcp.CastOp],
        FLOATS,
    ),
    _case(
        "integer_wraps",
        lambda x: (x.to(torch.int8), x.to(torch.uint8), x.to(torch.int16), x.to(torch.int64)),
        _one,
        [tcp.CastOp],
        INTEGERS,
    ),
    _case(
        "integer_to_float",
        lambda x: (x.half(), x.bfloat16(), x.float(), x.double()),
        _one,
        [tcp.CastOp],
        INTEGERS,
    ),
    _case("nan_to_bool", lambda x: x.bool(), _one, [tcp.CastOp], FLOATS),
    _case(
        "type_as",
        lambda x, y: x.type_as(y),
        lambda s: (s.tensor(5, 7), s.tensor(3, dtype=torch.float64)),
        [tcp.CastOp],
        FLOATS[:3],
    ),
    *map(_promoting, _DTYPES),
    _case("view_dtype", _bits, _one, [tcp.BitcastOp], FLOATS),
]

COMPOSITIONS = [
    # Of inf PyTorch's own gelu makes NaN in f32 and bf16, inf in f16 and f64.
    _case("gelu", F.gelu, _one_finite, [tcp.ErfOp], FLOATS),
    _case("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), _one, [tcp.TanhOp], FLOATS),
    _case("silu", F.silu, _one, [tcp.SigmoidOp], FLOATS),
    _case("mish", F.mish, _one, [tcp.ExpOp, tcp.DivfOp], FLOATS),
    _case("elu", lambda x: F.elu(x, alpha=1.5), _one, [tcp.Expm1Op], FLOATS),
    _case("selu", F.selu, _one, [tcp.Expm1Op], FLOATS),
    _case("celu", lambda x: F.celu(x, alpha=1.5), _one, [tcp.Expm1Op], FLOATS),
    _case("leaky_relu", lambda x: F.leaky_relu(x, 0.1), _one, [tcp.SelectOp], FLOATS),
    _case("prelu", F.prelu, lambda s: (s.telling(5, 7), s.tensor(7)), [tcp.SelectOp], FLOATS),
    _case("hardtanh", F.hardtanh, _one, [], FLOATS),
    _case("relu6", F.relu6, _one, [], FLOATS),
    _case("hardsigmoid", F.hardsigmoid, _one, [tcp.ClampOp], FLOATS),
    _case("hardswish", F.hardswish, _one, [tcp.ClampOp], FLOATS),
    _case("softplus", F.softplus, _one, [tcp.Log1pOp], FLOATS),
    _case("logsigmoid", F.logsigmoid, _one, [tcp.Log1pOp], FLOATS),
    _case("softsign", F.softsign, _one, [tcp.DivfOp], FLOATS),
    _case("softshrink", F.softshrink, _one, [], FLOATS),
    _case("hardshrink", F.hardshrink, _one, [], FLOATS),
    _case("tanhshrink", F.tanhshrink, _one, [tcp.TanhOp], FLOATS),
    _case("threshold", lambda x: F.threshold(x, 0.1, 20), _one, [tcp.SelectOp], FLOATS),
    _case(
        "lerp",
        torch.lerp,
        lambda s: (s.tensor(5, 7), s.tensor(5, 7), s.tensor(5, 7, low=0, high=1)),
        [tcp.SelectOp],
        FLOATS,
    ),
    _case(
        "lerp_number",
        lambda x, y: torch.lerp(x, y, 0.3),
        lambda s: (s.tensor(5, 7), s.tensor(5, 7)),
        [],
        FLOATS,
    ),
    _case(
        "addcmul",
        lambda x, y, z: torch.addcmul(x, y, z, value=2),
        lambda s: (s.tensor(5, 7),) * 3,
        [tcp.MulOp],
        NUMBERS,
    ),
    _case(
        "addcdiv",
        lambda x, y, z: torch.addcdiv(x, y, z, value=0.5),
        lambda s: (s.tensor(5, 7), s.tensor(5, 7), s.tensor(5, 7, low=1)),
        [tcp.DivfOp],
        FLOATS,
    ),
    _case("square", torch.square, _one, [tcp.MulOp], FLOATS),
    _case("nan_to_num", torch.nan_to_num, _one, [tcp.SelectOp], FLOATS),
    _case(
        "logaddexp",
        torch.logaddexp,
        lambda s: (s.tensor(5, 7), s.tensor(5, 7)),
        [tcp.Log1pOp],
        (torch.float32, torch.float64),
    ),
    _case("xlogy", torch.xlogy, _two, [tcp.LogOp], (torch.float32, torch.float64)),
]


def _numbers_compared(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Constants beside numbers of another kind, which folding must not compare by their bits."""
    constants = (torch.full((2,), value, dtype=x.dtype) for value in (0, 1, 3))
    return (
        x.clone(),
        *(constant > number for constant in constants for number in (1, 1.0, 2.5)),
    )


def _bools_for_numbers(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    truth = x > 0
    return (
        x.clamp(min=True),
        torch.clamp(truth, False, 1.5),
        x // True,
        torch.div(x, True, rounding_mode="trunc"),
        truth**True,
        truth**False,
        truth + True,
        torch.xlogy(x, 2),
        torch.special.xlog1py(True, x.abs()),
    )


_FLOATS_BUT_BF16 = (torch.float16, torch.float32, torch.float64)

# What the Torch dialect has no op for: the rules themselves are tested in
# test/loader_to_torch/decompositions.
DECOMPOSED = [
    _case(
        "comparisons_of_constants",
        _numbers_compared,
        _one_finite,
        [],
        (torch.float32, torch.int64, torch.bool),
        kinds=("static",),
    ),
    _case(
        "bools_for_numbers",
        _bools_for_numbers,
        _one_finite,
        [],
        (torch.float32, torch.int64),
        kinds=("static",),
    ),
    _case("erfinv", torch.erfinv, _one_within_one, [tcp.LogOp], FLOATS),
    _case("lgamma", torch.lgamma, _one, [tcp.LogOp, tcp.PolynomialOp], FLOATS),
    _case("digamma", torch.digamma, _one_finite, [tcp.TanOp], _FLOATS_BUT_BF16),
    _case("bessel", lambda x: (torch.i0(x), torch.special.i1e(x)), _one_finite, [tcp.ExpOp]),
    _case("hypot", torch.hypot, _two, [tcp.SqrtOp], FLOATS),
    _case("frexp", lambda x: tuple(torch.frexp(x)), _one, [tcp.FloorOp], _FLOATS_BUT_BF16),
]

CASES = [*UNARY, *BINARY, *BITS, *CHOICES, *CASTS, *COMPOSITIONS, *DECOMPOSED]


@each(CASES)
def test_against_pytorch(batch: Batch, place: int) -> None:
    """The compiled function answers as PyTorch does."""
    batch.check(place)


def test_integer_division_never_stops_the_process() -> None:
    """The least integer by -1 wraps around; by zero, unchecked, there is an answer, whichever."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return torch.div(x, y, rounding_mode="trunc"), x // y, torch.fmod(x, y), x % y

    least = torch.iinfo(torch.int64).min
    sound = torch.tensor([7, 7]), torch.tensor([2, 2])
    program = plumbline.compile(Model(), sound, runtime_checks="off")
    results = program(torch.tensor([least, 7]), torch.tensor([-1, 0]))
    assert [int(result[0]) for result in results] == [least, least, 0, 0]


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32])
def test_quotients_next_to_whole_numbers(dtype: torch.dtype) -> None:
    """They are found as floats, of which the whole parts have to be right."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return torch.div(x, y, rounding_mode="trunc"), x % y

    bounds = torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(0)
    roots = torch.randint(1, int(bounds.max**0.5), (1000,), generator=generator)
    divisors = torch.cat([roots, bounds.max // roots, torch.tensor([1, bounds.max, bounds.min])])
    products = bounds.max // divisors.clamp(min=1) * divisors
    x = torch.cat([products - 1, products, products.new_full(products.shape, bounds.min)])
    inputs = x.clamp(min=bounds.min).to(dtype), divisors.clamp(min=1).repeat(3).to(dtype)
    program = plumbline.compile(Model(), inputs)
    assert "arith.div" not in program.stage("kernels").replace("arith.divf", "")
    for result, expected in zip(program(*inputs), Model()(*inputs), strict=True):
        assert torch.equal(result, expected)


def test_long_quotients() -> None:
    """On AVX-512 they are found by floats, of which none holds 64 bits."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return torch.div(x, y, rounding_mode="trunc"), x // y, torch.fmod(x, y), x % y

    least, greatest = torch.iinfo(torch.int64).min, torch.iinfo(torch.int64).max
    generator = torch.Generator().manual_seed(0)

    def draw(count: int) -> torch.Tensor:
        """As many numbers of each length."""
        numbers = torch.randint(least, greatest, (count,), generator=generator)
        return numbers >> torch.arange(count) % 63

    ends = [1, 2, 3, 2**53, 2**53 + 1, 2**62 - 1, 2**62, 2**62 + 1, greatest - 1024, greatest]
    telling = torch.tensor([*ends, *(-end for end in ends), least, least + 512, 0])
    pairs = torch.cartesian_prod(telling, telling)
    factors, divisors = draw(20000), draw(20000)
    # Also next to whole quotients.
    products = factors * divisors + torch.randint(-2, 3, (20000,), generator=generator)
    x = torch.cat([pairs[:, 0], products, draw(20000)])
    y = torch.cat([pairs[:, 1], divisors, draw(20000).flip(0)])
    fits = (y != 0) & ((x != least) | (y != -1))
    inputs = x[fits], y[fits]
    program = plumbline.compile(Model(), inputs, target_cpu="native")
    for result, expected in zip(program(*inputs), Model()(*inputs), strict=True):
        assert torch.equal(result, expected)


def test_lists_of_tensors() -> None:
    """As optimizers and what clips gradients have them, also in place."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            slopes = torch._foreach_mul([x, y], 0.5)
            norm = torch.nn.utils.get_total_norm(slopes)
            torch._foreach_mul_(slopes, torch.clamp(1 / norm, max=1))
            return norm, *slopes, *torch._foreach_pow([x, y], [1.0, 2.0])

    inputs = torch.randn(3, 4), torch.randn(5)
    torch.testing.assert_close(plumbline.compile(Model(), inputs)(*inputs), Model()(*inputs))


def test_the_next_number_is_counted_in_bits() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.nextafter(x, y)

    inputs = torch.randn(40), torch.randn(40)
    program = plumbline.compile(Model(), inputs)
    assert torch.equal(program(*inputs)[0], Model()(*inputs))
    assert "f64" not in program.stage("kernels")


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.complex64], ids=str)
def test_a_nan_is_not_equal_to_itself(dtype: torch.dtype) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x == x, x == x.clone(), (x == x).all(), torch.isclose(x, x)

    x = torch.tensor([1, torch.nan, torch.inf, -0.0]).to(dtype)
    torch.testing.assert_close(plumbline.compile(Model(), (x,))(x), Model()(x))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_numbers_of_rank_0_beside_half_precision(dtype: torch.dtype) -> None:
    """Those that are multiplied with and divided by count as they are, others are rounded."""

    class Model(torch.nn.Module):
        def forward(
            self,
            x: torch.Tensor,
            n: torch.Tensor,
            s: torch.Tensor,
            i: torch.Tensor,
            h: torch.Tensor,
        ) -> tuple[torch.Tensor, ...]:
            return (
                *(x * n, x / n, n / x, n * x, x * s, x / s, s * x, i * h, i / h),
                *(x + s, x - s, torch.atan2(x, s), x.abs() ** s, torch.nanmean(x)),
            )

    generator = torch.Generator().manual_seed(0)
    x = torch.randn(64, 2048, generator=generator).to(dtype)
    integers = torch.randint(0, 5000, (100,), generator=generator)
    number = torch.tensor(3.0, dtype=dtype)
    inputs = x, torch.tensor(100_003), torch.tensor(0.3), integers, number
    *exact, mean = plumbline.compile(Model(), inputs)(*inputs)
    *expected, expected_mean = Model()(*inputs)
    for result, other in zip(exact, expected, strict=True):
        torch.testing.assert_close(result, other, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(mean, expected_mean)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_multiples_are_added_as_pytorch_does(dtype: torch.dtype) -> None:
    """Rounded once, and the factor to half precision first, where the others are of it."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (
                *(torch.add(x, y, alpha=0.3), torch.sub(x, y, alpha=0.3)),
                *(torch.rsub(x, y, alpha=0.3), torch.add(x, y > 100, alpha=0.3)),
                torch.lerp(x, y, 0.1),
            )

    generator = torch.Generator().manual_seed(0)
    # As many as are vectors of PyTorch's alone: what is left over it may round twice.
    x, y = (255 * torch.rand(2, 1024, generator=generator, dtype=torch.float64)).to(dtype)
    program = plumbline.compile(Model(), (x, y))
    for result, expected in zip(program(x, y), Model()(x, y), strict=True):
        torch.testing.assert_close(result, expected, rtol=0, atol=0)


def test_every_op_has_a_case() -> None:
    """No op of the family is left out."""
    # PyTorch has no function that rounds halves away from zero.
    assert ops_without_case(tcp, CASES) == {tcp.RoundOp.OPERATION_NAME}


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
