"""The best of boxes that overlap, as detectors of objects end: greedy suppression by turns."""

from collections.abc import Callable
from typing import Any

import torch
from torch._higher_order_ops.scan import scan_op

Remaining = Callable[..., torch.Tensor]
"""What becomes of scores, [batch, class, box], where boxes overlap the one that was taken by some
part of their union. It takes both, and tensors that it was said to read."""


def best_boxes(
    scores: torch.Tensor,
    low: torch.Tensor,
    high: torch.Tensor,
    turns: int,
    remaining: Remaining,
    read: tuple[torch.Tensor, ...] = (),
) -> tuple[torch.Tensor, torch.Tensor]:
    """The boxes that are taken of each class, the best one first, one in each turn.

    Of equal scores the first one is the better.

    Args:
      scores: [batch, class, box]; -inf for what is never taken.
      low: the lower corner of each box, [batch, box, 2].
      high: the upper one, likewise.
      turns: how many are taken at most.
      remaining: gives the scores for the next turn, as far as others overlap the box of this one.
      read: what else `remaining` takes.

    Returns:
      The numbers of boxes, [batch, class, turn], and their scores, -inf where none was left.
    """

    def turn(left: torch.Tensor, _: torch.Tensor, *given: torch.Tensor) -> list[torch.Tensor]:
        low, high, *read = given
        best = left.argmax(2, keepdim=True)
        score = left.gather(2, best)
        at = best.expand(-1, -1, 2)
        own_low, own_high = (side.gather(1, at) for side in (low, high))
        left = remaining(left, _overlap(own_low, own_high, low, high), *read)
        is_own = torch.arange(left.shape[2]) == best
        return [torch.where(is_own, -torch.inf, left), best.squeeze(2), score.squeeze(2)]

    # Loops take no views of one tensor.
    left, low, high = (
        each.clone(memory_format=torch.contiguous_format) for each in (scores, low, high)
    )
    operands: Any = (low, high, *read)
    _, taken, scores = scan_op(turn, [left], [torch.arange(turns)], operands)
    return taken.permute(1, 2, 0), scores.permute(1, 2, 0)


def _overlap(
    own_low: torch.Tensor, own_high: torch.Tensor, low: torch.Tensor, high: torch.Tensor
) -> torch.Tensor:
    """What part of their union boxes have in common with others.

    Their corners are [batch, class, 2], and those of the others [batch, box, 2].
    """
    own_low, own_high = own_low.unsqueeze(2), own_high.unsqueeze(2)
    low, high = low.unsqueeze(1), high.unsqueeze(1)
    common = (torch.minimum(own_high, high) - torch.maximum(own_low, low)).clamp(min=0).prod(3)
    union = (own_high - own_low).prod(3) + (high - low).prod(3) - common
    return torch.where(common > 0, common / union, 0)
