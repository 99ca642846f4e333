"""Windows read what is padded where it is, a few by a thread, and pads are written once."""

import sys
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional

from test.linalg_to_gpu.emulated_programs import EmulatedProgram, integers


def _kernels(program: EmulatedProgram) -> int:
    return program.gpu.count("gpu.launch_func")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize(
    "function",
    [
        lambda x: functional.max_pool2d(x, 3, 2, 1),
        lambda x: functional.avg_pool2d(x, 3, 1, 1),
        lambda x: functional.max_pool1d(x[0], 5, 2, 2),
    ],
    ids=["max", "average", "max_1d"],
)
def test_pools_are_a_launch(function: Callable[..., object], dtype: torch.dtype) -> None:
    x = -1 - integers(2, 3, 9, 10, dtype=dtype).abs()
    program = EmulatedProgram(function, x)
    program.check(x)
    assert _kernels(program) == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_depthwise_convolutions_are_a_launch(dtype: torch.dtype) -> None:
    module = nn.Conv2d(6, 6, 3, padding=(1, 2), groups=6).to(dtype)
    x = integers(2, 6, 7, 8, dtype=dtype)
    program = EmulatedProgram(module, x)
    program.check(x)
    assert _kernels(program) == 1


@pytest.mark.parametrize(
    ("channels", "blocks"), [(8, 512), (4, 512), (3, 768)], ids=["four", "two", "one"]
)
def test_a_thread_does_neighbours_where_there_are_enough(channels: int, blocks: int) -> None:
    """Two or four of a column, whose windows have rows in common."""
    module = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, groups=channels), nn.ReLU())
    x = integers(1, channels, 256, 256)
    program = EmulatedProgram(module, x)
    program.check(x)
    assert f"blocks in (%c{blocks}," in program.gpu


def test_neighbours_are_as_many_as_divide_a_column() -> None:
    x = integers(2, 4, 267, 250, dtype=torch.float16)
    program = EmulatedProgram(lambda x: functional.max_pool2d(x, (5, 2), (1, 1)), x)
    program.check(x)
    # 263 rows are not 2, 3 or 4 times as many.
    assert f"blocks in (%c{-(-2 * 4 * 263 * 249 // 256)}," in program.gpu
    y = integers(2, 4, 265, 250)
    program = EmulatedProgram(lambda y: functional.avg_pool2d(y, (5, 2), (1, 1)), y)
    program.check(y)
    assert f"blocks in (%c{-(-2 * 4 * 87 * 249 // 256)}," in program.gpu


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("stride", "bias"), [(1, True), (2, False)])
def test_images_of_half_precision_have_channels_last(
    dtype: torch.dtype, stride: int, *, bias: bool
) -> None:
    """A launch to put them there, one for the pad, and one for tiles that copy 16 bytes at once."""
    module = nn.Conv2d(16, 24, 3, stride, padding=1, bias=bias).to(dtype)
    with torch.no_grad():
        module.weight.copy_(integers(24, 16, 3, 3))
    x = integers(2, 16, 12, 10, dtype=dtype)
    program = EmulatedProgram(module, x)
    program.check(x)
    assert _kernels(program) == 3
    type_ = "f16" if dtype == torch.float16 else "bf16"
    assert f"memref<2x14x12x16x{type_}>" in program.gpu
    assert f"memref<24x3x3x16x{type_}>" in program.gpu


def test_as_many_images_as_a_call_has() -> None:
    module = nn.Conv2d(8, 16, 3, padding=1).half()
    program = EmulatedProgram(
        module, integers(2, 8, 9, 10, dtype=torch.float16), shapes=({0: Dim("images")},)
    )
    assert _kernels(program) == 3
    assert "memref<?x11x12x8xf16>" in program.gpu
    for images in (2, 1, 0):
        program.check(integers(images, 8, 9, 10, dtype=torch.float16))


class _TwoConvolutions(nn.Module):
    """Of one weight, of two images."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(integers(16, 8, 3, 3, dtype=torch.float16))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Also where the weight is read as it is, and is no weight."""
        return (
            functional.conv2d(x, self.weight, padding=1),
            functional.conv2d(y, self.weight, stride=2, padding=(2, 1)),
            functional.conv2d(y, self.weight + 1, padding=1),
            functional.conv2d(x, self.weight),
        )


def test_weights_of_several_convolutions() -> None:
    x, y = (integers(1, 8, *size, dtype=torch.float16) for size in ((9, 12), (14, 11)))
    program = EmulatedProgram(_TwoConvolutions(), x, y)
    program.check(x, y)


def test_pads_before_tiles_are_a_launch() -> None:
    """What is widened before a pad is not written for nobody."""
    w = integers(16, 16, 3, 3, dtype=torch.float16)
    x = integers(1, 16, 12, 12, dtype=torch.float16)
    program = EmulatedProgram(lambda x, w: functional.conv2d(x, w, padding=1), x, w)
    program.check(x, w)
    assert _kernels(program) == 2


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64], ids=str
)
def test_pads(dtype: torch.dtype) -> None:
    x = integers(3, 5, 6).to(dtype)
    program = EmulatedProgram(
        lambda x: (functional.pad(x, (1, 2)), functional.pad(x, (0, 3, 2, 0), value=1)), x
    )
    program.check(x)


def test_pads_of_as_many_images_as_a_call_has() -> None:
    program = EmulatedProgram(
        lambda x: (functional.max_pool2d(x, 3, 2, 1), functional.pad(x, (2, 1, 0, 3))),
        integers(3, 2, 9, 8),
        dims=({0: Dim("images")},),
    )
    assert _kernels(program) == 2
    for images in (3, 1, 0):
        program.check(integers(images, 2, 9, 8))


def test_pads_of_what_may_be_empty() -> None:
    """No element is read in place of one that is none, as there may be none."""
    program = EmulatedProgram(
        lambda x: (functional.pad(x, (2, 1)), functional.pad(x[:, :0], (1, 1), value=3)),
        integers(3, 8),
        dims=({1: Dim("width", min=0)},),
    )
    for width in (8, 1, 0):
        program.check(integers(3, width))


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
