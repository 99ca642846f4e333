"""What special functions are made of, against PyTorch in float64, and where that errs, scipy."""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special  # type: ignore[import-untyped]
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from plumbline.loader_to_torch.decompositions import decomposition_table
from plumbline.loader_to_torch.decompositions.polynomials import POLYNOMIAL

aten = torch.ops.aten
TABLE = decomposition_table()
F64 = torch.float64

_SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 8.0, 1e-40]


def _everywhere() -> torch.Tensor:
    sizes = torch.logspace(-300, 5, 2001, dtype=F64)
    return torch.cat([torch.linspace(-30, 30, 4001, dtype=F64), sizes, -sizes, _telling()])


def _telling() -> torch.Tensor:
    return torch.tensor(_SPECIAL, dtype=F64)


def _probabilities() -> torch.Tensor:
    ends = torch.logspace(-320, -1, 1001, dtype=F64)
    return torch.cat([torch.linspace(-1, 1, 4001, dtype=F64), ends, 1 - ends, ends - 1, _telling()])


def _check(actual: torch.Tensor, expected: torch.Tensor) -> None:
    # Tighter than PyTorch's own defaults, which are 1e-7.
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-11, equal_nan=True)


@pytest.mark.parametrize(
    "op",
    [
        aten.digamma,
        aten.i0,
        aten.lgamma,
        aten.special_erfcx,
        aten.special_i0e,
        aten.special_i1,
        aten.special_i1e,
        aten.special_log_ndtr,
        aten.special_modified_bessel_i0,
        aten.special_modified_bessel_i1,
        aten.special_modified_bessel_k0,
        aten.special_modified_bessel_k1,
        aten.special_scaled_modified_bessel_k0,
        aten.special_scaled_modified_bessel_k1,
        aten.special_spherical_bessel_j0,
    ],
    ids=str,
)
def test_everywhere(op: Any) -> None:
    x = _everywhere()
    _check(TABLE[op.default](x), op(x))


@pytest.mark.parametrize("zero", [1.0, 2.0])
def test_lgamma_keeps_its_digits_near_its_zeros(zero: float) -> None:
    steps = torch.logspace(-15, -1, 501, dtype=F64)
    x = torch.cat([zero + steps, zero - steps])
    torch.testing.assert_close(TABLE[aten.lgamma.default](x), aten.lgamma(x), rtol=2e-15, atol=0)


@pytest.mark.parametrize(
    ("op", "low", "high"),
    [
        (aten.i0, -20.0, 20.0),
        (aten.lgamma, -5.0, 20.0),
        (aten.special_airy_ai, -8.0, 8.0),
        (aten.special_bessel_j0, -20.0, 20.0),
        (aten.special_bessel_j1, -20.0, 20.0),
        (aten.special_bessel_y0, 0.0, 20.0),
        (aten.special_bessel_y1, 0.0, 20.0),
        (aten.special_erfcx, -5.0, 20.0),
        (aten.special_i1, -20.0, 20.0),
        (aten.special_log_ndtr, -20.0, 5.0),
        (aten.special_modified_bessel_k0, 0.0, 20.0),
        (aten.special_modified_bessel_k1, 0.0, 20.0),
        (aten.special_ndtri, 0.0, 1.0),
    ],
    ids=str,
)
def test_fewer_terms_do_not_show_in_single_precision(op: Any, low: float, high: float) -> None:
    x = torch.linspace(low, high, 50001)
    function = TABLE[op.default]
    actual, expected = function(x), function(x.to(F64))
    # Half a unit of float32, and what a few terms less may differ by where there is a zero.
    torch.testing.assert_close(actual.to(F64), expected, rtol=2**-24 * 1.01, atol=3e-12)


@pytest.mark.parametrize("op", [aten.lgamma, aten.special_bessel_j0, aten.special_ndtri], ids=str)
def test_single_precision_takes_fewer_terms(op: Any) -> None:
    function = TABLE[op.default]

    def terms(dtype: torch.dtype) -> int:
        graph = make_fx(lambda x: function(x))(torch.ones(3, dtype=dtype)).graph
        return sum(len(node.args[1]) for node in graph.nodes if node.target == POLYNOMIAL)

    single, double = terms(torch.float32), terms(F64)
    assert 0 < single < double


@pytest.mark.parametrize("op", [aten.erfinv, aten.special_ndtri], ids=str)
def test_of_probabilities(op: Any) -> None:
    x = _probabilities()
    _check(TABLE[op.default](x), op(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_inverse_error_function_of_narrow_floats(dtype: torch.dtype) -> None:
    x = torch.cat([_probabilities(), 1 - torch.logspace(-7.5, 0, 1001, dtype=F64)]).to(dtype)
    actual = TABLE[aten.erfinv.default](x)
    assert actual.dtype == dtype
    expected = aten.erfinv(x.to(F64))
    eps = torch.finfo(dtype).eps
    least = torch.finfo(dtype).smallest_normal * eps
    torch.testing.assert_close(
        actual.to(F64), expected, rtol=max(eps, 4e-7), atol=least, equal_nan=True
    )


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        (aten.special_airy_ai, lambda x: scipy.special.airy(x)[0]),
        (aten.special_bessel_j0, scipy.special.j0),
        (aten.special_bessel_j1, scipy.special.j1),
        (aten.special_bessel_y0, scipy.special.y0),
        (aten.special_bessel_y1, scipy.special.y1),
    ],
    ids=lambda value: str(value) if not callable(value) else "",
)
def test_waves(op: Any, reference: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]) -> None:
    x = _everywhere()
    x = x[x.abs() < 1e4]
    _check(TABLE[op.default](x), torch.from_numpy(reference(x.numpy())))
    # There PyTorch has answers of its own.
    ends = torch.tensor([math.inf, -math.inf, math.nan], dtype=F64)
    _check(TABLE[op.default](ends), op(ends))


@pytest.mark.parametrize("order", range(5))
def test_polygamma(order: int) -> None:
    x = _everywhere()
    if order == 1:
        # At the poles PyTorch's answers are as great as the rounding of pi makes them.
        x = x[~((x < 0) & (x == x.floor()))]
    _check(TABLE[aten.polygamma.default](order, x), aten.polygamma(order, x))


def test_trigamma_rounds_the_angle_as_pytorch_does() -> None:
    x = torch.linspace(-9.9, 20, 2000)
    torch.testing.assert_close(TABLE[aten.polygamma.default](1, x), aten.polygamma(1, x))


def test_zeta() -> None:
    q = _everywhere()
    q = q[~q.isinf()]
    generator = torch.Generator().manual_seed(0)
    s = 1 + torch.randint(0, 30, q.shape, generator=generator).to(F64)
    s = torch.where(torch.rand(q.shape, generator=generator) < 0.3, s + 0.3, s)
    # Of the sums that turn their sign PyTorch adds up the terms, and loses what it cancels.
    torch.testing.assert_close(
        TABLE[aten.special_zeta.default](s, q), aten.special_zeta(s, q), equal_nan=True
    )


def test_zeta_of_single_precision() -> None:
    generator = torch.Generator().manual_seed(0)
    s, q = (
        torch.exp(torch.rand(50000, generator=generator) * 14 - 8) + start for start in (1.0, 0.0)
    )
    q = torch.where(torch.rand(50000, generator=generator) < 0.2, -q.clamp(max=50), q)
    s = torch.where(q < 0, s.round(), s)
    zeta = TABLE[aten.special_zeta.default]
    actual, expected = zeta(s, q), zeta(s.to(F64), q.to(F64))
    # Half a unit of float32, also of subnormal numbers.
    torch.testing.assert_close(
        actual, expected.to(torch.float32), rtol=2**-23, atol=2**-149, equal_nan=True
    )
    assert (actual == expected.to(torch.float32))[expected.isfinite()].double().mean() > 0.999


@pytest.mark.parametrize("order", [2, 3, 7])
def test_polygamma_of_single_precision(order: int) -> None:
    x = torch.linspace(-9.9, 30, 50001)
    polygamma = TABLE[aten.polygamma.default]
    expected = polygamma(order, x.to(F64)).to(torch.float32)
    # At negative numbers terms cancel one another.
    torch.testing.assert_close(
        polygamma(order, x), expected, rtol=2**-23, atol=1e-12, equal_nan=True
    )


@pytest.mark.parametrize("op", [aten.igamma, aten.igammac], ids=str)
def test_incomplete_gamma(op: Any) -> None:
    generator = torch.Generator().manual_seed(0)

    def draw() -> torch.Tensor:
        return torch.rand(5000, generator=generator, dtype=F64)

    a = torch.exp(draw() * 30 - 12)
    near = a * torch.exp(
        (draw() - 0.5) * torch.tensor([1e-4, 1e-2, 1.0, 9.0], dtype=F64).repeat(1250)
    )
    x = torch.where(draw() < 0.3, torch.exp(draw() * 20 - 10), near)
    telling = torch.meshgrid(_telling(), _telling(), indexing="ij")
    a, x = (torch.cat([side, part.flatten()]) for side, part in zip((a, x), telling, strict=True))
    torch.testing.assert_close(TABLE[op.default](a, x), op(a, x), equal_nan=True)


@pytest.mark.parametrize("shifted", ["", "shifted_"])
@pytest.mark.parametrize("kind", ["t", "u", "v", "w"])
def test_chebyshev_polynomials(kind: str, shifted: str) -> None:
    op = getattr(aten, f"special_{shifted}chebyshev_polynomial_{kind}")
    x = torch.cat([torch.linspace(-1.2, 1.2, 2001, dtype=F64), torch.linspace(-20, 20, 401)])
    n = torch.arange(x.shape[0]) % 30 - 3
    torch.testing.assert_close(TABLE[op.default](x, n), op(x, n))
    torch.testing.assert_close(TABLE[op.n_scalar](x, 4), op(x, 4))
    torch.testing.assert_close(TABLE[op.x_scalar](0.3, n), op(0.3, n))


@pytest.mark.parametrize("kind", ["h", "he"])
def test_hermite_polynomials(kind: str) -> None:
    op = getattr(aten, f"special_hermite_polynomial_{kind}")
    x = torch.linspace(-3, 3, 2001, dtype=F64)
    n = (torch.arange(x.shape[0]) % 20 - 3).to(F64)
    torch.testing.assert_close(TABLE[op.default](x, n), op(x, n))
    assert TABLE[op.n_scalar](x, 513).isnan().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int64])
def test_results_are_rounded_once_to_what_pytorch_promotes_to(dtype: torch.dtype) -> None:
    x = torch.tensor([0.5, 1, 2, 5, 3]).to(dtype)
    for op in (aten.lgamma, aten.special_erfcx, aten.special_i1e):
        actual = TABLE[op.default](x)
        result = dtype if dtype.is_floating_point else torch.float32
        assert actual.dtype == result
        torch.testing.assert_close(actual, op(x.to(F64)).to(result), rtol=0, atol=1e-14)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
