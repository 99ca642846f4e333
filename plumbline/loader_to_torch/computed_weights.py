"""Computes what follows from weights alone before the program runs, rather than in each call.

Such are weights that are given a norm (`torch.nn.utils.parametrizations.weight_norm`), or no mean.
Kernels can take them packed then.
"""

import operator
from collections.abc import Mapping
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.constant_tables import add_constant
from plumbline.loader_to_torch.folded_constants import is_foldable, is_repeatable
from plumbline.loader_to_torch.weights import weights_at_placeholders

aten = torch.ops.aten

_LEAST_ELEMENTS = 1 << 13
"""Less, such as the scale of a batch norm, is computed in no time by the kernel that reads it."""

_SUMMARY = 8
"""What has so many times fewer elements than the weights that it is computed of, as a sum of each
row of them, takes less room, and those need not be read for it: bytes of a depthwise window of 3x3
lie otherwise in the order that they are multiplied in."""

_OF_NUMBERS = (aten.arange.start_step, aten.full.default, aten.scalar_tensor.default)
"""What makes tensors of numbers alone, the same in each call."""

_MOVES = (
    aten.clone.default,
    aten.expand.default,
    aten.permute.default,
    aten.slice.Tensor,
    aten.squeeze.dims,
    aten.transpose.int,
    aten.unsqueeze.default,
    aten.view.default,
)
"""What only moves elements: kernels read them where they are, or packed."""


def compute_weights(exported: torch.export.ExportedProgram, *, embedded: bool) -> None:
    """Puts weights in the place of what `exported` computes of its weights alone.

    Not where these had more bytes than what nothing reads any more for it, unless they have but a
    few: numbers that are stored as narrower ones stay so. Without `embedded`, parameters and
    buffers are arguments, of which nothing is known.
    """
    weights = weights_at_placeholders(exported, embedded=embedded)
    order = _known(exported.graph, weights)
    at_run_time: set[torch.fx.Node] = set()
    for node in reversed(list(order)):
        is_step = all(user in order for user in node.users)
        if node in weights or (is_step and at_run_time.isdisjoint(node.users)):
            continue
        at_run_time.add(node)
        while node.target in _MOVES:
            (node,) = node.all_input_nodes
        if node in weights:
            continue
        origins = _origins(node, order)
        unread = _unread_without(node, origins)
        if not _pays(node, origins, unread, weights, is_step=is_step):
            at_run_time.add(node)
            continue
        computed = _computed(node, origins, weights)
        constant = add_constant(exported, f"computed_{node.name}", computed, node)
        weights[constant], order[constant] = computed, order[node]
        node.replace_all_uses_with(constant)
        for origin in unread:
            if origin not in weights:
                exported.graph.erase_node(origin)
    exported.graph_module.recompile()


def _pays(
    node: torch.fx.Node,
    origins: list[torch.fx.Node],
    unread: list[torch.fx.Node],
    weights: Mapping[torch.fx.Node, torch.Tensor],
    *,
    is_step: bool,
) -> bool:
    """Whether what a node computes is worth to be a weight; else what it is computed of may be.

    A step on the way to what is computed as the program runs is, if that takes no more room.
    """
    value = node.meta["val"]
    if not isinstance(value, torch.Tensor):
        return False
    if any(user.op == "output" for user in node.users):
        return False
    if not is_step and _is_summary(value, [weights[each] for each in origins if each in weights]):
        return True
    freed = sum(weights[origin].nbytes for origin in unread if origin in weights)
    return value.numel() >= _LEAST_ELEMENTS and value.nbytes <= freed


def _is_summary(value: torch.Tensor, weights: list[torch.Tensor]) -> bool:
    return _SUMMARY * value.numel() <= sum(weight.numel() for weight in weights)


def _known(
    graph: torch.fx.Graph, weights: Mapping[torch.fx.Node, torch.Tensor]
) -> dict[torch.fx.Node, int]:
    """The nodes that are weights or follow from these alone, with their places in the graph."""
    known: dict[torch.fx.Node, int] = {}
    for place, node in enumerate(graph.nodes):
        if node in weights or (node.op == "call_function" and _follows(node, known)):
            known[node] = place
    return known


def _follows(node: torch.fx.Node, known: Mapping[torch.fx.Node, int]) -> bool:
    value = node.meta.get("val")
    parts = value if isinstance(value, tuple | list) else (value,)
    if not all(map(is_foldable, parts)) or not all(map(known.__contains__, node.all_input_nodes)):
        return False
    if not node.all_input_nodes:
        return node.target in _OF_NUMBERS
    return node.target is operator.getitem or is_repeatable(node.target)


def _origins(node: torch.fx.Node, order: Mapping[torch.fx.Node, int]) -> list[torch.fx.Node]:
    """What a node is computed of, and itself, in the order of the graph."""
    found, open_ = {node}, [node]
    while open_:
        new = set(open_.pop().all_input_nodes) - found
        found |= new
        open_ += new
    return sorted(found, key=order.__getitem__)


def _unread_without(node: torch.fx.Node, origins: list[torch.fx.Node]) -> list[torch.fx.Node]:
    """What of a node's origins nobody reads if it is not computed, the last one first."""
    unread = {node: None}
    for origin in reversed(origins):
        if origin is not node and all(user in unread for user in origin.users):
            unread[origin] = None
    return list(unread)


def _computed(
    node: torch.fx.Node,
    origins: list[torch.fx.Node],
    weights: Mapping[torch.fx.Node, torch.Tensor],
) -> torch.Tensor:
    values: dict[torch.fx.Node, Any] = {}
    with torch.no_grad():
        for origin in origins:
            if origin in weights:
                values[origin] = weights[origin]
                continue
            op: Any = origin.target
            arguments, options = torch.fx.map_arg((origin.args, origin.kwargs), values.__getitem__)
            values[origin] = op(*arguments, **options)
    value: torch.Tensor = values[node]
    return value.detach().contiguous()
