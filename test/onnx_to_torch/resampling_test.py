"""Resizing of ONNX: sizes that differ at run time, and the oldest versions."""

import sys
from pathlib import Path

import pytest
import torch
from torch.nn import functional

import plumbline
from test.onnx_to_torch.models import program

_WIDTH = torch.export.Dim("width", min=5)


def test_sizes_that_differ_are_resized(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(float[1,2,4,W] x) => (float[1,2,8,A] y, float[1,2,2,B] z) {
          twice = Constant<value = float[4] {1.0, 1.0, 2.0, 2.0}>()
          half = Constant<value = float[4] {1.0, 1.0, 0.5, 0.5}>()
          y = Resize<mode="linear">(x, , twice)
          z = Resize<mode="linear", antialias=1, exclude_outside=1>(x, , half)
        }""",
    )
    shapes = ({3: _WIDTH},)
    compiled = plumbline.compile(model, (torch.randn(1, 2, 4, 6),), dynamic_shapes=shapes)
    x = torch.randn(1, 2, 4, 10)
    twice, half = compiled(x)
    torch.testing.assert_close(twice, functional.interpolate(x, (8, 20), mode="bilinear"))
    expected = functional.interpolate(x, (2, 5), mode="bilinear", antialias=True)
    torch.testing.assert_close(half, expected)


def test_before_version_11_places_are_not_of_the_middle_of_elements(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(float[1,1,4] x) => (float[1,1,3] y, float[1,1,8] z) {
          less = Constant<value = float[3] {1.0, 1.0, 0.75}>()
          more = Constant<value = float[3] {1.0, 1.0, 2.0}>()
          y = Resize<mode="nearest">(x, less)
          z = Resize<mode="linear">(x, more)
        }""",
        opset=10,
    )
    nearest, linear = model(torch.arange(4.0).reshape(1, 1, 4)).values()
    assert nearest.tolist() == [[[0, 2, 3]]]
    assert linear.tolist() == [[[0, 0.5, 1, 1.5, 2, 2.5, 3, 3]]]


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
