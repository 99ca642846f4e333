"""Convolutions of images whose channels come last, which PyTorch has first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch.nn import functional as F  # noqa: N812

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.custom_options import OptionsOfWindows
from plumbline.tflite_to_torch.integer_products import convolution
from plumbline.tflite_to_torch.model_file import CUSTOM
from plumbline.tflite_to_torch.node import Node, Pattern
from plumbline.tflite_to_torch.tensors import Operand
from plumbline.tflite_to_torch.windows import Windows, is_padded, windows_of


def channels_first(rank: int) -> list[int]:
    """The order of the dimensions of an image, in which its channels are the second."""
    return [0, rank - 1, *range(1, rank - 1)]


def channels_last(rank: int) -> list[int]:
    """The order that undoes that."""
    return [0, *range(2, rank), 1]


def _convolution(node: Node, x: Operand, weight: Operand, bias: Operand | None) -> torch.Tensor:
    """That by weights that have PyTorch's order."""
    rank, channels = x.stored.ndim, weight.stored.shape[1]
    windows = windows_of(node, weight.stored.shape[2:])
    if x.stored.shape[-1] % channels:
        raise Unsupported(f"{x.stored.shape[-1]} channels are no multiple of {channels}")
    padding = windows.padding(x.stored.shape[1:-1])
    image = x.permuted(channels_first(rank))
    symmetric = [before for before, behind in padding]
    if any(before != behind for before, behind in padding):
        image, symmetric = image.padded(padding), [0] * len(padding)
    result = convolution(
        image,
        weight,
        None if bias is None else bias.real,
        windows.strides,
        symmetric,
        windows.dilations,
        x.stored.shape[-1] // channels,
    )
    return node.store(result).permute(channels_last(rank))


def _of_planes(
    node: Node, x: Operand, weight: Operand, bias: Operand | None = None
) -> torch.Tensor:
    # Channels put out, window, channels.
    return _convolution(node, x, weight.permuted([0, 3, 1, 2]), bias)


def _depthwise(
    node: Node, x: Operand, weight: Operand, bias: Operand | None = None
) -> torch.Tensor:
    # One, window, channels put out: as many of the first channel as of each.
    return _convolution(node, x, weight.permuted([3, 0, 1, 2]), bias)


def _of_volumes(
    node: Node, x: Operand, weight: Operand, bias: Operand | None = None
) -> torch.Tensor:
    # Window, channels, channels put out.
    return _convolution(node, x, weight.permuted([4, 3, 0, 1, 2]), bias)


def _transposed(
    node: Node, shape: Operand, weight: Operand, x: Operand, bias: Operand | None = None
) -> torch.Tensor:
    # Channels put out, window, channels.
    turned = weight.permuted([3, 0, 1, 2])
    return _turned_about(node, node.numbers(0)[1:3], _turned_windows(node, turned), turned, x, bias)


def _of_mediapipe(node: Node, x: Operand, weight: Operand, bias: Operand) -> torch.Tensor:
    """The same, as large as there are strides, or as its windows reach."""
    node = replace(node, options=OptionsOfWindows(node.options))
    # Channels put out, window, channels.
    turned = weight.permuted([3, 0, 1, 2])
    windows = _turned_windows(node, turned)
    sizes = [
        size * stride + (0 if windows.is_padded else max(window - stride, 0))
        for size, stride, window in zip(
            x.stored.shape[1:3], windows.strides, windows.sizes, strict=True
        )
    ]
    return _turned_about(node, sizes, windows, turned, x, bias)


def _turned_windows(node: Node, turned: Operand) -> Windows:
    strides = node.option("StrideH"), node.option("StrideW")
    if min(strides) < 1:
        raise Unsupported(f"its strides are {strides}")
    return Windows(tuple(turned.stored.shape[2:]), strides, (1, 1), is_padded(node))


def _turned_about(
    node: Node,
    sizes: Sequence[int],
    windows: Windows,
    turned: Operand,
    x: Operand,
    bias: Operand | None,
) -> torch.Tensor:
    """A transposed convolution of these sizes, by weights that have PyTorch's order."""
    result = F.conv_transpose2d(
        x.permuted(channels_first(4)).real,
        turned.real,
        None if bias is None else bias.real,
        windows.strides,
    )
    for axis, (size, (before, _)) in enumerate(zip(sizes, windows.padding(sizes), strict=True), 2):
        result = result.narrow(axis, before, min(size, result.shape[axis] - before))
    result = _filled(result, sizes, None if bias is None else bias.real)
    return node.store(result).permute(channels_last(4))


def _filled(image: torch.Tensor, sizes: Sequence[int], bias: torch.Tensor | None) -> torch.Tensor:
    """An image of these sizes, where no window reaches the end of what there is."""
    missing = [size - has for size, has in zip(sizes, image.shape[2:], strict=True)]
    if not any(missing):
        return image
    widths = [0, missing[1], 0, missing[0]]
    if bias is None:
        return F.pad(image, widths)
    return F.pad(image - bias[:, None, None], widths) + bias[:, None, None]


PATTERNS: Mapping[str, Pattern] = {
    f"{CUSTOM} Convolution2DTransposeBias": _of_mediapipe,
    "CONV_2D": _of_planes,
    "CONV_3D": _of_volumes,
    "DEPTHWISE_CONV_2D": _depthwise,
    "TRANSPOSE_CONV": _transposed,
}
