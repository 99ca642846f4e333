"""Reads a model's file, and holds it against what ONNX says of its kind."""

from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import inliner

from plumbline.errors import UserError


def read_model(file: Path) -> onnx.ModelProto:
    """The model of a .onnx file; calls of its own functions are what these are made of.

    Tensors that it keeps in files beside it stay there.

    Raises:
      UserError: it cannot be read, or breaks a rule of ONNX; the message says which.
    """
    try:
        # The checker takes the path, as models may be larger than the largest message.
        onnx.checker.check_model(str(file))
        model = onnx.load_model(file, format="protobuf", load_external_data=False)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except (DecodeError, onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        raise UserError(f"{file}: it is no valid model of ONNX: {str(error).strip()}") from error
    return inliner.inline_local_functions(model) if model.functions else model
