"""The ops that `nn.TransformerEncoderLayer` and `nn.MultiheadAttention` are in inference.

Export takes their layers apart by itself; what else traces a program meets these.
"""

import torch
from torch.nn import functional

from plumbline.loader_to_torch.decompositions.rule import Rules

__all__ = ["RULES"]

aten = torch.ops.aten

_OF_KEYS = 1
"""What type of mask is of the keys of each sequence; the others are as scores are, or less."""


def _encoder_layer(
    source: torch.Tensor,
    width: int,
    heads: int,
    qkv_weight: torch.Tensor,
    qkv_bias: torch.Tensor,
    projection_weight: torch.Tensor,
    projection_bias: torch.Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: torch.Tensor,
    norm_bias_1: torch.Tensor,
    norm_weight_2: torch.Tensor,
    norm_bias_2: torch.Tensor,
    inner_weight: torch.Tensor,
    inner_bias: torch.Tensor,
    outer_weight: torch.Tensor,
    outer_bias: torch.Tensor,
    mask: torch.Tensor | None = None,
    mask_type: int | None = None,
) -> torch.Tensor:
    """`aten::_transformer_encoder_layer_fwd`."""
    norm_1, norm_2 = (norm_weight_1, norm_bias_1), (norm_weight_2, norm_bias_2)

    def normed(x: torch.Tensor, norm: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        return functional.layer_norm(x, [width], *norm, eps)

    x = normed(source, norm_1) if norm_first else source
    projected = _projected((x, x, x), heads, (qkv_weight, qkv_bias))
    added = _added(mask, mask_type, x)
    x = source + _attention(projected, (projection_weight, projection_bias), added)
    x = x if norm_first else normed(x, norm_1)
    hidden = functional.linear(normed(x, norm_2) if norm_first else x, inner_weight, inner_bias)
    hidden = functional.gelu(hidden) if use_gelu else functional.relu(hidden)
    x = x + functional.linear(hidden, outer_weight, outer_bias)
    return x if norm_first else normed(x, norm_2)


def _multi_head_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    width: int,
    heads: int,
    qkv_weight: torch.Tensor,
    qkv_bias: torch.Tensor,
    projection_weight: torch.Tensor,
    projection_bias: torch.Tensor,
    mask: torch.Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """`aten::_native_multi_head_attention`."""
    projected = _projected((query, key, value), heads, (qkv_weight, qkv_bias))
    added = _added(mask, mask_type, query)
    attended = _attention(projected, (projection_weight, projection_bias), added)
    if not need_weights:
        return attended, query.new_empty(0)
    q, k, _ = projected
    scores = q @ k.mT * q.shape[-1] ** -0.5
    weights = (scores if added is None else scores + added).softmax(-1)
    return attended, weights.mean(1) if average_attn_weights else weights


def _attention(
    projected: list[torch.Tensor],
    projection: tuple[torch.Tensor, ...],
    added: torch.Tensor | None,
) -> torch.Tensor:
    q, k, v = projected
    attended = functional.scaled_dot_product_attention(q, k, v, attn_mask=added)
    return functional.linear(attended.transpose(1, 2).flatten(2), *projection)


def _projected(
    operands: tuple[torch.Tensor, ...], heads: int, qkv: tuple[torch.Tensor, ...]
) -> list[torch.Tensor]:
    """Queries, keys and values, [batch, heads, length, width of a head]."""
    first, *others = operands
    if all(other is first for other in others):
        projected = functional.linear(first, *qkv).chunk(3, -1)
    else:
        parts = zip(*(tensor.chunk(3) for tensor in qkv), strict=True)
        projected = tuple(
            functional.linear(operand, *part) for operand, part in zip(operands, parts, strict=True)
        )
    return [
        part.view(*part.shape[:2], heads, part.shape[2] // heads).transpose(1, 2)
        for part in projected
    ]


def _added(
    mask: torch.Tensor | None, mask_type: int | None, like: torch.Tensor
) -> torch.Tensor | None:
    """What is added to scores for a mask, whose truths, or -inf, are keys not to look at."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        mask = torch.where(mask, -torch.inf, 0.0).to(like.dtype)
    if mask_type == _OF_KEYS:
        return mask[:, None, None, :]
    return mask


RULES: Rules = {
    aten._transformer_encoder_layer_fwd.default: _encoder_layer,
    aten._native_multi_head_attention.default: _multi_head_attention,
}
