"""Pooling over windows whose places are known at run time only."""

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


RULES: Rules = {
    aten.fractional_max_pool2d.default: _fractional_max_pool(2),
    aten.fractional_max_pool3d.default: _fractional_max_pool(3),
}
