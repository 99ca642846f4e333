"""PyTorch's generator and the numbers that are made of its words, computed by PyTorch itself."""

import sys

import pytest
import torch

from plumbline.loader_to_torch.decompositions.mersenne_twister import MersenneTwister
from plumbline.loader_to_torch.decompositions.normal_numbers import (
    fma,
    normal_in_rows,
    normal_one_by_one,
    uniform_double,
    uniform_single,
)

_COUNTS = (0, 1, 15, 16, 17, 623, 624, 625, 1000, 1248, 5000)


def _state(before: int) -> torch.Tensor:
    """The state of a generator that was seeded, and then asked for some numbers."""
    torch.manual_seed(5)
    if before:
        torch.rand(before)
    return torch.get_rng_state()


@pytest.mark.parametrize("before", [0, 1, 100, 623, 624, 700])
@pytest.mark.parametrize("count", _COUNTS)
def test_words_and_the_state_after_them(count: int, before: int) -> None:
    twister = MersenneTwister(_state(before))
    words = twister.words(count)
    assert torch.equal(uniform_single(words), torch.rand(count))
    if count % 2 == 0:
        torch.set_rng_state(_state(before))
        expected = torch.rand(count // 2, dtype=torch.float64)
        assert torch.equal(uniform_double(words.reshape(-1, 2)), expected)
    assert torch.equal(twister.state(), torch.get_rng_state())


def test_words_that_are_not_taken_come_again() -> None:
    twister = MersenneTwister(_state(3))
    first = twister.words(2000, torch.tensor(700))
    second = twister.words(1300)
    expected = MersenneTwister(_state(3)).words(2000)
    assert torch.equal(first, expected)
    assert torch.equal(second, expected[700:])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("count", [16, 17, 31, 32, 623, 625, 1000, 100000])
def test_normal_numbers_in_rows(count: int, dtype: torch.dtype) -> None:
    twister = MersenneTwister(_state(5))
    numbers = normal_in_rows(twister, count, 0.3, 1.7, dtype)
    expected = torch.empty(count, dtype=dtype).normal_(0.3, 1.7)
    assert torch.equal(twister.state(), torch.get_rng_state())
    # Square roots of PyTorch's are not always rounded as IEEE 754 has it, those of its kernels are,
    # and logarithm, sine and cosine in float64 are the C library's.
    resolution = torch.finfo(dtype).eps
    torch.testing.assert_close(numbers, expected, rtol=4 * resolution, atol=4 * resolution)


@pytest.mark.parametrize("before", [0, 1, 2, 3])
@pytest.mark.parametrize("count", [1, 2, 7, 15])
def test_normal_numbers_one_by_one(count: int, before: int) -> None:
    torch.manual_seed(5)
    torch.randn(before)
    twister = MersenneTwister(torch.get_rng_state())
    numbers = normal_one_by_one(twister, count)
    assert torch.equal(numbers.float(), torch.randn(count))
    # The number that waits is in float64.
    following = normal_one_by_one(twister, 2)
    assert torch.equal(following.float(), torch.randn(2))
    _, (is_there, after) = twister.normal, (twister.state()[5040], torch.get_rng_state())
    assert is_there == after[5040] == (before + count) % 2
    assert torch.equal(twister.state()[:5024], after[:5024])


def test_a_state_that_nothing_was_drawn_from_stays() -> None:
    for before in (0, 9):
        torch.manual_seed(5)
        torch.randn(before)
        twister = MersenneTwister(torch.get_rng_state())
        assert torch.equal(twister.state(), torch.get_rng_state())
        assert twister.normal[1] == before % 2
        assert torch.equal(twister.state(), torch.get_rng_state())


def test_products_and_sums_are_rounded_once() -> None:
    # Of (1 + e)^2 the last digit is lost if the product is rounded.
    for dtype in (torch.float32, torch.float64):
        small = torch.finfo(dtype).eps
        value = torch.tensor(1 + small, dtype=dtype)
        assert fma(value, value, -1 - 2 * small) == small * small


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
