"""Divides a graph that AOTAutograd has traced into a program, and what PyTorch does around it.

To PyTorch is left what costs nothing there, and copies in a program whose tensors have no gaps: to
return what has been given, to view it, or the program's results, in another way, and to compute
with sizes:

    def forward(self, primals_1, primals_2, primals_3):
        run = program(primals_1, primals_2)
        getitem = run[0]
        permute = torch.ops.aten.permute.default(getitem, [1, 0])
        return [permute, primals_1, primals_3]
"""

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch._functorch._aot_autograd.descriptors import SyntheticBaseAOTInput, ViewBaseAOTInput
from torch._prims_common import is_contiguous_or_false
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from plumbline.loader_to_torch.decompositions import random_numbers
from plumbline.loader_to_torch.distinct_ops import ORIGIN
from plumbline.loader_to_torch.generator import GENERATOR, first_draw
from plumbline.loader_to_torch.memory_order import has_gaps, inverse, memory_order
from plumbline.loader_to_torch.node_locations import nodes_within

aten = torch.ops.aten

_BASES = (SyntheticBaseAOTInput, ViewBaseAOTInput)
"""What inputs are views of, where one is written: it may be larger in calls than when traced."""

_NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)


@dataclass(frozen=True)
class Weight:
    """What a placeholder stands for in all calls."""

    name: str
    """That of the program for it."""
    value: torch.Tensor


@dataclass(frozen=True)
class Program:
    """What is to be compiled: it writes into nothing, and tensors that it is given have no gaps."""

    graph: Graph
    """Its placeholders are weights, constants and then arguments; it returns results, and then new
    values."""
    weights: dict[str, torch.Tensor]
    constants: dict[str, torch.Tensor]
    inout: dict[int, int]
    """For each argument that is written, the number of its new value."""
    scalars: tuple[int, ...]
    """The arguments that are numbers of Python's."""
    draws: bool
    """Whether the last argument is the state of the generator of random numbers, which whoever
    calls the program does not hand over."""


@dataclass(frozen=True)
class DividedGraph:
    """The two parts of a graph."""

    program: Program | None
    """None: there is nothing to compute."""
    _around: Graph
    _run: Node | None

    def calling(self, program: Callable[..., Sequence[Any]] | None) -> Callable[..., Sequence[Any]]:
        """The whole, of the program once it is compiled; it takes what the graph took."""
        if self._run is not None:
            assert program is not None
            self._run.target = _function_of(program)
        return cast(
            "Callable[..., Sequence[Any]]", GraphModule(torch.nn.Module(), self._around).forward
        )


def divided(module: GraphModule, weights: Mapping[str, Weight]) -> DividedGraph:
    """Divides the graph of a module, which stays as it is.

    `weights` has, by name, the placeholders that are no arguments of the program: what is written
    is one nevertheless.
    """
    return _Division(module, weights).divide()


def _function_of(program: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
    """`program` by a name that can stand in what is generated."""

    def run(*arguments: Any) -> Sequence[Any]:
        return program(*arguments)

    return run


def _note_written(tensor: torch.Tensor) -> None:
    """Tells PyTorch that a tensor has been written, for those that it has kept for gradients."""
    if not tensor.is_inference():
        torch.autograd.graph.increment_version(tensor)


class _Division:
    def __init__(self, module: GraphModule, weights: Mapping[str, Weight]) -> None:
        self._module = module
        self._known = weights
        self._mode = mode_of(module.graph)
        self._given = list(module.graph.find_nodes(op="placeholder"))
        writes = list(_writes(module.graph))
        self._written = {written: value for _, written, value in writes}
        """The inputs that are written, and their new values."""
        self._copies = {copy: written for copy, written, _ in writes}
        """What stands for an input that has been written."""
        self._around = Graph()
        self._left: dict[Node, bool] = {}
        """Which nodes are left to PyTorch, as far as is known."""
        self._is_around: dict[Node, Node] = {}
        """What stands around the program for a node."""
        self._program = Graph()
        self._is_within: dict[Node, Node] = {}
        """What stands in the program for a node."""
        self._weights: dict[str, torch.Tensor] = {}
        self._constants: dict[str, torch.Tensor] = {}
        self._arguments: list[Node] = []
        """What the program is given, around it."""
        self._scalars: list[int] = []
        self._returned: list[Node] = []
        """What the program returns, in it."""
        self._inout: dict[int, Node] = {}
        """For each argument that the program writes, its new value, in it."""
        self._draws = False
        self._last: Node | None = None
        """The last of the program's inputs so far."""

    def divide(self) -> DividedGraph:
        """All of it."""
        for node in self._given:
            self._is_around[node] = self._around.placeholder(node.name)
        results = self._results()
        needed = self._needed((*results, *self._written.values()))
        run = self._compute(results, needed) if needed else None
        outputs = [self._output(output) for output in _outputs(self._module.graph)]
        self._around.output(outputs)
        program = None
        if run is not None:
            inout = {
                argument: len(self._returned) + number
                for number, argument in enumerate(self._inout)
            }
            program = Program(
                self._program,
                self._weights,
                self._constants,
                inout,
                tuple(self._scalars),
                self._draws,
            )
        return DividedGraph(program, self._around, run)

    # -- what is left to PyTorch -------------------------------------------------------------------

    def _outputs(self) -> list[Node]:
        return [output for output in _outputs(self._module.graph) if isinstance(output, Node)]

    def _results(self) -> list[Node]:
        """What the program is to return, so that the rest can be done around it."""
        outputs = list(dict.fromkeys(itertools.chain(*map(_parts, self._outputs()))))
        viewed = [self._viewed(output) for output in outputs]
        written = [self._viewed(value) for value in self._written.values()]
        results: dict[Node, None] = {}
        for output, source in zip(outputs, viewed, strict=True):
            if self._is_left(output):
                continue
            if [*viewed, *written].count(source) == 1 and source is not output:
                # A part by itself is copied, so that the rest of the memory is free. Not one of
                # what is written: PyTorch looks how that part lies, to return that of the input.
                source = self._viewed(output, where=_shows_all)
                if is_contiguous_or_false(output.meta["val"]):
                    source = output
            results[source] = None
        return list(results)

    def _viewed(self, node: Node, where: Callable[[Node], bool] = lambda view: True) -> Node:
        """What a node is a view of, by views like those, however often; or itself."""
        while (view := _view(node)) and where(node):
            viewed, *sizes = view.all_input_nodes
            if not all(map(self._is_left, sizes)):
                break
            node = viewed
        return node

    def _is_left(self, node: Node) -> bool:
        """Whether PyTorch gives a node's value, without the program's."""
        if node not in self._left:
            self._left[node] = node in self._copies or (
                # What is written has another value after it.
                node not in self._written
                if node.op == "placeholder"
                else node.op == "call_function"
                and (left := _view(node) or _number(node) or _nothing(node)) is not None
                and all(map(self._is_left, left.all_input_nodes))
            )
        return self._left[node]

    def _output(self, output: Any) -> Any:
        return self._stands_around(output) if isinstance(output, Node) else output

    def _needed(self, nodes: Iterable[Node]) -> set[Node]:
        """What `nodes` are computed of, and what asserts something."""
        of_effect = [
            node
            for node in self._module.graph.nodes
            if node.op == "call_function" and node.is_impure() and node not in self._copies
        ]
        found: set[Node] = set()
        further = [*nodes, *of_effect]
        while further:
            node = further.pop()
            if node not in found:
                found.add(node)
                further += node.all_input_nodes
        return found

    def _stands_around(self, node: Node) -> Node:
        if node not in self._is_around:
            self._is_around[node] = self._around.node_copy(node, self._stands_around)
        return self._is_around[node]

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Node:
        """Does something around the program."""
        return self._around.call_function(function, arguments)

    # -- the program -------------------------------------------------------------------------------

    def _compute(self, results: Sequence[Node], needed: set[Node]) -> Node:
        """Makes the program, and calls it; returns the node of the call."""
        graph = self._module.graph
        for node in self._given:
            known = self._known.get(node.name)
            if known and node in needed and node not in self._written:
                self._is_within[node] = self._placeholder(node.name, node.meta["val"])
                self._weights[known.name] = known.value
        for node in graph.find_nodes(op="get_attr"):
            value = getattr(self._module, str(node.target))
            if node in needed and isinstance(value, torch.Tensor):
                self._is_within[node] = self._placeholder(node.name, node.meta["val"])
                self._constants[node.name] = value
        orders = {
            node: self._take_tensor(node)
            for node in self._given
            if node not in self._is_within
            and isinstance(node.meta["val"], torch.Tensor)
            and (node in needed or node in self._written)
        }
        places = {node: place for place, node in enumerate(orders)}
        self._take_numbers(needed, orders)
        drawing = [node for node in nodes_within(self._module) if node.graph is not graph]
        self._draws = first_draw((*needed, *drawing)) is not None
        if self._draws:
            generator = self._draw_from()
        for node in graph.nodes:
            if node in needed and node not in self._is_within:
                self._is_within[node] = self._program.node_copy(node, self._is_within.__getitem__)
        run = self._call(operator.call, *self._arguments)
        for node in results:
            self._is_around[node] = self._result(node, run)
        for node, value in self._written.items():
            self._write(node, value, places[node], orders[node], run)
        for copy, node in self._copies.items():
            self._is_around[copy] = self._is_around[node]
        if self._draws:
            end = self._add(
                random_numbers.drawn_from._opoverload, generator, value=generator.meta["val"]
            )
            self._inout[len(self._arguments)] = end
        if not self._returned and not self._inout:
            # What asserts something and computes nothing.
            with self._mode:
                nothing = torch.empty(0)
            self._returned.append(self._add(aten.full.default, [0], 0.0, value=nothing))
        self._program.output((*self._returned, *self._inout.values()))
        return run

    def _take_tensor(self, node: Node) -> list[int] | None:
        """Has the program take a tensor; returns the order of its axes there, if it is another."""
        value = node.meta["val"]
        order = memory_order(value)
        argument = self._is_around[node]
        if isinstance(node.meta.get("desc"), _BASES) and not value._has_symbolic_sizes_strides:
            layout = [list(value.shape), list(value.stride())]
            argument = self._call(aten.as_strided.default, argument, *layout)
        if order is None:
            self._is_within[node] = self._placeholder(node.name, self._without_gaps(value))
        else:
            taken = self._placeholder(node.name, self._permuted(value, order))
            self._is_within[node] = self._permute(taken, inverse(order))
            argument = self._call(aten.permute.default, argument, order)
        self._arguments.append(argument)
        return order

    def _take_numbers(self, needed: set[Node], tensors: Iterable[Node]) -> None:
        """Has the program take those sizes that it needs, or that sizes of `tensors` depend on."""
        axes = {
            size.node.expr: (self._is_within[node], axis)
            for node in tensors
            for axis, size in enumerate(node.meta["val"].shape)
            if isinstance(size, torch.SymInt)
        }
        symbols = {symbol for expression in axes for symbol in expression.free_symbols}
        for node in self._given:
            number = node.meta["val"]
            if not isinstance(number, torch.SymInt):
                continue
            expression = number.node.expr
            if expression in axes:
                self._is_within[node] = self._size_of(*axes[expression], number)
            elif node not in needed and expression not in symbols:
                continue
            elif statically_known_true(number >= 0):
                # A tensor of no elements tells it.
                with self._mode:
                    tensor = torch.empty((number, 0))
                taken = self._placeholder(node.name, tensor)
                self._is_within[node] = self._size_of(taken, 0, number)
                argument = self._call(aten.empty.memory_format, [self._is_around[node], 0])
                self._arguments.append(argument)
            else:
                with self._mode:
                    scalar: Any = torch.empty((), dtype=torch.int64)
                scalar.item_memo = number
                taken = self._placeholder(node.name, scalar)
                self._is_within[node] = self._add(
                    aten._local_scalar_dense.default, taken, value=number
                )
                self._scalars.append(len(self._arguments))
                self._arguments.append(self._is_around[node])

    def _result(self, node: Node, run: Node) -> Node:
        """Has the program return the value of a node; returns what that is around it."""
        value, within = node.meta["val"], self._is_within[node]
        order = memory_order(value) if isinstance(value, torch.Tensor) else None
        number = len(self._returned)
        self._returned.append(within if order is None else self._permute(within, order))
        result = self._call(operator.getitem, run, number)
        return result if order is None else self._call(aten.permute.default, result, inverse(order))

    def _write(
        self, node: Node, value: Node, argument: int, order: list[int] | None, run: Node
    ) -> None:
        """Has `value` be written into the argument that `node` is."""
        within = self._is_within[value]
        if has_gaps(node.meta["val"]):
            self._call(aten.copy_.default, self._is_around[node], self._result(value, run))
            return
        self._inout[argument] = within if order is None else self._permute(within, order)
        self._call(_note_written, self._is_around[node])

    def _draw_from(self) -> Node:
        """Has the program take the state of the generator, and draw from it."""
        with self._mode:
            state = torch.empty(torch.get_rng_state().shape, dtype=torch.uint8)
        taken = self._placeholder(GENERATOR.rpartition(".")[-1], state)
        return self._add(random_numbers.draw_from._opoverload, taken, value=state)

    # -- nodes of the program ----------------------------------------------------------------------

    def _placeholder(self, name: str, value: torch.Tensor) -> Node:
        """Adds an input after those that there are."""
        graph = self._program
        place = (
            graph.inserting_before(None)
            if self._last is None
            else graph.inserting_after(self._last)
        )
        with place:
            self._last = graph.placeholder(name)
        self._last.meta = {"val": value}
        return self._last

    def _add(
        self, function: Callable[..., Any], *arguments: Any, value: Any, like: Node | None = None
    ) -> Node:
        node = self._program.call_function(function, arguments)
        origin = {name: like.meta[name] for name in ORIGIN if name in like.meta} if like else {}
        node.meta = {**origin, "val": value}
        return node

    def _permute(self, node: Node, order: Sequence[int]) -> Node:
        value = self._permuted(node.meta["val"], order)
        return self._add(aten.permute.default, node, list(order), value=value, like=node)

    def _size_of(self, tensor: Node, axis: int, size: torch.SymInt) -> Node:
        return self._add(aten.sym_size.int, tensor, axis, value=size)

    def _without_gaps(self, value: torch.Tensor) -> torch.Tensor:
        """The tensor as the program is given it: by strides that no size tells, none is asked."""
        if not has_gaps(value):
            return value
        with self._mode:
            return torch.empty(value.shape, dtype=value.dtype)

    def _permuted(self, value: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
        with self._mode:
            return value.permute(list(order))


def mode_of(graph: Graph) -> FakeTensorMode:
    """Where tensors without elements are made, as those of the graph are, if it has any."""
    values = (node.meta.get("val") for node in graph.nodes)
    modes = (value.fake_mode for value in values if isinstance(value, FakeTensor))
    return next(modes, None) or FakeTensorMode()


def _outputs(graph: Graph) -> list[Any]:
    return list(cast("Sequence[Any]", graph.output_node().args[0]))


def _writes(graph: Graph) -> Iterator[tuple[Node, Node, Node]]:
    """What a graph writes into its inputs, at its end: by which node, into which, and what."""
    for node in graph.find_nodes(op="call_function", target=aten.copy_.default):
        written, value, *_ = node.all_input_nodes
        if written.op == "placeholder":
            yield node, written, value


def _parts(output: Node) -> Sequence[Node]:
    """What PyTorch makes an output of: a sparse tensor of its indices and elements."""
    is_sparse = output.target is aten._sparse_coo_tensor_with_dims_and_tensors.default
    return output.all_input_nodes if is_sparse else [output]


def _shows_all(node: Node) -> bool:
    view = _view(node)
    assert view is not None
    viewed = view.all_input_nodes[0].meta["val"]
    return view.target is aten.expand.default or statically_known_true(
        viewed.numel() == node.meta["val"].numel()
    )


def _view(node: Node) -> Node | None:
    """The op that a tensor is a view by: what has made it, or the views that it is one of."""
    if not isinstance(node.meta.get("val"), torch.Tensor):
        return None
    op = node.all_input_nodes[0] if node.target is operator.getitem else node
    is_view = isinstance(op.target, torch._ops.OpOverload) and op.target.is_view
    return op if is_view else None


def _number(node: Node) -> Node | None:
    """The op that computes a number of numbers, and not of what tensors hold."""
    is_number = isinstance(node.meta.get("val"), _NUMBERS)
    return node if is_number and node.target is not aten._local_scalar_dense.default else None


def _nothing(node: Node) -> Node | None:
    """The op that makes a tensor of no elements.

    Ops that are given such a tensor as `out` resize it, for which its memory has to be PyTorch's.
    """
    value = node.meta.get("val")
    is_empty = isinstance(value, torch.Tensor) and statically_known_true(value.numel() == 0)
    return node if is_empty else None
