"""The bodies of branches and loops in a graph, which are graphs of their own."""

import torch
from torch.fx import GraphModule, Node


def bodies_of(module: GraphModule, node: Node) -> list[GraphModule]:
    """The bodies that an op of a module's graph calls; none of an op that calls no body."""
    if not isinstance(node.target, torch._ops.HigherOrderOperator):
        return []
    return [body_of(module, each) for each in node.all_input_nodes if each.op == "get_attr"]


def body_of(module: GraphModule, node: Node) -> GraphModule:
    """The body that a node of a module's graph stands for."""
    body = module.get_submodule(str(node.target))
    assert isinstance(body, GraphModule)
    return body


def operands_of(body: GraphModule) -> list[Node]:
    """What a body takes."""
    return list(body.graph.find_nodes(op="placeholder"))


def with_operand(body: GraphModule, name: str, place: int) -> Node:
    """Gives a body one more operand, the one at `place`."""
    (before,) = operands_of(body)[place - 1 : place] or (body.graph._root,)
    with body.graph.inserting_after(before):
        operand: Node = body.graph.placeholder(name)
    return operand
