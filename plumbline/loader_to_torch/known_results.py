"""Results whose sizes values decide, and whose values are known as the program is traced.

torch.export knows the numbers in tensors that a program makes of numbers, and how many of them a
mask chooses, say. Where ops are taken apart into others, those would have as many as values say.
"""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch.export.graph_signature import InputKind
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from plumbline.loader_to_torch.decompositions.constant_tables import add_constant
from plumbline.loader_to_torch.folded_constants import is_repeatable
from plumbline.loader_to_torch.known_numbers import MOST_COMPUTED

aten = torch.ops.aten

_WITHOUT_VALUES = (
    aten.empty.memory_format,
    aten.empty_like.default,
    aten.empty_strided.default,
    aten.new_empty.default,
    aten.new_empty_strided.default,
)
"""Ops that give what happens to lie in memory."""

_DETACH = aten.detach_.default
"""As `torch.tensor` ends. It writes no element."""


def put_known_results(exported: torch.export.ExportedProgram) -> None:
    """Puts constants in the place of what values decide the sizes of, where these are known."""
    decided = [node for node in exported.graph.nodes if _is_decided_by_values(node)]
    if not decided:
        return
    values = _Values(exported)

    def constant(name: str, value: torch.Tensor, like: Node) -> Node:
        node = add_constant(exported, f"known_{name}", value.contiguous(), like)
        values.know(node, value)
        return node

    for node in decided:
        if values.of(node) is None:
            if node.target is aten.index.Tensor:
                _put_places(node, values, constant)
            continue
        is_one = isinstance(node.meta["val"], torch.Tensor)
        parts = [user for user in node.users if user.target is operator.getitem]
        for result in [node] if is_one else parts:
            result.replace_all_uses_with(constant(result.name, values.of(result), result))
            exported.graph.erase_node(result)
    exported.graph_module.recompile()


def _is_decided_by_values(node: Node) -> bool:
    """Whether an op gives as many elements as values say, and how many those are is known."""
    op = node.target
    if not isinstance(op, torch._ops.OpOverload) or torch.Tag.dynamic_output_shape not in op.tags:
        return False
    return not any(free_unbacked_symbols(result) for result in _results(node))


def _results(node: Node) -> Sequence[Any]:
    known = node.meta.get("val")
    return known if isinstance(known, tuple | list) else [known]


def _put_places(
    node: Node, values: "_Values", constant: Callable[[str, torch.Tensor, Node], Node]
) -> None:
    """Has `node`, which is indexed by masks, be indexed by the places of those that are known."""
    indices: list[Any] = []
    for index in cast("Sequence[Node | None]", node.args[1]):
        mask = None if index is None else values.of(index)
        if index is None or mask is None or mask.dtype is not torch.bool:
            indices.append(index)
            continue
        fake = index.meta["val"]
        for axis, places in enumerate(mask.nonzero(as_tuple=True)):
            like = constant(f"{node.name}_{axis}", places, index)
            like.meta["val"] = fake.new_empty(places.shape, dtype=places.dtype)
            indices.append(like)
    node.args = (node.args[0], indices)


class _Values:
    """What nodes of a program's graph compute of constants and of numbers alone."""

    def __init__(self, exported: torch.export.ExportedProgram) -> None:
        self._known: dict[Node, Any] = {}
        placeholders = {node.name: node for node in exported.graph.find_nodes(op="placeholder")}
        for spec in exported.graph_signature.input_specs:
            value = exported.constants.get(cast("str", spec.target))
            if spec.kind is InputKind.CONSTANT_TENSOR and isinstance(value, torch.Tensor):
                self.know(placeholders[spec.arg.name], value.detach())
        # What is written in place is one thing here and another there, and so is what shares
        # its memory.
        written = [
            operand
            for node in exported.graph.nodes
            if _writes(node.target)
            for operand in node.all_input_nodes
        ]
        while written:
            node = written.pop()
            if self._known.get(node, node) is not None:
                self._known[node] = None
                written += node.all_input_nodes

    def know(self, node: Node, value: torch.Tensor) -> None:
        """Notes what a constant is."""
        self._known[node] = value

    def of(self, node: Node) -> Any:
        """The value of a node, or None where it is not known."""
        if node not in self._known:
            self._known[node] = self._computed(node)
        return self._known[node]

    def _computed(self, node: Node) -> Any:
        op: Any = node.target
        repeats = (is_repeatable(op) and op not in _WITHOUT_VALUES) or op is _DETACH
        if not (repeats and _is_small(node)) and op is not operator.getitem:
            return None
        operands = {operand: self.of(operand) for operand in node.all_input_nodes}
        if any(value is None for value in operands.values()):
            return None
        arguments, options = torch.fx.map_arg((node.args, node.kwargs), operands.__getitem__)
        with torch.no_grad():
            return op(*arguments, **options)


def _writes(op: Any) -> bool:
    is_op = isinstance(op, torch._ops.OpOverload)
    return is_op and op._schema.is_mutable and op is not _DETACH


def _is_small(node: Node) -> bool:
    return all(
        isinstance(result, torch.Tensor)
        and all(isinstance(size, int) for size in result.shape)
        and math.prod(result.shape) <= MOST_COMPUTED
        for result in _results(node)
    )
