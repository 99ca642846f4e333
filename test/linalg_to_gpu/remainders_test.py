"""Remainders of floats on a GPU are exact, of numbers of all magnitudes."""

import math
import sys

import numpy as np
import pytest
import torch

from test.linalg_to_gpu.emulated_programs import EmulatedProgram

_SPECIAL = (0.0, -0.0, 1.0, -1.0, 3.5, math.inf, -math.inf, math.nan, 5e-324, 1e-45, 2.0**-126)


def _numbers(dtype: torch.dtype) -> torch.Tensor:
    """Of all bit patterns some, and special ones."""
    torch.manual_seed(0)
    bits = {torch.float32: torch.int32, torch.float64: torch.int64}.get(dtype, torch.int16)
    info = torch.iinfo(bits)
    drawn = torch.randint(info.min, info.max, (600,), dtype=bits).view(dtype)
    return torch.cat([drawn, torch.randn(40).to(dtype) * 9, torch.tensor(_SPECIAL).to(dtype)])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_remainder(dtype: torch.dtype) -> None:
    """As C's fmod has it; PyTorch's own, by vectors, gives up where quotients are large."""
    x = _numbers(dtype)
    y = x[torch.randperm(len(x))][:64]
    program = EmulatedProgram(torch.fmod, x[:, None].expand(-1, 64).contiguous(), y)
    (ours,) = program.run(x[:, None].expand(-1, 64).contiguous(), y)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    with np.errstate(invalid="ignore"):
        found = np.fmod(x[:, None].to(wide).numpy(), y.to(wide).numpy())
    exact = torch.from_numpy(found).to(dtype)
    torch.testing.assert_close(ours, exact, rtol=0, atol=0, equal_nan=True)
    # Zeros have the sign of what is divided.
    assert torch.equal(ours.signbit() | ours.isnan(), exact.signbit() | exact.isnan())


def test_quotients_rounded_down() -> None:
    x = torch.tensor([7.5, -7.5, 1e30, -3.0, 0.0])
    y = torch.tensor([2.0, 2.0, 0.3, math.inf, -1.0])
    program = EmulatedProgram(lambda x, y: (x % y, torch.floor_divide(x, y)), x, y)
    program.check(x, y)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
