"""Windows of an image that are put back where they were, and added up where they overlap."""

import functools
import itertools
from collections.abc import Sequence

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

    One element of all windows makes an image of its own, of each stride-th row and column. Those
    that lie on the same rows and columns are added up, and the rows and columns then sorted in
    between each other. PyTorch takes it apart into a scatter, with an index for each element.
    """
    padded = [size + 2 * pad for size, pad in zip(output_size, padding, strict=True)]
    counts = [
        (size - step * (taps - 1) - 1) // by + 1
        for size, step, taps, by in zip(padded, dilation, kernel_size, stride, strict=True)
    ]
    lead = columns.shape[:-2]
    channels = columns.shape[-2] // (kernel_size[0] * kernel_size[1])
    windows = columns.reshape(*lead, channels, *kernel_size, *counts)
    lengths = [-(-size // by) for size, by in zip(padded, stride, strict=True)]

    def image(*rests: int) -> torch.Tensor:
        """What lies on the rows and columns that are these many after a multiple of the stride."""
        found = []
        for tap in itertools.product(*map(range, kernel_size)):
            starts = [place * step for place, step in zip(tap, dilation, strict=True)]
            if [start % by for start, by in zip(starts, stride, strict=True)] != list(rests):
                continue
            around: list[int] = []
            for start, by, count, length in zip(starts, stride, counts, lengths, strict=True):
                around = [start // by, length - count - start // by, *around]
            found.append(torch.nn.functional.pad(windows[..., tap[0], tap[1], :, :], around))
        if not found:
            return columns.new_zeros(*lead, channels, *lengths)
        return functools.reduce(torch.add, found)

    rows = [
        torch.stack([image(row, column) for column in range(stride[1])], -1)
        for row in range(stride[0])
    ]
    whole = torch.stack(rows, -3).reshape(
        *lead, channels, *(length * by for length, by in zip(lengths, stride, strict=True))
    )
    for axis, (size, pad) in enumerate(zip(output_size, padding, strict=True), -2):
        whole = whole.narrow(axis, pad, size)
    return whole


RULES: Rules = {aten.col2im.default: _col2im}
