"""Convolutions and pools of ONNX over sizes that differ at run time."""

import sys
from pathlib import Path

import pytest
import torch
from torch.nn import functional

import plumbline
from test.onnx_to_torch.models import program

_HEIGHT = torch.export.Dim("height", min=5)
_WIDTH = torch.export.Dim("width", min=5)


def test_padding_is_of_as_many_windows_as_strides_fit(tmp_path: Path) -> None:
    weight = torch.randn(4, 3, 3, 3)
    model = program(
        tmp_path,
        """(float[1,3,H,W] x) => (float[1,4,A,B] y, float[1,3,A,B] z) {
          y = Conv<auto_pad="SAME_LOWER", strides=[2,2]>(x, weight)
          z = AveragePool<auto_pad="SAME_UPPER", strides=[2,2], kernel_shape=[3,3]>(x)
        }""",
        {"weight": weight},
    )
    shapes = ({2: _HEIGHT, 3: _WIDTH},)
    compiled = plumbline.compile(model, (torch.randn(1, 3, 8, 9),), dynamic_shapes=shapes)
    # An even size is padded at one end, an odd one at both.
    x = torch.randn(1, 3, 11, 6)
    convolved, pooled = compiled(x)
    torch.testing.assert_close(
        convolved, functional.conv2d(functional.pad(x, [1, 0, 1, 1]), weight, stride=2)
    )
    counts = functional.avg_pool2d(functional.pad(torch.ones_like(x), [0, 1, 1, 1]), 3, 2)
    averages = functional.avg_pool2d(functional.pad(x, [0, 1, 1, 1]), 3, 2) / counts
    torch.testing.assert_close(pooled, averages)


def test_the_last_window_begins_before_what_is_padded_at_the_end(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(float[1,1,N] x) => (float[1,1,M] y, int64[1,1,M] places) {
          y, places = MaxPool<kernel_shape=[2], strides=[3], pads=[0,2], ceil_mode=1>(x)
        }""",
    )
    values, places = model(torch.arange(7.0).reshape(1, 1, 7)).values()
    # A window at 6 has what is padded as well; one at 9 would have nothing else.
    assert values.tolist() == [[[1, 4, 6]]]
    assert places.tolist() == [[[1, 4, 6]]]


def test_transposed_convolutions_add_at_the_end_what_is_asked_for(tmp_path: Path) -> None:
    weight = torch.randn(1, 1, 2)
    model = program(
        tmp_path,
        """(float[1,1,3] x) => (float[1,1,9] y) {
          y = ConvTranspose<strides=[2], output_shape=[9]>(x, weight, bias)
        }""",
        {"weight": weight, "bias": torch.ones(1)},
    )
    x = torch.randn(1, 1, 3)
    (y,) = model(x).values()
    own = functional.conv_transpose1d(x, weight, torch.ones(1), stride=2)
    torch.testing.assert_close(y, torch.cat([own, torch.ones(1, 1, 3)], 2))


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
