"""Suppression of boxes of ONNX, compiled for any number of them."""

import sys
from pathlib import Path

import pytest
import torch

import plumbline
from plumbline.onnx_to_torch.program import load_onnx
from test.onnx_to_torch.models import program


def test_boxes_of_any_number(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(float[1, n, 4] boxes, float[1, 2, n] scores) => (int64[k, 3] y) {
          most = Constant<value = int64[1] {50}>()
          overlap = Constant<value = float[1] {0.5}>()
          least = Constant<value = float[1] {0.3}>()
          y = NonMaxSuppression(boxes, scores, most, overlap, least)
        }""",
    )
    compiled = plumbline.compile(load_onnx(tmp_path / "model.onnx"))
    for count in (1, 40):
        random = torch.Generator().manual_seed(count)
        low = torch.rand(1, count, 2, generator=random)
        boxes = torch.cat([low, low + torch.rand(1, count, 2, generator=random) / 2], 2)
        scores = torch.rand(1, 2, count, generator=random)
        (y,) = compiled(boxes, scores)
        assert y.equal(model(boxes, scores)["y"])
        # Some are out, as they overlap others or have low scores.
        assert count == 1 or 10 < len(y) < 70


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
