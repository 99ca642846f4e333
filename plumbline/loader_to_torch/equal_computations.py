"""Whether two tensors that are traced are computed alike, so that their elements are the same."""

import operator
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Node
from torch.fx.experimental.proxy_tensor import get_proxy_mode, get_proxy_slot
from torch.utils import _pytree as pytree


def are_computed_alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are one, or results of the same ops of the same operands.

    Of what draws random numbers, or is written in place, that is not said.
    """
    if one is other:
        return True
    nodes = [_node(tensor) for tensor in (one, other)]
    if None in nodes:
        return False
    pairs = [(nodes[0], nodes[1])]
    compared: set[tuple[Any, Any]] = set()
    while pairs:
        pair = pairs.pop()
        if pair[0] is pair[1] or pair in compared:
            continue
        compared.add(pair)
        if not all(isinstance(node, Node) and _follows_from_operands(node) for node in pair):
            return False
        first, second = pair
        operands = [pytree.tree_flatten((node.args, node.kwargs)) for node in pair]
        if first.target != second.target or operands[0][1] != operands[1][1]:
            return False
        for operand, same in zip(operands[0][0], operands[1][0], strict=True):
            if isinstance(operand, Node) and isinstance(same, Node):
                pairs.append((operand, same))
            elif type(operand) is not type(same) or operand != same:
                return False
    read = {_tensor(node) for pair in compared for node in (*pair, *_operands_of(pair))}
    return not compared or read.isdisjoint(_written(nodes[0].graph))


def _node(tensor: torch.Tensor) -> Any:
    """That of a tensor in the graph that is traced, if there is one."""
    mode = get_proxy_mode()
    if mode is None:
        return None
    slot = get_proxy_slot(tensor, mode.tracer, None)
    return None if slot is None else slot.proxy.node


def _operands_of(pair: tuple[Any, Any]) -> list[Node]:
    return [operand for node in pair for operand in node.all_input_nodes]


def _follows_from_operands(node: Node) -> bool:
    """Whether a node gives the same whenever it is given the same."""
    target = node.target
    if target is operator.getitem or node.op == "get_attr":
        return True
    return (
        isinstance(target, OpOverload)
        and not target._schema.is_mutable
        and torch.Tag.nondeterministic_seeded not in target.tags
    )


def _tensor(node: Node) -> Any:
    """What tells the tensor of a node from others: a constant's is that of other nodes, too."""
    return node.target if node.op == "get_attr" else node


def _written(graph: torch.fx.Graph) -> set[Any]:
    """The tensors that a graph writes in place, with those that they are parts of."""
    written: set[Any] = set()
    pending = [
        node
        for node in graph.nodes
        if isinstance(node.target, OpOverload) and node.target._schema.is_mutable
    ]
    while pending:
        for operand in pending.pop().all_input_nodes:
            if _tensor(operand) not in written:
                written.add(_tensor(operand))
                if _may_be_part(operand):
                    pending.append(operand)
    return written


def _may_be_part(node: Node) -> bool:
    """Whether what a node gives may share memory with its operands."""
    target = node.target
    if not isinstance(target, OpOverload):
        return target is operator.getitem
    return any(result.alias_info is not None for result in target._schema.returns)
