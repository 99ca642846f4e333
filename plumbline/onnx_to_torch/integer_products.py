"""Products of integers of 8 bits, less their zero points, and of what is quantized by such."""

import itertools
import math
from collections.abc import Sequence

import torch

from plumbline.loader_to_torch.decompositions.integer_products import (
    SIGN,
    Integers,
    convolves_bytes,
    integer_matmul,
    padded,
    sums_of_windows,
    with_missing_channels,
)
from plumbline.onnx_to_torch.node import Node
from plumbline.onnx_to_torch.values import Dequantized, Numbers, Unsigned, Value, tensor
from plumbline.onnx_to_torch.windows import Windows, convolution, windows_of


def integers_of(data: Value, zero_point: Value, axis: int = 0) -> Integers:
    """Integers and their zero point, of which there may be one for each place of a dimension."""
    x, less = (data.signed, SIGN) if isinstance(data, Unsigned) else (tensor(data), 0)
    if zero_point is None:
        return Integers(x, -less)
    if isinstance(zero_point, Numbers) and zero_point.is_known:
        known = set(zero_point.elements.flat)
        if len(known) == 1:
            return Integers(x, int(*known) - less)
    zero = tensor(zero_point).to(torch.int32) - less
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


def integer_convolution(node: Node, data: Integers, weight: Integers) -> torch.Tensor:
    """The convolution that the attributes of `node` describe, in int32.

    There is one zero point of `data`, and may be one of `weight` for each channel that is put out.

    Raises:
      Unsupported: there are too many dimensions.
    """
    groups, kernels = node.attribute("group", 1), weight.signed
    if _are_convolved_as_bytes(data, weight, groups):
        return _convolved_as_bytes(node, data.signed, kernels)
    if math.prod(kernels.elements.shape[1:]) <= _MOST_EXACT:
        # So few floats are summed exactly, too.
        of_data, of_weight = (each.less_zero_point(torch.float32) for each in (data, weight))
        return convolution(node, of_data, of_weight, None).to(torch.int32)
    windows = _windows(node, data, weight)
    columns, sizes = _columns(windows, data.signed, groups)
    # For each group, its channels that are put out by the elements of a window.
    rows = (
        kernels.elements.flatten(2).transpose(1, 2).reshape(groups, -1, columns.elements.shape[-2])
    )
    zero_point = kernels.zero_point
    if isinstance(zero_point, torch.Tensor) and zero_point.ndim:
        zero_point = zero_point.reshape(groups, -1, 1)
    product = integer_matmul(Integers(rows, zero_point), columns)
    return product.reshape(data.elements.shape[0], weight.elements.shape[0], *sizes)


def convolution_of_dequantized(node: Node, data: Value, weight: Value) -> torch.Tensor | None:
    """The convolution of what is quantized by quantized weights, by that of their integers.

    None where either is not, or that of floats is as exact.

    Raises:
      Unsupported: as `integer_convolution` does.
    """
    if not (isinstance(data, Dequantized) and isinstance(weight, Dequantized)):
        return None
    kernels = weight.integers
    if data.scale.ndim > 0 or weight.scale.ndim not in (0, kernels.ndim):
        return None
    one, other = _integers(data), _integers(weight)
    if not _are_convolved_as_bytes(one, other, node.attribute("group", 1)) and (
        math.prod(kernels.shape[1:]) <= _MOST_EXACT
    ):
        return None
    sums = integer_convolution(node, one, other)
    return _scaled(sums, data, weight, along(weight.scale.reshape(-1), sums.ndim, 1))


def _are_convolved_as_bytes(data: Integers, weight: Integers, groups: int) -> bool:
    """Whether a convolution has images of bytes whose channels lie side by side."""
    shape: Sequence[int] = weight.elements.shape
    if groups > 1 and data.elements.dtype == torch.uint8:
        # Each window would turn the signs of its bytes about.
        return False
    if weight.elements.dtype == torch.int8:
        shape = with_missing_channels(shape, groups)
    return convolves_bytes(shape, groups)


def _convolved_as_bytes(node: Node, data: Integers, weight: Integers) -> torch.Tensor:
    windows = _windows(node, data, weight)
    padding = windows.symmetric_padding
    elements, zero_point = data.elements, data.zero_point
    if padding is None:
        elements, padding = padded(data, windows.widths), [0] * windows.rank
    zeros = None
    if isinstance(weight.zero_point, torch.Tensor):
        zeros = weight.zero_point.reshape(-1) if weight.zero_point.ndim else weight.zero_point
    elif weight.zero_point:
        zeros = torch.full((), weight.zero_point, dtype=torch.int32)
    is_known = isinstance(zero_point, int)
    sums: torch.Tensor = sums_of_windows(
        elements,
        None if is_known else zero_point,
        zero_point if is_known else 0,
        weight.elements,
        zeros,
        windows.strides,
        padding,
        windows.dilations,
        node.attribute("group", 1),
    )
    return sums


def _windows(node: Node, data: Integers, weight: Integers) -> Windows:
    return windows_of(node, data.elements.shape[2:], weight.elements.shape[2:])


def _columns(windows: Windows, data: Integers, groups: int) -> tuple[Integers, list[int]]:
    """By batch, group, element of a window and window; and how many windows there are each way."""
    elements = padded(data, windows.widths)
    counts = windows.without_padding().counts(elements.shape[2:], ceil_mode=False)
    parts = []
    for places in itertools.product(*map(range, windows.kernel)):
        part = elements
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
