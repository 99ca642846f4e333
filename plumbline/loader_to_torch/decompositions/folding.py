"""Windows of an image that are put back where they were, and added up where they overlap."""

import functools
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten


def _col2im(
    columns: torch.Tensor,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> torch.Tensor:
    """The image [N, C, H, W] of the windows [N, C * kernel, count], or both without N.

    The rows of an image that are equally far after a multiple of the stride, of which each window
    has one at most, are computed beside one another, and so are columns; they are then sorted in
    between each other. So whole ranges of them are sums of ranges of the windows. PyTorch takes it
    apart into a scatter, with an index for each element.
    """
    padded = [size + 2 * pad for size, pad in zip(output_size, padding, strict=True)]
    counts = [
        (size - step * (taps - 1) - 1) // by + 1
        for size, step, taps, by in zip(padded, dilation, kernel_size, stride, strict=True)
    ]
    # One window is not apart from any other.
    stride = [
        min(by, size) if isinstance(size, int) else by
        for by, size in zip(stride, padded, strict=True)
    ]
    lead = columns.shape[:-2]
    channels = columns.shape[-2] // (kernel_size[0] * kernel_size[1])
    windows = columns.reshape(*lead, channels, *kernel_size, *counts)
    lengths = [-(-size // by) for size, by in zip(padded, stride, strict=True)]

    def image(*rests: _Rests) -> torch.Tensor:
        found = []
        for starts in itertools.product(*(these.starts for these in rests)):
            around: list[int] = []
            part = windows
            for axis, ((tap, place), these) in enumerate(zip(starts, rests, strict=True)):
                part = part.narrow(axis - 4, tap, these.rows)
                around = [place, lengths[axis] - counts[axis] - place, *around]
            found.append(torch.nn.functional.pad(part, around))
        if not found:
            return columns.new_zeros(*lead, channels, *(these.rows for these in rests), *lengths)
        return functools.reduce(torch.add, found)

    rows, across = map(_rests, kernel_size, dilation, stride)
    # [..., row, column, window, window]
    parts = [torch.cat([image(row, column) for column in across], -3) for row in rows]
    whole = torch.cat(parts, -4).movedim((-4, -3), (-3, -1))
    whole = whole.reshape(
        *lead, channels, *(length * by for length, by in zip(lengths, stride, strict=True))
    )
    for axis, (size, pad) in enumerate(zip(output_size, padding, strict=True), -2):
        whole = whole.narrow(axis, pad, size)
    return whole


class _Rests(NamedTuple):
    """A range of rows of a stride that the same windows reach."""

    rows: int
    starts: Sequence[tuple[int, int]]
    """Of each of these windows, the tap on the first row, and how many strides it begins before."""


def _rests(taps: int, step: int, by: int) -> Sequence[_Rests]:
    """What a stride is made of, for windows of `taps` rows that are `step` apart."""
    ends = sorted({0, taps % by, by}) if step == 1 else range(by + 1)
    starts = [divmod(tap * step, by) for tap in range(taps)]
    return [
        _Rests(
            end - begin, [(tap, place) for tap, (place, rest) in enumerate(starts) if rest == begin]
        )
        for begin, end in itertools.pairwise(ends)
    ]


RULES: Rules = {aten.col2im.default: _col2im}
