"""Images and volumes read between their elements."""

import functools
import itertools
import math
import struct
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import decomposition_table

from plumbline.loader_to_torch.decompositions.rule import Rule, Rules

aten = torch.ops.aten

_BILINEAR, _NEAREST = 0, 1
_ZEROS, _BORDER = 0, 1


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


def _cubic(distance: torch.Tensor, a: float = -0.5) -> torch.Tensor:
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


# -- a place for each element ----------------------------------------------------------------------


def _grid_sampler(
    volume: torch.Tensor,
    grid: torch.Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> torch.Tensor:
    """The elements of [N, C, D, H, W] at the places (x, y, z) from -1 to 1 of [N, d, h, w, 3].

    So of images, [N, C, H, W], at (x, y). Places and weights are the same for all channels, and
    have no dimension of those, nor more than one of places, which all channels go through at once.
    """
    batch, channels, *sizes = volume.shape
    places = grid.shape[1:-1]

    def inside(place: torch.Tensor, size: int) -> torch.Tensor:
        return _padded(place, size, padding_mode, align_corners=align_corners)

    coordinates = grid.reshape(batch, math.prod(places), len(sizes)).unbind(-1)
    # The last coordinate is of the first dimension.
    neighbours = []
    for size, coordinate in zip(sizes, reversed(coordinates), strict=True):
        place = _place(coordinate, size, align_corners=align_corners)
        if interpolation_mode == _NEAREST:
            place = torch.round(inside(place, size))
            neighbours.append([(place, torch.ones_like(place))])
        elif interpolation_mode == _BILINEAR:
            neighbours.append(_two_neighbours(inside(place, size)))
        else:
            # Each of the four is moved inside by itself.
            neighbours.append(
                [(inside(near, size), weight) for near, weight in _four_neighbours(place)]
            )
    total = None
    for corner in itertools.product(*neighbours):
        read = _read(volume, [place for place, _ in corner])
        if interpolation_mode != _NEAREST:
            read = read * functools.reduce(torch.mul, (weight for _, weight in corner)).unsqueeze(1)
        total = read if total is None else total + read
    assert total is not None
    return total.reshape(batch, channels, *places)


def _place(coordinate: torch.Tensor, size: int, *, align_corners: bool) -> torch.Tensor:
    if align_corners:
        return (coordinate + 1) / 2 * (size - 1)
    return ((coordinate + 1) * size - 1) / 2


def _padded(
    place: torch.Tensor, size: int, padding_mode: int, *, align_corners: bool
) -> torch.Tensor:
    """A place where what is outside is read, which stays outside where that is 0."""
    if padding_mode == _ZEROS:
        return place
    if padding_mode != _BORDER:
        place = _reflected(place, size, align_corners=align_corners)
    # What is no number is moved to the first element, as PyTorch does it.
    return torch.where(place > 0, torch.clamp(place, max=size - 1), 0.0)


def _reflected(place: torch.Tensor, size: int, *, align_corners: bool) -> torch.Tensor:
    """A place turned back at both ends, as often as it takes."""
    low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
    if span == 0:
        return torch.zeros_like(place)
    rest = torch.remainder((place - low).abs(), 2 * span)
    return torch.where(rest > span, 2 * span - rest, rest) + low


_Neighbours = list[tuple[torch.Tensor, torch.Tensor]]
"""Whole places along a dimension, and the weight of each."""


def _two_neighbours(place: torch.Tensor) -> _Neighbours:
    below = torch.floor(place)
    weight = place - below
    return [(below, 1 - weight), (below + 1, weight)]


def _four_neighbours(place: torch.Tensor) -> _Neighbours:
    below = torch.floor(place)
    rest = place - below
    return [(below + step, _cubic((rest - step).abs(), -0.75)) for step in (-1, 0, 1, 2)]


def _read(volume: torch.Tensor, places: list[torch.Tensor]) -> torch.Tensor:
    """The elements at whole places, each [N, count]: [N, C, count]; 0 outside."""
    batch, channels, *sizes = volume.shape
    inside = torch.ones_like(places[0], dtype=torch.bool)
    flat = torch.zeros_like(places[0], dtype=torch.int64)
    for place, size in zip(places, sizes, strict=True):
        # A place that is no number is outside, too.
        inside = inside & (place >= 0) & (place <= size - 1)
        # Bounds on whole numbers tell that there is such an element: nobody has to look.
        flat = flat * size + torch.clamp(place.to(torch.int64), 0, size - 1)
    index = flat.unsqueeze(1).expand(batch, channels, flat.shape[1])
    read = volume.reshape(batch, channels, math.prod(sizes)).gather(2, index)
    return torch.where(inside.unsqueeze(1), read, 0.0)


# -- gradients of sizes changed --------------------------------------------------------------------


def _backward(forward: Rule, *, has_corners: bool) -> Rule:
    """The rule of the gradient of resampling, which does to each dimension what it does to one.

    Each new element is a sum of old ones, with weights for each dimension. What `forward` makes of
    an image with one 1 in each row tells all weights of a dimension.

    Args:
      forward: resamples images, [batch, channels, height, width].
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
            told = (None, *corners, [scale, 1.0]) if scale else ([new, 1], *corners, None)
            weights = forward(rows, *told).reshape(old, new)
            axis = place + 2
            found = (found.movedim(axis, -1) @ weights.mT).movedim(-1, axis)
        return found.to(grad.dtype)

    return decomposed


_LINEAR = _backward(aten.upsample_bilinear2d.vec, has_corners=True)
_NEAREST_OF_ALL = _backward(aten.upsample_nearest2d.vec, has_corners=False)
_NEAREST_EXACT = _backward(aten._upsample_nearest_exact2d.vec, has_corners=False)

RULES: Rules = {
    # The one of its kind that is not in torch-mlir's table: what it makes of the op computes places
    # anew for each element, and sizes that follow from no others.
    aten.upsample_nearest2d.vec: decomposition_table[aten.upsample_nearest2d.vec],
    aten._upsample_nearest_exact1d_backward.default: _NEAREST_EXACT,
    aten._upsample_nearest_exact2d_backward.default: _NEAREST_EXACT,
    aten._upsample_nearest_exact3d_backward.default: _NEAREST_EXACT,
    aten.upsample_bicubic2d_backward.default: _backward(
        aten.upsample_bicubic2d.vec, has_corners=True
    ),
    aten.upsample_bilinear2d_backward.default: _LINEAR,
    aten.upsample_linear1d_backward.default: _LINEAR,
    aten.upsample_nearest1d_backward.default: _NEAREST_OF_ALL,
    aten.upsample_nearest2d_backward.default: _NEAREST_OF_ALL,
    aten.upsample_nearest3d_backward.default: _NEAREST_OF_ALL,
    aten.upsample_trilinear3d_backward.default: _LINEAR,
    aten._upsample_bicubic2d_aa.default: _with_filter(_cubic, 2),
    aten._upsample_bilinear2d_aa.default: _with_filter(_triangle, 1),
    aten.grid_sampler_2d.default: _grid_sampler,
    aten.grid_sampler_3d.default: _grid_sampler,
}
