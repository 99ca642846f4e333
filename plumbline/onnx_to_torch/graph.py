"""A graph of ONNX, run node by node."""

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

import torch
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.model_nodes import attribute_name, calls_from
from plumbline.onnx_to_torch import shapes
from plumbline.onnx_to_torch.constants import of_node
from plumbline.onnx_to_torch.node import DEFAULT_DOMAIN, Pattern, domain_of, node_of
from plumbline.onnx_to_torch.values import Numbers, Value, numbers_of

Values = MutableMapping[str, Value]
"""What each edge holds, by its name."""


@dataclass(frozen=True)
class GraphSource:
    """What graphs and those within them have in common."""

    file: str
    """What messages call the model's file."""
    opsets: Mapping[str, int]
    """The version of the operators of each domain."""
    constant: Callable[[TensorProto], torch.Tensor]
    """Makes a tensor of what the model has for one; raises `UserError`."""
    patterns: Mapping[tuple[str, str], Pattern]
    """By domain and name of an op."""
    element_types: MutableMapping[str, int] = field(default_factory=dict)
    """The `TensorProto.DataType` of inputs and constants read so far, by their names."""
    constants: MutableMapping[str, torch.Tensor] = field(default_factory=dict)
    """What initializers and other constants read so far are, by their names."""
    lines: list[str] = field(default_factory=list)
    """What each node reads like, in the order of the file: a node's number is that of its line."""

    def number(self, proto: NodeProto) -> int:
        """Gives a node the next number."""
        text = f"{', '.join(proto.output)} = {proto.op_type}({', '.join(proto.input)})"
        self.lines.append(f"{text}  # {proto.name}\n" if proto.name else f"{text}\n")
        return len(self.lines)

    def knows(self, domain: str, op_type: str) -> bool:
        """Whether nodes of an op can be computed, with the right operands."""
        is_of_shapes = domain == DEFAULT_DOMAIN and op_type in shapes.OF_SHAPES
        return is_of_shapes or (domain, op_type) in self.patterns


class Graph(torch.nn.Module):
    """The nodes of a graph, in an order in which they can be computed.

    Its initializers and constants are buffers, so that what is exported has them as weights.
    """

    def __init__(self) -> None:
        super().__init__()
        self.input_names: list[str] = []
        self.output_names: list[str] = []
        self._buffer_names: dict[str, str] = {}
        self._numbers: dict[str, Numbers] = {}
        self._steps: list[_Step] = []

    def read(self, proto: GraphProto, source: GraphSource) -> None:
        """Becomes what `proto` describes.

        Nodes and constants have names beside those of what this has by then.

        Raises:
          UserError: a node or a constant cannot be read.
        """
        self.input_names = [each.name for each in proto.input]
        self.output_names = [each.name for each in proto.output]
        source.element_types.update(_element_types(proto))
        for each in proto.initializer:
            self._hold(each.name, source.constant(each), source)
        for node in proto.node:
            number = source.number(node)
            if (constant := of_node(node, source.constant)) is not None:
                self._hold(node.output[0], constant, source)
                continue
            step = _Step(node, source, number)
            self._steps.append(step)
            self.add_module(attribute_name(self, step.node.name), step)

    def _hold(self, name: str, constant: torch.Tensor, source: GraphSource) -> None:
        source.constants[name] = constant
        self._buffer_names[name] = attribute_name(self, name)
        self.register_buffer(self._buffer_names[name], constant)
        if (elements := numbers_of(constant)) is not None:
            self._numbers[name] = elements

    @property
    def names(self) -> list[str]:
        """Of all values that its nodes and those within read, and that it gives."""
        read = (name for step in self._steps for name in step.names)
        return [*dict.fromkeys([*read, *self.output_names])]

    def run(self, given: Values) -> list[Value]:
        """The outputs, of the inputs and of what is around the graph.

        Raises:
          UserError: a node cannot be computed; the message says which, and why.
        """
        values: ChainMap[str, Value] = ChainMap({}, given)
        for name, buffer in self._buffer_names.items():
            # The buffer as it is now: while PyTorch exports, something stands in for it.
            held = getattr(self, buffer)
            if name not in given or name not in self.input_names:
                known = self._numbers.get(name)
                values[name] = held if known is None else known.held_by(held)
        for step in self._steps:
            step(values)
        return [values[name] for name in self.output_names]


def _element_types(proto: GraphProto) -> Iterator[tuple[str, int]]:
    for argument in proto.input:
        yield argument.name, argument.type.tensor_type.elem_type
    for initializer in proto.initializer:
        yield initializer.name, initializer.data_type
    for node in proto.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.type == AttributeProto.TENSOR:
                yield node.output[0], attribute.t.data_type


class _Step(torch.nn.Module):
    """A node, as a module that puts its outputs among the values of its graph.

    PyTorch says of each op of an exported program which module it came from. That is how later
    stages know the node.
    """

    def __init__(self, proto: NodeProto, source: GraphSource, number: int) -> None:
        super().__init__()
        domain = domain_of(proto)
        name = proto.name or next(filter(None, proto.output), proto.op_type)
        self._place = f"{source.file}: node {number}, {name} ({proto.op_type})"
        pattern = source.patterns.get((domain, proto.op_type))
        try:
            opset = source.opsets.get(domain, 1)
            self.node = node_of(
                proto,
                domain,
                name,
                opset,
                source.constant,
                source.element_types,
                source.constants,
            )
            self.pattern = pattern(self.node) if isinstance(pattern, type) else pattern
        except Unsupported as reason:
            raise UserError(f"{self._place}: {reason}") from reason
        self.graphs = torch.nn.ModuleDict()
        for each in proto.attribute:
            if each.type == AttributeProto.GRAPH:
                self.graphs[each.name] = graph = Graph()
                graph.read(each.g, source)
        self._call = calls_from(source.file, number)

    @property
    def names(self) -> list[str]:
        """Of the values that the node and its graphs read."""
        graphs = (graph for graph in self.graphs.values() if isinstance(graph, Graph))
        within = (name for graph in graphs for name in graph.names)
        return [*filter(None, self.node.inputs), *within]

    def forward(self, values: Values) -> None:
        """Computes the node's outputs of what is in `values`, and puts them there."""
        inputs = [values[name] if name else None for name in self.node.inputs]
        try:
            outputs = self._outputs(inputs, values)
        except Unsupported as reason:
            raise UserError(f"{self._place}: {reason}") from reason
        for name, output in zip(self.node.outputs, outputs, strict=False):
            if name:
                values[name] = output

    def _outputs(self, inputs: Sequence[Value], values: Values) -> Sequence[Value]:
        evaluated = shapes.evaluate(self.node, inputs)
        if evaluated is not None:
            return evaluated
        assert self.pattern is not None, "programs with other nodes are refused"
        around = ({**self.graphs}, values) if self.graphs else ()
        made = self._call(self.pattern, self.node, *around, *inputs)
        return made if isinstance(made, tuple) else (made,)
