"""Reads a model's file, and holds it against what ONNX says of its kind."""

import functools
from collections.abc import Iterator
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import defs, helper, inliner

from plumbline.errors import UserError

_RUNTIMES_OWN = (
    ("LayerNormalization", ("X", "Scale"), ("B",), ("Y",), ("Mean", "InvStdDev")),
    ("SimplifiedLayerNormalization", ("X", "scale"), (), ("Y",), ("InvStdDev",)),
)
"""Ops that ONNX Runtime's tools write as if they were ONNX's own, in versions in which these are
none: inputs, and those that may be left out; likewise what is put out."""


@functools.cache
def _know_ops_of_onnx_runtime() -> None:
    """Has the checker take what ONNX Runtime takes for ONNX's own since its first version."""
    formal = defs.OpSchema.FormalParameter
    optional = defs.OpSchema.FormalParameterOption.Optional
    for name, inputs, optional_inputs, outputs, optional_outputs in _RUNTIMES_OWN:
        if defs.has(name, 1, ""):
            continue
        attributes = [
            defs.OpSchema.Attribute("axis", helper.make_attribute("axis", -1), ""),
            defs.OpSchema.Attribute("epsilon", helper.make_attribute("epsilon", 1e-5), ""),
            defs.OpSchema.Attribute("stash_type", helper.make_attribute("stash_type", 1), ""),
        ]
        defs.register_schema(
            defs.OpSchema(
                name,
                "",
                1,
                inputs=[
                    *(formal(each, "T") for each in inputs),
                    *(formal(each, "T", param_option=optional) for each in optional_inputs),
                ],
                outputs=[
                    *(formal(each, "T") for each in outputs),
                    *(formal(each, "T", param_option=optional) for each in optional_outputs),
                ],
                type_constraints=[("T", _FLOATS, "")],
                attributes=attributes,
            )
        )


_FLOATS = [f"tensor({name})" for name in ("float16", "bfloat16", "float", "double")]


def read_model(file: Path) -> onnx.ModelProto:
    """The model of a .onnx file; calls of its own functions are what these are made of.

    Tensors that it keeps in files beside it stay there.

    Raises:
      UserError: it cannot be read, or breaks a rule of ONNX; the message says which.
    """
    _know_ops_of_onnx_runtime()
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
