"""Ops between sequences one after another, of a length each, and rows of one length, padded.

A jagged tensor, `torch.nested.nested_tensor(..., layout=torch.jagged)`, is its sequences one after
another and the places where they begin and end; PyTorch has it go by these two ops where others
take no sequences of lengths that differ, and back.
"""

from collections.abc import Sequence
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.data_dependent_sizes import ended_before
from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten


def _jagged_to_padded(
    values: torch.Tensor,
    offsets: Sequence[torch.Tensor],
    max_lengths: Sequence[int],
    padding_value: float = 0.0,
) -> Any:
    """The sequences, each in a row of one length, which ends those that are longer.

    Args:
      values: `[places, ...]`, all sequences.
      offsets: of `sequences + 1` integers, where each one begins, and the last one ends.
      max_lengths: the length of a row.
      padding_value: what comes after a sequence that is shorter.

    Returns:
      `[sequences, length, ...]`; NotImplemented for sequences of sequences, of which PyTorch has
      no kernel on a CPU.
    """
    if len(offsets) != 1 or len(max_lengths) != 1:
        return NotImplemented
    (bounds,), (length,) = offsets, max_lengths
    bounds = bounds.to(torch.int64)
    places = bounds[:-1].unsqueeze(1) + torch.arange(length)
    # A row behind the last one is what pads, so that there is one to read where there are none.
    behind, inner = values.shape[0], values.shape[1:]
    values = aten.constant_pad_nd(values, [0, 0] * len(inner) + [0, 1], padding_value)
    places = torch.where(places < bounds[1:].unsqueeze(1), places, behind)
    return values.index_select(0, places.reshape(-1)).reshape(*places.shape, *inner)


def _padded_to_jagged(
    dense: torch.Tensor,
    offsets: Sequence[torch.Tensor],
    total_L: int | None = None,  # noqa: N803
) -> Any:
    """What `_jagged_to_padded` has put into rows.

    Args:
      dense: `[sequences, length, ...]`.
      offsets: as there.
      total_L: how many places all sequences have; None: as many as their ends say.

    Returns:
      `[places, ...]`.
    """
    if len(offsets) != 1:
        return NotImplemented
    bounds = offsets[0].to(torch.int64)
    total: Any = bounds[-1].item() if total_L is None else total_L
    sequence = ended_before(bounds[1:], total)
    place = torch.arange(total) - bounds.index_select(0, sequence)
    # By both, each of which is looked at: a place beyond a row would be one of the next row.
    return aten.index.Tensor(dense, [sequence, place])


RULES: Rules = {
    aten._jagged_to_padded_dense_forward.default: _jagged_to_padded,
    aten._padded_dense_to_jagged_forward.default: _padded_to_jagged,
}
