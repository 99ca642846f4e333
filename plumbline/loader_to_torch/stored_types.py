"""Makes integers of the same bits of tensors whose types hold numbers but are not computed with.

Floats of 8 bits, and unsigned integers of 16 and 64 bits. `decompositions/stored_types.py` has made
arithmetic on such integers of what computes, so that all that is left moves elements, whatever they
mean. At the boundary they are what they were: the signature tells (`TensorNames`).
"""

from typing import Any

import torch
from torch.fx import Node
from torch.utils._pytree import tree_map

from plumbline.loader_to_torch.decompositions.stored_types import STORED_AS
from plumbline.loader_to_torch.moves import MOVES
from plumbline.loader_to_torch.node_locations import all_nodes

aten = torch.ops.aten


def as_stored(value: torch.Tensor) -> torch.Tensor:
    """A tensor of a stored type as integers of the same bits; others as they are."""
    return value.view(STORED_AS[value.dtype]) if value.dtype in STORED_AS else value


def computes_with_stored_type(node: Node) -> bool:
    """Whether a node does more with elements of a stored type than to move them."""
    return (
        isinstance(node.target, torch._ops.OpOverload)
        and node.target is not aten.view.dtype
        and node.target.overloadpacket not in MOVES
        and _has_stored(node)
    )


def store_as_integers(exported: torch.export.ExportedProgram) -> None:
    """Takes all tensors of stored types in a functional program for integers, in place."""
    nodes = [node for node in all_nodes(exported) if _has_stored(node)]
    if not nodes:
        return
    for name, constant in exported.constants.items():
        if isinstance(constant, torch.Tensor):
            exported.constants[name] = as_stored(constant)
    for node in nodes:
        node.args, node.kwargs = tree_map(_stored_dtype, (node.args, node.kwargs))
    for node in nodes:
        # Beside it is a note of the same that the importer looks at first.
        node.meta = {**node.meta, "val": tree_map(_as_fake, _value(node)), "tensor_meta": None}
    for node in nodes:
        viewed = node.args[0] if node.target is aten.view.dtype else None
        if isinstance(viewed, Node) and _value(node).dtype == _value(viewed).dtype:
            node.replace_all_uses_with(viewed)
            node.graph.erase_node(node)
    for module in exported.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            module.recompile()


def _has_stored(node: Node) -> bool:
    values = torch.utils._pytree.tree_leaves([_value(node), *map(_value, node.all_input_nodes)])
    return any(isinstance(value, torch.Tensor) and value.dtype in STORED_AS for value in values)


def _value(node: Any) -> Any:
    return node.meta.get("val") if isinstance(node, Node) else None


def _stored_dtype(value: Any) -> Any:
    return STORED_AS.get(value, value) if isinstance(value, torch.dtype) else value


def _as_fake(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or value.dtype not in STORED_AS:
        return value
    return torch.empty_like(value, dtype=STORED_AS[value.dtype])
