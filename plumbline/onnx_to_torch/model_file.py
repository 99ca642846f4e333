"""Reads a model's file, and holds it against what ONNX says of its kind."""

from collections.abc import Iterator
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
        model = onnx.load_model(file, format="protobuf", load_external_data=False)
        if _gives_ranks(model):
            # The checker looks for files of tensors beside this one.
            onnx.checker.check_model(str(file))
        else:
            onnx.checker.check_model(model)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except (DecodeError, onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        raise UserError(f"{file}: it is no valid model of ONNX: {str(error).strip()}") from error
    if any(isinstance(text, bytes) for text in _names(model.graph)):
        raise UserError(f"{file}: it is no valid model of ONNX: a name in it is not UTF-8")
    return inliner.inline_local_functions(model) if model.functions else model


def _gives_ranks(model: onnx.ModelProto) -> bool:
    """Whether a model says the rank of each result, as it must; gives it some if it does not.

    Nobody reads them, and what other tools write is not refused for it.
    """
    tensors = [
        each.type.tensor_type for each in model.graph.output if each.type.HasField("tensor_type")
    ]
    unknown = [type_ for type_ in tensors if not type_.HasField("shape")]
    for type_ in unknown:
        type_.shape.SetInParent()
    return not unknown


def _names(graph: onnx.GraphProto) -> Iterator[str | bytes]:
    """What things in a graph are called; protobuf gives bytes for what is no text."""
    for argument in (*graph.input, *graph.output):
        yield argument.name
        yield from (dim.dim_param for dim in argument.type.tensor_type.shape.dim)
    yield from (constant.name for constant in graph.initializer)
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        for attribute in node.attribute:
            yield attribute.name
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _names(attribute.g)
