"""Leaves to PyTorch what of a graph cannot be compiled, between programs of what is around it.

Nodes are in turns compiled and left: a program has all that depends on what the turns before it
have given, and on nothing that comes later.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.split_module import split_module

from plumbline.loader_to_torch.distinct_ops import kind_of_op
from plumbline.loader_to_torch.node_locations import place
from plumbline.loader_to_torch.program_of_graph import each_result

_Call = Callable[..., Sequence[Any]]


def ops_to_leave(module: GraphModule, is_compiled: Callable[[GraphModule], bool]) -> list[Node]:
    """The ops of a graph that cannot be compiled by themselves, as `is_compiled` tells."""
    known: dict[Any, bool] = {}
    left = []
    for node in module.graph.nodes:
        if node.op != "call_function" or not _is_op(node) or _writes(node):
            continue
        kind = kind_of_op(node) if isinstance(node.target, torch._ops.OpOverload) else node
        if kind not in known:
            known[kind] = is_compiled(GraphModule(module, _graph_of(node)))
        if not known[kind]:
            left.append(node)
    return left


def describe(nodes: Sequence[Node]) -> str:
    """Which ops nodes are of, and the place of the first of each."""
    first: dict[str, Node] = {}
    for node in nodes:
        first.setdefault(str(node.target).removesuffix(".default"), node)
    return ", ".join(f"{op} ({place(node)})" for op, node in first.items())


def in_turns(
    module: GraphModule, left: Sequence[Node], compiled: Callable[[GraphModule], _Call]
) -> _Call:
    """What computes as a graph does, of parts that are `compiled`, and of nodes that are `left`."""
    turns = _turns(module.graph, left)
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


def _turns(graph: Graph, ops: Sequence[Node]) -> dict[Node, int]:
    """When each node's turn is: even numbers are compiled, odd ones left."""
    turns: dict[Node, int] = {}
    # Programs take tensors: lists, also lists of lists, are taken apart where they are made.
    left = set(ops)
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        turn = max((turns.get(operand, 0) for operand in node.all_input_nodes), default=0)
        if node.target is operator.getitem and node.args[0] in left:
            left.add(node)
        turns[node] = turn + (turn % 2 != (node in left))
    last = max(turns.values())
    # Who reads what is written reads what was there before.
    turns |= {node: last + 1 - last % 2 for node in turns if _writes(node)}
    return turns


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
