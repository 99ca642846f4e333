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


class _Requantized(torch.nn.Module):
    """A product of quantized numbers, of which there are integers of another scale.

    What sums are multiplied by is computed before the program runs, if the scales are constants.
    """

    ratio: torch.Tensor | None

    def __init__(self, node: Node) -> None:
        super().__init__()
        one, other, by = (node.constants[number] for number in (1, 4, 6))
        ratio = None
        if one is not None and one.numel() == 1 and other is not None and by is not None:
            ratio = _ratio(one, other, by)
        self.register_buffer("ratio", ratio)

    def ratios(self, one: Value, other: Value, scale: Value) -> torch.Tensor:
        """What sums are multiplied by, of a scale of all that is multiplied from the left."""
        return _ratio(*map(tensor, (one, other, scale))) if self.ratio is None else self.ratio


def _ratio(one: torch.Tensor, other: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    of_sums = one.to(torch.float32) * other.to(torch.float32)
    return of_sums / by.to(torch.float32)


def _in_steps(sums: torch.Tensor, ratio: torch.Tensor, zero_point: Value) -> Value:
    zero = tensor(zero_point)
    return rounded(sums.to(torch.float32) * ratio, zero, IntegerRange.of(zero.dtype))


class _MatMul(_Requantized):
    def forward(
        self,
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
        sums = _matmul_integer(node, one, other, one_zero, other_zero)
        rows = along(tensor(one_scale), 2, -2)
        if rows.ndim:
            ratio = _ratio(rows, along(tensor(other_scale), 2, -1), tensor(scale))
        else:
            ratio = along(self.ratios(rows, other_scale, scale), 2, -1)
        return _in_steps(sums, ratio, zero_point)


class QLinearConv(_Requantized):
    """The convolution of quantized numbers, quantized."""

    def forward(
        self,
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
        """It, as a pattern of the op gives it."""
        sums = _conv_integer(node, data, weight, data_zero, weight_zero)
        if bias is not None:
            sums = sums + along(tensor(bias), sums.ndim, 1)
        ratio = self.ratios(data_scale, weight_scale, scale)
        return _in_steps(sums, along(ratio, sums.ndim, 1), zero_point)


PATTERNS: Mapping[str, Pattern] = {
    "ConvInteger": _conv_integer,
    "DequantizeLinear": dequantize,
    "DynamicQuantizeLinear": quantize_by_range,
    "MatMulInteger": _matmul_integer,
    "QLinearConv": QLinearConv,
    "QLinearMatMul": _MatMul,
    "QuantizeLinear": quantize,
}
