"""In which order the axes of a tensor lie in memory."""

from collections.abc import Sequence

import torch
from torch._prims_common import is_contiguous_or_false


def memory_order(tensor: torch.Tensor) -> list[int] | None:
    """The axes of a tensor without gaps, the outermost first.

    None where that is the order that they have anyway, or the tensor has gaps, or overlaps itself,
    or its sizes are not known before the program runs.
    """
    if is_contiguous_or_false(tensor):
        return None
    sizes, strides = _numbers(tensor.shape), _numbers(tensor.stride())
    if sizes is None or strides is None:
        return None
    order = sorted(range(tensor.dim()), key=lambda axis: -strides[axis])
    apart = 1
    for axis in reversed(order):
        if sizes[axis] != 1 and strides[axis] != apart:
            return None
        apart *= sizes[axis]
    return order


def has_gaps(tensor: torch.Tensor) -> bool:
    """Whether a tensor has gaps, overlaps itself, or may."""
    return not is_contiguous_or_false(tensor) and memory_order(tensor) is None


def inverse(order: Sequence[int]) -> list[int]:
    """What takes axes in this order to where they were."""
    return [order.index(axis) for axis in range(len(order))]


def _numbers(sizes: Sequence[int | torch.SymInt]) -> list[int] | None:
    """What sizes are in the example, which strides compare like in all calls."""
    numbers = [size.node.hint if isinstance(size, torch.SymInt) else size for size in sizes]
    return None if None in numbers else numbers
