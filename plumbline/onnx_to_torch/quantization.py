"""Quantization of ONNX, and products of quantized numbers.

A number q stands for (q - zero point) * scale. A scale is of the whole tensor, of each place of a
dimension, or of blocks of these.
"""

from collections.abc import Mapping

import torch

from plumbline.loader_to_torch.decompositions.integer_products import SIGN, integer_matmul
from plumbline.onnx_to_torch.constants import LESS_THAN_8_BITS, IntegerRange
from plumbline.onnx_to_torch.elementwise import converted
from plumbline.onnx_to_torch.integer_products import (
    along,
    dequantized,
    integer_convolution,
    integers_of,
)
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Unsigned, Value, only, tensor, torch_dtype


def _spread(node: Node, by: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """A scale or a zero point, as it is broadcast to what it is of."""
    axis, block = node.attribute("axis", 1), node.attribute("block_size", 0)
    if block:
        return by.repeat_interleave(block, axis).narrow(axis, 0, x.shape[axis])
    return along(by, x.ndim, axis)


def quantize(node: Node, data: Value, scale: Value, zero_point: Value = None) -> Value:
    """The integers, or narrow floats, that are nearest to what is divided by its scale."""
    x, by = tensor(data), tensor(scale)
    zero = None if zero_point is None else _spread(node, tensor(zero_point), x)
    data_type = node.attribute("output_dtype", 0) or node.element_type(2)
    bounds = LESS_THAN_8_BITS.get(data_type)
    dtype = torch.uint8
    if zero is not None:
        dtype = zero.dtype
    elif bounds is None and data_type:
        dtype = torch_dtype(data_type)
    if precision := node.attribute("precision", 0):
        x, by = x.to(torch_dtype(precision)), by.to(torch_dtype(precision))
    ratio = x / _spread(node, by, x)
    if dtype.is_floating_point:
        return converted(node, ratio, dtype)
    return rounded(ratio, zero, bounds or IntegerRange.of(dtype))


def rounded(
    ratio: torch.Tensor, zero_point: torch.Tensor | None, bounds: IntegerRange
) -> torch.Tensor | Unsigned:
    """The nearest integers to what is scaled already."""
    less = SIGN if bounds.dtype == torch.uint8 else 0
    nearest = torch.round(ratio)
    if zero_point is not None:
        nearest = nearest + (zero_point.to(nearest.dtype) - less)
    elif less:
        nearest = nearest - less
    clamped = nearest.clamp(bounds.least - less, bounds.most - less)
    return Unsigned.of(clamped.to(torch.int8)) if less else clamped.to(bounds.dtype)


def dequantize(node: Node, data: Value, scale: Value, zero_point: Value = None) -> Value:
    """What integers or narrow floats stand for; those of 8 bits are kept for products."""
    x, by = tensor(data), _spread(node, tensor(scale), tensor(data))
    data_type = node.attribute("output_dtype", 0)
    dtype = torch_dtype(data_type) if data_type else by.dtype
    if x.dtype not in (torch.int8, torch.uint8) or node.attribute("block_size", 0):
        offset = x.to(torch.float32)
        if zero_point is not None and not x.dtype.is_floating_point:
            offset = offset - _spread(node, tensor(zero_point), x).to(torch.float32)
        return (offset * by.to(torch.float32)).to(dtype)
    integers = integers_of(data, zero_point, node.attribute("axis", 1))
    keeps_order = isinstance(integers.zero_point, int) and (only(scale) or 0) > 0
    return dequantized(integers, by, dtype, keeps_order=keeps_order)


def quantize_by_range(node: Node, data: Value) -> tuple[Value, torch.Tensor, torch.Tensor]:
    """The integers of uint8 that the range of `data` gives, with their scale and zero point."""
    x = tensor(data)
    # The range that it has, and 0.
    least, most = x.amin().clamp(max=0), x.amax().clamp(min=0)
    scale = torch.where(most == least, torch.ones_like(most), most - least) / 255
    zero_point = torch.round((-least / scale).clamp(0, 255)).to(torch.uint8)
    return rounded(x / scale, zero_point, IntegerRange.of(torch.uint8)), scale, zero_point


def _matmul_integer(
    node: Node, one: Value, other: Value, one_zero: Value = None, other_zero: Value = None
) -> torch.Tensor:
    return integer_matmul(integers_of(one, one_zero, -2), integers_of(other, other_zero, -1))


def _conv_integer(
    node: Node, data: Value, weight: Value, zero: Value = None, weight_zero: Value = None
) -> torch.Tensor:
    return integer_convolution(node, integers_of(data, zero), integers_of(weight, weight_zero))


def _matmul(
    node: Node,
    one: Value,
    one_scale: Value,
    one_zero: Value,
    other: Value,
    other_scale: Value,
    other_zero: Value,
    scale: Value,
    zero_point: Value,
) -> Value:
    product = _matmul_integer(node, one, other, one_zero, other_zero)
    rows, columns = along(tensor(one_scale), 2, -2), along(tensor(other_scale), 2, -1)
    return _requantized(product, rows, columns, tensor(scale), tensor(zero_point))


def _requantized(
    sums: torch.Tensor,
    one_scale: torch.Tensor,
    other_scale: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
) -> Value:
    """Integers of another scale for sums of products of some of two scales."""
    one, other, by = (each.to(torch.float32) for each in (one_scale, other_scale, scale))
    ratio = sums.to(torch.float32) * (one * other / by)
    return rounded(ratio, zero_point, IntegerRange.of(zero_point.dtype))


def qlinear_conv(
    node: Node,
    data: Value,
    data_scale: Value,
    data_zero: Value,
    weight: Value,
    weight_scale: Value,
    weight_zero: Value,
    scale: Value,
    zero_point: Value,
    bias: Value = None,
) -> Value:
    """The convolution of quantized numbers, quantized."""
    sums = _conv_integer(node, data, weight, data_zero, weight_zero)
    if bias is not None:
        sums = sums + along(tensor(bias), sums.ndim, 1)
    channels = along(tensor(weight_scale), sums.ndim, 1)
    return _requantized(sums, tensor(data_scale), channels, tensor(scale), tensor(zero_point))


PATTERNS: Mapping[str, Pattern] = {
    "ConvInteger": _conv_integer,
    "DequantizeLinear": dequantize,
    "DynamicQuantizeLinear": quantize_by_range,
    "MatMulInteger": _matmul_integer,
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": _matmul,
    "QuantizeLinear": quantize,
}
