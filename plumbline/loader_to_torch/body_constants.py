"""Constants of branches and loops, such as `torch.tensor([1.0, 2.0])` in a function of torch.cond.

Bodies have these as attributes, which PyTorch cannot take apart. They become constants of the
program, which are handed to the bodies as operands.
"""

import torch
from torch.fx import GraphModule, Node

from plumbline.loader_to_torch.decompositions.bodies import (
    bodies_of,
    operands_of,
    with_operand,
)
from plumbline.loader_to_torch.decompositions.constant_tables import add_constant


def hand_constants_to_bodies(exported: torch.export.ExportedProgram) -> None:
    """Has the bodies in `exported` take their constants as operands."""
    module, is_changed = exported.graph_module, False
    for node in list(module.graph.nodes):
        for value, like in _hand_on(module, node):
            name = f"of_body_{len(exported.constants)}"
            _take(node, add_constant(exported, name, value, like))
            is_changed = True
    if is_changed:
        module.recompile()


def _hand_on(module: GraphModule, node: Node) -> list[tuple[torch.Tensor, Node]]:
    """Has the bodies of an op take what is constant in them, and in those within.

    Returns:
      The constants, in the order in which they are to be handed over, and a node that is like each.
    """
    bodies, found = bodies_of(module, node), []
    for body in bodies:
        for inner in list(body.graph.nodes):
            constants = _hand_on(body, inner)
            if not constants and (value := _constant(body, inner)) is not None:
                constants = [(value, inner)]
            for value, like in constants:
                found.append((value, like))
                operands = [_operand(each, like) for each in bodies]
                own = operands[bodies.index(body)]
                if like is inner:
                    inner.replace_all_uses_with(own)
                    body.graph.erase_node(inner)
                else:
                    _take(inner, own)
        for name in {str(like.target) for value, like in found if like.graph is body.graph}:
            delattr(body, name)
        body.recompile()
    return found


def _constant(body: GraphModule, node: Node) -> torch.Tensor | None:
    """The tensor that a node of a body stands for, if it is an attribute."""
    value = getattr(body, str(node.target), None) if node.op == "get_attr" else None
    return value if isinstance(value, torch.Tensor) else None


def _operand(body: GraphModule, like: Node) -> Node:
    """A new operand of a body, its last one."""
    number = len(operands_of(body))
    operand = with_operand(body, f"constant_{number}", number)
    operand.meta["val"] = like.meta["val"]
    return operand


def _take(node: Node, operand: Node) -> None:
    """Has an op hand one more operand to its bodies: what they are handed comes last."""
    *others, handed = node.args
    node.args = (*others, (*handed, operand))  # type: ignore[misc]
