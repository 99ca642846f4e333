"""Suppression of boxes that overlap, as detectors of objects end."""

from collections.abc import Mapping

import torch

from plumbline.loader_to_torch.best_boxes import best_boxes
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

    def remaining(
        left: torch.Tensor, overlaps: torch.Tensor, threshold: torch.Tensor
    ) -> torch.Tensor:
        return torch.where(overlaps > threshold, -torch.inf, left)

    chosen, found_scores = best_boxes(left, *sides, turns, remaining, (threshold,))
    found = (found_scores > -torch.inf).nonzero()
    of_batch, of_class, number = found.unbind(1)
    return torch.stack([of_batch, of_class, chosen[of_batch, of_class, number]], 1)


def _sides(boxes: torch.Tensor, *, is_center: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The lower and the upper corner of each box."""
    one, other = boxes[..., :2], boxes[..., 2:]
    if is_center:
        return one - other / 2, one + other / 2
    return torch.minimum(one, other), torch.maximum(one, other)


PATTERNS: Mapping[str, Pattern] = {"NonMaxSuppression": _non_max_suppression}
