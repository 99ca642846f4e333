"""What is asked of the nodes of graphs of quantized models, and how such are made."""

from typing import Any, cast

import torch
from torch.fx import Node


def name_of(node: Node) -> str:
    """The op that a node calls, of whatever overload; of others nothing."""
    op = node.target
    return op._schema.name if isinstance(op, torch._ops.OpOverload) else ""


def arguments_of(node: Node) -> dict[str, Any]:
    """What an op is given, by the names of its schema."""
    op = cast("torch._ops.OpOverload", node.target)
    names = [argument.name for argument in op._schema.arguments]
    return {**dict(zip(names, node.args, strict=False)), **node.kwargs}


def called(target: Any, args: tuple[Any, ...], kwargs: Any, graph: torch.fx.Graph) -> Node:
    """A node that calls an op, which knows of what sizes and type its result is."""
    node = graph.call_function(target, args, dict(kwargs))
    values = torch.fx.map_arg((args, dict(kwargs)), lambda operand: operand.meta["val"])
    operands = [value for value in values[0] if isinstance(value, torch.Tensor)]
    mode = getattr(operands[0], "fake_mode", None) if operands else None
    if mode is None:
        node.meta["val"] = target(*values[0], **values[1])
    else:
        with mode:
            node.meta["val"] = target(*values[0], **values[1])
    return node
