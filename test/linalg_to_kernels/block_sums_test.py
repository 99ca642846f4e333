"""Checks sums of f32 against f64: as exact as PyTorch's, and exact where all numbers are equal.

Those of short rows (`short_sums.py`) are, too.
"""

import re
import sys

import pytest
import torch

import plumbline


class _Sums(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return x.sum(1), x.mean(1), x.mT.sum(1)


class _Exp(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.exp()


def _results(x: torch.Tensor) -> tuple[tuple[torch.Tensor, ...], tuple[torch.Tensor, ...]]:
    """Of a program and of PyTorch, in f64."""
    program = plumbline.compile(_Sums(), (x,))
    return tuple(one.double() for one in program(x)), tuple(one.double() for one in _Sums()(x))


@pytest.mark.parametrize("mean", [0.0, 1000.0])
@pytest.mark.parametrize("shape", [(64, 16), (64, 1000), (16, 100_001)])
def test_errors_are_at_most_those_of_pytorch(shape: tuple[int, int], mean: float) -> None:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0)) + mean
    exact = _Sums()(x.double())
    for actual, theirs, expected in zip(*_results(x), exact, strict=True):
        error, bound = ((one - expected).abs().max() for one in (actual, theirs))
        # Where both are rounded once, they are equal.
        assert error <= bound


class _RowSums(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(1)


@pytest.mark.parametrize("mean", [0.0, 1000.0])
@pytest.mark.parametrize("length", [11, 16, 19, 24, 31, 48, 77])
@pytest.mark.parametrize("target_cpu", ["baseline", "native"])
def test_short_rows_are_added_up_as_exactly(target_cpu: str, length: int, mean: float) -> None:
    x = torch.randn((2000, length), generator=torch.Generator().manual_seed(0)) + mean
    program = plumbline.compile(_RowSums(), (x,), target_cpu=target_cpu)
    assert "vector.load" in program.stage("kernels")
    exact = x.double().sum(1)
    error, bound = ((one.double() - exact).abs().max() for one in (program(x)[0], x.sum(1)))
    assert error <= bound


@pytest.mark.parametrize("length", [11, 16, 19, 24, 31, 48, 1000])
@pytest.mark.parametrize("number", [0.1, 1000.3])
def test_sums_of_equal_numbers_are_rounded_once(number: float, length: int) -> None:
    x = torch.full((8, length), number)
    actual, _ = _results(x)
    for one, expected in zip(actual, _Sums()(x.double()), strict=True):
        assert torch.equal(one, expected.float().double())


@pytest.mark.parametrize("mean", [0.0, 1000.0])
def test_sums_of_all_elements_have_at_most_the_errors_of_pytorch(mean: float) -> None:
    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
            return x.sum(), x.mean(), x @ x

    for seed in range(8):
        x = torch.randn(100_001, generator=torch.Generator().manual_seed(seed)) + mean
        program = plumbline.compile(Program(), (x,))
        # A kernel adds up eight elements in f32 though another one rounds what it gives.
        assert re.search(r"arith.addf .* : f32$", program.stage("kernels"), re.MULTILINE)
        exact = Program()(x.double())
        for actual, theirs, expected in zip(program(x), Program()(x), exact, strict=True):
            error, bound = ((one.double() - expected).abs() for one in (actual, theirs))
            assert error <= max(bound, expected.abs() * 2**-24)


def test_sums_in_double_are_added_up_in_that() -> None:
    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x.sum(1, dtype=torch.float64), x.exp().sum(1, dtype=torch.float64)

    x = torch.randn(7, 1000, generator=torch.Generator().manual_seed(0))
    program = plumbline.compile(Program(), (x,))
    sums, of_powers = program(x)
    torch.testing.assert_close(sums, x.double().sum(1), rtol=1e-14, atol=1e-12)
    # The powers differ by some of their last bits, which the sum does not add to.
    (powers,) = plumbline.compile(_Exp(), (x,))(x)
    torch.testing.assert_close(of_powers, powers.double().sum(1), rtol=1e-14, atol=0)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
