"""Products of integers of 8 bits, less their zero points, and of what is quantized by such."""

import itertools
import math

import torch

from plumbline.loader_to_torch.decompositions.integer_products import (
    Integers,
    convolution_of_integers,
    convolves_bytes,
    integer_matmul,
    with_missing_channels,
)
from plumbline.onnx_to_torch.node import Node
from plumbline.onnx_to_torch.values import Dequantized, Numbers, Value, tensor
from plumbline.onnx_to_torch.windows import Windows, convolution, windows_of


def integers_of(data: Value, zero_point: Value, axis: int = 0) -> Integers:
    """Integers and their zero point, of which there may be one for each place of a dimension."""
    x = tensor(data)
    if zero_point is None:
        return Integers(x, 0)
    if isinstance(zero_point, Numbers) and zero_point.is_known:
        known = set(zero_point.elements.flat)
        if len(known) == 1:
            return Integers(x, int(*known))
    zero = tensor(zero_point).to(torch.int32)
    return Integers(x, along(zero, x.ndim, axis) if zero.ndim == 1 else zero)


def dequantized(
    integers: Integers, scale: torch.Tensor, dtype: torch.dtype, *, keeps_order: bool
) -> Dequantized:
    """What integers stand for, as numbers of that type; the rest as `Dequantized` says."""
    numbers = integers.less_zero_point(torch.float32) * scale.to(torch.float32)
    return Dequantized(
        numbers.to(dtype), integers.elements, integers.zero_point, scale, keeps_order
    )


def along(by: torch.Tensor, rank: int, axis: int) -> torch.Tensor:
    """What there is one of for each place of a dimension, as it is broadcast to all of them."""
    if by.numel() == 1:
        return by.reshape(())
    return by.reshape(-1, *[1] * (rank - 1 - axis % rank))


def matmul_of_dequantized(one: Value, other: Value) -> torch.Tensor | None:
    """The product of matrices of which both are quantized, by that of their integers.

    None where either is not, or where not all that is summed has the same scale.
    """
    if not (isinstance(one, Dequantized) and isinstance(other, Dequantized)):
        return None
    if one.scale.ndim > 0 or other.scale.ndim > 1 or one.integers.ndim < 2:
        return None
    return _scaled(integer_matmul(_integers(one), _integers(other)), one, other, other.scale)


def _integers(value: Dequantized) -> Integers:
    return Integers(value.integers, value.zero_point)


def _scaled(
    sums: torch.Tensor, one: Dequantized, other: Dequantized, scale: torch.Tensor
) -> torch.Tensor:
    by = one.scale.to(torch.float32) * scale.to(torch.float32)
    return (sums.to(torch.float32) * by).to(one.numbers.dtype)


_MOST_EXACT = 2**24 // 255**2
"""How many products of 8 bits float32 sums without rounding."""


_LEAST_SUMMED, _LANE = 16, 4
"""Of fewer products sums of floats are as fast; CPUs add up so many at a time."""


def _pays(node: Node, kernels: torch.Tensor) -> bool:
    """Whether a convolution is worth that the elements of its windows lie side by side.

    Those of single places do so anyway. MobileNetV2 took 1.4 times as long with floats for these
    (AMD Zen 5).
    """
    count = math.prod(kernels.shape[1:])
    if count > _MOST_EXACT:
        return True
    is_of_places = kernels.shape[1] == count and node.attribute("group", 1) == 1
    return is_of_places and count >= _LEAST_SUMMED and count % _LANE == 0


def integer_convolution(node: Node, data: Integers, weight: Integers) -> torch.Tensor:
    """The convolution that the attributes of `node` describe, in int32.

    There is one zero point of `data`, and may be one of `weight` for each channel that is put out.

    Raises:
      Unsupported: there are too many dimensions.
    """
    x, kernels = data.elements, weight.elements
    if not _pays(node, kernels):
        # So few floats are summed exactly, too.
        of_data, of_weight = (each.less_zero_point(torch.float32) for each in (data, weight))
        return convolution(node, of_data, of_weight, None).to(torch.int32)
    windows, groups = windows_of(node, x.shape[2:], kernels.shape[2:]), node.attribute("group", 1)
    columns, sizes = _columns(windows, data.signed, groups)
    # For each group, its channels that are put out by the elements of a window.
    rows = (
        weight.signed.elements.flatten(2)
        .transpose(1, 2)
        .reshape(groups, -1, columns.elements.shape[-2])
    )
    zero_point = weight.signed.zero_point
    if isinstance(zero_point, torch.Tensor) and zero_point.ndim:
        zero_point = zero_point.reshape(groups, -1, 1)
    product = integer_matmul(Integers(rows, zero_point), columns)
    return product.reshape(x.shape[0], kernels.shape[0], *sizes)


def convolution_of_dequantized(node: Node, data: Value, weight: Value) -> torch.Tensor | None:
    """The convolution of what is quantized by quantized weights, by that of their integers.

    None where either is not, or another way is faster.

    Raises:
      Unsupported: as `integer_convolution` does.
    """
    if not (isinstance(data, Dequantized) and isinstance(weight, Dequantized)):
        return None
    if (convolved := _convolved_as_bytes(node, data, weight)) is not None:
        return convolved
    kernels, of_channels = weight.integers, weight.scale.ndim in (0, weight.integers.ndim)
    if data.scale.ndim > 0 or not of_channels or not _pays(node, kernels):
        return None
    sums = integer_convolution(node, _integers(data), _integers(weight))
    scale = along(weight.scale.reshape(-1), sums.ndim, 1)
    return _scaled(sums, data, weight, scale)


def _convolved_as_bytes(node: Node, data: Dequantized, weight: Dequantized) -> torch.Tensor | None:
    """The same where CPUs multiply bytes at once that lie side by side, and add them up."""
    kernels, groups = weight.integers, node.attribute("group", 1)
    windows = windows_of(node, data.integers.shape[2:], kernels.shape[2:])
    # PyTorch has no convolutions of integers that are dilated.
    is_known = isinstance(data.zero_point, int) and max(windows.dilations) == 1
    padding = windows.symmetric_padding
    if not is_known or padding is None or data.numbers.dtype != torch.float32:
        return None
    if data.scale.ndim > 0 or weight.scale.ndim not in (0, kernels.ndim):
        return None
    if groups > 1 and data.integers.dtype == torch.uint8:
        # Each window would turn the signs of its bytes about.
        return None
    if not convolves_bytes(with_missing_channels(kernels.shape, groups), groups):
        return None
    scale = weight.scale.reshape(-1) if weight.scale.ndim else weight.scale
    zero_point = weight.zero_point
    zeros = None
    if isinstance(zero_point, torch.Tensor) or zero_point != 0:
        zeros = torch.as_tensor(zero_point, dtype=torch.int32).broadcast_to(weight.scale.shape)
        zeros = zeros.reshape(scale.shape)
    convolved: torch.Tensor = convolution_of_integers(
        data.integers,
        data.scale,
        data.zero_point,
        kernels,
        scale,
        zeros,
        None,
        windows.strides,
        padding,
        windows.dilations,
        groups,
    )
    return convolved


def _columns(windows: Windows, data: Integers, groups: int) -> tuple[Integers, list[int]]:
    """By batch, group, element of a window and window; and how many windows there are each way."""
    padded = _padded(windows, data)
    counts = windows.without_padding().counts(padded.shape[2:], ceil_mode=False)
    parts = []
    for places in itertools.product(*map(range, windows.kernel)):
        part = padded
        for axis, (place, dilation, stride, count) in enumerate(
            zip(places, windows.dilations, windows.strides, counts, strict=True), start=2
        ):
            first = place * dilation
            end = first + (count - 1) * stride + 1
            part = torch.ops.aten.slice.Tensor(part, axis, first, end, stride)
        shape = (part.shape[0], groups, part.shape[1] // groups, *part.shape[2:])
        parts.append(part.reshape(shape))
    # As planes they are copied once; of rows each would be made one before.
    planes = torch.cat(parts, 2) if len(parts) > 1 else parts[0]
    return Integers(planes.flatten(3), data.zero_point), counts


def _padded(windows: Windows, data: Integers) -> torch.Tensor:
    """The elements padded by their zero point."""
    if windows.symmetric_padding == [0] * windows.rank:
        return data.elements
    if isinstance(data.zero_point, int):
        return windows.padded(data.elements, data.zero_point)
    within = torch.ones(1, 1, *data.elements.shape[2:], dtype=torch.bool)
    padded = windows.padded(data.elements, 0)
    return torch.where(windows.padded(within, False), padded, data.zero_point.to(torch.int8))
