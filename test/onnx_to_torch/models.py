"""Models of ONNX, written as text, for tests."""

from collections.abc import Mapping
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper, parser

from plumbline.onnx_to_torch.program import OnnxProgram

_IR_VERSION = 10


def program(
    folder: Path,
    text: str,
    constants: Mapping[str, torch.Tensor] | None = None,
    *,
    opset: int = 22,
    ml_opset: int = 3,
) -> OnnxProgram:
    """The program of a model that is written to `folder`.

    Args:
      folder: where its file is to be.
      text: the graph as ONNX writes it, without its name: `(float[N] x) => (float[N] y) {...}`.
      constants: initializers, by name.
      opset: the version of ONNX's own ops.
      ml_opset: of those of ai.onnx.ml.
    """
    opsets = f'"": {opset}, "ai.onnx.ml": {ml_opset}, "com.microsoft": 1'
    header = f"<ir_version: {_IR_VERSION}, opset_import: [{opsets}]>"
    model = parser.parse_model(f"{header} graph {text}")
    model.graph.initializer.extend(
        numpy_helper.from_array(value.numpy(), name) for name, value in (constants or {}).items()
    )
    file = folder / "model.onnx"
    onnx.save_model(model, file)
    return OnnxProgram(file)
