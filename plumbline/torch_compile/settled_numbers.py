"""Makes parts of a program of numbers that calls give, such as how wide windows are."""

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg


def settle_numbers(module: GraphModule) -> bool:
    """Has a graph be for the numbers of its example that are no sizes of what it is given.

    Dynamo is told, and has it traced anew for others.

    Returns:
      Whether there are such numbers.
    """
    placeholders = module.graph.find_nodes(op="placeholder")
    sizes = {
        size.node.expr
        for node in placeholders
        for size in getattr(node.meta["val"], "shape", ())
        if isinstance(size, torch.SymInt)
    }
    settled: dict[Node, int] = {}
    for node in placeholders:
        number = node.meta["val"]
        if isinstance(number, torch.SymInt) and node.users and number.node.expr not in sizes:
            # By which it is compared with what calls give.
            settled[node] = int(number)

    def number_of(operand: Node) -> Any:
        return settled.get(operand, operand)

    for node in module.graph.nodes:
        node.args, node.kwargs = map_arg((node.args, node.kwargs), number_of)
    return bool(settled)
