"""Ops of ONNX Runtime's own, in the domain com.microsoft, which its tools write into models."""

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.decompositions.integer_products import integer_matmul
from plumbline.onnx_to_torch.constants import IntegerRange
from plumbline.onnx_to_torch.elementwise import Function
from plumbline.onnx_to_torch.integer_products import along, integers_of
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.quantization import rounded
from plumbline.onnx_to_torch.values import Value, tensor


def _gelu(node: Node, data: Value) -> torch.Tensor:
    return functional.gelu(tensor(data))


def _bias_gelu(node: Node, data: Value, bias: Value) -> torch.Tensor:
    return functional.gelu(tensor(data) + tensor(bias))


def _fast_gelu(node: Node, data: Value, bias: Value = None) -> torch.Tensor:
    x = tensor(data) if bias is None else tensor(data) + tensor(bias)
    return functional.gelu(x, approximate="tanh")


def _quick_gelu(node: Node, data: Value) -> torch.Tensor:
    x = tensor(data)
    return x * torch.sigmoid(node.attribute("alpha", 1.702) * x)


def _fused_matmul(node: Node, one: Value, other: Value) -> torch.Tensor:
    if node.attribute("transBatchA", 0) or node.attribute("transBatchB", 0):
        raise Unsupported("its batches are transposed")
    a, b = tensor(one), tensor(other)
    a = a.mT if node.attribute("transA", 0) else a
    b = b.mT if node.attribute("transB", 0) else b
    alpha = node.attribute("alpha", 1.0)
    return a @ b if alpha == 1 else alpha * (a @ b)


def _skip_layer_norm(
    node: Node, data: Value, skip: Value, gamma: Value, beta: Value = None, bias: Value = None
) -> Any:
    x = _skipped(data, skip, bias)
    sizes, offset = x.shape[-1:], None if beta is None else tensor(beta)
    y = functional.layer_norm(x, sizes, tensor(gamma), offset, node.attribute("epsilon", 1e-12))
    return _with_sum(node, y, x)


def _skip_rms_norm(node: Node, data: Value, skip: Value, gamma: Value, bias: Value = None) -> Any:
    x = _skipped(data, skip, bias)
    y = functional.rms_norm(x, x.shape[-1:], tensor(gamma), node.attribute("epsilon", 1e-12))
    return _with_sum(node, y, x)


def _skipped(data: Value, skip: Value, bias: Value) -> torch.Tensor:
    x = tensor(data) + tensor(skip)
    return x if bias is None else x + tensor(bias)


def _with_sum(node: Node, y: torch.Tensor, x: torch.Tensor) -> Any:
    if node.has_output(1) or node.has_output(2):
        raise Unsupported("its mean and its deviation are asked for")
    return (y, None, None, x) if node.has_output(3) else y


def _dequantized(data: Value, scale: Value, zero_point: Value) -> torch.Tensor:
    return integers_of(data, zero_point).less_zero_point(torch.float32) * tensor(scale)


def _quantized(x: torch.Tensor, scale: Value, zero_point: Value, like: Value) -> torch.Tensor:
    zero = None if zero_point is None else tensor(zero_point)
    return rounded(x / tensor(scale), zero, IntegerRange.of(tensor(like).dtype))


def _elementwise(function: Function) -> Pattern:
    """Of two operands that are quantized, as is what is put out."""

    def pattern(node: Node, *given: Value) -> torch.Tensor:
        scale, zero_point = (*given[6:], None)[:2]
        result = function(_dequantized(*given[:3]), _dequantized(*given[3:6]))
        return _quantized(result, scale, zero_point, given[0])

    return pattern


def _global_average_pool(
    node: Node, data: Value, scale: Value, zero: Value, by: Value, zero_point: Value
) -> torch.Tensor:
    if node.attribute("channels_last", 0):
        raise Unsupported("channels are last")
    x = _dequantized(data, scale, zero)
    average = x.mean(list(range(2, x.ndim)), keepdim=True)
    return _quantized(average, by, zero_point, data)


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
) -> torch.Tensor:
    a, b = tensor(one), tensor(other)
    a = a.T if node.attribute("transA", 0) else a
    b = b.T if node.attribute("transB", 0) else b
    sums = integer_matmul(integers_of(a, one_zero), integers_of(b, other_zero, -1))
    sums = sums if bias is None else sums + tensor(bias)
    by = tensor(one_scale) * along(tensor(other_scale), 2, -1) * node.attribute("alpha", 1.0)
    product = sums.to(torch.float32) * by
    return product if scale is None else _quantized(product, scale, zero_point, one)


PATTERNS: Mapping[str, Pattern] = {
    "BiasGelu": _bias_gelu,
    "FastGelu": _fast_gelu,
    "FusedMatMul": _fused_matmul,
    "Gelu": _gelu,
    "QGemm": _gemm,
    "QLinearAdd": _elementwise(torch.add),
    "QLinearGlobalAveragePool": _global_average_pool,
    "QLinearMul": _elementwise(torch.mul),
    "QuickGelu": _quick_gelu,
    "SkipLayerNormalization": _skip_layer_norm,
    "SkipSimplifiedLayerNormalization": _skip_rms_norm,
}
