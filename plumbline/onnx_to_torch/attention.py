"""Attention of ONNX, and what goes with it."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional

from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, tensor, torch_dtype


def heads(x: torch.Tensor, count: Any) -> torch.Tensor:
    """[batch, heads, length, size], of that or of [batch, length, heads * size]."""
    if x.ndim == 4:
        return x
    return x.reshape(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


def merged(x: torch.Tensor) -> torch.Tensor:
    """[batch, length, heads * size], of [batch, heads, length, size]."""
    return x.transpose(1, 2).flatten(2)


def _bias(
    node: Node,
    q: torch.Tensor,
    k: torch.Tensor,
    mask: Value,
    past: Value,
    lengths: Value,
) -> torch.Tensor | None:
    """What is added to products of queries and keys: -inf where a key is not looked at."""
    count, size = q.shape[2], k.shape[2]
    queries, keys = torch.arange(count)[:, None], torch.arange(size)
    # Where the first query is among the keys, for each sequence of the batch or for all.
    offset: Any = 0 if past is None else tensor(past).shape[2]
    if lengths is not None:
        offset = (tensor(lengths) - count).reshape(-1, 1, 1, 1)
    ahead = keys - queries - offset
    seen = [keys < tensor(lengths).reshape(-1, 1, 1, 1)] if lengths is not None else []
    if node.attribute("is_causal", 0):
        seen.append(ahead <= 0)
    before, after = (node.attribute(f"{side}_window_size", -1) for side in ("left", "right"))
    seen += [ahead >= -before] * (before >= 0) + [ahead <= after] * (after >= 0)
    bias = None
    if mask is not None:
        given = tensor(mask)
        nothing = 0.0 if given.dtype == torch.bool else -torch.inf
        given = functional.pad(given, (0, size - given.shape[-1]), value=nothing)
        bias = given
        if given.dtype == torch.bool:
            bias = torch.zeros(given.shape, dtype=q.dtype).masked_fill(~given, -torch.inf)
    for each in seen:
        own = torch.zeros(each.shape, dtype=q.dtype).masked_fill(~each, -torch.inf)
        bias = own if bias is None else bias + own
    return bias


def _attention(
    node: Node,
    query: Value,
    key: Value,
    value: Value,
    mask: Value = None,
    past_key: Value = None,
    past_value: Value = None,
    lengths: Value = None,
) -> tuple[torch.Tensor | None, ...]:
    of_queries, of_keys = node.optional("q_num_heads"), node.optional("kv_num_heads")
    q = heads(tensor(query), of_queries)
    k, v = (heads(tensor(each), of_keys) for each in (key, value))
    if past_key is not None:
        k = torch.cat([tensor(past_key), k], 2)
        v = torch.cat([tensor(past_value), v], 2)
    by_products = bool(
        node.attribute("softcap", 0.0) or node.has_output(3) or node.optional("softmax_precision")
    )
    # PyTorch's own word for it, where nothing else says what is looked at.
    is_causal = (
        bool(node.attribute("is_causal", 0))
        and mask is past_key is lengths is None
        and max(node.attribute(f"{side}_window_size", -1) for side in ("left", "right")) < 0
        and not by_products
    )
    bias = None if is_causal else _bias(node, q, k, mask, past_key, lengths)
    scale = node.optional("scale")
    scale = 1 / math.sqrt(q.shape[3]) if scale is None else scale
    products = None
    if by_products:
        made, products = _by_products(node, q, k, v, bias, scale)
    else:
        grouped = q.shape[1] != k.shape[1]
        made = functional.scaled_dot_product_attention(
            q, k, v, bias, is_causal=is_causal, scale=scale, enable_gqa=grouped
        )
    if tensor(query).ndim == 3:
        made = merged(made)
    return made, k, v, products


def _by_products(
    node: Node,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    bias: torch.Tensor | None,
    scale: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention step by step, and what one of the steps gives, which the node says."""
    group = q.shape[1] // k.shape[1]
    k, v = (each.repeat_interleave(group, 1) if group > 1 else each for each in (k, v))
    root = math.sqrt(scale)
    products = (q * root) @ (k * root).transpose(2, 3)
    softcap = node.attribute("softcap", 0.0)
    capped = softcap * torch.tanh(products / softcap) if softcap else products
    biased = capped if bias is None else capped + bias
    precision = node.optional("softmax_precision")
    exact = biased if precision is None else biased.to(torch_dtype(precision))
    shares = torch.softmax(exact, -1)
    if bias is not None:
        # A query that looks at no key gives nothing.
        shares = shares.masked_fill((bias == -torch.inf).all(-1, keepdim=True), 0)
    shares = shares.to(q.dtype)
    mode = node.attribute("qk_matmul_output_mode", 0)
    return shares @ v, (products, capped, biased, shares)[mode]


def _rotary(
    node: Node, data: Value, cosines: Value, sines: Value, positions: Value = None
) -> torch.Tensor:
    given, count = tensor(data), node.attribute("num_heads", 0)
    x = heads(given, count)
    size = node.attribute("rotary_embedding_dim", 0) or x.shape[3]
    places = None if positions is None else tensor(positions)
    # Of each sequence, or of the positions in it: one for all heads.
    cosine, sine = (
        (tensor(each) if places is None else tensor(each)[places]).unsqueeze(1)[..., : size // 2]
        for each in (cosines, sines)
    )
    made = turned(x, cosine, sine, interleaved=bool(node.attribute("interleaved", 0)))
    return merged(made) if given.ndim == 3 else made


def turned(
    x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor, *, interleaved: bool
) -> torch.Tensor:
    """`x` with pairs of its elements turned by angles, as many as there are of these.

    Pairs are contiguous if they are `interleaved`; else the first half of what is turned has the
    first of each.
    """
    size = 2 * cosine.shape[-1]
    pairs, rest = x[..., :size], x[..., size:]
    one, other = (pairs[..., 0::2], pairs[..., 1::2]) if interleaved else pairs.chunk(2, -1)
    parts = [cosine * one - sine * other, sine * one + cosine * other]
    made = torch.stack(parts, -1).flatten(-2) if interleaved else torch.cat(parts, -1)
    return torch.cat([made, rest], -1) if size != x.shape[3] else made


def _tensor_scatter(node: Node, past: Value, update: Value, places: Value = None) -> torch.Tensor:
    cache, new = tensor(past), tensor(update)
    axis = node.attribute("axis", -2) % cache.ndim
    steps = torch.arange(new.shape[axis])
    first = torch.zeros(cache.shape[0], dtype=torch.int64) if places is None else tensor(places)
    at = first[:, None] + steps
    if node.attribute("mode", "linear") == "circular":
        at = at.remainder(cache.shape[axis])
    shape = [1] * cache.ndim
    shape[0], shape[axis] = at.shape
    return torch.scatter(cache, axis, at.reshape(shape).expand(new.shape), new)


PATTERNS: Mapping[str, Pattern] = {
    "Attention": _attention,
    "RotaryEmbedding": _rotary,
    "TensorScatter": _tensor_scatter,
}
