"""Attention and its gradients, as PyTorch computes both on a CPU."""

import itertools
from collections.abc import Sequence

import torch
from torch._decomp import get_decompositions
from torch.fx.experimental.symbolic_shapes import statically_known_true, sym_or

from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten

_FORWARD = aten._scaled_dot_product_flash_attention_for_cpu.default
"""What PyTorch chooses for four dimensions."""

_BY_PYTORCH = get_decompositions([_FORWARD])[_FORWARD]


def _scores(
    query: torch.Tensor,
    key: torch.Tensor,
    is_causal: bool,
    attn_mask: torch.Tensor | None,
    scale: float | None,
) -> torch.Tensor:
    """How much each query is about each key, [batch, heads, queries, keys]: -inf for not at all."""
    scores = query @ key.mT * _scale(query, scale)
    if is_causal:
        # Not added, as of a key that is not looked at not even NaN may be seen. Of 32 bits, as a
        # GPU compares those by one instruction; on a CPU LLVM takes 64 where that cannot overflow.
        queries, keys = (torch.arange(size, dtype=torch.int32) for size in scores.shape[-2:])
        return scores.masked_fill(keys > queries.unsqueeze(-1), -torch.inf)
    if attn_mask is None:
        return scores
    if attn_mask.dtype == torch.bool:
        attn_mask = torch.where(attn_mask, 0.0, -torch.inf).to(scores.dtype)
    return scores + attn_mask


def _scale(query: torch.Tensor, scale: float | None) -> float:
    return query.shape[-1] ** -0.5 if scale is None else scale


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """In at least float32, which PyTorch adds up in."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def _for_each_head(tensor: torch.Tensor, heads: int) -> torch.Tensor:
    """The keys or values of each of so many heads of queries; groups of heads may share them."""
    groups = tensor.shape[1]
    return tensor if groups == heads else tensor.repeat_interleave(heads // groups, 1)


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
    """Values weighted by the softmax of scores, and the logarithms of what scores add up to.

    Both products are in at least float32, so that no score is too large to be scaled when it is
    there: PyTorch's rule scales queries and keys by the root of the factor each, by two passes over
    memory, of which one transposes the keys. The logarithms have no use but for gradients. Dropout
    is left to that rule.
    """
    heads = query.shape[1]
    keys = _for_each_head(key, heads)
    scores = _scores(_wide(query), _wide(keys), is_causal, attn_mask, scale)
    if dropout_p == 0.0:
        output = aten._safe_softmax(scores, -1) @ _wide(_for_each_head(value, heads))
        output = output.to(query.dtype)
    else:
        output, _ = _BY_PYTORCH(
            query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale
        )
    # As PyTorch's kernel allocates it; programs view it anew.
    return _with_strides(output, torch.empty_like(query).stride()), _logarithms(scores)


def _logarithms(scores: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of the exponentials of each query's scores: [batch, heads, queries].

    Of a query that looks at no key it is 0, as of PyTorch's kernel: less that, its scores are -inf,
    and its weights 0. Less -inf, they would be NaN.
    """
    found = scores.logsumexp(-1)
    return found.masked_fill(found == -torch.inf, 0.0)


def _with_strides(tensor: torch.Tensor, strides: Sequence[int | torch.SymInt]) -> torch.Tensor:
    """The tensor with such strides, or contiguous where they are those of no order of its axes."""
    for order in itertools.permutations(range(tensor.dim())):
        stride: int | torch.SymInt = 1
        is_such = True
        for axis in reversed(order):
            size = tensor.shape[axis]
            is_such &= statically_known_true(sym_or(size == 1, strides[axis] == stride))
            stride = stride * size
        if is_such:
            inverse = sorted(range(tensor.dim()), key=order.__getitem__)
            return tensor.permute(order).contiguous().permute(inverse)
    return tensor.contiguous()


def _attention_backward(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, ...]:
    """The gradients of query, key and value; weights are computed anew from the scores."""
    heads = query.shape[1]
    wide_query, grad, result = map(_wide, (query, grad_out, out))
    keys, values = (_wide(_for_each_head(tensor, heads)) for tensor in (key, value))
    scores = _scores(wide_query, keys, is_causal, attn_mask, scale)
    weights = torch.exp(scores - logsumexp.unsqueeze(-1))
    of_weights = grad @ values.mT - (grad * result).sum(-1, keepdim=True)
    of_scores = weights * of_weights * _scale(query, scale)
    grads = (of_scores @ keys, of_scores.mT @ wide_query, weights.mT @ grad)

    def like(found: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
        groups = given.shape[1]
        if groups != heads:
            batch, *of_each = found.shape[:1] + found.shape[2:]
            found = found.reshape(batch, groups, heads // groups, *of_each).sum(2)
        return found.to(given.dtype)

    return tuple(map(like, grads, (query, key, value)))


RULES: Rules = {
    _FORWARD: _attention,
    aten._scaled_dot_product_flash_attention_for_cpu_backward.default: _attention_backward,
}
