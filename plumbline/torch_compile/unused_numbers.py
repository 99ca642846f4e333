"""Takes from scans the numbers that their bodies do not read.

With sizes that may differ, Dynamo hands those of what is scanned to the body; what AOTAutograd
traces has no value for them there.
"""

from typing import Any, cast

from torch._higher_order_ops.scan import scan_op
from torch.fx import GraphModule, Node

from plumbline.loader_to_torch.decompositions.bodies import body_of, operands_of


def drop_unused_numbers(module: GraphModule) -> None:
    """Has no scan of a graph hand on what is not read, if it is no tensor."""
    for node in module.graph.find_nodes(op="call_function", target=scan_op):
        function, *given, read = cast("tuple[Any, ...]", node.args)
        body = body_of(module, function)
        operands, kept = operands_of(body), []
        for operand, value in zip(operands[len(operands) - len(read) :], read, strict=True):
            if operand.users or _is_tensor(value):
                kept.append(value)
            else:
                body.graph.erase_node(operand)
        node.args = (function, *given, type(read)(kept))
        body.recompile()


def _is_tensor(value: object) -> bool:
    return isinstance(value, Node) and hasattr(value.meta["val"], "layout")
