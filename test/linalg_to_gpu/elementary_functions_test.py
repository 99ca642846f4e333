"""Elementary functions of float64 are kernels of a GPU, as exact there as on a CPU.

How exact these are on a CPU is measured in test/elementary_functions.
"""

import sys
from collections.abc import Callable

import pytest
import torch

from test.linalg_to_gpu.emulated_programs import EmulatedProgram

_SPECIAL = [0.0, -0.0, 5e-324, -1e-310, 0.5, 1.0, -1.0, 2.0, torch.inf, -torch.inf, torch.nan]

_HUGE = [1e22, -3e200, 6381956970095103.0 * 2.0**797, torch.finfo(torch.float64).max]


def _numbers(*more: float) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(200, generator=generator, dtype=torch.float64)
    return torch.cat([drawn, drawn * 10, torch.tensor([*_SPECIAL, *more], dtype=torch.float64)])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.sin(), x.cos(), x.tan()),
        lambda x: (x.asin(), x.acos(), x.atan()),
        lambda x: (x.cosh(), x.sinh(), x.tanh(), x.asinh(), x.acosh(), x.atanh()),
        lambda x: (x.exp(), x.exp2(), x.expm1(), x.erf()),
        lambda x: (x.log(), x.log2(), x.log10(), x.log1p()),
    ],
    ids=["trigonometric", "inverse", "hyperbolic", "exponential", "logarithms"],
)
def test_functions_of_one(function: Callable[[torch.Tensor], object]) -> None:
    x = _numbers(*_HUGE)
    # A unit of a subnormal number is much of it.
    EmulatedProgram(function, x).check(x, rtol=2e-15, atol=1e-323)


@pytest.mark.parametrize("function", [torch.pow, torch.atan2], ids=["pow", "atan2"])
def test_functions_of_two(function: Callable[..., torch.Tensor]) -> None:
    numbers = _numbers(3.0, -5.0, 2.0**52 + 1, -(2.0**53), 1e300)
    x, y = (part.reshape(-1) for part in torch.meshgrid(numbers, numbers, indexing="ij"))
    EmulatedProgram(function, x, y).check(x, y, rtol=2e-15, atol=0)


def test_products_whose_rounding_is_computed_are_not_fused() -> None:
    """What has no rounding modifier may be, by ptxas."""
    x = _numbers()
    program = EmulatedProgram(torch.erfc, x)
    # PyTorch's is some 100 units off where it is small.
    program.check(x, rtol=3e-14, atol=0)
    assert "mul.rn.f64" in program.ptx


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
