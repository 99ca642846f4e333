"""Checks variances of f32 against f64: as exact as PyTorch's, of numbers of any size."""

import sys

import pytest
import torch

import plumbline


class _Variances(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.var(1), torch.nn.functional.group_norm(x.reshape(len(x), 2, -1), 2)


def _numbers(columns: int, mean: float, size: float) -> torch.Tensor:
    return (torch.randn(6, columns) + mean) * size


@pytest.mark.parametrize("columns", [512, 1000])
@pytest.mark.parametrize("mean", [0.0, 30.0, 1000.0])
def test_variances_are_as_exact_as_those_of_pytorch(mean: float, columns: int) -> None:
    x = _numbers(columns, mean, 1.0)
    program = plumbline.compile(_Variances(), (x,))
    # What is added up in f64 anew, where that is needed, are squares of f64.
    assert "scf.if" in program.stage("kernels")
    assert "arith.mulf %" in program.stage("kernels")
    exact = _Variances()(x.double())
    for actual, theirs, expected in zip(program(x), _Variances()(x), exact, strict=True):
        error, bound = ((one.double() - expected).abs().max() for one in (actual, theirs))
        assert error <= max(2 * bound, expected.abs().max() * 2**-23)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        *((torch.float32, size) for size in (1e-30, 1e-22, 1e-19, 1e18, 1e22, 1e30)),
        (torch.bfloat16, 1e30),
        (torch.float16, 1e3),
    ],
)
def test_deviations_may_be_of_any_size(dtype: torch.dtype, size: float) -> None:
    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x.std(1), *torch.std_mean(x, 1)

    x = _numbers(1000, 3.0, size).to(dtype)
    exact = Program()(x.double())
    rounding = max(torch.finfo(dtype).eps, 1e-6)
    for actual, expected in zip(plumbline.compile(Program(), (x,))(x), exact, strict=True):
        torch.testing.assert_close(actual.double(), expected, rtol=rounding, atol=0)


def test_one_row_may_be_of_another_size_than_the_others() -> None:
    sizes = torch.tensor([1.0, 1e-25, 0.0, 1e25, torch.inf, torch.nan])
    x = torch.randn(6, 1000) * sizes[:, None]
    (actual, _) = plumbline.compile(_Variances(), (x,))(x)
    torch.testing.assert_close(actual, x.double().var(1).float(), rtol=1e-6, atol=0, equal_nan=True)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
