"""Measures the errors of our own exp, tanh and erf, in units in the last place."""

import math
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch

import plumbline
from plumbline.reference_archive import Tensor


class _Exp(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.exp(x)


class _Tanh(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x)


class _Erf(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.erf(x)


_FUNCTIONS: dict[type[torch.nn.Module], tuple[Callable[[Tensor], Tensor], float]] = {
    _Exp: (np.exp, 2.0),
    _Tanh: (np.tanh, 3.0),
    _Erf: (np.vectorize(math.erf), 2.0),
}
"""For each module its function in f64, and how many units in the last place it may be off."""

_STEP = 8191
"""Every so many floats one is tried: a prime, so that all patterns of last bits occur."""


def _floats() -> Tensor:
    """Floats of all magnitudes and both signs, subnormal and special ones among them."""
    bits = np.arange(0, 0x7F800000, _STEP, dtype=np.uint32)
    positive = bits.view(np.float32)
    dense = np.linspace(0, 12, 50_000, dtype=np.float32)
    special = np.array(
        [0.0, 1e-45, 1e-40, 88.72283, 88.72284, 87.33655, 103.972, 104.1], np.float32
    )
    numbers = np.concatenate([positive, dense, special, [np.float32("inf")]])
    return np.concatenate([numbers, -numbers, [np.float32("nan")]]).astype(np.float32)


@pytest.mark.parametrize("target_cpu", ["native", "baseline"])
@pytest.mark.parametrize("module", _FUNCTIONS, ids=lambda module: module.__name__)
def test_errors(module: type[torch.nn.Module], target_cpu: str) -> None:
    exact_function, bound = _FUNCTIONS[module]
    x = _floats()
    program = plumbline.compile(module(), (torch.from_numpy(x),), target_cpu=target_cpu)
    (actual,) = program(x)
    assert "math." not in program.stage("llvm")
    with np.errstate(over="ignore", under="ignore"):
        exact = exact_function(x.astype(np.float64))
        expected = exact.astype(np.float32)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(actual[~finite], expected[~finite])
    unit = np.spacing(np.abs(expected[finite])).astype(np.float64)
    errors = np.abs(actual[finite].astype(np.float64) - exact[finite]) / unit
    worst = int(np.argmax(errors))
    assert errors[worst] <= bound, f"{errors[worst]} units at {x[finite][worst]!r}"


def test_zeros_keep_their_sign() -> None:
    x = np.array([0.0, -0.0], np.float32)
    for module in (_Tanh, _Erf):
        (actual,) = plumbline.compile(module(), (torch.from_numpy(x),))(x)
        np.testing.assert_array_equal(np.signbit(actual), [False, True])


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
