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


def _segment_sum(node: Node, x: Operand, segments: Operand) -> torch.Tensor:
    """Of as many segments as the last one's number says, in whose order they are."""
    numbers = node.numbers(1)
    if numbers != sorted(numbers) or min(numbers, default=0) < 0:
        raise Unsupported(f"its segments are {numbers}, in no order")
    return _of_segments("sum", x.stored, segments.stored, max(numbers, default=-1) + 1)


def _unsorted_segments(reduce: str) -> Pattern:
    def pattern(node: Node, x: Operand, segments: Operand, count: Operand) -> torch.Tensor:
        return _of_segments(reduce, x.stored, segments.stored, node.number(2))

    return pattern


def _of_segments(reduce: str, x: torch.Tensor, segments: torch.Tensor, count: int) -> torch.Tensor:
    """What becomes of the slices whose segments are the same; what has none is the neutral element.

    Slices of negative segments belong to none.
    """
    flat = segments.reshape(-1).to(torch.int64)
    slices = x.reshape(flat.shape[0], *x.shape[segments.ndim :])
    range_ = torch.finfo(x.dtype) if x.dtype.is_floating_point else torch.iinfo(x.dtype)
    neutral = {"sum": 0, "prod": 1, "amax": range_.min, "amin": range_.max}[reduce]
    # The last row takes what belongs to none.
    rows = torch.where(flat < 0, count, flat)
    start = x.new_full((count + 1, *slices.shape[1:]), neutral)
    index = rows.reshape(-1, *[1] * (slices.ndim - 1)).expand_as(slices)
    return start.scatter_reduce(0, index, slices, reduce)[:count]


PATTERNS: Mapping[str, Pattern] = {
    "EMBEDDING_LOOKUP": _embedding,
    "GATHER": _gather,
    "GATHER_ND": _gather_slices,
    "ONE_HOT": _one_hot,
    "SCATTER_ND": _scatter_slices,
    "SEGMENT_SUM": _segment_sum,
    "TOPK_V2": _largest,
    "UNSORTED_SEGMENT_MAX": _unsorted_segments("amax"),
    "UNSORTED_SEGMENT_MIN": _unsorted_segments("amin"),
    "UNSORTED_SEGMENT_PROD": _unsorted_segments("prod"),
    "UNSORTED_SEGMENT_SUM": _unsorted_segments("sum"),
    "WHERE": _where,
}
