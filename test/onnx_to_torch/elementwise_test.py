"""Elementwise ops, as they are compiled."""

import sys
from pathlib import Path

import pytest
import torch

import plumbline
from plumbline.onnx_to_torch.program import load_onnx
from test.onnx_to_torch import models


def test_squares_are_products(tmp_path: Path) -> None:
    text = "(float[8] x) => (float[8] y) { y = Pow (x, two) }"
    models.program(tmp_path, text, {"two": torch.tensor([2.0])})
    compiled = plumbline.compile(load_onnx(tmp_path / "model.onnx"))
    assert "tcp.pow" not in compiled.stage("tcp")
    assert compiled(torch.arange(-4.0, 4.0))[0].tolist() == [16, 9, 4, 1, 0, 1, 4, 9]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
