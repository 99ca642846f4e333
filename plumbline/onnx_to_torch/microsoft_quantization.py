"""Quantized ops of ONNX Runtime's own, in com.microsoft, which its quantizers and optimizer write.

Of most PyTorch computes what their integers stand for, and rounds what that gives.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional

from plumbline.loader_to_torch.decompositions.integer_products import Integers, integer_matmul
from plumbline.onnx_to_torch.constants import IntegerRange
from plumbline.onnx_to_torch.elementwise import Function
from plumbline.onnx_to_torch.integer_products import along, integers_of
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.pooling import average_pool
from plumbline.onnx_to_torch.quantization import (
    QLinearConv,
    dequantize,
    quantize,
    quantize_by_range,
    rounded,
)
from plumbline.onnx_to_torch.recurrent import lstm
from plumbline.onnx_to_torch.values import Value, dtype_of, tensor


def _dequantized(data: Value, scale: Value, zero_point: Value) -> torch.Tensor:
    return integers_of(data, zero_point).less_zero_point(torch.float32) * tensor(scale)


def _quantized(x: torch.Tensor, scale: Value, zero_point: Value, like: Value) -> Value:
    zero = None if zero_point is None else tensor(zero_point)
    return rounded(x / tensor(scale), zero, IntegerRange.of(dtype_of(like)))


def _of_one(function: Any) -> Pattern:
    """Of an operand that is quantized, as is what is put out; `function` is given the node, too."""

    def pattern(
        node: Node, data: Value, scale: Value, zero: Value, by: Value, zero_point: Value = None
    ) -> Value:
        return _quantized(function(node, _dequantized(data, scale, zero)), by, zero_point, data)

    return pattern


def _of_two(function: Function) -> Pattern:
    """Likewise, of two operands."""

    def pattern(node: Node, *given: Value) -> Value:
        scale, zero_point = (*given[6:], None)[:2]
        result = function(_dequantized(*given[:3]), _dequantized(*given[3:6]))
        return _quantized(result, scale, zero_point, given[0])

    return pattern


def _of_planes(function: Any) -> Any:
    """Of channels that come second; they may be last in what the node has."""

    def of_planes(node: Node, data: Value, *given: Value) -> Any:
        if not node.attribute("channels_last", 0):
            return function(node, data, *given)
        return tensor(function(node, tensor(data).movedim(-1, 1), *given)).movedim(1, -1)

    return of_planes


class _Convolution(QLinearConv):
    """That whose channels may be last."""

    def forward(self, node: Node, *given: Value) -> Value:
        """It, as a pattern of the op gives it."""
        convolved: Value = _of_planes(super().forward)(node, *given)
        return convolved


def _leaky_relu(node: Node, x: torch.Tensor) -> torch.Tensor:
    return functional.leaky_relu(x, node.attribute("alpha", 0.01))


def _softmax(node: Node, x: torch.Tensor) -> torch.Tensor:
    axis = node.attribute("axis", -1)
    if node.attribute("opset", 13) >= 13:
        return torch.softmax(x, axis)
    return torch.softmax(x.flatten(axis % x.ndim), -1).reshape(x.shape)


def _mean(node: Node, x: torch.Tensor) -> torch.Tensor:
    axes: list[int] = node.attribute("axes", [])
    return x.mean(axes or list(range(x.ndim)), keepdim=bool(node.attribute("keepdims", 1)))


def _mean_of_planes(node: Node, x: torch.Tensor) -> torch.Tensor:
    return x.mean(list(range(2, x.ndim)), keepdim=True)


def _concat(node: Node, scale: Value, zero_point: Value, *given: Value) -> Value:
    parts = [_dequantized(*given[place : place + 3]) for place in range(0, len(given), 3)]
    joined = torch.cat(parts, node.required("axis"))
    return _quantized(joined, scale, zero_point, given[0])


def _where(node: Node, condition: Value, *given: Value) -> Value:
    one, other = _dequantized(*given[:3]), _dequantized(*given[3:6])
    chosen = torch.where(tensor(condition), one, other)
    return _quantized(chosen, given[6], given[7], given[0])


def _gemm(
    node: Node,
    one: Value,
    one_scale: Value,
    one_zero: Value,
    other: Value,
    other_scale: Value,
    other_zero: Value,
    bias: Value = None,
    scale: Value = None,
    zero_point: Value = None,
) -> Value:
    left, b = integers_of(one, one_zero), tensor(other)
    if node.attribute("transA", 0):
        left = Integers(left.elements.T, left.zero_point)
    b = b.T if node.attribute("transB", 0) else b
    sums = integer_matmul(left, integers_of(b, other_zero, -1))
    sums = sums if bias is None else sums + tensor(bias)
    by = tensor(one_scale) * along(tensor(other_scale), 2, -1) * node.attribute("alpha", 1.0)
    product = sums.to(torch.float32) * by
    return product if scale is None else _quantized(product, scale, zero_point, one)


def _product(
    one: Integers, scale: torch.Tensor, other: Integers, other_scale: Value, bias: Value
) -> torch.Tensor:
    """What a product of integers stands for; a scale of several is of columns."""
    sums = integer_matmul(one, other)
    product = sums.to(scale.dtype) * (along(scale, 2, -1) * along(tensor(other_scale), 2, -1))
    return product if bias is None else product + tensor(bias)


def _matmul_to_float(
    node: Node,
    one: Value,
    other: Value,
    one_scale: Value,
    other_scale: Value,
    one_zero: Value = None,
    other_zero: Value = None,
    bias: Value = None,
) -> torch.Tensor:
    left, right = integers_of(one, one_zero, -1), integers_of(other, other_zero, -1)
    return _product(left, tensor(one_scale), right, other_scale, bias)


def _dynamic_matmul(
    node: Node,
    data: Value,
    other: Value,
    scale: Value,
    zero_point: Value = None,
    bias: Value = None,
) -> torch.Tensor:
    integers, by, zero = quantize_by_range(node, data)
    left = integers_of(integers, zero)
    return _product(left, by, integers_of(other, zero_point, -1), scale, bias)


def _lstm(node: Node, data: Value, of_input: Value, of_state: Value, *given: Value) -> Any:
    """Inputs and states are not quantized here, which ONNX Runtime does step by step."""
    weights = [
        _weights_of_gates(tensor(integers), tensor(scale), tensor(zero))
        for integers, scale, zero in ((of_input, *given[5:7]), (of_state, *given[7:9]))
    ]
    return lstm(node, data, *weights, *given[:5])


def _weights_of_gates(
    integers: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor
) -> torch.Tensor:
    """[directions, gates * size, inputs], of [directions, inputs, gates * size]."""
    by, offset = (each.reshape(each.shape[0], 1, -1) for each in (scale, zero))
    return ((integers.to(scale.dtype) - offset.to(scale.dtype)) * by).transpose(1, 2)


PATTERNS: Mapping[str, Pattern] = {
    "DequantizeLinear": dequantize,
    "DynamicQuantizeLSTM": _lstm,
    "DynamicQuantizeMatMul": _dynamic_matmul,
    "MatMulIntegerToFloat": _matmul_to_float,
    "QGemm": _gemm,
    "QLinearAdd": _of_two(torch.add),
    "QLinearAveragePool": _of_one(_of_planes(average_pool)),
    "QLinearConcat": _concat,
    "QLinearConv": _Convolution,
    "QLinearGlobalAveragePool": _of_one(_of_planes(_mean_of_planes)),
    "QLinearLeakyRelu": _of_one(_leaky_relu),
    "QLinearMul": _of_two(torch.mul),
    "QLinearReduceMean": _of_one(_mean),
    "QLinearSigmoid": _of_one(lambda node, x: torch.sigmoid(x)),
    "QLinearSoftmax": _of_one(_softmax),
    "QLinearWhere": _where,
    "QuantizeLinear": quantize,
}
