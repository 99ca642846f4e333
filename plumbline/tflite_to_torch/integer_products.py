"""Products of quantized tensors, of which no sum is rounded.

PyTorch adds up in one order and compiled code in another. Where sums are exact both round the same
numbers, once: a result is not one step off in one of them where it lies between two steps.
"""

import math
from collections.abc import Sequence

import torch
from torch.nn import functional as F  # noqa: N812

from plumbline.loader_to_torch.decompositions.integer_products import (
    MOST_SUMMED,
    adds_up_bytes,
    convolution_of_integers,
    convolves_bytes,
    linear_of_integers,
    with_missing_channels,
)
from plumbline.tflite_to_torch.tensors import Operand

_BYTES = (torch.int8, torch.uint8)

_MOST_EXACT = 2**24 // 255**2
"""Of so many products of 8 bits each the sum is one of float32, whatever is taken off."""

_CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}


def _are_bytes(*operands: Operand) -> bool:
    """Whether all are quantized to 8 bits, and all but the last have one scale."""
    quantizations = [operand.tensor.quantization for operand in operands]
    return all(operand.stored.dtype in _BYTES for operand in operands) and all(
        quantization is not None and not (quantization.is_by_channel and place < len(operands) - 1)
        for place, quantization in enumerate(quantizations)
    )


def _scale(operand: Operand) -> torch.Tensor:
    """What is multiplied with what the integers of an operand are less its zero point."""
    if operand.scales is not None:
        return operand.scales
    assert operand.tensor.quantization is not None
    return torch.full((), operand.tensor.quantization.scales[0])


def _zero_points(operand: Operand) -> torch.Tensor | None:
    """Those of weights, or None if they are 0."""
    if operand.scales is not None:
        return operand.zero_points
    return torch.full((), operand.zero, dtype=torch.int32) if operand.zero else None


def _scaled(
    sums: torch.Tensor, x: Operand, weight: Operand, bias: torch.Tensor | None, axes: Sequence[int]
) -> torch.Tensor:
    """Sums of products as numbers; `axes` are those of what there is one of for each channel."""
    scale = _scale(x) * _scale(weight)
    result = sums * (scale.view(axes) if scale.ndim else scale)
    return result if bias is None else result + bias.view(axes)


def linear(x: Operand, weight: Operand, bias: torch.Tensor | None) -> torch.Tensor:
    """The product with [n, k] of what a tensor [..., k] stands for."""
    count = weight.stored.shape[1]
    if not _are_bytes(x, weight) or count > MOST_SUMMED:
        return F.linear(x.real, weight.real, bias)
    if count <= _MOST_EXACT and not adds_up_bytes(count):
        return _scaled(F.linear(x.less_zero, weight.less_zero), x, weight, bias, [-1])
    product: torch.Tensor = linear_of_integers(
        x.stored, _scale(x), None, x.zero, weight.stored, _scale(weight), _zero_points(weight), bias
    )
    return product


def matmul(one: Operand, other: Operand) -> torch.Tensor:
    """The product of matrices, of which neither has a scale for each channel."""
    if not _are_bytes(one, other) or one.stored.shape[-1] > _MOST_EXACT:
        return torch.matmul(one.real, other.real)
    return torch.matmul(one.less_zero, other.less_zero) * (_scale(one) * _scale(other))


def convolution(
    x: Operand,
    weight: Operand,
    bias: torch.Tensor | None,
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    groups: int,
) -> torch.Tensor:
    """The convolution of images [batch, channels, sizes...] that is padded alike on both sides."""
    shape = weight.stored.shape
    count, rank = math.prod(shape[1:]), len(shape) - 2
    how = [*strides], [*padding], [*dilations], groups
    if not _are_bytes(x, weight) or count > MOST_SUMMED:
        return _CONVOLUTIONS[rank](x.real, weight.real, bias, *how)
    are_bytes = convolves_bytes(with_missing_channels(shape, groups), groups)
    if count <= _MOST_EXACT and not are_bytes:
        sums = _CONVOLUTIONS[rank](x.less_zero, weight.less_zero, None, *how)
        return _scaled(sums, x, weight, bias, [-1] + [1] * rank)
    result: torch.Tensor = convolution_of_integers(
        x.stored, _scale(x), x.zero, weight.stored, _scale(weight), _zero_points(weight), bias, *how
    )
    return result
