"""Pooling over windows that share out dimensions: many of them, or nobody knows how many.

A few are parts of a dimension, which TCP takes one by one. Windows are rectangular, so that pooling
goes along one dimension after the other; in each, they are gathered into a dimension of their own.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Rule, Rules, along

aten = torch.ops.aten

_MOST_PARTS = 16
"""As many parts along a dimension take 0.1 s to compile; to gather them takes 0.6 to 1.4 times as
long to compute (AMD Zen 5)."""


def shared_windows(size: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Where so many windows that share out a dimension begin and end.

    They may overlap: ATen/native/AdaptivePooling.h.
    """
    numbers, divisor = torch.arange(count), _at_least_1(count)
    return numbers * size // divisor, ((numbers + 1) * size + divisor - 1) // divisor


def _at_least_1(count: int) -> int:
    """What is divided by, which no windows must not make 0."""
    least: int = torch.sym_max(count, 1)  # type: ignore[no-untyped-call]
    return least


def _are_parts(sizes: Sequence[int], counts: Sequence[int]) -> bool:
    """Whether there are so few different windows along each dimension that they are its parts."""
    return all(
        isinstance(count, int) and _different(size, count) <= _MOST_PARTS
        for size, count in zip(sizes, counts, strict=True)
    )


def _different(size: int, count: int) -> int:
    """How many windows there are before the same follow one another again, further on."""
    return count // math.gcd(size, count) if isinstance(size, int) and count else count


def _windows(operand: torch.Tensor, axis: int, count: int) -> tuple[torch.Tensor, ...]:
    """The windows along a dimension, with where each begins and how many elements it has.

    They are [..., windows, elements, ...]. Shorter ones have their last element more than once.
    """
    starts, ends = shared_windows(operand.shape[axis], count)
    # Two of them may begin in one place, and end in another.
    longest = torch.arange((operand.shape[axis] - 1) // _at_least_1(count) + 2)
    places = torch.minimum(starts.unsqueeze(1) + longest, ends.unsqueeze(1) - 1)
    gathered = operand.index_select(axis, places.reshape(-1))
    sizes = (*operand.shape[:axis], *places.shape, *operand.shape[axis + 1 :])
    return gathered.reshape(sizes), starts, ends - starts


def one_each(given: Sequence[int], rank: int) -> list[int]:
    """A number for each of the last `rank` dimensions, of one for all or of as many."""
    return [*given] * (rank // len(given))


def _adaptive_avg_pool(rank: int) -> Rule:
    """The mean of each window of the last `rank` dimensions."""

    def decomposed(operand: torch.Tensor, counts: Sequence[int]) -> Any:
        counts = one_each(counts, rank)
        if _are_parts(operand.shape[-rank:], counts):
            return NotImplemented
        result = operand if operand.dtype == torch.float64 else operand.float()
        for axis, count in enumerate(counts, operand.dim() - rank):
            windows, _, lengths = _windows(result, axis, count)
            places = along(torch.arange(windows.shape[axis + 1]), windows, axis + 1)
            inside = places < along(lengths, windows, axis)
            total = torch.where(inside, windows, 0.0).sum(axis + 1)
            result = total / along(lengths, total, axis)
        return result.to(operand.dtype)

    return decomposed


def greatest_of_windows(
    operand: torch.Tensor, counts: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """The greatest element of each of so many windows along the last dimensions, and its place.

    Places are counted row by row, over these dimensions.
    """
    greatest, places = operand, None
    # How many elements there are from one place along the dimension to the next.
    step = 1
    # From the last on, so that of equal elements the first counts.
    for axis, count in reversed([*enumerate(counts, operand.dim() - len(counts))]):
        windows, starts, _ = _windows(greatest, axis, count)
        greatest, chosen = windows.max(axis + 1)
        chosen = chosen + along(starts, chosen, axis)
        inner = 0 if places is None else places.gather(axis, chosen)
        places = chosen * step + inner
        step = step * operand.shape[axis]
    assert places is not None
    return greatest, places


def _adaptive_max_pool(rank: int) -> Rule:
    """The greatest elements of windows of the last `rank` dimensions, and their places."""

    def decomposed(operand: torch.Tensor, counts: Sequence[int]) -> Any:
        counts = one_each(counts, rank)
        if _are_parts(operand.shape[-rank:], counts):
            return NotImplemented
        return greatest_of_windows(operand, counts)

    return decomposed


RULES: Rules = {
    aten._adaptive_avg_pool2d.default: _adaptive_avg_pool(2),
    aten._adaptive_avg_pool3d.default: _adaptive_avg_pool(3),
    aten.adaptive_max_pool2d.default: _adaptive_max_pool(2),
    aten.adaptive_max_pool3d.default: _adaptive_max_pool(3),
}
