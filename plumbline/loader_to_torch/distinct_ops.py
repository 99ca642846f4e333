"""Takes the ops of a program apart, each different one once.

PyTorch traces a program anew for that, several milliseconds an op, although the layers of most are
alike: of the 700 ops of BERT-base, 30 differ. So it is given a program of these alone, and what it
makes of each is put in the place of all that are like it.

Sizes that are not fixed are computed of those of the program's inputs, whatever PyTorch computes
them of: it has one number for all that are equal.

It is given the whole where that is not all there is to know: of sizes that depend on values, of
random numbers, of bodies that the program has itself, and of writes to what has views or comes from
outside. And it is given nothing of what it would leave as it is (`untouched_ops.py`).
"""

import copy
import itertools
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard, cast

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from torch.export.exported_program import _get_updated_range_constraints
from torch.export.graph_signature import (
    ExportGraphSignature,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx import GraphModule
from torch.fx._lazy_graph_module import _make_graph_module
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from plumbline.loader_to_torch.decompositions import random_numbers
from plumbline.loader_to_torch.decompositions.bodies import body_of
from plumbline.loader_to_torch.followed_program import symbolic_sizes_of
from plumbline.loader_to_torch.generator import draws
from plumbline.loader_to_torch.node_locations import nodes_within
from plumbline.loader_to_torch.program_of_graph import each_result, program_of_graph
from plumbline.loader_to_torch.size_places import SizeNodes, places_of_symbols
from plumbline.loader_to_torch.untouched_ops import is_untouched
from plumbline.loader_to_torch.writes_in_place import functional_op, writes_its_own, written

Node = torch.fx.Node
Op = torch._ops.OpOverload
Table = dict[Any, Callable[..., Any]]

ORIGIN = ("stack_trace", "nn_module_stack")
"""What a node says of where it comes from."""

_CHECK = torch.ops.aten._assert_tensor_metadata.default
"""The one op for its effects alone that PyTorch leaves as it is."""

_ASSERTION = torch.ops.aten._assert_async.msg
"""The one that rules have, of what becomes of a tensor."""


@dataclass
class _Kind:
    """What nodes that are taken apart alike have in common."""

    first: Node
    """Of them."""
    inputs: list[Node] = field(default_factory=list)
    """Of the program of distinct ops: a placeholder for each tensor that it takes."""
    parts: list[Node] = field(default_factory=list)
    """What it is taken apart into, in order."""
    results: list[Node] = field(default_factory=list)
    """Which of those, or of its inputs, are its results."""


def run_decompositions(exported: ExportedProgram, table: Table) -> ExportedProgram:
    """What `exported.run_decompositions(table)` gives; names of nodes may differ.

    Raises:
      Exception: as that does.
    """
    if all(_is_untouched_at_any_size(node, table) for node in exported.graph.nodes):
        return _with_parts(exported, {})
    if all(map(_is_known, exported.graph.nodes)) and _has_its_symbols(exported):
        nodes = [node for node in exported.graph.nodes if _is_taken_apart(node, table)]
        # Steps of one kind may each begin at another place of one tensor, which few ops ask for.
        keys = [kind_of_op]
        if not any(map(_counts_in_memory, nodes)):
            keys.insert(0, _kind_wherever_it_lies)
        for key in keys:
            kinds: dict[Hashable, _Kind] = {}
            kind_of = {node: kinds.setdefault(key(node), _Kind(node)) for node in nodes}
            distinct = _program_of([*kinds.values()], exported.range_constraints)
            taken_apart = distinct.run_decompositions(table)
            parts = taken_apart.graph.nodes
            if not (_writes_nothing(taken_apart) and all(map(_may_stand_anywhere, parts))):
                break
            if key is kind_of_op or not any(map(_counts_in_memory, parts)):
                _note_parts([*kinds.values()], taken_apart)
                return _with_parts(exported, kind_of)
    whole: ExportedProgram = exported.run_decompositions(table)
    return whole


def _counts_in_memory(node: Node) -> bool:
    """Whether a node says where in memory elements are, and not in a tensor."""
    return isinstance(node.target, Op) and node.target._name.startswith("aten::as_strided")


def _is_known(node: Node) -> bool:
    """Whether nothing but what it is called with decides what becomes of a node."""
    return _is_size(node) or _is_of(node, _is_of_known_sizes, _is_told_by_arguments)


def _is_size(node: Node) -> bool:
    """Whether a node computes a size of others."""
    value = node.meta.get("val")
    return node.op == "call_function" and isinstance(value, torch.SymInt) and _is_no_value(value)


def _is_no_value(number: int | torch.SymInt) -> bool:
    """Whether a number follows from the sizes of inputs, and from no values."""
    return not free_unbacked_symbols(number)


def _has_its_symbols(exported: ExportedProgram) -> bool:
    """Whether all symbols in sizes, and in numbers, are found in sizes of inputs."""
    places = places_of_symbols(exported.graph)
    sizes = itertools.chain(*map(_symbolic, exported.graph.nodes))
    return all(size.node.expr.free_symbols <= places.keys() for size in sizes)


def _symbolic(node: Node) -> list[torch.SymInt]:
    """What a node gives that is computed of symbols."""
    return [node.meta["val"]] if _is_size(node) else [size for _, size in symbolic_sizes_of(node)]


def _is_told_by_arguments(node: Node, op: Op) -> bool:
    return (
        not draws(node)
        # The generator is what others draw from.
        and op is not random_numbers.draw_from._opoverload
        and (not op._schema.is_mutable or writes_its_own(node))
    )


def _is_untouched_at_any_size(node: Node, table: Table) -> bool:
    """Whether a node stays what it is, of whatever sizes its operands are.

    Sizes that are computed with, or found as the program runs, are nodes of their own.
    """
    return _is_of(node, _is_plain, lambda node, _: is_untouched(node, table))


def _is_of(
    node: Node, is_such: Callable[[object], bool], may_be: Callable[[Node, Op], bool]
) -> bool:
    """Whether a node gives such tensors alone, by an op, if it has one, that may be."""
    match node.op:
        case "placeholder":
            return is_such(node.meta.get("val"))
        case "output":
            return True
        case "call_function" if node.target in (operator.getitem, _CHECK):
            return True
        case "call_function":
            return (
                isinstance(node.target, Op)
                and bool(_results(node))
                and all(map(is_such, _results(node)))
                and may_be(node, node.target)
            )
        case _:
            return False


def _is_of_known_sizes(value: object) -> bool:
    """Whether a value is a tensor of which all but its elements follows from sizes of inputs."""
    return (
        _is_plain(value)
        and _has_known_sizes(value)
        and all(map(_is_no_value, (*value.stride(), value.storage_offset())))
    )


def _has_known_sizes(value: object) -> bool:
    return isinstance(value, torch.Tensor) and all(map(_is_no_value, value.shape))


def _is_plain(value: object) -> TypeGuard[FakeTensor]:
    """Whether a value is a tensor of which all is known but its elements, and maybe sizes."""
    return (
        type(value) is FakeTensor
        and value.layout == torch.strided
        and not value.is_conj()
        and not value.is_neg()
    )


def _writes_nothing(taken_apart: ExportedProgram) -> bool:
    """Whether no op writes into its operands.

    That `batch_norm` writes running statistics as it trains is not in its schema.
    """
    specs = taken_apart.graph_signature.output_specs
    return all(spec.kind is OutputKind.USER_OUTPUT for spec in specs)


def _may_stand_anywhere(node: Node) -> bool:
    """Whether a node is all there is to copy, and has what uses it.

    What an op counts as it runs is another number in each place.
    """
    match node.op:
        # What is read is the body of a loop, which comes along.
        case "placeholder" | "output" | "get_attr":
            return True
        case "call_function" if _is_size(node):
            return True
        case "call_function" if node.target is _ASSERTION:
            return _input_behind(node) is not None
        case "call_function":
            return (
                (
                    isinstance(node.target, Op | torch._ops.HigherOrderOperator)
                    or node.target is operator.getitem
                )
                and bool(_results(node))
                and all(map(_has_known_sizes, _results(node)))
            )
        case _:
            return False


def _input_behind(node: Node) -> Node | None:
    """An input of the program whose elements a node is computed of, if it is of any."""
    seen = {node}
    left = [node]
    while left:
        node = left.pop()
        if node.op == "placeholder":
            return node
        operands = [operand for operand in node.all_input_nodes if not _is_size(operand)]
        left += (operand for operand in operands if operand not in seen)
        seen.update(operands)
    return None


def _results(node: Node) -> Sequence[object]:
    value = node.meta.get("val")
    if value is None:
        return ()
    return value if isinstance(value, tuple | list) else (value,)


def _has_several_results(node: Node) -> bool:
    return isinstance(node.meta["val"], tuple | list)


def _is_taken_apart(node: Node, table: Table) -> bool:
    return (
        node.op == "call_function"
        and node.target not in (operator.getitem, _CHECK)
        and not _is_size(node)
        and not is_untouched(node, table)
    )


def kind_of_op(node: Node) -> Hashable:
    """What is equal for nodes that are taken apart alike."""
    values = [operand.meta["val"] for operand in node.all_input_nodes]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    return _kind_wherever_it_lies(node), _numbers([each.storage_offset() for each in tensors])


def _kind_wherever_it_lies(node: Node) -> Hashable:
    """The same but for where in memory the operands begin."""
    # Of equal tensors it may be known that they are.
    operands = {operand: number for number, operand in enumerate(node.all_input_nodes)}

    def spelled(argument: object) -> Hashable:
        match argument:
            case Node():
                return ("tensor", operands[argument])
            case list() | tuple():
                return tuple(map(spelled, argument))
            case _:
                # As 1, 1.0 and True are equal, and so are 0.0 and -0.0.
                return type(argument), repr(argument)

    return (
        functional_op(node),
        spelled(node.args),
        tuple((name, spelled(argument)) for name, argument in node.kwargs.items()),
        tuple(_kind_of_value(operand.meta["val"]) for operand in operands),
    )


def _kind_of_value(tensor: object) -> Hashable:
    if not isinstance(tensor, torch.Tensor):
        return str(tensor)
    return (
        tensor.dtype,
        _numbers(tensor.shape),
        _numbers(tensor.stride()),
        tensor.device,
        tensor.requires_grad,
    )


def _numbers(sizes: Sequence[int | torch.SymInt]) -> Hashable:
    return tuple(size if type(size) is int else str(size) for size in sizes)


def _program_of(kinds: Sequence[_Kind], ranges: Mapping[Any, Any]) -> ExportedProgram:
    """A program that computes the first of each of `kinds`, of operands that are its inputs.

    Symbols in sizes have `ranges`.
    """
    graph = torch.fx.Graph()
    for kind in kinds:
        for operand in kind.first.all_input_nodes:
            made = graph.placeholder(f"operand_{len(graph.nodes)}")
            made.meta = {"val": operand.meta["val"]}
            kind.inputs.append(made)
    results: list[Node] = []
    for kind in kinds:
        given = dict(zip(kind.first.all_input_nodes, kind.inputs, strict=True))
        # Its name stays: messages name the node by it.
        made = graph.node_copy(kind.first, given.__getitem__)
        made.target = cast("Op", functional_op(kind.first))
        results += each_result(made)
    graph.output(tuple(results))
    return program_of_graph(graph, ranges=ranges)


def _note_parts(kinds: Sequence[_Kind], taken_apart: ExportedProgram) -> None:
    """Tells each of `kinds` what it has been taken apart into, in the program of them all."""
    nodes = [*taken_apart.graph.nodes]
    placeholders = iter(taken_apart.graph.find_nodes(op="placeholder"))
    results = iter(_outputs(taken_apart.graph))
    owners: dict[Node, _Kind] = {}
    for kind in kinds:
        kind.inputs = [next(placeholders) for _ in kind.inputs]
        kind.results = [next(results) for _ in _results(kind.first)]
        owners |= dict.fromkeys((*kind.inputs, *kind.results), kind)
    # They have nothing from one another: a node belongs to what uses it, and what nothing uses, an
    # assertion, to what it is computed of.
    tensors = [node for node in nodes if not _is_size(node)]
    for node in reversed(tensors):
        if node.target is _ASSERTION:
            owners[node] = owners[cast("Node", _input_behind(node))]
        found = next((owners[user] for user in node.users if user in owners), None)
        if found is not None:
            owners.setdefault(node, found)
    for node in tensors:
        if node.op != "placeholder" and node in owners:
            owners[node].parts.append(node)


def _outputs(graph: torch.fx.Graph) -> Sequence[Node]:
    return cast("Sequence[Node]", graph.output_node().args[0])


def _body_from(node: Node, origin: Mapping[str, object]) -> GraphModule:
    """A copy of the body that a part stands for, whose nodes come from there.

    Later steps change bodies each for itself.
    """
    module = node.graph.owning_module
    assert module is not None
    body = copy.deepcopy(body_of(module, node))
    for each in nodes_within(body):
        each.meta |= origin
    return body


def _with_parts(exported: ExportedProgram, kinds: Mapping[Node, _Kind]) -> ExportedProgram:
    """The program with the parts of its nodes in their place."""
    graph = torch.fx.Graph()
    made: dict[Node, Any] = {}
    bodies: dict[str, Any] = {}
    sizes: SizeNodes | None = None
    for node in exported.graph.nodes:
        if (kind := kinds.get(node)) is not None:
            here = dict(zip(kind.inputs, map(made.get, node.all_input_nodes), strict=True))
            origin = {name: node.meta[name] for name in ORIGIN if name in node.meta}
            if sizes is None:
                sizes = SizeNodes(graph, places_of_symbols(graph))
            for part in kind.parts:
                for operand in part.all_input_nodes:
                    if operand not in here:
                        here[operand] = sizes.of(operand.meta["val"].node.expr)
                here[part] = placed = graph.node_copy(part, here.__getitem__)
                placed.meta = {**part.meta, **origin}
                if part.op == "get_attr":
                    placed.target = f"body_{len(bodies)}"
                    bodies[placed.target] = _body_from(part, origin)
            results = [here[result] for result in kind.results]
            made[node] = results if _has_several_results(node) else results[0]
            # Whoever reads what has been written reads the result.
            made |= dict.fromkeys(written(node)[1:], made[node])
        elif node.target is operator.getitem and node.args[0] in kinds:
            made[node] = made[node.args[0]][node.args[1]]
        else:
            made[node] = graph.node_copy(node, made.__getitem__)
            if node.op == "placeholder":
                # Also where it is a name that a new node is not given, such as `input`.
                made[node].name = node.name
    graph.eliminate_dead_code()
    # Of a program that has bodies itself, PyTorch is given the whole.
    module = _make_graph_module(bodies, graph)
    module.meta.update(exported.graph_module.meta)
    specs = [
        OutputSpec(spec.kind, TensorArgument(node.name), spec.target)
        if isinstance(spec.arg, TensorArgument)
        else spec
        for spec, node in zip(exported.graph_signature.output_specs, _outputs(graph), strict=True)
    ]
    return ExportedProgram(
        module,
        graph,
        ExportGraphSignature([*exported.graph_signature.input_specs], specs),
        state_dict={**exported.state_dict},
        # Ops that are taken apart may fix sizes.
        range_constraints=_get_updated_range_constraints(module, exported.range_constraints),
        module_call_graph=exported.module_call_graph,
        example_inputs=exported.example_inputs,
        constants={**exported.constants},
    )
