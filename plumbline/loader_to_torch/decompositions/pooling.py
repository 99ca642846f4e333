"""Pooling over windows whose places are known at run time only, and gradients of poolings."""

import math
from collections.abc import Sequence
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.adaptive_pooling import one_each, shared_windows
from plumbline.loader_to_torch.decompositions.rule import Rule, Rules

aten = torch.ops.aten


def _starts(sample: torch.Tensor, size: int, count: int, window: int) -> torch.Tensor:
    """Where `count` windows begin in a dimension, [..., count], by a number from 0 to 1 for each.

    The last one ends with the dimension (B. Graham, "Fractional Max-Pooling", 2014).
    """
    last = torch.full((*sample.shape, 1), size - window, dtype=torch.int64)
    if count == 1:
        return last
    # In the digits of the dtype, as it is rounded down.
    step = torch.full((), size - window, dtype=sample.dtype) / (count - 1)
    sample = sample.unsqueeze(-1)
    places = ((sample + torch.arange(count - 1)) * step).to(torch.int64)
    return torch.cat([places - (sample * step).to(torch.int64), last], -1)


def _fractional_max_pool(rank: int) -> Rule:
    """The greatest elements of windows over the last `rank` dimensions, and their places."""

    def decomposed(
        operand: torch.Tensor, window: Sequence[int], counts: Sequence[int], samples: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        window, counts = one_each(window, rank), one_each(counts, rank)
        sizes = operand.shape[-rank:]
        # Without a batch, samples have one all the same.
        samples = samples.reshape(*operand.shape[:-rank], rank)
        places = torch.zeros([1] * (2 * rank), dtype=torch.int64)
        for axis in range(rank):
            # Those of two dimensions come the last one first.
            number = rank - 1 - axis if rank == 2 else axis
            starts = _starts(samples[..., number], sizes[axis], counts[axis], window[axis])
            along = starts.unsqueeze(-1) + torch.arange(window[axis])
            shape = [1] * (2 * rank)
            shape[axis], shape[rank + axis] = counts[axis], window[axis]
            places = places * sizes[axis] + along.reshape(*starts.shape[:-1], *shape)
        batch = operand.shape[:-rank]
        places = places.reshape(*batch, -1, math.prod(window))
        flat = operand.reshape(*batch, 1, -1).expand(*batch, places.shape[-2], math.prod(sizes))
        greatest, chosen = flat.gather(-1, places).max(-1, keepdim=True)
        return (
            greatest.reshape(*batch, *counts),
            places.gather(-1, chosen).reshape(*batch, *counts),
        )

    return decomposed


# -- gradients of extremes -------------------------------------------------------------------------


def _max_pool_backward(rank: int) -> Rule:
    """The gradient of the greatest elements of windows over the last `rank` dimensions."""

    def decomposed(grad: torch.Tensor, operand: torch.Tensor, *rest: Any) -> torch.Tensor:
        *_, places = rest
        batch = operand.shape[:-rank]
        size, count = math.prod(operand.shape[-rank:]), math.prod(grad.shape[-rank:])
        nothing = torch.zeros((*batch, size), dtype=grad.dtype)
        moved = nothing.scatter_add(-1, places.reshape(*batch, count), grad.reshape(*batch, count))
        return moved.reshape(operand.shape)

    return decomposed


# -- gradients of averages -------------------------------------------------------------------------


def _shared_out(
    grad: torch.Tensor, members: Sequence[torch.Tensor], divisor: torch.Tensor | int
) -> torch.Tensor:
    """For each element the sum, over the windows that it is in, of each one's gradient.

    Args:
      grad: of the averages.
      members: for each dimension which elements each window has, [elements, windows].
      divisor: what sums are divided by, one number for each window or for all.
    """
    *outer, inner = members
    total = grad.to(inner.dtype) / divisor
    for axis, own in zip(range(-len(members), -1), outer, strict=True):
        behind = total.shape[axis + 1 :]
        total = own @ total.flatten(axis + 1)
        total = total.reshape(*total.shape[:-1], *behind)
    return (total @ inner.mT).to(grad.dtype)


def _in_each_window(counts: Sequence[torch.Tensor]) -> torch.Tensor:
    """How many elements windows have, by how many they have along each dimension."""
    total = counts[0]
    for count in counts[1:]:
        total = total.unsqueeze(-1) * count
    return total


def _members(
    size: int, starts: torch.Tensor, ends: torch.Tensor, dtype: torch.dtype
) -> torch.Tensor:
    places = torch.arange(size).unsqueeze(-1)
    return ((places >= starts) & (places < ends)).to(torch.promote_types(dtype, torch.float32))


def _avg_pool_backward(rank: int) -> Rule:
    """The gradient of averages over windows of the last `rank` dimensions."""

    def decomposed(
        grad: torch.Tensor,
        operand: torch.Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> torch.Tensor:
        widths, strides, pads = (
            one_each(given, rank) for given in (kernel_size, stride or kernel_size, padding)
        )
        members, counts = [], []
        for axis in range(-rank, 0):
            size, pad = operand.shape[axis], pads[axis]
            starts = torch.arange(grad.shape[axis]) * strides[axis] - pad
            ends = torch.clamp(starts + widths[axis], max=size + pad)
            members.append(_members(size, starts, ends, grad.dtype))
            counts.append(ends - starts if count_include_pad else members[-1].sum(0))
        return _shared_out(grad, members, divisor_override or _in_each_window(counts))

    return decomposed


def _adaptive_avg_pool_backward(rank: int) -> Rule:
    """The gradient of averages over windows that share out the last `rank` dimensions."""

    def decomposed(grad: torch.Tensor, operand: torch.Tensor) -> torch.Tensor:
        members = []
        for size, count in zip(operand.shape[-rank:], grad.shape[-rank:], strict=True):
            members.append(_members(size, *shared_windows(size, count), grad.dtype))
        return _shared_out(grad, members, _in_each_window([own.sum(0) for own in members]))

    return decomposed


RULES: Rules = {
    aten._adaptive_avg_pool2d_backward.default: _adaptive_avg_pool_backward(2),
    aten._adaptive_avg_pool3d_backward.default: _adaptive_avg_pool_backward(3),
    aten.adaptive_max_pool2d_backward.default: _max_pool_backward(2),
    aten.adaptive_max_pool3d_backward.default: _max_pool_backward(3),
    aten.avg_pool2d_backward.default: _avg_pool_backward(2),
    aten.avg_pool3d_backward.default: _avg_pool_backward(3),
    aten.fractional_max_pool2d.default: _fractional_max_pool(2),
    aten.fractional_max_pool2d_backward.default: _max_pool_backward(2),
    aten.fractional_max_pool3d.default: _fractional_max_pool(3),
    aten.fractional_max_pool3d_backward.default: _max_pool_backward(3),
    aten.max_pool3d_with_indices_backward.default: _max_pool_backward(3),
}
