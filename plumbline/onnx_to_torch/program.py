"""A model of ONNX as a program of PyTorch's."""

import contextlib
import functools
import linecache
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import torch
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, inliner
from torch._subclasses import fake_tensor

from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.archives.torch_tensors import to_torch
from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.loader import TorchLoaderOutput, checked
from plumbline.loader_to_torch.model_nodes import check_expected, with_names
from plumbline.loader_to_torch.stand_in import identifiers
from plumbline.onnx_to_torch.argument_sizes import ArgumentSizes, OtherSize
from plumbline.onnx_to_torch.constants import constant_tensor
from plumbline.onnx_to_torch.example_inputs import example_inputs
from plumbline.onnx_to_torch.graph import Graph, GraphSource
from plumbline.onnx_to_torch.model_file import read_model
from plumbline.onnx_to_torch.node import domain_of
from plumbline.onnx_to_torch.patterns import PATTERNS
from plumbline.onnx_to_torch.values import Value, tensor

_NEEDS_VALUES = (
    fake_tensor.DataDependentOutputException,
    fake_tensor.DynamicOutputShapeException,
    fake_tensor.UnsupportedOperatorException,
)
"""What fake tensors, which have none, raise."""


class OnnxProgram(Graph):
    """A model of ONNX: its `forward` takes its inputs in order, and returns a dict of its outputs.

    Its tensors are buffers, under the names that the model has for them.
    """

    def __init__(self, file: Path) -> None:
        """The model of a .onnx file.

        Raises:
          UserError: it is none, or has ops that cannot be converted: the message lists all.
        """
        model = read_model(file)
        source = GraphSource(
            file.name,
            {domain_of(each): each.version for each in model.opset_import},
            functools.partial(_constant, str(file), str(file.parent)),
            PATTERNS,
        )
        model = _with_known_ops(file, model, source)
        super().__init__()
        self.file = str(file)
        held = {each.name for each in model.graph.initializer}
        self.arguments = [each for each in model.graph.input if each.name not in held]
        self.sizes = ArgumentSizes(f"model {file}", self.arguments)
        self.results = identifiers(each.name for each in model.graph.output)
        names = identifiers(each.name for each in self.arguments)
        self.forward = with_names(self._forward, names)
        self.read(model.graph, source)
        # Tracebacks, and what is made of them, show these lines as those of the file.
        linecache.cache[file.name] = (len(source.lines), None, source.lines, file.name)

    def _forward(self, *inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        self.sizes.hold(inputs)
        values: dict[str, Value] = {
            argument.name: given for argument, given in zip(self.arguments, inputs, strict=True)
        }
        outputs = self.run(values)
        return {
            name: _as_result(output) for name, output in zip(self.results, outputs, strict=True)
        }

    def takes(self, inputs: Sequence[torch.Tensor]) -> bool:
        """Whether no op finds that `inputs` have wrong sizes; they may be fake tensors.

        Raises:
          OtherSize: an op finds it, and knows the right one.
        """
        try:
            self._forward(*inputs)
        except (UserError, *_NEEDS_VALUES):
            # What goes before has been computed; the rest is found when the program is followed.
            return True
        except OtherSize:
            raise
        except (RuntimeError, ValueError, IndexError):
            return False
        return True


def _as_result(value: Value) -> torch.Tensor:
    try:
        return tensor(value)
    except Unsupported as reason:
        raise UserError(f"a result of the model is no tensor: {reason}") from reason


def _constant(file: str, folder: str, proto: TensorProto) -> torch.Tensor:
    try:
        return constant_tensor(proto, folder)
    except Unsupported as reason:
        raise UserError(f"{file}: tensor {proto.name}: {reason}") from reason
    except (ValueError, OSError, TypeError) as error:
        raise UserError(f"{file}: tensor {proto.name} cannot be read: {error}") from error


def _with_known_ops(file: Path, model: ModelProto, source: GraphSource) -> ModelProto:
    """`model`, with ops that have no pattern replaced by those that ONNX says they are made of.

    Raises:
      UserError: there is an op that is made of no others.
    """
    if unknown := _unknown_ops(model.graph, source):
        # ONNX fails at what it cannot take apart, such as functions of inputs that are left out.
        with contextlib.suppress(RuntimeError):
            model = inliner.inline_selected_functions(
                model, list(unknown), inline_schema_functions=True
            )
        unknown = _unknown_ops(model.graph, source)
    if unknown:
        listed = "\n".join(
            f"  {f'{domain}.' if domain else ''}{op_type}: {len(nodes)} "
            f"{'node' if len(nodes) == 1 else 'nodes'}, such as {nodes[0]}"
            for (domain, op_type), nodes in sorted(unknown.items())
        )
        raise UserError(f"{file}: there is no pattern for these ops of ONNX:\n{listed}")
    return model


def _unknown_ops(graph: GraphProto, source: GraphSource) -> dict[tuple[str, str], list[str]]:
    """The ops that there is no pattern for, by domain and type, with their nodes."""
    unknown: dict[tuple[str, str], list[str]] = {}
    for node in _all_nodes(graph):
        op = domain_of(node), node.op_type
        if node.op_type != "Constant" and not source.knows(*op):
            unknown.setdefault(op, []).append(node.name or node.output[0])
    return unknown


def _all_nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from _all_nodes(attribute.g)


def load_onnx(
    file: str | os.PathLike[str],
    *,
    func_name: str | None = None,
    sizes: Mapping[str, int] = MappingProxyType({}),
    expected: ReferenceArchive | None = None,
) -> TorchLoaderOutput:
    """The program of a .onnx file, as a loader function returns one.

    Sizes to which the model gives names differ at run time.

    Args:
      file: the model; tensors that it keeps in other files lie beside it.
      func_name: what the compiled function is called.
      sizes: those of them that are fixed, by name.
      expected: the inputs that the program is tried on; without it, some are made up that fit.

    Raises:
      UserError: as `OnnxProgram` does; or it has an input that is no tensor, or others than those
        that are expected, or no size of a name.
    """
    program = OnnxProgram(Path(file))
    who = f"model {program.file}"
    # Sizes that are given need not be looked for.
    takes = program.takes if expected is None else lambda inputs: True
    made = example_inputs(who, program.arguments, program.sizes, sizes, takes)
    inputs = made.inputs
    if expected is not None:
        inputs = tuple(map(to_torch, expected.inputs))
        counts = len(program.results), len(expected.outputs)
        check_expected(who, inputs, made.inputs, *counts)
    return checked(
        who,
        TorchLoaderOutput(
            program,
            inputs,
            made.dynamic_shapes,
            func_name,
            names_of_sizes=made.names_of_sizes,
        ),
    )
