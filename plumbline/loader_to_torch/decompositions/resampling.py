"""Images and volumes of other sizes, which are read between their elements."""

import functools
import math
import struct
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import decomposition_table

from plumbline.loader_to_torch.decompositions.rule import Rule, Rules

aten = torch.ops.aten

# -- sizes changed with a filter -------------------------------------------------------------------


_Filter = Callable[[torch.Tensor], torch.Tensor]
"""The weight of what lies at a distance from the middle, in new elements or old ones, whichever are
greater."""


_FEW_TAPS = 24
"""Up to how many old elements that count for a new one are read one by one.

With more of them than that a product with a matrix, most of which is zeros, is as fast.
"""


def _with_filter(filter_: _Filter, reach: int) -> Rule:
    """Each new element the mean of the old ones below a filter, that widens as they get more.

    Args:
      filter_: the weights.
      reach: the distance beyond which they are 0.
    """

    def decomposed(
        image: torch.Tensor,
        output_size: list[int],
        align_corners: bool,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> torch.Tensor:
        # The places too are rounded as PyTorch does it: where an element begins to count, it shows.
        wide = torch.float64 if image.dtype == torch.float64 else torch.float32
        resampled = image.to(wide)
        # Rows first, of which there are fewer then to take the columns of.
        for axis, new, scale in zip((-2, -1), output_size, (scales_h, scales_w), strict=True):
            old = image.shape[axis]
            step = _step(old, new, scale, wide, align_corners=align_corners)
            resampled = _resampled(resampled, axis, new, filter_, reach, step)
        return resampled.to(image.dtype)

    return decomposed


def _triangle(distance: torch.Tensor) -> torch.Tensor:
    return torch.clamp(1 - distance, min=0)


def cubic(distance: torch.Tensor, a: float = -0.5) -> torch.Tensor:
    """Keys' convolution kernel, with a of -1/2, which is Pillow's, or PyTorch's own -3/4."""
    near = (((a + 2) * distance - (a + 3)) * distance) * distance + 1
    far = (((distance - 5) * distance + 8) * distance - 4) * a
    return torch.where(distance < 1, near, torch.where(distance < 2, far, 0.0))


def _step(
    old: int, new: int, scale: float | None, dtype: torch.dtype, *, align_corners: bool
) -> float | torch.Tensor:
    """How many old elements lie between the middles of two new ones.

    A tensor of rank 0 if it is not known before it runs, since a size is not.
    """
    # The middles of the first and of the last elements lie on each other, or else the edges do.
    size, gaps = (old - 1, new - 1) if align_corners else (old, new)
    if scale and not align_corners:
        step = 1 / scale
    elif isinstance(size, torch.SymInt) or isinstance(gaps, torch.SymInt):
        wide, parts = (torch.full((), number, dtype=dtype) for number in (size, gaps))
        return torch.where(parts > 0, wide / parts, 0.0)
    else:
        step = size / gaps if gaps else 0.0
    if dtype == torch.float32:
        [step] = struct.unpack("f", struct.pack("f", step))
    return step


def _resampled(
    image: torch.Tensor,
    axis: int,
    new: int,
    filter_: _Filter,
    reach: int,
    step: float | torch.Tensor,
) -> torch.Tensor:
    """An image with `new` elements along an axis, which is one of the last two."""
    old = image.shape[axis]
    unit = max(step, 1.0) if isinstance(step, float) else torch.clamp(step, min=1.0)
    centers = (torch.arange(new, dtype=image.dtype) + 0.5) * step
    # What counts are whole elements from the one where the filter begins to where it ends.
    radius = reach * unit
    first = torch.clamp((centers - radius + 0.5).to(torch.int64), min=0)
    end = torch.clamp((centers + radius + 0.5).to(torch.int64), max=old)
    taps = math.ceil(2 * radius) + 1 if isinstance(radius, float) else None
    if taps is not None and taps <= _FEW_TAPS:
        places = first.unsqueeze(-1) + torch.arange(taps)
    else:
        taps, places = None, torch.arange(old).expand(new, old)
    inside = (places >= first.unsqueeze(-1)) & (places < end.unsqueeze(-1))
    distances = (places.to(image.dtype) + 0.5 - centers.unsqueeze(-1)).abs() / unit
    weights = torch.where(inside, filter_(distances), 0.0)
    weights = weights / weights.sum(-1, keepdim=True)
    if taps is None:
        return weights @ image if axis == -2 else image @ weights.transpose(0, 1)
    shape = (new, 1) if axis == -2 else (new,)
    read = (
        image.index_select(axis, torch.clamp(place, max=old - 1)) * weight.reshape(shape)
        for place, weight in zip(places.unbind(-1), weights.unbind(-1), strict=True)
    )
    return functools.reduce(torch.add, read)


# -- gradients of sizes changed --------------------------------------------------------------------


_Forward = Callable[..., torch.Tensor]
"""Gives images [1, batch, height, 1] a new height: of those, the height, how often it holds the old
one, if that is told, and whether corners are aligned, if that is asked."""


def _by_overload(op: Any) -> _Forward:
    """By the one of the overloads that PyTorch takes apart."""

    def forward(rows: torch.Tensor, new: int, scale: float | None, *corners: bool) -> torch.Tensor:
        told = (None, *corners, [scale, 1.0]) if scale else ([new, 1], *corners, None)
        result: torch.Tensor = op(rows, *told)
        return result

    return forward


def _by_rule(rule: Rule) -> _Forward:
    """By a rule, as PyTorch's op takes the elements of images of width 1 for ones of channels."""

    def forward(rows: torch.Tensor, new: int, scale: float | None, *corners: bool) -> torch.Tensor:
        result: torch.Tensor = rule(rows, [new, 1], *corners, scale)
        return result

    return forward


def _backward(forward: _Forward, *, has_corners: bool) -> Rule:
    """The rule of the gradient of resampling, which does to each dimension what it does to one.

    Each new element is a sum of old ones, with weights for each dimension. What `forward` makes of
    an image with one 1 in each row tells all weights of a dimension.

    Args:
      forward: resamples images.
      has_corners: whether it is told if corners are aligned.
    """

    def decomposed(
        grad: torch.Tensor, output_size: list[int], input_size: list[int], *options: Any
    ) -> torch.Tensor:
        corners, scales = (options[:1], options[1:]) if has_corners else ((), options)
        # Half precision is added up in float32.
        wide = torch.promote_types(grad.dtype, torch.float32)
        found = grad.to(wide)
        for place, (old, new) in enumerate(zip(input_size[2:], output_size, strict=True)):
            scale = scales[place] if place < len(scales) else None
            rows = torch.eye(old, dtype=wide).reshape(1, old, old, 1)
            weights = forward(rows, new, scale, *corners).reshape(old, new)
            axis = place + 2
            found = (found.movedim(axis, -1) @ weights.mT).movedim(-1, axis)
        return found.to(grad.dtype)

    return decomposed


_LINEAR = _backward(_by_overload(aten.upsample_bilinear2d.vec), has_corners=True)
_NEAREST_OF_ALL = _backward(_by_overload(aten.upsample_nearest2d.vec), has_corners=False)
_NEAREST_EXACT = _backward(_by_overload(aten._upsample_nearest_exact2d.vec), has_corners=False)
_CUBIC_FILTER = _with_filter(cubic, 2)
_TRIANGLE_FILTER = _with_filter(_triangle, 1)

RULES: Rules = {
    # The one of its kind that is not in torch-mlir's table: what it makes of the op computes places
    # anew for each element, and sizes that follow from no others.
    aten.upsample_nearest2d.vec: decomposition_table[aten.upsample_nearest2d.vec],
    aten._upsample_nearest_exact1d_backward.default: _NEAREST_EXACT,
    aten._upsample_nearest_exact2d_backward.default: _NEAREST_EXACT,
    aten._upsample_nearest_exact3d_backward.default: _NEAREST_EXACT,
    aten.upsample_bicubic2d_backward.default: _backward(
        _by_overload(aten.upsample_bicubic2d.vec), has_corners=True
    ),
    aten.upsample_bilinear2d_backward.default: _LINEAR,
    aten.upsample_linear1d_backward.default: _LINEAR,
    aten.upsample_nearest1d_backward.default: _NEAREST_OF_ALL,
    aten.upsample_nearest2d_backward.default: _NEAREST_OF_ALL,
    aten.upsample_nearest3d_backward.default: _NEAREST_OF_ALL,
    aten.upsample_trilinear3d_backward.default: _LINEAR,
    aten._upsample_bicubic2d_aa.default: _CUBIC_FILTER,
    aten._upsample_bilinear2d_aa.default: _TRIANGLE_FILTER,
    aten._upsample_bicubic2d_aa_backward.default: _backward(
        _by_rule(_CUBIC_FILTER), has_corners=True
    ),
    aten._upsample_bilinear2d_aa_backward.default: _backward(
        _by_rule(_TRIANGLE_FILTER), has_corners=True
    ),
}
