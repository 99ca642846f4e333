"""A functional program as a graph of values that can be computed, and compiled, in any portions."""

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx import Graph, GraphModule, Node

from plumbline.errors import UserError
from plumbline.signature import element_type

# Ops whose result is nobody's to compare: memory as it was found.
_UNINITIALISED = re.compile(r"aten\.(new_)?empty(_like|_permuted|_strided)?\b")


class ProgramGraph:
    """The ops of a program, with PyTorch's value of each to be had from those before it.

    A *value* is a node whose result a compiled function can return: a tensor of a dtype that
    crosses the C ABI. What is none (sizes, tuples, complex tensors) is computed as a part of the
    values that use it, from the values before it.
    """

    def __init__(self, exported: torch.export.ExportedProgram) -> None:
        self._exported = exported
        self._specs = {spec.arg.name: spec for spec in exported.graph_signature.input_specs}
        self._order = {node: place for place, node in enumerate(exported.graph.nodes)}
        self._hidden: set[Node] = set()

    @property
    def values(self) -> list[Node]:
        """The values that the program computes, in order; nothing that no output depends on."""
        return self.values_behind(self._exported.graph.output_node())

    def values_behind(self, node: Node) -> list[Node]:
        """The values that `node` is computed from, in order, and itself if it is one."""
        needed = self._behind([node], ())
        return [part for part in self._order if part in needed and self._is_value(part)]

    @property
    def outputs(self) -> list[Node]:
        """The nodes that the program returns."""
        named = {node.name: node for node in self._order}
        specs = self._exported.graph_signature.output_specs
        return [named[spec.arg.name] for spec in specs if spec.arg.name in named]

    @property
    def inputs(self) -> list[Node]:
        """The program's own arguments."""
        return [node for node in self._order if self._is_input(node)]

    def weights(self) -> dict[Node, torch.Tensor]:
        """Parameters, buffers and constants."""
        found = {}
        for node in self._order:
            if node.op == "placeholder" and not self._is_input(node):
                name = self._specs[node.name].target
                state = self._exported.state_dict
                value = state[name] if name in state else self._exported.constants[name]
                found[node] = value.detach()
        return found

    def hide(self, node: Node) -> None:
        """Has a value be no value any more, but a part of those that use it."""
        self._hidden.add(node)

    def sources(self, node: Node) -> list[Node]:
        """The values, arguments and weights that a value is computed from."""
        return [part for part in self._part(node) if self._is_source(part) and part is not node]

    def evaluate(self, node: Node, values: Mapping[Node, torch.Tensor]) -> torch.Tensor:
        """What PyTorch computes for a value, given those that it is computed from."""
        known: dict[Node, Any] = {}
        with torch.no_grad():
            for part in self._part(node):
                if part is not node and self._is_source(part):
                    known[part] = values[part]
                elif part.op == "get_attr":
                    known[part] = operator.attrgetter(str(part.target))(self._exported.graph_module)
                else:
                    assert callable(part.target)
                    known[part] = part.target(
                        *torch.fx.map_arg(part.args, known.__getitem__),
                        **torch.fx.map_arg(part.kwargs, known.__getitem__),
                    )
        result = known[node]
        assert isinstance(result, torch.Tensor)
        return result

    def slice(
        self, inputs: Sequence[Node], outputs: Sequence[Node]
    ) -> torch.export.ExportedProgram:
        """The program that computes the values `outputs` from the values `inputs`.

        It brings the weights along that it needs. Dynamic sizes stay dynamic.
        """
        needed = self._behind(outputs, inputs)
        weights = [
            node
            for node in self._order
            if node in needed and node.op == "placeholder" and node not in inputs
        ]
        graph = Graph()
        copies: dict[Node, Node] = {}
        input_specs = []
        for node in (*weights, *inputs):
            copies[node] = graph.placeholder(node.name)
            copies[node].meta = {"val": node.meta["val"]}
            argument = TensorArgument(copies[node].name)
            spec = InputSpec(InputKind.USER_INPUT, argument, None)
            if node not in inputs:
                old = self._specs[node.name]
                spec = InputSpec(old.kind, argument, old.target, old.persistent)
            input_specs.append(spec)
        for node in self._order:
            if node in needed and node not in copies:
                copies[node] = graph.node_copy(node, copies.__getitem__)
        results = tuple(copies[node] for node in outputs)
        graph.output(results)
        return torch.export.ExportedProgram(
            GraphModule(self._exported.graph_module, graph),
            graph,
            ExportGraphSignature(
                input_specs,
                [
                    OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(result.name), None)
                    for result in results
                ],
            ),
            self._exported.state_dict,
            self._exported.range_constraints,
            self._exported.module_call_graph,
            constants=self._exported.constants,
        )

    def _is_input(self, node: Node) -> bool:
        return node.op == "placeholder" and self._specs[node.name].kind is InputKind.USER_INPUT

    def _is_source(self, node: Node) -> bool:
        return node.op == "placeholder" or self._is_value(node)

    def _is_value(self, node: Node) -> bool:
        tensor = node.meta.get("val")
        if (
            node in self._hidden
            or node.op != "call_function"
            or not isinstance(tensor, torch.Tensor)
            or _UNINITIALISED.match(str(node.target))
            or torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
        ):
            return False
        try:
            element_type.from_torch_name(str(tensor.dtype))
        except UserError:
            return False
        return True

    def _part(self, node: Node) -> list[Node]:
        """A value, its sources, and the nodes between them, in order."""
        found: set[Node] = set()
        to_do = [node]
        while to_do:
            part = to_do.pop()
            if part not in found:
                found.add(part)
                if part is node or not self._is_source(part):
                    to_do.extend(part.all_input_nodes)
        return sorted(found, key=self._order.__getitem__)

    def _behind(self, outputs: Iterable[Node], inputs: Iterable[Node]) -> set[Node]:
        """The nodes that `outputs` are computed from, as far as `inputs`."""
        found = set(inputs)
        to_do = [node for node in outputs if node not in found]
        while to_do:
            node = to_do.pop()
            if node not in found:
                found.add(node)
                to_do.extend(node.all_input_nodes)
        return found


def op_name(node: Node) -> str:
    """The op that computes a value: `aten.tanh.default`, `result 1 of aten.max.dim`."""
    if node.target is operator.getitem:
        parent, index = node.args
        assert isinstance(parent, Node)
        return f"result {index} of {op_name(parent)}"
    return (
        str(getattr(node.target, "__name__", node.target))
        if callable(node.target) and not isinstance(node.target, torch._ops.OpOverload)
        else str(node.target)
    )


def trace(node: Node) -> str:
    """The calls that an op comes from, the outermost first, with the lines of source."""
    return str(node.meta.get("stack_trace") or "").rstrip()
