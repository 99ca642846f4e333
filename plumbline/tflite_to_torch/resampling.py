"""Images of other sizes, whose channels come last."""

import math
from collections.abc import Mapping

import torch
from torch.nn import functional as F  # noqa: N812

from plumbline.tflite_to_torch.convolution import channels_first, channels_last
from plumbline.tflite_to_torch.node import Node, Pattern
from plumbline.tflite_to_torch.tensors import Operand

_FIRST, _LAST = channels_first(4), channels_last(4)


def _bilinear(node: Node, x: Operand, sizes: Operand) -> torch.Tensor:
    heights, widths = node.numbers(1)
    aligned = bool(node.option("AlignCorners", False))
    if aligned or node.option("HalfPixelCenters", False):
        image = x.permuted(_FIRST).real
        result = F.interpolate(image, (heights, widths), mode="bilinear", align_corners=aligned)
        return node.store(result.permute(_LAST))
    real = x.real
    for axis, size in ((1, heights), (2, widths)):
        real = _between(real, axis, size)
    return node.store(real)


def _between(x: torch.Tensor, axis: int, size: int) -> torch.Tensor:
    """Along an axis, where the first of what is made is the first of what there is."""
    length = x.shape[axis]
    places = [place * length / size for place in range(size)]
    before = [min(math.floor(place), length - 1) for place in places]
    behind = [min(place + 1, length - 1) for place in before]
    parts = torch.tensor([place - first for place, first in zip(places, before, strict=True)])
    share = parts.reshape([-1 if dim == axis else 1 for dim in range(x.ndim)])
    first, second = (x.index_select(axis, torch.tensor(each)) for each in (before, behind))
    return first + (second - first) * share


def _nearest(node: Node, x: Operand, sizes: Operand) -> torch.Tensor:
    stored = node.converted(x)
    aligned = bool(node.option("AlignCorners", False))
    offset = 0.5 if node.option("HalfPixelCenters", False) else 0.0
    for axis, size in zip((1, 2), node.numbers(1), strict=True):
        length = stored.shape[axis]
        scale = (length - 1) / (size - 1) if aligned and size > 1 else length / size
        places = [(place + offset) * scale for place in range(size)]
        # A half of a place is the next one.
        nearest = [math.floor(place + 0.5) if aligned else math.floor(place) for place in places]
        indices = torch.tensor([min(place, length - 1) for place in nearest])
        stored = stored.index_select(axis, indices)
    return stored


PATTERNS: Mapping[str, Pattern] = {
    "RESIZE_BILINEAR": _bilinear,
    "RESIZE_NEAREST_NEIGHBOR": _nearest,
}
