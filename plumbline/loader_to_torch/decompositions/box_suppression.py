"""Boxes of which those that overlap better ones are left out: torchvision's `nms`."""

import math

import numpy as np
import torch
from torch._higher_order_ops.while_loop import while_loop_op
from torch.nn.functional import pad

from plumbline.loader_to_torch.decompositions.rule import Rules, rules_of_library

aten = torch.ops.aten


def _kept(
    boxes: torch.Tensor, scores: torch.Tensor, labels: torch.Tensor, iou_threshold: float
) -> torch.Tensor:
    """The boxes that stay, better ones first: those that no better one which stays overlaps.

    That is by more than `iou_threshold` of what both cover together. A turn of the loop is for one
    box that stays: all others are told at once whether they still may.

    Args:
      boxes: two corners of each, [n, 4].
      scores: how good they are, [n].
      labels: what they are of, [n]: boxes of another thing may overlap.
      iou_threshold: of two areas, how much may be shared.
    """
    order = torch.sort(scores, stable=True, descending=True).indices
    # A box more, which overlaps none: there always is a following one.
    sorted_ = pad(_wide(boxes).index_select(0, order), (0, 0, 0, 1), value=math.nan)
    labels = pad(labels.index_select(0, order), (0, 1))
    corners = [corner.contiguous() for corner in sorted_.unbind(1)]
    left, top, right, bottom = corners
    areas = (right - left) * (bottom - top)
    bound = _largest_not_above(iou_threshold, sorted_.dtype)

    def goes_on(
        place: torch.Tensor, left_out: torch.Tensor, *operands: torch.Tensor
    ) -> torch.Tensor:
        return place < left_out.shape[0] - 1

    def turn(
        place: torch.Tensor,
        left_out: torch.Tensor,
        stays: torch.Tensor,
        places: torch.Tensor,
        *given: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        left, top, right, bottom, areas, labels = given
        at = place.reshape(1)
        own = [each.index_select(0, at).squeeze(0) for each in given]
        width = torch.minimum(own[2], right) - torch.maximum(own[0], left)
        height = torch.minimum(own[3], bottom) - torch.maximum(own[1], top)
        shared = width.clamp(min=0) * height.clamp(min=0)
        overlaps = shared / (own[4] + areas - shared) > bound
        left_out = left_out | (overlaps & (labels == own[5])) | (places <= place)
        following = torch.where(left_out, left_out.shape[0], places).amin()
        return following, left_out, stays | (places == place)

    places = torch.arange(sorted_.shape[0])
    none = torch.zeros_like(places, dtype=torch.bool)
    start = (torch.zeros((), dtype=torch.int64), none, none.clone())
    given = (places, *corners, areas, labels)
    _, _, stays = while_loop_op(goes_on, turn, start, given)  # type: ignore[arg-type]
    kept: torch.Tensor = aten.nonzero.default(stays).squeeze(1)
    return order.index_select(0, kept)


def _wide(boxes: torch.Tensor) -> torch.Tensor:
    return boxes if boxes.dtype == torch.float64 else boxes.to(torch.float32)


def _largest_not_above(bound: float, dtype: torch.dtype) -> float:
    """A bound that numbers of a dtype are above where they, as doubles, are above the given one."""
    if dtype == torch.float64:
        return bound
    rounded = np.float32(bound)
    return float(rounded if rounded <= bound else np.nextafter(rounded, np.float32(-math.inf)))


def _nms(dets: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    return _kept(dets, scores, torch.zeros_like(scores, dtype=torch.int8), iou_threshold)


batched_nms = torch.library.custom_op("plumbline::batched_nms", _kept, mutates_args=())
"""The same as torchvision's function of that name, which is no op."""


@batched_nms.register_fake
def _some(
    boxes: torch.Tensor, scores: torch.Tensor, labels: torch.Tensor, iou_threshold: float
) -> torch.Tensor:
    count = torch.library.get_ctx().new_dynamic_size(max=None)
    return scores.new_empty(count, dtype=torch.int64)


def rules_of_registered() -> Rules:
    """The rules of our op, and of torchvision's, if there is one."""
    return {
        batched_nms._opoverload: _kept,
        **rules_of_library("torchvision", {"nms": _nms}),
    }
