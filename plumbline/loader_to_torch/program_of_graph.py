"""A graph as what torch.export makes of programs."""

import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)
from torch.utils import _pytree as pytree

_ARGUMENTS = {
    torch.SymInt: SymIntArgument,
    torch.SymFloat: SymFloatArgument,
    torch.SymBool: SymBoolArgument,
}
"""What inputs and results are called that are numbers."""


def program_of_graph(
    graph: torch.fx.Graph,
    *,
    root: torch.nn.Module | None = None,
    weights: Mapping[str, torch.Tensor] | None = None,
    constants: Mapping[str, torch.Tensor] | None = None,
    ranges: Mapping[Any, Any] | None = None,
) -> ExportedProgram:
    """A program that takes and returns what a graph does, in tuples; it writes into nothing.

    Args:
      graph: its nodes have their values among their metadata.
      root: the module whose attributes it calls by name.
      weights: what its first placeholders are, which the program does not take, by the names that
        it has for them.
      constants: the same for those after them.
      ranges: of symbols in sizes.
    """
    kinds = {
        **{name: _kind_of_weight(value) for name, value in (weights or {}).items()},
        **dict.fromkeys(constants or {}, InputKind.CONSTANT_TENSOR),
    }
    placeholders = graph.find_nodes(op="placeholder")
    own = len(placeholders) - len(kinds)
    specs = [*((kind, name) for name, kind in kinds.items()), *[(InputKind.USER_INPUT, None)] * own]
    results: Any = graph.output_node().args[0]
    return ExportedProgram(
        root or torch.nn.Module(),
        graph,
        ExportGraphSignature(
            [
                InputSpec(
                    kind,
                    _argument(node),
                    name,
                    persistent=True if kind is InputKind.BUFFER else None,
                )
                for node, (kind, name) in zip(placeholders, specs, strict=True)
            ],
            [OutputSpec(OutputKind.USER_OUTPUT, _argument(node), None) for node in results],
        ),
        state_dict=dict(weights or {}),
        constants=dict(constants or {}),
        range_constraints=dict(ranges or {}),
        module_call_graph=[_call_of(own, len(results))],
    )


def _kind_of_weight(value: torch.Tensor) -> InputKind:
    return InputKind.PARAMETER if isinstance(value, torch.nn.Parameter) else InputKind.BUFFER


def each_result(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The results of the last node of a graph: itself, or nodes that take it apart."""
    values = node.meta["val"]
    if not isinstance(values, tuple | list):
        return [node]
    results = []
    for number, value in enumerate(values):
        result = node.graph.call_function(operator.getitem, (node, number))
        result.meta = {**node.meta, "val": value}
        results.append(result)
    return results


def name_inputs_as(program: ExportedProgram, other: ExportedProgram) -> None:
    """Gives what a program takes the names that it has in one that it has been made of."""
    for (node, spec), (named, _) in zip(_taken(program), _taken(other), strict=True):
        node._rename(named.name)
        spec.arg = TensorArgument(node.name)


def _taken(program: ExportedProgram) -> list[tuple[torch.fx.Node, InputSpec]]:
    nodes = program.graph.find_nodes(op="placeholder")
    specs = program.graph_signature.input_specs
    return [
        (node, spec)
        for node, spec in zip(nodes, specs, strict=True)
        if spec.kind is InputKind.USER_INPUT
    ]


def _argument(node: torch.fx.Node) -> Any:
    kind = _ARGUMENTS.get(type(node.meta["val"]), TensorArgument)
    return kind(node.name)


def _call_of(inputs: int, results: int) -> ModuleCallEntry:
    _, in_spec = pytree.tree_flatten((tuple(range(inputs)), {}))
    _, out_spec = pytree.tree_flatten(tuple(range(results)))
    return ModuleCallEntry("", ModuleCallSignature([], [], in_spec, out_spec))
