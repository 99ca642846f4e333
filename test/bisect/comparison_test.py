import math
import sys

import numpy as np
import pytest
import torch

from plumbline.archives.reference_archive import Tensor
from plumbline.archives.torch_tensors import to_numpy
from plumbline.bisect.comparison import Tolerance, compare

_DTYPES = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int8,
    torch.int64,
    torch.uint8,
    torch.bool,
)


def _drawn(dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    values = 100 * torch.randn(3, 4, generator=generator, dtype=torch.float64)
    if not dtype.is_floating_point:
        return values.abs().to(dtype)
    values[0, 0], values[1, 2], values[2, 3] = math.inf, math.nan, 0.0
    return values.to(dtype)


@pytest.mark.parametrize("dtype", _DTYPES, ids=str)
@pytest.mark.parametrize("bounds", [None, (0.0, 0.0), (1e-2, 0.0), (0.0, 0.3)])
def test_it_agrees_where_assert_close_does(
    dtype: torch.dtype, bounds: tuple[float, float] | None
) -> None:
    generator = torch.Generator().manual_seed(0)
    verdicts = set()
    for scale in (0.0, 1e-9, 1e-6, 1e-4, 1e-2, 1.0):
        expected = _drawn(dtype, generator)
        noise = 1 + scale * torch.randn(3, 4, generator=generator, dtype=torch.float64)
        actual = (expected.double() * noise).to(dtype)
        rtol, atol = bounds or (None, None)
        try:
            torch.testing.assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
            close = True
        except AssertionError:
            close = False
        tolerance = bounds and Tolerance(*bounds)
        comparison = compare(to_numpy(actual), to_numpy(expected), tolerance)
        assert comparison.agrees == close, comparison
        assert (comparison.excess <= 1) == close or comparison.tolerance == Tolerance(0, 0)
        verdicts.add(close)
    assert verdicts == {True, False} or dtype == torch.bool


def test_the_report_of_the_generated_test() -> None:
    # The one that tools/aot/README.md shows.
    actual, expected = np.array([11, 12, 13], np.float32), np.array([11, 11.75, 13.5], np.float32)
    assert str(compare(actual, expected)) == (
        "f32[3]: 2 of 3 elements differ (rtol 1.3e-06, atol 1e-05)\n"
        "  worst at [2]: actual 13, expected 13.5\n"
        "  absolute difference 0.5, relative 0.037037, ULP 524288"
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_ulps_count_across_zero(dtype: torch.dtype) -> None:
    smallest = torch.nextafter(torch.zeros(1, dtype=torch.float64), torch.ones(1).double())
    if dtype != torch.float64:
        # The smallest magnitude of the type: all bits zero but the last.
        width = torch.int16 if dtype.itemsize == 2 else torch.int32
        smallest = torch.ones(1, dtype=width).view(dtype)
    exact = Tolerance(0, 0)
    comparison = compare(to_numpy(-smallest), to_numpy(smallest), exact)
    assert comparison.worst is not None
    assert comparison.worst.ulp == 2
    assert comparison.worst.relative == 2


def test_integers_whose_difference_does_not_fit() -> None:
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    comparison = compare(np.array([low, 3]), np.array([high, 3]))
    assert (comparison.differing, comparison.excess) == (1, float(2**64 - 1))
    assert str(comparison).endswith(
        "worst at [0]: actual -9223372036854775808, expected 9223372036854775807\n"
        "  absolute difference 1.84467e+19, relative 2"
    )


def test_a_nan_in_the_place_of_a_number_is_the_worst() -> None:
    actual = np.array([[1, 2], [math.nan, 5]], np.float32)
    comparison = compare(actual, np.array([[1, 3], [4, 5]], np.float32))
    assert (comparison.differing, comparison.excess) == (2, math.inf)
    assert comparison.worst is not None
    assert (comparison.worst.index, comparison.worst.ulp) == ((1, 0), None)
    assert "actual nan, expected 4" in str(comparison)


def test_the_largest_error_within_bounds_is_told() -> None:
    comparison = compare(
        np.array([100, 1], np.float32), np.array([100.00001, 1.000005], np.float32)
    )
    assert comparison.agrees
    assert "largest error 5.00679e-06 at [1], 0.44 of what is allowed" in str(comparison)


def test_truth_values() -> None:
    comparison = compare(np.array([True, False]), np.array([False, False]))
    assert "1 of 2 elements differ" in str(comparison)
    assert "actual true, expected false" in str(comparison)


@pytest.mark.parametrize(
    ("actual", "expected", "text"),
    [
        (np.ones(3, np.float32), np.ones((3, 1), np.float32), "is f32[3], expected f32[3, 1]"),
        (np.ones(3, np.int64), np.ones(3, np.int32), "is i64[3], expected i32[3]"),
        (np.ones(0, np.int64), np.ones(0, np.int32), "is i64[0], expected i32[0]"),
    ],
)
def test_other_types_differ(actual: Tensor, expected: Tensor, text: str) -> None:
    comparison = compare(actual, expected)
    assert not comparison.agrees
    assert str(comparison) == text


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3), ()])
def test_nothing_to_compare(shape: tuple[int, ...]) -> None:
    comparison = compare(np.zeros(shape, np.float32), np.zeros(shape, np.float32))
    assert comparison.agrees
    assert comparison.worst is None


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
