"""A graph of TensorFlow Lite, run node by node."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.model_nodes import attribute_name, calls_from, silent
from plumbline.tflite_to_torch.model_file import CUSTOM, NOTHING, Operator, Subgraph
from plumbline.tflite_to_torch.node import Node, Pattern
from plumbline.tflite_to_torch.tensors import Operand, Tensor, bias_of_floats

_MOST_KNOWN = 4096
"""The largest tensor that is looked at as numbers: more are no shape."""

_REFUSALS = (Unsupported, RuntimeError, ValueError, IndexError, TypeError, AssertionError)
"""What patterns raise, and PyTorch's ops of tensors that do not fit them."""

OF_SHAPES: Mapping[str, Any] = {
    "RANK": lambda tensor: torch.tensor(tensor.ndim),
    "SHAPE": lambda tensor: torch.tensor(tensor.shape),
}
"""Ops whose results are known as soon as sizes are."""


@dataclass(frozen=True)
class GraphPattern:
    """The pattern of an op whose options name graphs of the model, which it takes as modules."""

    compute: Callable[..., tuple[torch.Tensor, ...]]
    """Takes the node, the graphs, and an `Operand` for each input."""
    options: tuple[str, ...]
    """Those that have the number of a graph each."""


@dataclass(frozen=True)
class GraphSource:
    """What graphs of a model have in common."""

    file: str
    """What messages call the model's file."""
    subgraphs: Sequence[Subgraph]
    """All of the model."""
    patterns: Mapping[str, Pattern | GraphPattern]
    """By the name of an op."""
    being_read: list[int] = field(default_factory=list)
    """The numbers of graphs within which one is."""
    lines: list[str] = field(default_factory=list)
    """What each node reads like, in the order of the file: a node's number is that of its line."""

    def number(self, operator: Operator, graph: Subgraph) -> int:
        """Gives a node the next number."""
        outputs, inputs = (
            ", ".join(graph.tensors[index].name for index in indices if index != NOTHING)
            for indices in (operator.outputs, operator.inputs)
        )
        given = f"{outputs} = " if outputs else ""
        self.lines.append(f"{given}{operator.name}({inputs})\n")
        return len(self.lines)


class Graph(torch.nn.Module):
    """The nodes of a graph, in an order in which they can be computed.

    Its constants are buffers, so that what is exported has them as weights. What is computed of
    shapes alone is known as the graph is read, and has no node.
    """

    def __init__(self, graph: Subgraph, source: GraphSource) -> None:
        """The graph that a model describes, once followed without numbers.

        Raises:
          UserError: a node cannot be computed; the message says which, and why.
        """
        super().__init__()
        self._tensors = [*map(bias_of_floats, graph.tensors)]
        self._inputs, self._outputs = graph.inputs, graph.outputs
        self._held: list[_Held] = []
        self._steps: list[_Step] = []
        orders: dict[int, list[tuple[int, ...]]] = {}
        mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
        with mode:
            values: dict[int, Any] = {
                index: torch.empty(graph.tensors[index].shape, dtype=graph.tensors[index].dtype)
                for index in graph.inputs
            }
        for operator in graph.operators:
            step = _Step(operator, self._tensors, source, source.number(operator, graph))
            constants = {
                index: _constant(self._tensors[index], orders.setdefault(index, []))
                for index in operator.inputs
                if index != NOTHING and self._tensors[index].constant is not None
            }
            if (known := step.known(values, constants, mode)) is not None:
                for index, tensor in zip(operator.outputs, known, strict=True):
                    self._tensors[index] = tensor
                continue
            with silent(), mode:
                step.compute(values, constants)
            step.check(values)
            self._steps.append(step)
            self.add_module(attribute_name(self, step.name), step)
        reads = Counter(index for step in self._steps for index in step.read)
        for index in sorted({*self._outputs, *reads}):
            if index != NOTHING and self._tensors[index].constant is not None:
                asked = {*orders.get(index, ())}
                # What all ask for in one order is held in that.
                is_of_one = len(asked) == 1 and len(orders[index]) == reads[index]
                is_result = index in self._outputs
                self._hold(index, asked.pop() if is_of_one and not is_result else None)

    def _hold(self, index: int, order: tuple[int, ...] | None) -> None:
        constant = _constant(self._tensors[index])
        stored = constant.stored
        if order is not None:
            stored = stored.permute(order).contiguous()
        names = []
        for tensor, suffix in (
            (stored, ""),
            (constant.scales, "_scales"),
            (constant.zero_points, "_zero_points"),
        ):
            name = attribute_name(self, f"{constant.tensor.name}{suffix}")
            if tensor is not None:
                self.register_buffer(name, tensor)
            names.append(None if tensor is None else name)
        self._held.append(_Held(index, constant.tensor, order, tuple(names)))

    def forward(self, given: Sequence[torch.Tensor]) -> list[Any]:
        """The outputs, as they are stored, of the inputs.

        Raises:
          UserError: a node cannot be computed; the message says which, and why.
        """
        values: dict[int, Any] = dict(zip(self._inputs, given, strict=True))
        constants = {}
        for held in self._held:
            # The buffers as they are now: while PyTorch exports, something stands in for them.
            stored, scales, zero_points = (
                None if name is None else getattr(self, name) for name in held.buffers
            )
            assert stored is not None
            constants[held.index] = Operand(held.tensor, stored, scales, zero_points, held.order)
            values.setdefault(held.index, stored)
        for step in self._steps:
            step(values, constants)
        return [values[index] for index in self._outputs]


def _constant(tensor: Tensor, orders_asked: list[tuple[int, ...]] | None = None) -> Operand:
    """A tensor whose numbers are known, as an operand that notes which orders it is asked for."""
    assert tensor.constant is not None
    scales = zero_points = None
    if tensor.quantization is not None and tensor.quantization.is_by_channel:
        scales = torch.tensor(tensor.quantization.scales)
        if any(tensor.quantization.zero_points):
            zero_points = torch.tensor(tensor.quantization.zero_points)
    asked = [] if orders_asked is None else orders_asked
    return Operand(tensor, tensor.constant, scales, zero_points, None, asked)


@dataclass(frozen=True)
class _Held:
    """A constant that nodes read."""

    index: int
    tensor: Tensor
    order: tuple[int, ...] | None
    """Of its dimensions, as `Operand` has it."""
    buffers: tuple[str | None, ...]
    """The names of its numbers, scales and zero points; None: there are none."""


class _Step(torch.nn.Module):
    """A node, as a module that puts its outputs among the values of its graph.

    PyTorch says of each op of an exported program which module it came from. That is how later
    stages know the node.
    """

    def __init__(
        self, operator: Operator, tensors: Sequence[Tensor], source: GraphSource, number: int
    ) -> None:
        super().__init__()
        self._inputs, self._outputs = operator.inputs, operator.outputs
        inputs = [None if index == NOTHING else tensors[index] for index in operator.inputs]
        self._node = Node(
            operator.name,
            operator.options,
            tuple(inputs),
            tuple(tensors[index] for index in operator.outputs),
            tuple(None if tensor is None else _numbers(tensor) for tensor in inputs),
        )
        self.name = next((tensor.name for tensor in self._node.outputs), operator.name)
        self._place = f"{source.file}: node {number}, {self.name} ({operator.name})"
        self._pattern = source.patterns.get(operator.name)
        self._graphs = torch.nn.ModuleList(self._read_graphs(source))
        self._call = calls_from(source.file, number)

    def _read_graphs(self, source: GraphSource) -> Iterator[Graph]:
        """Those that the node calls."""
        if not isinstance(self._pattern, GraphPattern):
            return
        for option in self._pattern.options:
            try:
                number = self._node.option(option)
            except Unsupported as reason:
                raise UserError(f"{self._place}: {reason}") from reason
            if not 0 < number < len(source.subgraphs) or number in source.being_read:
                raise UserError(f"{self._place}: it calls graph {number}, which it cannot")
            source.being_read.append(number)
            yield Graph(source.subgraphs[number], source)
            source.being_read.pop()

    @property
    def read(self) -> set[int]:
        """The inputs whose numbers it computes with; of others it knows them."""
        as_numbers = self._node.read_as_numbers
        return {index for place, index in enumerate(self._inputs) if place not in as_numbers}

    def known(
        self,
        values: Mapping[int, Any],
        constants: Mapping[int, Operand],
        without_numbers: FakeTensorMode,
    ) -> list[Tensor] | None:
        """Its outputs, if these are no more than shapes; of `values` the sizes are known."""
        outputs = self._node.outputs
        if (of_shape := OF_SHAPES.get(self._node.op)) is not None:
            if len(self._inputs) != 1 or len(outputs) != 1 or NOTHING in self._inputs:
                raise UserError(f"{self._place}: it takes one tensor, and gives one")
            (index,) = self._inputs
            of = constants[index].stored if index in constants else values.get(index)
            results = [of_shape(of)]
        elif (
            outputs
            and self._inputs
            and all(tensor.dtype in (torch.int32, torch.int64) for tensor in outputs)
            and all(tensor.quantization is None for tensor in outputs)
            and all(numbers is not None for numbers in self._node.known)
        ):
            known: dict[int, Any] = {}
            # Whatever a file says is made only if it is small.
            with silent(), without_numbers:
                self.compute(known, constants)
            if not all(map(_is_small, known.values())):
                return None
            self.compute(known, constants)
            results = [known[index] for index in self._outputs]
        else:
            return None
        return [
            dataclasses.replace(tensor, constant=result.to(tensor.dtype))
            for tensor, result in zip(outputs, results, strict=True)
        ]

    def forward(self, values: MutableMapping[int, Any], constants: Mapping[int, Operand]) -> None:
        """Computes the node's outputs of what is in `values`, and puts them there."""
        self.compute(values, constants)

    def compute(self, values: MutableMapping[int, Any], constants: Mapping[int, Operand]) -> None:
        """Likewise, outside of what PyTorch follows."""
        operands = [
            None
            if tensor is None
            else constants.get(index) or Operand(tensor, values.get(index, tensor.constant))
            for index, tensor in zip(self._inputs, self._node.inputs, strict=True)
        ]
        try:
            if isinstance(self._pattern, GraphPattern):
                compute = self._pattern.compute
                made = self._call(compute, self._node, [*self._graphs], *operands)
            else:
                made = self._call(self._pattern, self._node, *operands)
        except _REFUSALS as reason:
            raise UserError(f"{self._place}: {reason}") from reason
        outputs = made if isinstance(made, tuple) else (made,)
        if len(outputs) != len(self._outputs):
            has = f"it has {len(self._outputs)} outputs, where it computes {len(outputs)}"
            raise UserError(f"{self._place}: {has}")
        values.update(zip(self._outputs, outputs, strict=True))

    def check(self, values: Mapping[int, Any]) -> None:
        """Holds the sizes and types of its outputs against what the model says of them.

        Raises:
          UserError: they differ.
        """
        for index, tensor in zip(self._outputs, self._node.outputs, strict=True):
            output = values[index]
            if tensor.dynamic_axes or not isinstance(output, torch.Tensor):
                continue
            if self._node.op.startswith(CUSTOM) and not tensor.shape:
                # Who made the model knew no sizes of it.
                continue
            # Sizes that depend on numbers are none of the model's.
            sizes = [*output.shape]
            says = [
                own if isinstance(own, torch.SymInt) else size
                for own, size in zip(sizes, tensor.shape, strict=False)
            ]
            if len(says) != len(tensor.shape) or output.dtype != tensor.dtype or sizes != says:
                raise UserError(
                    f"{self._place}: {tensor.name} is {output.dtype} of the sizes "
                    f"{sizes}, where the model says {tensor.dtype} of {list(tensor.shape)}"
                )


def _is_small(output: torch.Tensor) -> bool:
    # How many of the few numbers that it has WHERE finds is not known.
    count = output.numel()
    return isinstance(count, torch.SymInt) or count <= _MOST_KNOWN


def _numbers(tensor: Tensor) -> list[Any] | None:
    # While PyTorch exports, tensors would not tell.
    constant = tensor.constant
    if constant is None or constant.numel() > _MOST_KNOWN:
        return None
    return list(constant.reshape(-1).tolist())
