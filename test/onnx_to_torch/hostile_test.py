"""Mutated models are read, or refused in one message."""

import random
import sys
from pathlib import Path

import onnx
import pytest
from onnx import parser

from plumbline.errors import UserError
from plumbline.onnx_to_torch.program import load_onnx
from test.hostile.mutation import mutate_bytes, mutate_text

_MODELS = 300

_HEADER = '<ir_version: 10, opset_import: ["": 21, "ai.onnx.ml": 3]>'

_TEXTS = [
    f"{_HEADER} {graph}"
    for graph in (
        """g (float[batch, 3, "2*n"] x, int64[batch] at) => (float[M, N] y)
        <int64[2] shape = {-1, 6}, float[3] scale = {0.5, 1.0, 2.0}> {
          scaled = Mul (x, scale)
          rows = Reshape (x, shape)
          parts, others = Split <axis = 1, num_outputs = 2> (rows)
          y = Softmax <axis = -1> (parts)
        }""",
        """g (float[2, 8, 8, 4] image, bool[1] flag) => (float[2, 4, 4, 4] y)
        <float[4, 4, 3, 3] kernel, int64[4] starts = {0, 0, 1, -9223372036854775808}> {
          turned = Transpose <perm = [0, 3, 1, 2]> (image)
          y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (turned)
          size = Shape <start = 2> (y)
          chosen = If (flag) <
            then_branch = then () => (float[4] a) { a = Cast <to = 1> (starts) },
            else_branch = otherwise () => (float[4] b) { b = Cast <to = 1> (starts) }
          >
        }""",
        """g (float[rows, 4] x) => (float[rows, 2] y, int64[rows] label) {
          w = Constant <value = float[4, 2] {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}> ()
          c = Constant <value_floats = [1.0, 2.0]> ()
          y = Gemm <alpha = 0.5, beta = 2.0> (x, w, c)
          label = ArgMax <axis = 1, keepdims = 0> (y)
        }""",
    )
]


def _content(rng: random.Random) -> bytes:
    """A model whose text was mutated, or its bytes where that is none any more."""
    text = rng.choice(_TEXTS)
    try:
        model = parser.parse_model(mutate_text(rng, text, _TEXTS))
    # The last three where it has numbers that are too large.
    except (parser.ParseError, UnicodeEncodeError, IndexError, ValueError, RuntimeError):
        return mutate_bytes(rng, bytes(parser.parse_model(text).SerializeToString()))
    return bytes(model.SerializeToString())


def test_mutated_models(tmp_path: Path) -> None:
    rng, file, read = random.Random(0), tmp_path / "m.onnx", 0
    refusals = []
    for _ in range(_MODELS):
        file.write_bytes(_content(rng))
        try:
            load_onnx(file)
            read += 1
        except UserError as refusal:
            refusals.append(str(refusal))
    assert [each for each in refusals if str(file) not in each] == []
    assert read > _MODELS // 10
    assert len(refusals) > _MODELS // 10


def test_unmutated_models(tmp_path: Path) -> None:
    for text in _TEXTS:
        onnx.save_model(parser.parse_model(text), tmp_path / "m.onnx")
        load_onnx(tmp_path / "m.onnx")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
