"""A model of TensorFlow Lite as a program of PyTorch's."""

import dataclasses
import linecache
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import torch

from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.archives.torch_tensors import to_torch
from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.loader import TorchLoaderOutput, checked
from plumbline.loader_to_torch.model_nodes import check_expected, check_sizes, with_names
from plumbline.loader_to_torch.stand_in import identifiers
from plumbline.tflite_to_torch import control_flow
from plumbline.tflite_to_torch.graph import OF_SHAPES, Graph, GraphSource
from plumbline.tflite_to_torch.list_items import with_list_items
from plumbline.tflite_to_torch.model_file import Model, Subgraph, read_model
from plumbline.tflite_to_torch.node import option_of
from plumbline.tflite_to_torch.patterns import PATTERNS
from plumbline.tflite_to_torch.tensors import Tensor
from plumbline.tflite_to_torch.variables import Variables

_VARIABLES = "variables"


class TfliteProgram(torch.nn.Module):
    """A model of TensorFlow Lite: `forward` takes its inputs in order, and returns its outputs.

    These are a dict, by the names that its signature has for them. Tensors are as the model stores
    them: quantized ones are integers. What it holds from one call to the next are the buffers of
    `variables`.
    """

    def __init__(self, file: Path, sizes: Mapping[str, int] = MappingProxyType({})) -> None:
        """The model of a .tflite file, of `sizes` where it may have others than the file says.

        Raises:
          UserError: it is none, or has ops that cannot be converted: the message lists all. Or it
            has no size of such a name.
        """
        super().__init__()
        self.file = str(file)
        model = read_model(file)
        try:
            model = dataclasses.replace(model, subgraphs=[*map(with_list_items, model.subgraphs)])
        except Unsupported as reason:
            raise UserError(f"{file}: {reason}") from reason
        names = identifiers(model.input_names)
        main = _with_sizes(file, model, names, sizes)
        self.variables = Variables(model)
        source = GraphSource(file.name, model.subgraphs, {**PATTERNS, **self.variables.patterns})
        _refuse_unknown(file, model, source.patterns)
        self.arguments = [main.tensors[index] for index in main.inputs]
        self.results = [main.tensors[index] for index in main.outputs]
        self._result_names = identifiers(model.output_names)
        self.forward = with_names(self._forward, names)
        # A module that PyTorch exports has a graph of its own.
        self.main = Graph(main, source)
        for operator in main.operators:
            if operator.name == "CALL_ONCE":
                try:
                    index = option_of(operator.options, "InitSubgraphIndex")
                except Unsupported as reason:
                    raise UserError(f"{file}: CALL_ONCE: {reason}") from reason
                if not 0 < index < len(model.subgraphs):
                    raise UserError(f"{file}: it calls graph {index} once, which there is not")
                with torch.no_grad():
                    Graph(model.subgraphs[index], source)(())
        # Tracebacks, and what is made of them, show these lines as those of the file.
        linecache.cache[file.name] = (len(source.lines), None, source.lines, file.name)

    def _forward(self, *inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        return dict(zip(self._result_names, self.main(inputs), strict=True))


def _with_sizes(
    file: Path, model: Model, names: Sequence[str], sizes: Mapping[str, int]
) -> Subgraph:
    """What a model computes, with other sizes of its inputs, which messages call by `names`."""
    main = model.subgraphs[0]
    places = {
        f"{name}_{axis}": (index, axis)
        for name, index in zip(names, main.inputs, strict=True)
        for axis in main.tensors[index].dynamic_axes
    }
    check_sizes(f"model {file}", [*places], sizes)
    if sizes and any(operator.name in control_flow.PATTERNS for operator in main.operators):
        raise UserError(f"model {file}: it has branches or loops, which are of the file's sizes")
    tensors = [*main.tensors]
    for name, size in sizes.items():
        index, axis = places[name]
        shape = [*tensors[index].shape]
        shape[axis] = size
        tensors[index] = dataclasses.replace(tensors[index], shape=tuple(shape))
    return dataclasses.replace(main, tensors=tensors)


def _refuse_unknown(file: Path, model: Model, patterns: Collection[str]) -> None:
    found: dict[str, list[str]] = {}
    for graph in model.subgraphs:
        for operator in graph.operators:
            if operator.name not in (*patterns, *OF_SHAPES):
                outputs = (graph.tensors[index].name for index in operator.outputs)
                found.setdefault(operator.name, []).append(next(outputs, ""))
    if found:
        listed = "\n".join(
            f"  {name}: {len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}, such as {nodes[0]}"
            for name, nodes in sorted(found.items())
        )
        raise UserError(f"{file}: there is no pattern for these ops of TensorFlow Lite:\n{listed}")


def load_tflite(
    file: str | os.PathLike[str],
    *,
    func_name: str | None = None,
    sizes: Mapping[str, int] = MappingProxyType({}),
    expected: ReferenceArchive | None = None,
) -> TorchLoaderOutput:
    """The program of a .tflite file, as a loader function returns one.

    Its sizes are those that the file says, as they are to an interpreter that is told no others.
    Variables of the model are arguments after its own, which each call writes in place.

    Args:
      file: the model.
      func_name: what the compiled function is called.
      sizes: others, where the model may have others: by the name of an input and the number of a
        dimension, as in {"image_0": 8}.
      expected: the inputs that the program is tried on; without it, some are made up that fit.

    Raises:
      UserError: as `TfliteProgram` does; or it has an input that is no tensor of numbers, or others
        than those that are expected.
    """
    program = TfliteProgram(Path(file), sizes)
    who = f"model {program.file}"
    generator = torch.Generator().manual_seed(0)
    inputs = tuple(_example(who, tensor, generator) for tensor in program.arguments)
    if expected is not None:
        given = tuple(map(to_torch, expected.inputs))
        check_expected(who, given, inputs, len(program.results), len(expected.outputs))
        inputs = given
    return checked(
        who,
        TorchLoaderOutput(
            program,
            inputs,
            func_name=func_name,
            mutable=[_VARIABLES] if len(program.variables) else [],
        ),
    )


def _example(who: str, tensor: Tensor, generator: torch.Generator) -> torch.Tensor:
    """Numbers of the normal distribution, or integers: all that are stored, or 0 and 1."""
    if tensor.dtype is None:
        raise UserError(f"{who}: argument {tensor.name} has no numbers")
    bounds = 0, 2
    if tensor.quantization is not None and tensor.dtype.itemsize < torch.int64.itemsize:
        range_ = torch.iinfo(tensor.dtype)
        bounds = range_.min, range_.max + 1
    try:
        if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
            return torch.randn(tensor.shape, generator=generator, dtype=tensor.dtype)
        return torch.randint(*bounds, tensor.shape, generator=generator, dtype=tensor.dtype)
    except RuntimeError as error:
        sizes = f"argument {tensor.name} has the sizes {[*tensor.shape]}"
        raise UserError(f"{who}: {sizes}, for which there is not enough memory") from error
