"""Suppression of boxes that overlap, as detectors of objects end."""

from collections.abc import Mapping
from typing import Any

import torch
from torch._higher_order_ops.scan import scan_op

from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, integer, sym_min, tensor


def _non_max_suppression(
    node: Node,
    boxes: Value,
    scores: Value,
    most: Value = None,
    overlap: Value = None,
    least_score: Value = None,
) -> torch.Tensor:
    """The best boxes of each class that do not overlap better ones: rows of batch, class and box.

    Boxes are [batch, box, 4] and scores [batch, class, box].
    """
    corners, given = tensor(boxes), tensor(scores)
    turns = 0 if most is None else sym_min(integer(most), given.shape[2])
    left = given
    if least_score is not None:
        left = torch.where(given > tensor(least_score).reshape(()), given, -torch.inf)
    if isinstance(turns, int) and turns <= 0:
        return torch.zeros(0, 3, dtype=torch.int64)
    threshold = torch.zeros(()) if overlap is None else tensor(overlap).reshape(())
    sides = _sides(corners, is_center=bool(node.attribute("center_point_box", 0)))

    def turn(left: torch.Tensor, _: torch.Tensor, *read: torch.Tensor) -> list[torch.Tensor]:
        """Takes the best box of each class that is left, and out what overlaps it."""
        low, high, threshold = read
        best = left.argmax(2)
        score = left.gather(2, best.unsqueeze(2))
        at = best.unsqueeze(2).expand(-1, -1, 2)
        own_low, own_high = (side.gather(1, at) for side in (low, high))
        overlaps = _overlap(own_low, own_high, low, high) > threshold
        places = torch.arange(left.shape[2])
        is_out = overlaps | (places == best.unsqueeze(2))
        return [torch.where(is_out, -torch.inf, left), best, (score > -torch.inf).squeeze(2)]

    read: Any = (*sides, threshold)
    left = left.clone(memory_format=torch.contiguous_format)
    _, chosen, is_there = scan_op(turn, [left], [torch.arange(turns)], read)
    chosen, is_there = (each.permute(1, 2, 0) for each in (chosen, is_there))
    found = is_there.nonzero()
    of_batch, of_class, number = found.unbind(1)
    return torch.stack([of_batch, of_class, chosen[of_batch, of_class, number]], 1)


def _sides(boxes: torch.Tensor, *, is_center: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The lower and the upper corner of each box."""
    one, other = boxes[..., :2], boxes[..., 2:]
    if is_center:
        return one - other / 2, one + other / 2
    return torch.minimum(one, other), torch.maximum(one, other)


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


PATTERNS: Mapping[str, Pattern] = {"NonMaxSuppression": _non_max_suppression}
