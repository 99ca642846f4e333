"""Remainders of floats are exact, of numbers of all magnitudes, and call nothing."""

import math
import platform
import re
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch

import plumbline

_BITS = {torch.float32: torch.int32, torch.float64: torch.int64}

_SPECIAL = (0.0, 1.0, 3.5, 1e30, 1.7e308, math.inf, math.nan, 5e-324, 1e-45, 2.0**-126, 2.0**-900)

_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


# The first lacks fused multiply-add, but also instructions for f16.
_CPUS = (["x86-64"] if platform.machine() == "x86_64" else []) + ["native"]


def _numbers(dtype: torch.dtype, count: int) -> torch.Tensor:
    """Of all bit patterns some, more of moderate size, and special ones."""
    bits = _BITS.get(dtype, torch.int16)
    info = torch.iinfo(bits)
    special = torch.tensor([*_SPECIAL, *(-number for number in _SPECIAL)]).to(dtype)
    drawn = torch.randint(info.min, info.max, (count,), dtype=bits).view(dtype)
    moderate = (torch.randn(count) * torch.randint(1, 3000, (count,))).to(dtype)
    numbers = torch.cat([drawn, moderate, special.repeat(count // len(special))])
    return numbers[torch.randperm(len(numbers))]


def _exact(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """As C's fmod has it; PyTorch's own, by vectors, gives up where quotients are large."""
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    with np.errstate(invalid="ignore"):
        found = np.fmod(x.to(wide).numpy(), y.to(wide).numpy())
    return torch.from_numpy(found).to(x.dtype)


def _assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)
    # Zeros have the sign of what is divided.
    numbers = ~expected.isnan()
    assert torch.equal(actual.signbit() & numbers, expected.signbit() & numbers)


class _Remainder(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.fmod(x, y)


@pytest.mark.parametrize(
    ("dtype", "target_cpu"),
    [
        *((dtype, "native") for dtype in _DTYPES),
        *((dtype, cpu) for dtype in _BITS for cpu in _CPUS[:-1]),
    ],
)
def test_remainders(dtype: torch.dtype, target_cpu: str) -> None:
    torch.manual_seed(0)
    x, y = _numbers(dtype, 20_000), _numbers(dtype, 20_000)
    # Quotients that are whole, or all but whole.
    x[:5000] = y[:5000] * torch.randint(1, 9000, (5000,)).to(dtype)
    program = plumbline.compile(_Remainder(), (x, y), target_cpu=target_cpu)
    (actual,) = program(x, y)
    _assert_same(actual, _exact(x, y))
    called = set(re.findall(r"\b(?:call\w*|jmp)\s+(\w+)", program.stage("asm")))
    assert not called & {"fmod", "fmodf"}


@pytest.mark.parametrize("divisor", [0.7, -3.0, 1e-45, 2.0**-146, 1e30, math.inf, 0.0, math.nan])
def test_constant_divisors_take_as_many_steps_as_their_quotients_have_bits(divisor: float) -> None:
    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.fmod(x, divisor)

    torch.manual_seed(0)
    x = _numbers(torch.float32, 20_000)
    (actual,) = plumbline.compile(Program(), (x,))(x)
    _assert_same(actual, _exact(x, torch.tensor(divisor)))


@pytest.mark.parametrize("dtype", _DTYPES)
@pytest.mark.parametrize("op", [torch.remainder, torch.floor_divide])
def test_quotients_rounded_down(op: Callable[..., torch.Tensor], dtype: torch.dtype) -> None:
    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return op(x, y)

    torch.manual_seed(0)
    x, y = _numbers(dtype, 2000), _numbers(dtype, 2000)
    # Of one number each, PyTorch has no vectors.
    expected = torch.stack([op(*pair) for pair in zip(x, y, strict=True)])
    (actual,) = plumbline.compile(Program(), (x, y))(x, y)
    _assert_same(actual, expected)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
