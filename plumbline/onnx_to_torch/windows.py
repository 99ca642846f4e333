"""The windows that convolutions and pools slide over the dimensions behind the first two."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.elementwise import Function
from plumbline.onnx_to_torch.node import Node
from plumbline.onnx_to_torch.values import sym_max, sym_min

SAME = ("SAME_UPPER", "SAME_LOWER")
"""Paddings by which there are as many windows as strides fit into a dimension."""


@dataclass(frozen=True)
class Windows:
    """What `Node`s of windows have in common; a number for each dimension that windows slide in.

    How much is padded may depend on a dynamic size.
    """

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    before: list[Any]
    """How much is padded before the first element."""
    after: list[Any]
    """How much is padded behind the last."""

    @property
    def rank(self) -> int:
        """In how many dimensions they slide."""
        return len(self.kernel)

    @property
    def spans(self) -> list[int]:
        """How far it is from the first element of a window to its last, both counted."""
        pairs = zip(self.kernel, self.dilations, strict=True)
        return [(size - 1) * dilation + 1 for size, dilation in pairs]

    @property
    def symmetric_padding(self) -> list[int] | None:
        """How much is padded at either end, if it is as much at both, and known; else None."""
        if not all(isinstance(each, int) for each in (*self.before, *self.after)):
            return None
        return self.before if self.before == self.after else None

    @property
    def widths(self) -> list[Any]:
        """How much is padded, as `F.pad` takes it."""
        pairs = zip(reversed(self.before), reversed(self.after), strict=True)
        return [width for pair in pairs for width in pair]

    def without_padding(self) -> "Windows":
        """The same over what is padded already."""
        none = [0] * self.rank
        return dataclasses.replace(self, before=none, after=none)

    def counts(self, sizes: Sequence[Any], ceil_mode: bool) -> list[Any]:
        """How many there are, of dimensions of these sizes.

        With `ceil_mode` the last may be in part behind all that is padded, but begins before that.
        """
        counts = []
        for size, span, stride, before, after in zip(
            sizes, self.spans, self.strides, self.before, self.after, strict=True
        ):
            free = size + before + after - span
            if ceil_mode:
                most = (size + before - 1) // stride + 1
                counts.append(sym_min(-(-free // stride) + 1, most))
            else:
                counts.append(free // stride + 1)
        return counts

    def covered(self, sizes: Sequence[Any]) -> "Windows":
        """The same, padded at the end as far as the last reaches, with `ceil_mode`."""
        after = []
        for size, span, stride, before, count in zip(
            sizes, self.spans, self.strides, self.before, self.counts(sizes, True), strict=True
        ):
            after.append((count - 1) * stride + span - size - before)
        return dataclasses.replace(self, after=after)

    def padded(self, x: torch.Tensor, value: Any) -> torch.Tensor:
        """`x` padded by `value`."""
        return functional.pad(x, self.widths, value=value)


def windows_of(node: Node, sizes: Sequence[Any], kernel: Sequence[Any] | None = None) -> Windows:
    """The windows of `node` over dimensions of these sizes.

    Raises:
      Unsupported: PyTorch has none in so many dimensions.
    """
    kernel = node.required("kernel_shape") if kernel is None else list(kernel)
    rank = len(kernel)
    if not 1 <= rank <= 3:
        raise Unsupported(f"windows are of {rank} dimensions: they can be of 1 to 3")
    strides = node.attribute("strides", [1] * rank)
    dilations = node.attribute("dilations", [1] * rank)
    pads: list[Any] = node.attribute("pads", [0] * (2 * rank))
    auto_pad = node.attribute("auto_pad", "NOTSET")
    windows = Windows(list(kernel), strides, dilations, pads[:rank], pads[rank:])
    if auto_pad == "VALID":
        return windows.without_padding()
    if auto_pad in SAME:
        totals = [
            same_padding(size, span, stride)
            for size, span, stride in zip(sizes, windows.spans, strides, strict=True)
        ]
        before, after = halves(totals, auto_pad)
        return dataclasses.replace(windows, before=before, after=after)
    return windows


CONVOLUTIONS: tuple[Function, ...] = (functional.conv1d, functional.conv2d, functional.conv3d)
"""By how many dimensions their windows slide in, from 1 on."""


def convolution(
    node: Node, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
) -> torch.Tensor:
    """The convolution that the attributes of `node` describe.

    Raises:
      Unsupported: PyTorch has none in so many dimensions.
    """
    windows = windows_of(node, x.shape[2:], weight.shape[2:])
    padding = windows.symmetric_padding
    if padding is None:
        x, padding = windows.padded(x, 0), [0] * windows.rank
    convolve = CONVOLUTIONS[windows.rank - 1]
    groups = node.attribute("group", 1)
    return convolve(x, weight, bias, windows.strides, padding, windows.dilations, groups)


def same_padding(size: Any, span: int, stride: int) -> Any:
    """How much is to be padded for as many windows as strides fit into `size`."""
    if stride == 1:
        return span - 1
    return sym_max((-(-size // stride) - 1) * stride + span - size, 0)


def halves(totals: Sequence[Any], auto_pad: str) -> tuple[list[Any], list[Any]]:
    """How much of each is before, and how much after; the larger half is where `auto_pad` says."""
    smaller = [total // 2 for total in totals]
    larger = [total - half for total, half in zip(totals, smaller, strict=True)]
    return (smaller, larger) if auto_pad == "SAME_UPPER" else (larger, smaller)
