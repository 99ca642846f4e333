"""Ops that only move elements about, whatever these mean."""

import torch

aten = torch.ops.aten

MOVES = frozenset(
    [
        aten._to_copy,
        aten._unsafe_view,
        aten.alias,
        aten.cat,
        aten.clone,
        aten.contiguous,
        aten.copy,
        aten.detach,
        aten.diag_embed,
        aten.diagonal,
        aten.diagonal_scatter,
        aten.empty,
        aten.empty_like,
        aten.expand,
        aten.flip,
        aten.gather,
        aten.index,
        aten.index_put,
        aten.index_select,
        aten.lift_fresh_copy,
        aten.masked_scatter,
        aten.narrow,
        aten.new_empty,
        aten.permute,
        aten.repeat,
        aten.reshape,
        aten.resolve_conj,
        aten.roll,
        aten.rot90,
        aten.scatter,
        aten.select,
        aten.select_scatter,
        aten.slice,
        aten.slice_scatter,
        aten.split,
        aten.split_with_sizes,
        aten.squeeze,
        aten.stack,
        aten.t,
        aten.take,
        aten.transpose,
        aten.tril,
        aten.triu,
        aten.unbind,
        aten.unfold,
        aten.unsqueeze,
        aten.view,
        aten.where,
    ]
)
"""By packet, as they do whatever the overload."""
