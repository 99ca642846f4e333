"""Ops of ONNX Runtime's own, in the domain com.microsoft, which its tools write into models.

Most are several of ONNX's fused. Others of the domain are in modules beside this one.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch import elementwise
from plumbline.onnx_to_torch.contraction import gemm
from plumbline.onnx_to_torch.convolution import conv
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.normalization import inverse_root_mean_square, layer_norm
from plumbline.onnx_to_torch.values import Value, tensor

# -- activations -----------------------------------------------------------------------------------


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


def _split_gelu(node: Node, data: Value, bias: Value) -> torch.Tensor:
    x, gate = (tensor(data) + tensor(bias)).chunk(2, -1)
    return x * functional.gelu(gate)


def _bias_add(node: Node, data: Value, bias: Value, skip: Value) -> torch.Tensor:
    return tensor(data) + tensor(bias) + tensor(skip)


_PARAMETERS = ("alpha", "beta", "gamma")
"""What attributes of an activation are called, in the order in which they are given."""


def _activated(node: Node, x: torch.Tensor, parameters: Mapping[str, Any]) -> torch.Tensor:
    """What the activation that a node says makes of what else it computes."""
    name = node.optional("activation")
    if not name:
        return x
    if name == "Clip":
        return x.clamp(*parameters.values())
    pattern = elementwise.PATTERNS.get(name)
    if pattern is None:
        raise Unsupported(f"its activation is {name}")
    made: torch.Tensor = pattern(dataclasses.replace(node, attributes=parameters), x)
    return made


# -- products --------------------------------------------------------------------------------------


def _fused_matmul(node: Node, one: Value, other: Value) -> torch.Tensor:
    a, b = tensor(one), tensor(other)
    # Then the first dimension is the one that is behind what products are apart by.
    a = a.movedim(0, -2) if node.attribute("transBatchA", 0) else a
    b = b.movedim(0, -2) if node.attribute("transBatchB", 0) else b
    a = a.mT if node.attribute("transA", 0) else a
    b = b.mT if node.attribute("transB", 0) else b
    alpha = node.attribute("alpha", 1.0)
    return a @ b if alpha == 1 else alpha * (a @ b)


def _fused_conv(
    node: Node, data: Value, weight: Value, bias: Value = None, added: Value = None
) -> torch.Tensor:
    y = conv(node, data, weight, bias)
    y = y if added is None else y + tensor(added)
    given: list[float] = node.attribute("activation_params", [])
    return _activated(node, y, dict(zip(_PARAMETERS, given, strict=False)))


def _fused_gemm(node: Node, one: Value, other: Value, bias: Value = None) -> torch.Tensor:
    given = {name: node.optional(f"activation_{name}") for name in _PARAMETERS}
    parameters = {name: value for name, value in given.items() if value is not None}
    return _activated(node, gemm(node, one, other, bias), parameters)


# -- normalizations --------------------------------------------------------------------------------


def _skip_layer_norm(
    node: Node, data: Value, skip: Value, gamma: Value, beta: Value = None, bias: Value = None
) -> Any:
    x = _skipped(data, skip, bias)
    return *_three(layer_norm(node, x, gamma, beta, default_epsilon=_EPSILON)), x


def _skip_rms_norm(node: Node, data: Value, skip: Value, gamma: Value, bias: Value = None) -> Any:
    x, epsilon = _skipped(data, skip, bias), node.attribute("epsilon", _EPSILON)
    y = functional.rms_norm(x, x.shape[-1:], tensor(gamma), epsilon)
    by = inverse_root_mean_square(x, -1, epsilon) if node.has_output(2) else None
    return y, None, by, x


_EPSILON = 1e-12


def _three(made: Any) -> tuple[Any, Any, Any]:
    return made if isinstance(made, tuple) else (made, None, None)


def _skipped(data: Value, skip: Value, bias: Value) -> torch.Tensor:
    x = tensor(data) + tensor(skip)
    return x if bias is None else x + tensor(bias)


def _embed_layer_norm(
    node: Node,
    words: Value,
    segments: Value,
    of_words: Value,
    of_places: Value,
    of_segments: Value,
    gamma: Value,
    beta: Value,
    mask: Value = None,
    places: Value = None,
) -> tuple[torch.Tensor, ...]:
    tables = [_Table(tensor(of_words)), _Table(tensor(of_places)), None]
    tables[2] = None if segments is None else _Table(tensor(of_segments))
    return _embedded(node, words, segments, places, mask, tables, tensor(gamma), tensor(beta))


def _quantized_embed_layer_norm(
    node: Node, words: Value, segments: Value, *given: Value
) -> tuple[torch.Tensor, ...]:
    """Of words, places, segments, the weight and the bias: integers, scales, zero points."""
    integers, mask = given[:5], given[5]
    tables = [
        None if each is None else _Table(tensor(each), tensor(scale), tensor(zero))
        for each, scale, zero in zip(integers, given[6:11], given[11:16], strict=True)
    ]
    gamma, beta = (table.rows(...) for table in tables[3:] if table is not None)
    return _embedded(node, words, segments, None, mask, tables[:3], gamma, beta)


@dataclasses.dataclass(frozen=True, eq=False)
class _Table:
    """What indices stand for, or integers for that."""

    elements: torch.Tensor
    scale: torch.Tensor | None = None
    zero_point: torch.Tensor | None = None

    def rows(self, at: Any) -> torch.Tensor:
        """Those at some places."""
        taken = self.elements[at]
        if self.scale is None or self.zero_point is None:
            return taken
        return (taken.to(self.scale.dtype) - self.zero_point.to(self.scale.dtype)) * self.scale


def _embedded(
    node: Node,
    words: Value,
    segments: Value,
    places: Value,
    mask: Value,
    tables: Sequence[_Table | None],
    gamma: torch.Tensor,
    beta: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Sums of what `tables` have for words, places and segments, normalized; lengths; the sums."""
    of_words, of_places, of_segments = tables
    assert of_words is not None, "there are words"
    assert of_places is not None, "there are places"
    at = tensor(words)
    x = of_words.rows(at)
    x = x + of_places.rows(slice(0, at.shape[1]) if places is None else tensor(places))
    if of_segments is not None:
        x = x + of_segments.rows(tensor(segments))
    epsilon = node.attribute("epsilon", _EPSILON)
    y = functional.layer_norm(x, x.shape[-1:], gamma, beta, epsilon)
    if mask is None:
        return y, torch.zeros(at.shape[0], dtype=torch.int32), x
    return y, (tensor(mask) == 1).sum(1).to(torch.int32), x


def _group_norm(node: Node, data: Value, gamma: Value, beta: Value) -> torch.Tensor:
    return _normalized_groups(node, tensor(data), gamma, beta)


def _skip_group_norm(
    node: Node, data: Value, gamma: Value, beta: Value, skip: Value, bias: Value = None
) -> tuple[torch.Tensor, torch.Tensor]:
    x, more = tensor(data), tensor(skip)
    if more.ndim == 2:
        axes = [1, 2] if node.attribute("channels_last", 1) else [2, 3]
        more = more[:, None, None] if axes[0] == 1 else more[:, :, None, None]
    x = x + more
    if bias is not None:
        added = tensor(bias)
        x = x + (added if node.attribute("channels_last", 1) else added[:, None, None])
    return _normalized_groups(node, x, gamma, beta), x


def _normalized_groups(node: Node, x: torch.Tensor, gamma: Value, beta: Value) -> torch.Tensor:
    is_last = node.attribute("channels_last", 1)
    planes = x.movedim(-1, 1) if is_last else x
    weight, offset = (tensor(each).to(x.dtype) for each in (gamma, beta))
    epsilon = node.attribute("epsilon", 1e-5)
    y = functional.group_norm(planes, node.required("groups"), weight, offset, epsilon)
    y = functional.silu(y) if node.required("activation") else y
    return y.movedim(1, -1) if is_last else y


PATTERNS: Mapping[str, Pattern] = {
    "BiasAdd": _bias_add,
    "BiasGelu": _bias_gelu,
    "BiasSplitGelu": _split_gelu,
    "EmbedLayerNormalization": _embed_layer_norm,
    "FastGelu": _fast_gelu,
    "FusedConv": _fused_conv,
    "FusedGemm": _fused_gemm,
    "FusedMatMul": _fused_matmul,
    "Gelu": _gelu,
    "GroupNorm": _group_norm,
    "QEmbedLayerNormalization": _quantized_embed_layer_norm,
    "QuickGelu": _quick_gelu,
    "SkipGroupNorm": _skip_group_norm,
    "SkipLayerNormalization": _skip_layer_norm,
    "SkipSimplifiedLayerNormalization": _skip_rms_norm,
    "TransposeMatMul": _fused_matmul,
}
