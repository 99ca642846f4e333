"""Convolutions of images whose channels come last, which PyTorch has first."""

from collections.abc import Mapping, Sequence

import torch
from torch.nn import functional as F  # noqa: N812

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.integer_products import convolution
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
    sizes = node.numbers(0)[1:3]
    turned = weight.permuted([3, 0, 1, 2])
    windows = Windows(
        tuple(turned.stored.shape[2:]),
        (node.option("StrideH"), node.option("StrideW")),
        (1, 1),
        is_padded(node),
    )
    if min(windows.strides) < 1:
        raise Unsupported(f"its strides are {windows.strides}")
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
    "CONV_2D": _of_planes,
    "CONV_3D": _of_volumes,
    "DEPTHWISE_CONV_2D": _depthwise,
    "TRANSPOSE_CONV": _transposed,
}
