"""Ops whose results have as many elements as their operands' values say.

All go back to two: the places of what is true in a mask of rank 1, which TCP has an op for, and
the number that a tensor holds, as a size.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch._higher_order_ops.scan import scan_op

from plumbline.loader_to_torch.decompositions.indexing import index_put_along, index_put_apart
from plumbline.loader_to_torch.decompositions.rule import Rules, broadcast, first_of

aten = torch.ops.aten


def _places(operand: torch.Tensor) -> torch.Tensor:
    """Where a tensor is not 0, counted through all of it in row-major order, in one of rank 1."""
    mask = operand if operand.dtype == torch.bool else operand != 0
    rows: torch.Tensor = aten.nonzero.default(mask.reshape(-1))
    return rows.squeeze(1)


def _coordinates(places: torch.Tensor, shape: Sequence[int]) -> list[torch.Tensor]:
    """The index in each dimension of `shape` of places that are counted through all of it."""
    columns: list[torch.Tensor] = []
    rest = places
    for size in reversed(shape[1:]):
        # A tensor without elements has no places, and its size divides nothing.
        # Not of the size itself, which PyTorch takes to be at least 1.
        count = torch.scalar_tensor(size, dtype=torch.int64).clamp(min=1)
        quotient = torch.div(rest, count, rounding_mode="floor")
        columns.insert(0, rest - quotient * count)
        rest = quotient
    return [rest, *columns] if shape else []


def _nonzero(operand: torch.Tensor) -> Any:
    """The places of what is not 0, in rows of an index for each dimension."""
    if operand.dim() == 1 and operand.dtype == torch.bool:
        return NotImplemented
    places = _places(operand)
    columns = _coordinates(places, operand.shape)
    if not columns:
        return places.new_empty((places.shape[0], 0))
    return torch.stack(columns, 1)


def _masked_select(operand: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    operand, mask = broadcast(operand, mask)
    return operand.reshape(-1).index_select(0, _places(mask))


def _is_mask(index: torch.Tensor | None) -> bool:
    return index is not None and index.dtype in (torch.bool, torch.uint8)


def _as_numbers(indices: Sequence[torch.Tensor | None]) -> list[torch.Tensor | None]:
    """The indices with each mask as the indices of what is true in it."""
    numbers: list[torch.Tensor | None] = []
    for index in indices:
        if index is not None and _is_mask(index):
            numbers += _coordinates(_places(index), index.shape)
        else:
            numbers.append(index)
    return numbers


def _index(operand: torch.Tensor, indices: Sequence[torch.Tensor | None]) -> Any:
    if not any(map(_is_mask, indices)):
        return NotImplemented
    given = [(axis, index) for axis, index in enumerate(indices) if index is not None]
    if len(given) > 1 or given[0][1].dim() == 0:
        masks = [index for index in indices if index is not None and index.dim() == 0]
        if masks:
            return NotImplemented
        return aten.index.Tensor(operand, _as_numbers(indices))
    # One mask: the dimensions that it is of become one, of which slices are taken.
    ((axis, mask),) = given
    end = axis + mask.dim()
    flat = operand.reshape(*operand.shape[:axis], mask.numel(), *operand.shape[end:])
    return flat.index_select(axis, _places(mask))


def _index_put(
    operand: torch.Tensor,
    indices: Sequence[torch.Tensor | None],
    values: torch.Tensor,
    accumulate: bool = False,
) -> Any:
    if not any(map(_is_mask, indices)):
        return NotImplemented
    given = [(axis, index) for axis, index in enumerate(indices) if index is not None]
    if values.dim() == 0 and len(given) == 1:
        # How many places there are does not matter.
        ((axis, mask),) = given
        rest = operand.dim() - axis - mask.dim()
        chosen = (mask != 0).reshape(*mask.shape, *[1] * rest)
        return torch.where(chosen, operand + values if accumulate else values, operand)
    return aten.index_put.default(operand, _as_numbers(indices), values, accumulate)


def _groups(
    rows: torch.Tensor, starts: torch.Tensor, order: torch.Tensor | None, shape: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Of rows the first of each group, the group of each row, and how many rows a group has.

    Args:
      rows: those of a group after one another.
      starts: which of them begin a group.
      order: where each row was at first, if not where it is.
      shape: of the groups of rows.
    """
    places = _places(starts)
    group = starts.to(torch.int64).cumsum(0) - 1
    if order is not None:
        group = torch.zeros_like(group).scatter(0, order, group)
    ends = torch.cat([places, places.new_full((1,), rows.shape[0])])[1:]
    return rows.index_select(0, places), group.reshape(shape), ends - places


def _starts(rows: torch.Tensor) -> torch.Tensor:
    """Which rows are not as the one before."""
    differs = rows != rows.roll(1, 0)
    if differs.dim() > 1:
        differs = differs.reshape(rows.shape[0], -1).any(1)
    return differs | (torch.arange(rows.shape[0]) == 0)


def _unique2(
    operand: torch.Tensor,
    sorted: bool = True,  # noqa: A002 - PyTorch's name
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[torch.Tensor, ...]:
    """The different elements, which rise; the order without `sorted` is for nobody to rely on."""
    flat = operand.reshape(-1)
    numbers = flat.to(torch.uint8) if flat.dtype == torch.bool else flat
    rows, order = numbers.sort()
    values, inverse, counts = _groups(rows, _starts(rows), order, operand.shape)
    return _asked(values.to(operand.dtype), inverse, counts, return_inverse, return_counts)


def _unique(operand: torch.Tensor, *options: bool, **named: bool) -> tuple[torch.Tensor, ...]:
    """The same without counts, as the gradient of what `index_fill` fills with asks for."""
    return _unique2(operand, *options, **named)[:2]


def _unique_dim(
    operand: torch.Tensor,
    dim: int,
    sorted: bool = True,  # noqa: A002 - PyTorch's name
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[torch.Tensor, ...]:
    """The different slices along `dim`, which rise: the first elements that differ tell."""
    slices = operand.movedim(dim, 0)
    rows = slices.reshape(slices.shape[0], -1)
    keys = rows.to(torch.uint8) if rows.dtype == torch.bool else rows
    order = _order_of_rows(keys)
    starts = _starts(keys.index_select(0, order))
    values, inverse, counts = _groups(
        slices.index_select(0, order), starts, order, slices.shape[:1]
    )
    return _asked(values.movedim(0, dim), inverse, counts, return_inverse, return_counts)


def _order_of_rows(rows: torch.Tensor) -> torch.Tensor:
    """The places of rows as they rise: sorted by each column, by the first one last."""
    order = torch.arange(rows.shape[0])
    if rows.shape[1] == 0:
        return order

    def turn(order: torch.Tensor, column: torch.Tensor) -> list[torch.Tensor]:
        places = torch.sort(column.index_select(0, order), stable=True).indices
        return [order.index_select(0, places)]

    columns = rows.flip(1).movedim(1, 0).contiguous()
    (sorted_,) = scan_op(turn, [order], [columns], ())
    result: torch.Tensor = sorted_
    return result


def _asked(
    values: torch.Tensor,
    inverse: torch.Tensor,
    counts: torch.Tensor,
    return_inverse: bool,
    return_counts: bool,
) -> tuple[torch.Tensor, ...]:
    """What is asked for of three results; in place of others is a tensor without elements."""
    nothing = torch.empty(0, dtype=torch.int64)
    return values, inverse if return_inverse else nothing, counts if return_counts else nothing


def _unique_consecutive(
    operand: torch.Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[torch.Tensor, ...]:
    """The elements, or slices along `dim`, that are not as the one before."""
    if dim is None:
        rows, shape = operand.reshape(-1), operand.shape
    else:
        rows = operand.movedim(dim, 0)
        shape = rows.shape[:1]
    values, inverse, counts = _groups(rows, _starts(rows), None, shape)
    if dim is not None:
        values = values.movedim(0, dim)
    return _asked(values, inverse, counts, return_inverse, return_counts)


def _repeat_interleave(repeats: torch.Tensor, *, output_size: int | None = None) -> torch.Tensor:
    """The place of each number of `repeats`, as many times as that says."""
    count: Any = repeats.sum().item() if output_size is None else output_size
    return ended_before(repeats.to(torch.int64).cumsum(0), count).to(repeats.dtype)


def ended_before(ends: torch.Tensor, count: int) -> torch.Tensor:
    """How many of the rising `ends`, which are at most `count`, are at or before each place."""
    # A one where each ends: before a place are the ends of as many as come before its own.
    ended = torch.zeros(count + 1, dtype=torch.int64)
    ended = ended.scatter_add(0, ends, torch.ones_like(ends)).cumsum(0)
    # Not as a slice, of whose size PyTorch would not see that it is the count.
    return ended.index_select(0, torch.arange(count))


def _bincount(
    operand: torch.Tensor, weights: torch.Tensor | None = None, minlength: int = 0
) -> torch.Tensor:
    """How many elements are each number, or the sum of their weights."""
    least = torch.full((1,), minlength, dtype=torch.int64)
    size: Any = torch.cat([operand.to(torch.int64) + 1, least]).amax().item()
    if weights is None:
        weights = torch.ones(operand.shape, dtype=torch.int64)
    elif weights.dtype != torch.float32:
        weights = weights.to(torch.float64)
    counts = torch.zeros(size, dtype=weights.dtype)
    return counts.scatter_add(0, operand.to(torch.int64), weights)


RULES: Rules = {
    aten._unique.default: _unique,
    aten._unique2.default: _unique2,
    aten.bincount.default: _bincount,
    aten.index.Tensor: _index,
    aten.index_put.default: first_of(_index_put, first_of(index_put_along, index_put_apart)),
    aten.masked_select.default: _masked_select,
    aten.nonzero.default: _nonzero,
    aten.repeat_interleave.Tensor: _repeat_interleave,
    aten.unique_consecutive.default: _unique_consecutive,
    aten.unique_dim.default: _unique_dim,
}
