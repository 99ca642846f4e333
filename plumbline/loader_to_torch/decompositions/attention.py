"""Attention, with its scores scaled once they are there.

PyTorch's own rule scales queries and keys by the root of the factor each, so that no product of
half precision is too large. In f32 and f64 none is, and to scale both takes two passes over memory,
of which the one over the keys transposes them; scores are scaled on the way to their softmax.
"""

import torch
from torch._decomp import get_decompositions

from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten

_ATTENTION = aten._scaled_dot_product_flash_attention_for_cpu.default
"""What PyTorch chooses for four dimensions."""

_BY_PYTORCH = get_decompositions([_ATTENTION])[_ATTENTION]


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of [N, heads, L, E], [N, heads, S, E] and [N, heads, S, E] the result and the weights.

    Keys and values may have fewer heads, each for several of the queries in turn.
    """
    if query.dtype not in (torch.float32, torch.float64) or dropout_p != 0.0:
        result: tuple[torch.Tensor, torch.Tensor] = _BY_PYTORCH(
            query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale
        )
        return result
    if query.shape[1] != key.shape[1]:
        times = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
    factor = 1 / torch.sym_sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.mT * factor
    if is_causal:
        shape = query.shape[-2], key.shape[-2]
        attn_mask = torch.ones(shape, dtype=torch.bool, device=query.device).tril()
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            attn_mask = torch.where(attn_mask, 0.0, -torch.inf).to(query.dtype)
        scores = scores + attn_mask
    weights = aten._safe_softmax(scores, -1)
    # As PyTorch's lies in memory, [L, N, heads, E], which programs rely on that view it anew.
    lying = (weights @ value).permute(2, 0, 1, 3).contiguous()
    return lying.permute(1, 2, 0, 3), weights


RULES: Rules = {_ATTENTION: _attention}
