"""Leaves to PyTorch what of a graph cannot be compiled, between programs of what is around it.

Nodes are in turns compiled and left: a program has all that depends on what the turns before it
have given, and on nothing that comes later. What is refused although each of its ops is compiled by
itself becomes two programs, of its first ops and of the others, and so on.
"""

import itertools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.split_module import split_module

from plumbline.errors import UserError
from plumbline.loader_to_torch.distinct_ops import kind_of_op
from plumbline.loader_to_torch.node_locations import place
from plumbline.loader_to_torch.program_of_graph import each_result

_Call = Callable[..., Sequence[Any]]


def in_parts(
    module: GraphModule,
    problem: str,
    compiled: Callable[[GraphModule], _Call],
    refusal_of: Callable[[GraphModule], str],
    left: dict[Node, str],
) -> _Call:
    """What computes as a graph does that is refused, of parts of it and of ops that are left.

    Args:
      module: the graph.
      problem: why it is refused.
      compiled: what a part of it becomes; raises `UserError` where it is refused.
      refusal_of: why an op by itself is, as far as that is quickly told; empty if it is not.
      left: gets the ops that are left, each with why it is.
    """

    def call_of(part: GraphModule) -> _Call:
        try:
            return compiled(part)
        except UserError as error:
            return in_parts(part, str(error), compiled, refusal_of, left)

    refused = _refused_ops(module, refusal_of)
    if refused:
        left |= refused
        return _in_turns(module, _turns(module.graph, refused), call_of)
    halves = _halves(module.graph)
    if len(set(halves.values())) > 1:
        return _in_turns(module, halves, call_of)
    left |= {node: problem for node in _calls(module.graph) if not _is_part(node)}
    forward: _Call = module.forward
    return forward


def describe(left: Mapping[Node, str]) -> str:
    """Which ops are left, the place of the first of each, and why they are."""
    first: dict[str, dict[str, Node]] = {}
    for node, problem in left.items():
        # The first line tells of what all its lines are.
        reason = problem.partition("\n")[0].rstrip(":")
        first.setdefault(reason, {}).setdefault(str(node.target).removesuffix(".default"), node)
    return "\n".join(
        f"{reason}; left to PyTorch: "
        + ", ".join(f"{op} ({place(node)})" for op, node in nodes.items())
        for reason, nodes in first.items()
    )


def _refused_ops(module: GraphModule, refusal_of: Callable[[GraphModule], str]) -> dict[Node, str]:
    """The ops of a graph that cannot be compiled by themselves, and why."""
    known: dict[Any, str] = {}
    refused = {}
    for node in module.graph.nodes:
        if node.op != "call_function" or not _is_op(node) or _writes(node):
            continue
        kind = kind_of_op(node) if isinstance(node.target, torch._ops.OpOverload) else node
        if kind not in known:
            known[kind] = refusal_of(GraphModule(module, _graph_of(node)))
        if known[kind]:
            refused[node] = known[kind]
    return refused


def _in_turns(
    module: GraphModule, turns: Mapping[Node, int], compiled: Callable[[GraphModule], _Call]
) -> _Call:
    """What computes as a graph does, of which the nodes of even turns are compiled."""
    parts = split_module(
        module, module, turns.__getitem__, keep_original_order=True, tuple_return=True
    )
    for name, part in list(parts.named_children()):
        if isinstance(part, GraphModule) and _is_compiled(name):
            setattr(parts, name, _Part(compiled(part)))
    forward: _Call = parts.forward
    return forward


class _Part(torch.nn.Module):
    """A part that has been compiled, in the place of its graph."""

    def __init__(self, call: _Call) -> None:
        super().__init__()
        self._call = call

    def forward(self, *arguments: Any) -> tuple[Any, ...]:
        """The part's results."""
        return tuple(self._call(*arguments))


def _is_compiled(name: str) -> bool:
    """Whether the turn is of what is compiled; `split_module` calls parts by their numbers."""
    return int(name.rpartition("_")[-1]) % 2 == 0


def _turns(graph: Graph, ops: Iterable[Node]) -> dict[Node, int]:
    """When each node's turn is: even numbers are compiled, odd ones left."""
    turns: dict[Node, int] = {}
    # Programs take tensors: lists, also lists of lists, are taken apart where they are made.
    left = set(ops)
    for node in _calls(graph):
        turn = max((turns.get(operand, 0) for operand in node.all_input_nodes), default=0)
        if _is_part(node) and node.args[0] in left:
            left.add(node)
        turns[node] = turn + (turn % 2 != (node in left))
    last = max(turns.values())
    # Who reads what is written reads what was there before.
    turns |= {node: last + 1 - last % 2 for node in turns if _writes(node)}
    return turns


def _halves(graph: Graph) -> dict[Node, int]:
    """The turns of two programs, which have as many ops each; of one where there is one op."""
    nodes = _calls(graph)
    numbers = itertools.accumulate(not (_is_part(node) or _writes(node)) for node in nodes)
    of_op = list(numbers)
    turns = {
        node: 2 if _writes(node) or 2 * number > of_op[-1] + 1 else 0
        for node, number in zip(nodes, of_op, strict=True)
    }
    for node in nodes:
        if _is_part(node):
            turns[node] = turns[node.all_input_nodes[0]]
    return turns


def _calls(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op == "call_function"]


def _is_part(node: Node) -> bool:
    """Whether a node takes a part of what another one gives."""
    return node.target is operator.getitem


def _graph_of(node: Node) -> Graph:
    """A graph of one op alone."""
    graph = Graph()
    made: dict[Node, Node] = {}
    for operand in node.all_input_nodes:
        if operand.op == "get_attr":
            made[operand] = graph.node_copy(operand)
        else:
            made[operand] = graph.placeholder(operand.name)
            made[operand].meta = {"val": operand.meta["val"]}
    graph.output(tuple(each_result(graph.node_copy(node, made.__getitem__))))
    return graph


def _is_op(node: Node) -> bool:
    target = node.target
    return isinstance(target, torch._ops.OperatorBase) and node.meta.get("val") is not None


def _writes(node: Node) -> bool:
    return node.target is torch.ops.aten.copy_.default
