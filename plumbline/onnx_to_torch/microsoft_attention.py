"""Attention as ONNX Runtime's tools write it into models of transformers, in com.microsoft."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.decompositions.integer_products import integer_matmul
from plumbline.onnx_to_torch.argument_sizes import hold_size
from plumbline.onnx_to_torch.attention import heads, merged, turned
from plumbline.onnx_to_torch.integer_products import along, integers_of
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, integer, sym_max, tensor

_MASKED = -10000.0
"""What is added where nothing is to be looked at, if a node does not say it."""


# -- what several have in common -------------------------------------------------------------------


@dataclass(frozen=True)
class _Shares:
    """How much a query takes of each key."""

    scale: float
    mask: torch.Tensor | None
    """Truth values, or what is added, that go with [batch, heads, queries, keys]."""
    softcap: float = 0.0
    """If it is not 0, products are between this and its negative."""
    sinks: torch.Tensor | None = None
    """For each head what stands for one more key, of which nothing is taken."""

    def attend(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """The sums of `v` by these shares; `k` and `v` may have fewer heads."""
        group = q.shape[1] // k.shape[1]
        if not self.softcap and self.sinks is None:
            return functional.scaled_dot_product_attention(
                q, k, v, self.mask, scale=self.scale, enable_gqa=group > 1
            )
        k, v = (each.repeat_interleave(group, 1) if group > 1 else each for each in (k, v))
        return self.of(q, k) @ v

    def of(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        """The shares themselves, for as many heads of `k`."""
        products = (q @ k.transpose(2, 3)) * self.scale
        if self.softcap:
            products = self.softcap * torch.tanh(products / self.softcap)
        if self.mask is not None and self.mask.dtype == torch.bool:
            products = products.masked_fill(~self.mask, -torch.inf)
        elif self.mask is not None:
            products = products + self.mask
        if self.sinks is None:
            return torch.softmax(products, -1)
        sinks = self.sinks.to(products.dtype).reshape(1, -1, 1, 1)
        sinks = sinks.expand(products.shape[0], q.shape[1], products.shape[2], 1)
        return torch.softmax(torch.cat([products, sinks], -1), -1)[..., :-1]


def _scale(node: Node, size: Any) -> float:
    """What products are multiplied by; 0 stands for what is usual, too."""
    return node.attribute("scale", 0.0) or 1 / math.sqrt(size)


# -- queries by groups for each key ----------------------------------------------------------------


def _group_query(
    node: Node,
    query: Value,
    key: Value,
    value: Value,
    past_key: Value,
    past_value: Value,
    last: Value,
    total: Value,
    cosines: Value = None,
    sines: Value = None,
    positions: Value = None,
    attention_bias: Value = None,
    sinks: Value = None,
    *others: Value,
) -> Any:
    """Attention that puts new keys and values behind those of each sequence, and gives all.

    Before it a sequence has as many as it has in all, which is one more than its `last`, less those
    that are new; of the first tokens of a text that is less than 0, if some are there to fill up.
    """
    *quantized, query_weight, key_weight, counts = (*others, *[None] * 5)[:5]
    if quantized != [None, None]:
        raise Unsupported("its cache is quantized")
    if node.has_output(3):
        raise Unsupported("products of queries and keys are asked for")
    q, k, v = _of_group_query(node, query, key, value)
    for weight, name in ((query_weight, "q"), (key_weight, "k")):
        if weight is not None:
            epsilon = node.attribute("qk_norm_epsilon", 1e-6)
            epsilon = node.attribute(f"{name}_norm_epsilon", epsilon)
            x = q if name == "q" else k
            x = functional.rms_norm(x, x.shape[-1:], tensor(weight), epsilon)
            q, k = (x, k) if name == "q" else (q, x)
    new = q.shape[2]
    ends = tensor(last).reshape(-1).to(torch.int64) + 1
    before = (ends - (new if counts is None else tensor(counts).to(torch.int64))).clamp(min=0)
    steps = torch.arange(new)
    places = before[:, None] + steps
    if node.attribute("do_rotary", 0):
        at = places if positions is None else tensor(positions)
        at = at.reshape(-1, new)
        is_interleaved = bool(node.attribute("rotary_interleaved", 0))
        cosine, sine = (tensor(each)[at].unsqueeze(1) for each in (cosines, sines))
        q, k = (turned(x, cosine, sine, interleaved=is_interleaved) for x in (q, k))
    for past in (past_key, past_value):
        if past is not None:
            hold_size(tensor(past), 3, q.shape[3])
    if past_key is None:
        keys, values, of_keys = k, v, steps.expand(q.shape[0], new)
        present = (k, v)
    elif node.attribute("sliding_window_cache", 0):
        if attention_bias is not None:
            raise Unsupported("its cache slides, and it has a bias")
        cache = _SlidingCache(node, tensor(past_key).shape[2], ends, before)
        present = (cache.written(tensor(past_key), k), cache.written(tensor(past_value), v))
        keys, values = torch.cat([tensor(past_key), k], 2), torch.cat([tensor(past_value), v], 2)
        of_keys = torch.cat([cache.places, places], 1)
    else:
        size = integer(total)
        room = sym_max(tensor(past_key).shape[2], size)
        written = [
            _written(tensor(past), x, before, room) for past, x in ((past_key, k), (past_value, v))
        ]
        present = (written[0], written[1])
        keys, values = (each[:, :, :size] for each in present)
        of_keys = torch.arange(keys.shape[2]).expand(q.shape[0], keys.shape[2])
    seen = _seen(node, places, of_keys, ends)
    bias: torch.Tensor = seen
    if attention_bias is not None:
        added = tensor(attention_bias)
        bias = torch.where(seen, added, -torch.inf)
    if node.attribute("smooth_softmax", 0) and sinks is None:
        sinks = torch.zeros(q.shape[1])
    shares = _Shares(
        _scale(node, q.shape[3]),
        bias,
        node.attribute("softcap", 0.0),
        None if sinks is None else tensor(sinks),
    )
    return merged(shares.attend(q, keys, values)), *present


def _of_group_query(
    node: Node, query: Value, key: Value, value: Value
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries, keys and values by heads; they may be side by side in what is called the query."""
    of_queries, of_keys = node.required("num_heads"), node.required("kv_num_heads")
    x = tensor(query)
    if key is not None:
        return heads(x, of_queries), heads(tensor(key), of_keys), heads(tensor(value), of_keys)
    size = x.shape[2] // (of_queries + 2 * of_keys)
    q, k, v = x.split_with_sizes([of_queries * size, of_keys * size, of_keys * size], 2)
    return heads(q, of_queries), heads(k, of_keys), heads(v, of_keys)


def _seen(
    node: Node, places: torch.Tensor, of_keys: torch.Tensor, ends: torch.Tensor
) -> torch.Tensor:
    """Whether a query at one of `places` looks at keys at others, [batch, 1, queries, keys].

    Keys at less than 0 are none.
    """
    keys, queries = of_keys[:, None, None, :], places[:, None, :, None]
    if not node.attribute("causal", 1):
        return (keys < ends[:, None, None, None]).expand(-1, -1, places.shape[1], -1)
    seen = keys <= queries
    window = node.attribute("local_window_size", -1)
    if window > 0:
        seen = seen & (keys > queries - window)
    return seen & (keys >= 0) if node.attribute("sliding_window_cache", 0) else seen


def _written(
    past: torch.Tensor, new: torch.Tensor, before: torch.Tensor, room: Any
) -> torch.Tensor:
    """A cache of `room` places, with what is new behind as many of each sequence as it had."""
    padded = functional.pad(past, (0, 0, 0, room - past.shape[2]))
    at = torch.arange(room) - before[:, None]
    is_new = (at >= 0) & (at < new.shape[2])
    return torch.where(is_new[:, None, :, None], _taken(new, at), padded)


def _taken(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    """What `x` has at places of each sequence; at others than it has, anything."""
    index = at.clamp(min=0).clamp(max=x.shape[2] - 1)[:, None, :, None]
    return x.gather(2, index.expand(-1, x.shape[1], -1, x.shape[3]))


class _SlidingCache:
    """A cache that holds as many of the last tokens as are looked at, and some more.

    Of what does not fit as many go at once as there are more places than are looked at, and one.
    """

    def __init__(self, node: Node, size: Any, ends: torch.Tensor, before: torch.Tensor) -> None:
        """Of `size` places, before and after some tokens end where `ends` says."""
        self._size, self._before = size, before
        self._step = size - node.required("local_window_size") + 1
        self._first, self._last = before - self._held(before), ends - self._held(ends)

    def _held(self, count: torch.Tensor) -> torch.Tensor:
        """How many of so many tokens there are."""
        over = (count - self._size).clamp(min=0)
        gone = (over + self._step - 1).floor_divide(self._step) * self._step
        held: torch.Tensor = count - gone
        return held

    @property
    def places(self) -> torch.Tensor:
        """Which tokens of each sequence there were before; -1: none."""
        at = self._first[:, None] + torch.arange(self._size)
        return torch.where(at < self._before[:, None], at, -1)

    def written(self, past: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        """The cache with what is new."""
        at = self._last[:, None] + torch.arange(self._size)
        is_new = at >= self._before[:, None]
        of_past = _taken(past, at - self._first[:, None])
        return torch.where(
            is_new[:, None, :, None], _taken(new, at - self._before[:, None]), of_past
        )


# -- as many keys as queries -----------------------------------------------------------------------


def _mask(
    node: Node,
    given: Value,
    bias: Value,
    shape: Sequence[Any],
    dtype: torch.dtype,
    *,
    is_causal: bool,
) -> torch.Tensor | None:
    """What is added to products, of [batch, heads, queries, keys].

    Masks are truth values of keys, [batch, keys] or [batch, queries, keys], or where keys end,
    [batch], and behind that where they begin, [2 * batch]. Of [batch, 1, places, places] as many
    queries are taken as there are, up to the last key, and keys.
    """
    batch, _, queries, keys = shape
    added = None if bias is None else tensor(bias)
    if given is not None:
        mask, at = tensor(given), torch.arange(keys)
        if mask.ndim == 1:
            parts = mask.reshape(-1, batch, 1).to(torch.int64)
            if parts.shape[0] > 2:
                raise Unsupported("its mask has sums of lengths, as a GPU wants them")
            mask = at < parts[0]
            mask = mask & (at >= parts[1]) if parts.shape[0] > 1 else mask
        if mask.ndim == 4:
            mask = mask[:, 0, keys - queries : keys, :keys]
        mask = mask[:, None, None] if mask.ndim == 2 else mask[:, None]
        filled = node.attribute("mask_filter_value", _MASKED)
        nothing = torch.zeros((), dtype=dtype)
        masked = torch.where(mask != 0, nothing, torch.full((), filled, dtype=dtype))
        added = masked if added is None else added + masked
    if is_causal:
        ahead = torch.arange(keys) - torch.arange(queries)[:, None] > keys - queries
        own = torch.zeros(ahead.shape, dtype=dtype).masked_fill(ahead, -torch.inf)
        added = own if added is None else added + own
    return added


def _multi_head(
    node: Node,
    query: Value,
    key: Value = None,
    value: Value = None,
    bias: Value = None,
    mask: Value = None,
    attention_bias: Value = None,
    past_key: Value = None,
    past_value: Value = None,
    *of_buffers: Value,
) -> Any:
    if any(each is not None for each in of_buffers):
        raise Unsupported("its cache is a buffer of which a part is in use")
    count, given = node.required("num_heads"), tensor(query)
    if key is None:
        # [batch, length, heads, 3, size].
        given, k, v = (each.flatten(2) for each in given.unbind(3))
    elif value is None:
        k, v = (each.flatten(2) for each in tensor(key).unbind(3))
    else:
        k, v = tensor(key), tensor(value)
    if bias is not None:
        added, width = tensor(bias), given.shape[2]
        given = given + added[:width]
        if k.ndim == 3:
            k, v = k + added[width : 2 * width], v + added[2 * width :]
    q, k, v = heads(given, count), heads(k, count), heads(v, count)
    if past_key is not None:
        for past, x in ((past_key, k), (past_value, v)):
            hold_size(tensor(past), 3, x.shape[3])
        k, v = torch.cat([tensor(past_key), k], 2), torch.cat([tensor(past_value), v], 2)
    return _attended(node, q, k, v, mask, attention_bias, (k, v))


def _attended(
    node: Node,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Value,
    bias: Value,
    present: tuple[torch.Tensor, ...],
) -> Any:
    shape = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    is_causal = bool(node.attribute("unidirectional", 0)) and q.shape[2] != 1
    shares = _Shares(
        _scale(node, q.shape[3]), _mask(node, mask, bias, shape, q.dtype, is_causal=is_causal)
    )
    products = (shares.of(q, k),) if node.has_output(3) else ()
    return merged(shares.attend(q, k, v)), *present, *products


def _attention(
    node: Node,
    data: Value,
    weight: Value,
    bias: Value = None,
    mask: Value = None,
    past: Value = None,
    attention_bias: Value = None,
    past_length: Value = None,
) -> Any:
    projected = torch.matmul(tensor(data), tensor(weight))
    if past_length is not None:
        raise Unsupported("its cache is a buffer of which a part is in use")
    if bias is not None:
        projected = projected + tensor(bias)
    return _of_projected(node, projected, mask, past, attention_bias)


def _of_projected(
    node: Node, projected: torch.Tensor, mask: Value, past: Value, bias: Value
) -> Any:
    """Attention of queries, keys and values that are side by side."""
    if node.attribute("do_rotary", 0):
        raise Unsupported("it turns queries and keys by their places")
    count, width = node.required("num_heads"), projected.shape[2]
    sizes = node.attribute("qkv_hidden_sizes", []) or [width // 3] * 3
    q, k, v = (heads(each, count) for each in projected.split_with_sizes(sizes, 2))
    if past is not None:
        before = tensor(past)
        hold_size(before, 4, k.shape[3])
        k, v = torch.cat([before[0], k], 2), torch.cat([before[1], v], 2)
    present = (torch.stack([k, v]),) if node.has_output(1) else ()
    return _attended(node, q, k, v, mask, bias, present)


def _quantized_attention(
    node: Node,
    data: Value,
    weight: Value,
    bias: Value,
    data_scale: Value,
    weight_scale: Value,
    mask: Value = None,
    data_zero: Value = None,
    weight_zero: Value = None,
    past: Value = None,
) -> Any:
    sums = integer_matmul(integers_of(data, data_zero), integers_of(weight, weight_zero, -1))
    scale = along(tensor(data_scale), 2, -1) * along(tensor(weight_scale), 2, -1)
    projected = sums.to(scale.dtype) * scale + tensor(bias)
    return _of_projected(node, projected, mask, past, None)


# -- places ----------------------------------------------------------------------------------------


def _rotary(
    node: Node, data: Value, positions: Value, cosines: Value, sines: Value
) -> torch.Tensor:
    if node.attribute("scale", 1.0) != 1 or node.attribute("is_packed_batching", 0):
        raise Unsupported("it has a scale, or sequences lie one behind the other")
    given, at, cosine = tensor(data), tensor(positions), tensor(cosines)
    size = 0 if node.attribute("rotary_embedding_dim", 0) else 2 * cosine.shape[1]
    x = heads(given, given.shape[2] // size if size and given.ndim == 3 else _count(node))
    if at.ndim == 1:
        # Where the first of each sequence is.
        at = at + torch.arange(x.shape[2])
        at = at.expand(x.shape[0], -1)
    parts = (each[at].unsqueeze(1) for each in (cosine, tensor(sines)))
    made = turned(x, *parts, interleaved=bool(node.attribute("interleaved", 0)))
    return merged(made) if given.ndim == 3 else made


def _count(node: Node) -> int:
    return int(node.required("num_heads"))


PATTERNS: Mapping[str, Pattern] = {
    "Attention": _attention,
    "GroupQueryAttention": _group_query,
    "MultiHeadAttention": _multi_head,
    "QAttention": _quantized_attention,
    "RotaryEmbedding": _rotary,
}
