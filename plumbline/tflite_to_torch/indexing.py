"""What takes elements from where indices say, or finds where some are."""

from collections.abc import Mapping

import torch

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.node import Node, Pattern, axes_of
from plumbline.tflite_to_torch.tensors import Operand


def _gather(node: Node, x: Operand, indices: Operand) -> torch.Tensor:
    stored, places = node.converted(x), indices.stored
    (axis,) = axes_of([node.option("Axis", 0)], stored.ndim)
    batch = node.option("BatchDims", 0)
    batch += places.ndim if batch < 0 else 0
    if not batch:
        taken = stored.index_select(axis, places.reshape(-1))
        return taken.reshape(*stored.shape[:axis], *places.shape, *stored.shape[axis + 1 :])
    if not 0 <= batch <= min(axis, places.ndim):
        raise Unsupported(f"it has {batch} dimensions of batches, where it gathers along {axis}")
    grids = [
        torch.arange(stored.shape[dim]).reshape(
            [-1 if dim == each else 1 for each in range(places.ndim)]
        )
        for dim in range(batch)
    ]
    taken = stored.movedim(axis, batch)[(*grids, places.to(torch.int64))]
    # Those between the batches and the axis come before what the indices stand for.
    between, count = axis - batch, places.ndim - batch
    order = [
        *range(batch),
        *range(batch + count, batch + count + between),
        *range(batch, batch + count),
        *range(batch + count + between, taken.ndim),
    ]
    return taken.permute(order)


def _gather_slices(node: Node, x: Operand, indices: Operand) -> torch.Tensor:
    """Along the last dimension, indices of the first dimensions."""
    return node.converted(x)[_places(indices)]


def _places(indices: Operand) -> tuple[torch.Tensor, ...]:
    return indices.stored.to(torch.int64).unbind(-1)


def _scatter_slices(node: Node, indices: Operand, updates: Operand, shape: Operand) -> torch.Tensor:
    by = node.converted(updates)
    return torch.index_put(by.new_zeros(node.numbers(2)), _places(indices), by, accumulate=True)


def _embedding(node: Node, indices: Operand, table: Operand) -> torch.Tensor:
    return (
        node.converted(table)
        .index_select(0, indices.stored.reshape(-1))
        .reshape(*indices.stored.shape, *table.stored.shape[1:])
    )


def _one_hot(
    node: Node, indices: Operand, depth: Operand, on: Operand, off: Operand
) -> torch.Tensor:
    count, places = node.number(1), indices.stored
    (axis,) = axes_of([node.option("Axis", -1)], places.ndim + 1)
    is_hot = places.unsqueeze(-1) == torch.arange(count)
    return torch.where(is_hot, node.converted(on), node.converted(off)).movedim(-1, axis)


def _largest(node: Node, x: Operand, count: Operand) -> tuple[torch.Tensor, torch.Tensor]:
    stored, kept = node.converted(x), node.number(1)
    if not 0 <= kept <= stored.shape[-1]:
        raise Unsupported(f"it takes {kept} of {stored.shape[-1]} elements")
    # The first of equal elements, as a stable sort has it.
    values, indices = torch.sort(stored, dim=-1, descending=True, stable=True)
    taken = values.narrow(-1, 0, kept), indices.narrow(-1, 0, kept)
    return taken[0], taken[1].to(node.outputs[1].dtype)


def _where(node: Node, condition: Operand) -> torch.Tensor:
    return torch.nonzero(condition.stored).to(node.outputs[0].dtype)


PATTERNS: Mapping[str, Pattern] = {
    "EMBEDDING_LOOKUP": _embedding,
    "GATHER": _gather,
    "GATHER_ND": _gather_slices,
    "ONE_HOT": _one_hot,
    "SCATTER_ND": _scatter_slices,
    "TOPK_V2": _largest,
    "WHERE": _where,
}
