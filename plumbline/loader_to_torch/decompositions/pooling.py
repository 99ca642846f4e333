"""Pooling over windows whose places are known at run time only, and gradients of averages."""

import math
from collections.abc import Sequence

import torch

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
        window, counts = ([*given] * (rank // len(given)) for given in (window, counts))
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


# -- gradients of averages -------------------------------------------------------------------------


def _shared_out(
    grad: torch.Tensor, members: Sequence[torch.Tensor], divisor: torch.Tensor | int
) -> torch.Tensor:
    """For each element the sum, over the windows that it is in, of each one's gradient.

    Args:
      grad: of the averages.
      members: for both dimensions which elements each window has, [elements, windows].
      divisor: what sums are divided by, one number for each window or for all.
    """
    down, across = members
    return (down @ (grad.to(down.dtype) / divisor) @ across.mT).to(grad.dtype)


def _members(
    size: int, starts: torch.Tensor, ends: torch.Tensor, dtype: torch.dtype
) -> torch.Tensor:
    places = torch.arange(size).unsqueeze(-1)
    return ((places >= starts) & (places < ends)).to(torch.promote_types(dtype, torch.float32))


def _avg_pool2d_backward(
    grad: torch.Tensor,
    operand: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> torch.Tensor:
    """The gradient of averages over windows."""
    members, counts = [], []
    for axis in (0, -1):
        size, count = operand.shape[-2:][axis], grad.shape[-2:][axis]
        width, pad = kernel_size[axis], padding[axis]
        starts = torch.arange(count) * (stride or kernel_size)[axis] - pad
        ends = torch.clamp(starts + width, max=size + pad)
        members.append(_members(size, starts, ends, grad.dtype))
        counts.append(ends - starts if count_include_pad else members[-1].sum(0))
    return _shared_out(grad, members, divisor_override or counts[0].unsqueeze(-1) * counts[1])


def _adaptive_avg_pool2d_backward(grad: torch.Tensor, operand: torch.Tensor) -> torch.Tensor:
    """The gradient of averages over windows that share a dimension out among them."""
    members = []
    for size, count in zip(operand.shape[-2:], grad.shape[-2:], strict=True):
        numbers = torch.arange(count)
        starts, ends = numbers * size // count, ((numbers + 1) * size + count - 1) // count
        members.append(_members(size, starts, ends, grad.dtype))
    divisor = members[0].sum(0).unsqueeze(-1) * members[1].sum(0)
    return _shared_out(grad, members, divisor)


RULES: Rules = {
    aten._adaptive_avg_pool2d_backward.default: _adaptive_avg_pool2d_backward,
    aten.avg_pool2d_backward.default: _avg_pool2d_backward,
    aten.fractional_max_pool2d.default: _fractional_max_pool(2),
    aten.fractional_max_pool3d.default: _fractional_max_pool(3),
}
