"""What ops on complex numbers are made of, against the ops themselves."""

import itertools
import math
import sys
from typing import Any

import pytest
import torch

from plumbline.loader_to_torch.decompositions import decomposition_table

aten = torch.ops.aten
TABLE = decomposition_table()
C64, C128 = torch.complex64, torch.complex128

_TELLING = (0.0, -0.0, 1, -1, 0.5, -2.5, 1e-4, math.pi / 2, 30, -100, math.inf, -math.inf, math.nan)
"""Parts at which functions have zeros, poles, branch cuts and limits."""


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def _numbers(dtype: torch.dtype, *, finite: bool = False) -> torch.Tensor:
    pairs = itertools.product(_TELLING, _TELLING)
    telling = torch.tensor([complex(*pair) for pair in pairs]).to(dtype)
    if finite:
        telling = telling[telling.isfinite() & (telling != 0)]
    return torch.cat([telling, torch.randn(64, dtype=dtype) * 2])


def _check(op: Any, *arguments: Any, **options: Any) -> None:
    """The rule answers as the op does."""
    actual, expected = TABLE[op](*arguments, **options), op(*arguments, **options)
    if not isinstance(expected, torch.Tensor):
        actual, expected = tuple(actual), tuple(expected)
    torch.testing.assert_close(actual, expected, equal_nan=True)


_FUNCTIONS = [
    "abs",
    "acos",
    "acosh",
    "angle",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "conj_physical",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log2",
    "logical_not",
    "nan_to_num",
    "reciprocal",
    "rsqrt",
    "sgn",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


@pytest.mark.parametrize("dtype", [C64, C128])
@pytest.mark.parametrize("name", _FUNCTIONS)
def test_functions(name: str, dtype: torch.dtype) -> None:
    # Of what is infinite in one part, assert_close wants the other to be equal to the bit.
    _check(getattr(aten, name).default, _numbers(dtype, finite=name == "log10"))


@pytest.mark.parametrize("dtype", [C64, C128])
@pytest.mark.parametrize("name", ["exp2", "log1p"])
def test_functions_of_finite_numbers(name: str, dtype: torch.dtype) -> None:
    _check(getattr(aten, name).default, _numbers(dtype, finite=True))


@pytest.mark.parametrize("name", ["acos", "acosh", "asin", "asinh", "atan", "atanh", "log", "sqrt"])
def test_sides_of_branch_cuts(name: str) -> None:
    parts = (-3.0, -0.5, -0.0, 0.0, 0.5, 3.0)
    z = torch.tensor([complex(*pair) for pair in itertools.product(parts, parts)])
    op = getattr(aten, name).default
    actual, expected = TABLE[op](z), op(z)
    torch.testing.assert_close(actual, expected)
    for part in ("real", "imag"):
        sides = [torch.signbit(getattr(side, part)) for side in (actual, expected)]
        seen = getattr(expected, part).abs() > 1e-6
        assert torch.equal(sides[0][seen], sides[1][seen])


def test_abs_of_what_has_too_great_squares() -> None:
    _check(aten.abs.default, torch.tensor([3e30 + 4e30j, 3e-30 + 4e-30j]))
    _check(aten.abs.default, torch.tensor([3e300 + 4e300j, 3e-300 + 4e-300j], dtype=C128))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "eq", "ne"])
def test_of_two(name: str) -> None:
    op = getattr(aten, name).Tensor
    # At infinity, and of a divisor 0, PyTorch's vectors and their rests differ from one another.
    one, other = _numbers(C64, finite=True), _numbers(C64, finite=True).flip(0)
    one, other = one[other != 0], other[other != 0]
    _check(op, one, other)
    _check(op, one[:3, None], torch.randn(4, dtype=torch.float64))
    _check(op, torch.randn(4), other[:4].to(C128))
    for number in (2, 1.5 - 2j):
        actual = TABLE[getattr(aten, name).Scalar](one, number)
        torch.testing.assert_close(actual, getattr(torch, name)(one, number))


def test_quotients_of_what_has_too_great_squares() -> None:
    great = torch.tensor([3e30 + 4e30j, -1e-30 + 2e-30j])
    _check(aten.div.Tensor, great, great * (0.5 - 3j))
    _check(aten.reciprocal.default, great)


@pytest.mark.parametrize("alpha", [2, 1.5, 1j])
def test_sums_with_a_factor(alpha: complex) -> None:
    one, other = torch.randn(2, 5, dtype=C64)
    for op in (aten.add.Tensor, aten.sub.Tensor, aten.rsub.Tensor):
        if op is not aten.rsub.Tensor:
            _check(op, one, other, alpha=alpha)
    torch.testing.assert_close(
        TABLE[aten.rsub.Scalar](one, 3j, alpha), torch.rsub(one, 3j, alpha=alpha)
    )


@pytest.mark.parametrize("exponent", [0, 0.5, 1, 2, 3, -0.5, -1, -2, 1.7, -3, 1j, 2 + 1j])
def test_powers(exponent: complex) -> None:
    base = torch.cat([torch.randn(20, dtype=C64), torch.tensor([1, 1j, -1, 2])])
    _check(aten.pow.Tensor_Scalar, base, exponent)
    _check(aten.pow.Tensor_Tensor, base, torch.full((1,), exponent, dtype=C64))
    _check(aten.pow.Scalar, 2.5, base)
    _check(aten.pow.Tensor_Tensor, torch.rand(24), base)


def test_scaled_by_powers_of_two() -> None:
    _check(aten.ldexp.Tensor, torch.randn(5, dtype=C64), torch.randn(5, dtype=C64))


def test_rms_norm() -> None:
    _check(aten.rms_norm.default, torch.randn(4, 6, dtype=C64), [6], torch.randn(6, dtype=C64))


def test_powers_of_zero() -> None:
    for exponent in (0, 1, 1.5, 2):
        _check(aten.pow.Tensor_Scalar, torch.zeros(2, dtype=C64), exponent)


def test_products_that_are_summed() -> None:
    one, other = torch.randn(2, 3, 4, 4, dtype=C64)
    _check(aten.bmm.default, one, other)
    _check(aten.mm.default, one[0], other[0])
    _check(aten.mv.default, one[0], other[0, 0])
    _check(aten.dot.default, one[0, 0], other[0, 0])
    _check(aten.vdot.default, one[0, 0], other[0, 0])
    _check(aten.addmm.default, one[1], one[0], other[0], beta=1j, alpha=2 - 1j)
    _check(aten.addmm.default, one[1] * math.nan, one[0], other[0], beta=0)
    _check(aten.baddbmm.default, one, one, other, beta=0.5)
    _check(aten.addmv.default, one[0, 0], one[0], other[0, 0])
    _check(aten.addr.default, one[0], one[0, 0], other[0, 0])
    _check(aten.addbmm.default, one[0], one, other)
    _check(aten.linear.default, one, other[0], other[0, 0])


@pytest.mark.parametrize("size", [0, 1, 2, 5, 8])
def test_products_along_a_dimension(size: int) -> None:
    operand = torch.randn(3, size, 2, dtype=C64)
    _check(aten.prod.default, operand)
    _check(aten.prod.dim_int, operand, 1)
    _check(aten.prod.dim_int, operand, -2, True, dtype=C128)
    if size:
        _check(aten.cumprod.default, operand, 1)


def test_spread() -> None:
    operand = torch.randn(4, 5, dtype=C64)
    _check(aten.var.correction, operand, [1], correction=0)
    _check(aten.std.correction, operand, None, correction=1)
    _check(aten.var_mean.correction, operand, [0], keepdim=True)
    for order in (0, 1, 2, 3.5, math.inf):
        _check(aten.linalg_vector_norm.default, operand, order, [1])


@pytest.mark.parametrize("dtype", [C64, C128], ids=str)
def test_equations(dtype: torch.dtype) -> None:
    matrices = torch.randn(5, 4, 4, dtype=dtype)
    right = torch.randn(5, 4, 3, dtype=dtype)
    _check(aten.linalg_solve.default, matrices, right)
    _check(aten.linalg_solve.default, matrices, right[..., 0])
    _check(aten.linalg_solve.default, matrices, right.mT, left=False)
    _check(aten.linalg_inv.default, matrices)
    _check(aten.inverse.default, matrices[0].mH)
    _check(aten.eye.default, 3, dtype=dtype)
    _check(aten.eye.m, 3, 2, dtype=dtype)


@pytest.mark.parametrize("dtype", [C64, C128], ids=str)
def test_values_and_series_of_matrices(dtype: torch.dtype) -> None:
    matrices = torch.randn(5, 3, 3, dtype=dtype)
    _check(aten.linalg_matrix_exp.default, matrices)
    _check(aten.linalg_eigvalsh.default, matrices)
    _check(aten.linalg_eigvalsh.default, matrices, "U")
    _check(aten.linalg_svdvals.default, matrices[:, 1:])


def test_all_and_any() -> None:
    operand = torch.tensor([[0, 1j], [0, 0], [2, 1 + 1j]])
    for name in ("all", "any"):
        _check(getattr(aten, name).default, operand)
        _check(getattr(aten, name).dim, operand, 1)
    for name in ("logical_and", "logical_or", "logical_xor"):
        _check(getattr(aten, name).default, operand, operand.flip(0))


def test_made_of_parts() -> None:
    length, angle = torch.rand(3, 1), torch.randn(4)
    _check(aten.polar.default, length, angle)
    _check(aten.complex.default, length, angle)
    _check(aten.where.self, angle > 0, torch.randn(4, dtype=C64), angle.to(torch.float64))


@pytest.mark.parametrize("equal_nan", [False, True])
def test_isclose(*, equal_nan: bool) -> None:
    z = _numbers(C64)
    _check(aten.isclose.default, z, z * 1.000001, equal_nan=equal_nan)


def test_real_numbers_are_left_to_other_rules() -> None:
    assert TABLE[aten.exp.default](torch.ones(3)) is NotImplemented
    assert TABLE[aten.mul.Tensor](torch.ones(3), 2.0) is NotImplemented
    torch.testing.assert_close(
        TABLE[aten.isclose.default](torch.ones(3), torch.ones(3)), torch.ones(3) == 1
    )


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
