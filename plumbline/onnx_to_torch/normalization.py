"""Normalizations of ONNX."""

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, tensor


def _batch_norm(
    node: Node, data: Value, scale: Value, bias: Value, mean: Value, variance: Value
) -> Any:
    x, epsilon = tensor(data), node.attribute("epsilon", 1e-5)
    weight, offset = tensor(scale), tensor(bias)
    center, spread = tensor(mean), tensor(variance)
    if _is_in_training(node):
        return _in_training(node, x, weight, offset, center, spread)
    if center.ndim != 1 or x.ndim == 1:
        # The oldest versions may have statistics of each place.
        return (x - center) * torch.rsqrt(spread + epsilon) * weight + offset
    # Statistics may be more precise than what they are of.
    dtype = center.dtype
    weight, offset = weight.to(dtype), offset.to(dtype)
    normalized = functional.batch_norm(x.to(dtype), center, spread, weight, offset, eps=epsilon)
    return normalized.to(x.dtype)


def _is_in_training(node: Node) -> bool:
    if node.opset >= 14:
        return bool(node.attribute("training_mode", 0))
    if node.opset >= 7:
        return node.has_output(1)
    return not node.attribute("is_test", 0)


def _in_training(
    node: Node,
    x: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    *statistics: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    if node.opset < 14:
        raise Unsupported("it is in training mode: export the model for inference")
    momentum, axes = node.attribute("momentum", 0.9), [0, *range(2, x.ndim)]
    variance, mean = torch.var_mean(x, axes, correction=0)
    running = [
        old * momentum + new.to(old.dtype) * (1 - momentum)
        for old, new in zip(statistics, (mean, variance), strict=True)
    ]
    shape = [-1, *[1] * (x.ndim - 2)]
    scaled = torch.rsqrt(variance + node.attribute("epsilon", 1e-5)) * weight
    y = (x - mean.reshape(shape)) * scaled.reshape(shape) + offset.reshape(shape)
    return y, *running


def _instance_norm(node: Node, data: Value, scale: Value, bias: Value) -> torch.Tensor:
    x = tensor(data)
    epsilon = node.attribute("epsilon", 1e-5)
    return torch.group_norm(x, x.shape[1], tensor(scale), tensor(bias), epsilon)


def _group_norm(node: Node, data: Value, scale: Value, bias: Value) -> torch.Tensor:
    x, groups = tensor(data), node.required("num_groups")
    weight, offset = tensor(scale), tensor(bias)
    if node.opset < 21:
        # Of each group, which is of as many channels.
        channels = x.shape[1] // groups
        weight, offset = (each.repeat_interleave(channels) for each in (weight, offset))
    return torch.group_norm(x, groups, weight, offset, node.attribute("epsilon", 1e-5))


def layer_norm(
    node: Node, data: Value, scale: Value, bias: Value = None, *, default_epsilon: float = 1e-5
) -> Any:
    """The normalization of the last dimensions; its mean and scale where they are asked for."""
    x, axis = tensor(data), node.attribute("axis", -1)
    sizes, epsilon = x.shape[axis:], node.attribute("epsilon", default_epsilon)
    weight = tensor(scale).expand(sizes)
    offset = None if bias is None else tensor(bias).expand(sizes)
    y = functional.layer_norm(x, sizes, weight, offset, epsilon)
    if not (node.has_output(1) or node.has_output(2)):
        return y
    variance, mean = torch.var_mean(
        x.to(torch.float32), list(range(axis % x.ndim, x.ndim)), correction=0, keepdim=True
    )
    return y, mean, torch.rsqrt(variance + epsilon)


def rms_norm(node: Node, data: Value, scale: Value) -> Any:
    """The normalization without a mean; what it multiplies by, where that is asked for."""
    x, axis, epsilon = tensor(data), node.attribute("axis", -1), node.attribute("epsilon", 1e-5)
    sizes = x.shape[axis:]
    y = functional.rms_norm(x, sizes, tensor(scale).expand(sizes), epsilon)
    return (y, inverse_root_mean_square(x, axis, epsilon)) if node.has_output(1) else y


def inverse_root_mean_square(x: torch.Tensor, axis: int, epsilon: float) -> torch.Tensor:
    """What a normalization without a mean multiplies the dimensions from `axis` on by."""
    axes = list(range(axis % x.ndim, x.ndim))
    squares = x.to(torch.float32).square().mean(axes, keepdim=True)
    return torch.rsqrt(squares + epsilon)


def _local_response_norm(node: Node, data: Value) -> torch.Tensor:
    x, size = tensor(data), node.required("size")
    numbers = [node.attribute(*each) for each in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))]
    if size % 2:
        return functional.local_response_norm(x, size, *numbers)
    # PyTorch has the larger half of a window before its middle, ONNX behind it.
    return functional.local_response_norm(x.flip(1), size, *numbers).flip(1)


def _mean_variance_norm(node: Node, data: Value) -> torch.Tensor:
    x = tensor(data)
    axes = node.attribute("axes", [0, 2, 3])
    variance, mean = torch.var_mean(x, axes, correction=0, keepdim=True)
    return (x - mean) / (variance.sqrt() + 1e-9)


def _lp_norm(node: Node, data: Value) -> torch.Tensor:
    x, p = tensor(data), node.attribute("p", 2)
    norm = torch.linalg.vector_norm(x, p, node.attribute("axis", -1), keepdim=True)
    # What is all zeros stays so.
    return x / torch.where(norm == 0, torch.ones_like(norm), norm)


PATTERNS: Mapping[str, Pattern] = {
    "BatchNormalization": _batch_norm,
    "GroupNormalization": _group_norm,
    "InstanceNormalization": _instance_norm,
    "LRN": _local_response_norm,
    "LayerNormalization": layer_norm,
    "LpNormalization": _lp_norm,
    "MeanVarianceNormalization": _mean_variance_norm,
    "RMSNormalization": rms_norm,
    "SimplifiedLayerNormalization": rms_norm,
}
