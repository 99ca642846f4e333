"""What is cheap is computed where it is gathered from: images get other sizes in one launch."""

import sys
from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

from test.linalg_to_gpu.emulated_programs import EmulatedProgram, integers


@pytest.mark.parametrize(
    "function",
    [
        lambda x: functional.interpolate(x, scale_factor=2.0, mode="bilinear"),
        lambda x: functional.interpolate(x, (5, 9), mode="bicubic", align_corners=True),
        lambda x: functional.interpolate(x[None], (5, 6, 7), mode="trilinear"),
    ],
    ids=["bilinear", "bicubic", "trilinear"],
)
def test_what_is_gathered_from_is_no_launch(function: Callable[..., object]) -> None:
    x = integers(2, 3, 4, 8)
    program = EmulatedProgram(function, x)
    program.check(x)
    assert program.gpu.count("gpu.launch_func") == 1


def test_what_others_read_too_is_a_launch() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x * 2 - 1
        return y, y[:, [3, 0, 3]]

    x = integers(2, 4, 8)
    program = EmulatedProgram(function, x)
    program.check(x)
    assert program.gpu.count("gpu.launch_func") == 2


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
