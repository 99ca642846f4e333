"""Computes what follows from constants alone as PyTorch does, before torch-mlir folds it.

Its folding takes negative integers for great ones without a sign (0.7 * -5 is 1.3e19), the
remainder of negative floats for that of C, and quotients of negative integers for those of
integers without a sign; truth values are compared as numbers from -1 to 0.
"""

import math
from collections.abc import Mapping
from typing import Any, cast

import torch
from torch.export.graph_signature import InputKind

from plumbline.loader_to_torch.decompositions.constant_tables import add_constant

aten = torch.ops.aten

_MOST_ELEMENTS = 2**24
"""Tensors of more are not computed here: it would take longer than it helps."""

_DTYPES = frozenset(
    [
        torch.bool,
        torch.uint8,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.float64,
    ]
)
"""The dtypes that torch-mlir folds constants of."""

_FILLED = {
    aten.full.default: 1,
    aten.full_like.default: 1,
    aten.new_full.default: 2,
    aten.scalar_tensor.default: 0,
}
"""What makes tensors of one number, and the place of the number among the arguments."""


def fold_constants(exported: torch.export.ExportedProgram, largest_literal: int) -> None:
    """Puts constants in the place of ops whose operands are constants.

    Operands are those of at most `largest_literal` elements, and what is full of one number.
    Results of as few become constants too; greater ones, and those within branches and loops, are
    folded where all of their elements are one number.
    """
    root = exported.graph_module
    for module in root.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        values = _constants(exported, largest_literal) if module is root else {}
        replaced = False
        for node in list(module.graph.nodes):
            if (number := _filled_with(node)) is not None:
                like = node.meta["val"]
                values[node] = torch.full(like.shape, number, dtype=like.dtype)
                continue
            value = _value(node, values)
            constant = None
            if value is None:
                constant = _filled_choice(node, values)
            elif module is root and value.numel() <= largest_literal:
                constant = add_constant(exported, f"folded_{node.name}", value, node)
                if any(user.op == "output" for user in node.users):
                    # No result is a literal itself.
                    constant = _called(node, aten.clone.default, constant)
            elif _is_uniform(value):
                number = value.flatten()[0].item()
                constant = _called(
                    node, aten.full.default, list(value.shape), number, dtype=value.dtype
                )
            if constant is None:
                continue
            if value is not None:
                values[constant] = value
            operands = node.all_input_nodes
            node.replace_all_uses_with(constant)
            module.graph.erase_node(node)
            for operand in operands:
                if operand.op == "call_function" and not operand.users:
                    module.graph.erase_node(operand)
            replaced = True
        if replaced:
            module.recompile()


def _constants(
    exported: torch.export.ExportedProgram, largest_literal: int
) -> dict[torch.fx.Node, torch.Tensor]:
    """The values of small constants of a program."""
    nodes = {node.name: node for node in exported.graph.find_nodes(op="placeholder")}
    values = {}
    for spec in exported.graph_signature.input_specs:
        value = exported.constants.get(cast("str", spec.target))
        if (
            spec.kind is InputKind.CONSTANT_TENSOR
            and isinstance(value, torch.Tensor)
            and 0 < value.numel() <= largest_literal
            and value.dtype in _DTYPES
        ):
            values[nodes[spec.arg.name]] = value.detach()
    return values


def _filled_with(node: torch.fx.Node) -> bool | float | None:
    """The number that a node makes a tensor of whose shape is known, if it does."""
    if node.target not in _FILLED or not is_foldable(node.meta.get("val")):
        return None
    place = _FILLED[node.target]
    number = node.args[place] if place < len(node.args) else None
    return number if isinstance(number, bool | int | float) else None


def _value(
    node: torch.fx.Node, values: Mapping[torch.fx.Node, torch.Tensor]
) -> torch.Tensor | None:
    """What a node computes, where that follows from constants alone."""
    op: Any = node.target
    if (
        not is_repeatable(op)
        or not node.all_input_nodes
        or not all(operand in values for operand in node.all_input_nodes)
        or not is_foldable(node.meta.get("val"))
    ):
        return None
    like = node.meta["val"]
    arguments, options = torch.fx.map_arg((node.args, node.kwargs), values.__getitem__)
    with torch.no_grad():
        value = op(*arguments, **options)
    is_alike = value.shape == like.shape and value.dtype == like.dtype
    return value.detach().contiguous() if is_alike else None


def _filled_choice(
    node: torch.fx.Node, values: Mapping[torch.fx.Node, torch.Tensor]
) -> torch.fx.Node | None:
    """What makes the tensor of one number that a `where` of known truth chooses for all elements.

    Where its shape is not known, torch-mlir makes a literal of it, which has to have a known one.
    """
    if node.target is not aten.where.self:
        return None
    arguments: Any = node.args
    condition, *choices = arguments
    truth = values.get(condition)
    if truth is None or not _is_uniform(truth):
        return None
    chosen, other = choices if truth.flatten()[0] else reversed(choices)
    number = values.get(chosen)
    like = node.meta["val"]
    if number is None or not _is_uniform(number) or str(other.meta["val"].shape) != str(like.shape):
        return None
    first = number.flatten()[0].item()
    return _called(node, aten.full_like.default, other, first, dtype=like.dtype)


def is_repeatable(op: Any) -> bool:
    """Whether an op is one of PyTorch's that gives results alone, and of the same the same ones."""
    return (
        isinstance(op, torch._ops.OpOverload)
        and op.namespace in ("aten", "prims")
        and not op._schema.is_mutable
        and torch.Tag.nondeterministic_seeded not in op.tags
    )


def is_foldable(value: Any) -> bool:
    """Whether a value in a graph is a tensor that may be computed before the program runs."""
    return (
        isinstance(value, torch.Tensor)
        and value.dtype in _DTYPES
        and all(isinstance(size, int) for size in value.shape)
        and 0 < math.prod(value.shape) <= _MOST_ELEMENTS
    )


def _is_uniform(value: torch.Tensor) -> bool:
    """Whether all elements are one number, of one sign."""
    first = value.flatten()[0]
    is_one = bool((value == first).all())
    return is_one and (
        not value.is_floating_point() or bool((value.signbit() == first.signbit()).all())
    )


def _called(before: torch.fx.Node, op: Any, *arguments: Any, **options: Any) -> torch.fx.Node:
    with before.graph.inserting_before(before):
        node = before.graph.call_function(op, arguments, options)
    node.meta = dict(before.meta)
    return node
