"""The end of detectors of objects: of boxes that overlap, the best stay."""

from collections.abc import Mapping

import torch
from torch.nn.functional import pad

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.best_boxes import best_boxes
from plumbline.tflite_to_torch.custom_options import CustomOptions
from plumbline.tflite_to_torch.model_file import CUSTOM
from plumbline.tflite_to_torch.node import Node, Pattern
from plumbline.tflite_to_torch.tensors import Operand


def _suppressed(
    node: Node, boxes: Operand, scores: Operand, *_: Operand
) -> tuple[torch.Tensor, ...]:
    """The numbers of the boxes that stay, their scores, and how many these are.

    Boxes are [box, 4], two corners that are opposite, and scores [box]. A box without an area stays
    once, as in TensorFlow; LiteRT takes it again and again.
    """
    most = node.number(2)
    threshold, least = float(node.number(3)), float(node.number(4))
    sigma = float(node.number(5)) if len(node.inputs) > 5 else 0.0
    given = scores.real
    turns = min(most, given.shape[0])
    if turns <= 0:
        raise Unsupported(f"it keeps {turns} boxes")
    corners = boxes.real.reshape(-1, 2, 2)

    def remaining(left: torch.Tensor, overlaps: torch.Tensor) -> torch.Tensor:
        if sigma > 0:
            fewer = left * torch.exp(overlaps * overlaps * (-0.5 / sigma))
            left = torch.where(fewer > least, fewer, -torch.inf)
        return torch.where(overlaps >= threshold, -torch.inf, left)

    candidates = torch.where(given > least, given, -torch.inf).reshape(1, 1, -1)
    taken, found = (
        each.reshape(-1)
        for each in best_boxes(
            candidates, corners.amin(1)[None], corners.amax(1)[None], turns, remaining
        )
    )
    is_there = found > -torch.inf
    added = (0, most - turns)
    return (
        pad(torch.where(is_there, taken, 0), added).to(torch.int32),
        pad(torch.where(is_there, found, 0), added),
        is_there.sum().to(torch.int32),
    )


def _suppressed_without_scores(node: Node, *operands: Operand) -> tuple[torch.Tensor, torch.Tensor]:
    numbers, _, count = _suppressed(node, *operands)
    return numbers, count


def _detected(
    node: Node, encodings: Operand, predictions: Operand, anchors: Operand
) -> tuple[torch.Tensor, ...]:
    """Boxes, what they are of, their scores, and how many there are; zeros come behind these.

    A box that may be of several things stands there for each, and counts once.

    Encodings are [1, box, 4], predictions [1, box, class], maybe with those of the background
    before the others, and anchors [box, 4]: what encodings are relative to.
    """
    options = CustomOptions(node.options)
    corners = _corners(options, encodings.real.squeeze(0), anchors.real)
    scores, classes = predictions.real.squeeze(0), options.integer("num_classes")
    if not 0 <= scores.shape[1] - classes <= 1:
        raise Unsupported(f"it has scores of {scores.shape[1]} classes, where it is of {classes}")
    scores = scores[:, scores.shape[1] - classes :]
    detected = _of_each_class if options.integer("use_regular_nms", 0) else _of_each_box
    box, of_class, score = detected(options, corners, scores)
    is_there = score > -torch.inf
    values = (corners[box], of_class.to(torch.float32), score)
    boxes, kinds, kept = (
        torch.where(is_there.reshape(-1, *[1] * (each.ndim - 1)), each, 0)[None] for each in values
    )
    of_each = len(box) // options.integer("max_detections")
    count = is_there[::of_each].sum(0, keepdim=True).to(torch.float32)
    return boxes, kinds, kept, count


def _corners(
    options: CustomOptions, encodings: torch.Tensor, anchors: torch.Tensor
) -> torch.Tensor:
    """The lower and the upper corner of each box, [box, 4]."""
    sides = []
    for axis, (center, size) in enumerate((("y_scale", "h_scale"), ("x_scale", "w_scale"))):
        at, extent = anchors[:, axis], anchors[:, axis + 2]
        middle = encodings[:, axis] / options.real(center) * extent + at
        half = 0.5 * torch.exp(encodings[:, axis + 2] / options.real(size)) * extent
        sides.append((middle - half, middle + half))
    (top, bottom), (left, right) = sides
    return torch.stack([top, left, bottom, right], 1)


Rows = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""The numbers of boxes, what they are of, and their scores, -inf where there is none."""


def _of_each_class(options: CustomOptions, corners: torch.Tensor, scores: torch.Tensor) -> Rows:
    """The best boxes of all classes, of which those of each do not overlap."""
    most = options.integer("max_detections")
    of_each = min(most, options.integer("detections_per_class", 100))
    taken, found = _best(options, corners, scores, of_each)
    ranked, places = found.reshape(-1).sort(descending=True, stable=True)
    places, added = places[:most], (0, max(most - len(places), 0))
    boxes, classes = taken.reshape(-1)[places], places // taken.shape[1]
    return pad(boxes, added), pad(classes, added), pad(ranked[:most], added, value=-torch.inf)


def _of_each_box(options: CustomOptions, corners: torch.Tensor, scores: torch.Tensor) -> Rows:
    """The best classes of each of the best boxes, which do not overlap, whatever they are of."""
    most, of_each = options.integer("max_detections"), options.integer("max_classes_per_detection")
    # Of equal scores the first comes first, which `topk` does not promise.
    ranked, classes = scores.sort(dim=1, descending=True, stable=True)
    ranked, classes = ranked[:, :of_each], classes[:, :of_each]
    taken, found = (each.squeeze(0) for each in _best(options, corners, ranked[:, :1], most))
    kept = torch.where(found[:, None] > -torch.inf, ranked[taken], -torch.inf)
    added = (0, of_each - kept.shape[1], 0, most - len(taken))
    boxes = taken[:, None].expand_as(kept)
    return (
        pad(boxes, added).reshape(-1),
        pad(classes[taken], added).reshape(-1),
        pad(kept, added, value=-torch.inf).reshape(-1),
    )


def _best(
    options: CustomOptions, corners: torch.Tensor, scores: torch.Tensor, most: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The best boxes by each of some scores, [box, score], and these: [score, turn]."""
    turns = min(most, len(corners))
    if turns <= 0:
        raise Unsupported(f"it keeps {turns} boxes")
    threshold = options.real("nms_iou_threshold")
    if not 0 < threshold <= 1:
        raise Unsupported(f"boxes may have {threshold} in common, where it takes up to 1")
    # A score as large as the least is enough.
    candidates = torch.where(scores >= options.real("nms_score_threshold"), scores, -torch.inf)

    def remaining(left: torch.Tensor, overlaps: torch.Tensor) -> torch.Tensor:
        return torch.where(overlaps > threshold, -torch.inf, left)

    low, high = corners[None, :, :2], corners[None, :, 2:]
    taken, found = best_boxes(candidates.T[None], low, high, turns, remaining)
    return taken.squeeze(0), found.squeeze(0)


PATTERNS: Mapping[str, Pattern] = {
    f"{CUSTOM} TFLite_Detection_PostProcess": _detected,
    "NON_MAX_SUPPRESSION_V4": _suppressed_without_scores,
    "NON_MAX_SUPPRESSION_V5": _suppressed,
}
