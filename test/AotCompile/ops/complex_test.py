"""Complex numbers within a program, against PyTorch."""

import sys
from collections.abc import Callable

import pytest
import torch

import plumbline
from test.AotCompile.ops.op_case import Sampler


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(x)


def _check(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> None:
    [actual] = plumbline.compile(_Of(function), (x,))(x)
    torch.testing.assert_close(actual, function(x), equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_abs(dtype: torch.dtype) -> None:
    _check(lambda x: torch.view_as_complex(x).abs(), Sampler(dtype).telling(50, 7, 2))


def test_abs_of_what_a_loop_computes() -> None:
    window = torch.hann_window(16)
    _check(
        lambda x: torch.stft(x, 16, window=window, return_complex=True).abs(), torch.randn(2, 64)
    )


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
