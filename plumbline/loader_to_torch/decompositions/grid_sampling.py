"""Images and volumes read at places that another tensor tells, and gradients of that."""

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from plumbline.loader_to_torch.decompositions.resampling_weights import cubic
from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten

_BILINEAR, _NEAREST = 0, 1
_ZEROS, _BORDER = 0, 1


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
    batch, channels, *_ = volume.shape
    total = None
    for corner in _corners(volume, grid, interpolation_mode, padding_mode, align_corners):
        read = _read(volume, _at(volume, corner))
        if interpolation_mode != _NEAREST:
            read = read * _product(near.weight for near in corner).unsqueeze(1)
        total = read if total is None else total + read
    assert total is not None
    return total.reshape(batch, channels, *grid.shape[1:-1])


def _grid_sampler_backward(
    grad: torch.Tensor,
    volume: torch.Tensor,
    grid: torch.Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[torch.Tensor | None, torch.Tensor]:
    """The gradients of the volume, if `output_mask` asks for it, and of the places."""
    batch, channels, *_ = volume.shape
    grad = grad.reshape(batch, channels, math.prod(grid.shape[1:-1]))
    indices, parts = [], []
    slopes = [torch.zeros_like(grad[:, 0]) for _ in range(grid.shape[-1])]
    for corner in _corners(volume, grid, interpolation_mode, padding_mode, align_corners):
        place = _at(volume, corner)
        weights = [near.weight for near in corner]
        indices.append(place.index)
        parts.append(torch.where(place.inside, grad * _product(weights).unsqueeze(1), 0.0))
        if interpolation_mode != _NEAREST:
            met = (_read(volume, place) * grad).sum(1)
            for dim, near in enumerate(corner):
                others = _product([near.slope, *weights[:dim], *weights[dim + 1 :]])
                slopes[dim] = slopes[dim] + met * others
    of_volume = None
    if output_mask[0]:
        nothing = torch.zeros_like(volume).reshape(batch, channels, -1)
        of_volume = nothing.scatter_add(2, torch.cat(indices, 2), torch.cat(parts, 2))
        of_volume = of_volume.reshape(volume.shape)
    # The last coordinate is of the first dimension.
    return of_volume, torch.stack(slopes[::-1], -1).reshape(grid.shape)


@dataclass(frozen=True)
class _Near:
    """What is read along one dimension for each coordinate, [N, count] all."""

    place: torch.Tensor
    """A whole number."""
    weight: torch.Tensor
    slope: torch.Tensor
    """Of the weight, as the coordinate grows."""


def _corners(
    volume: torch.Tensor,
    grid: torch.Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Iterable[tuple[_Near, ...]]:
    """All that is read for a place: something near along each dimension."""
    batch, _, *sizes = volume.shape
    coordinates = grid.reshape(batch, math.prod(grid.shape[1:-1]), len(sizes)).unbind(-1)
    neighbours = []
    for size, coordinate in zip(sizes, reversed(coordinates), strict=True):
        place, step = _place(coordinate, size, align_corners=align_corners)

        def inside(
            place: torch.Tensor, slope: float | torch.Tensor, size: int = size
        ) -> tuple[torch.Tensor, float | torch.Tensor]:
            return _padded(place, slope, size, padding_mode, align_corners=align_corners)

        if interpolation_mode == _NEAREST:
            place = torch.round(inside(place, step)[0])
            neighbours.append([_Near(place, torch.ones_like(place), torch.zeros_like(place))])
        elif interpolation_mode == _BILINEAR:
            neighbours.append(_two_neighbours(*inside(place, step)))
        else:
            # Each of the four is moved inside by itself.
            neighbours.append(
                [
                    _Near(inside(near.place, step)[0], near.weight, near.slope)
                    for near in _four_neighbours(place, step)
                ]
            )
    return itertools.product(*neighbours)


def _place(
    coordinate: torch.Tensor, size: int, *, align_corners: bool
) -> tuple[torch.Tensor, float]:
    """Where between elements a coordinate is, and how many of them it goes by as it grows by 1."""
    if align_corners:
        return (coordinate + 1) / 2 * (size - 1), (size - 1) / 2
    return ((coordinate + 1) * size - 1) / 2, size / 2


def _padded(
    place: torch.Tensor,
    slope: float | torch.Tensor,
    size: int,
    padding_mode: int,
    *,
    align_corners: bool,
) -> tuple[torch.Tensor, float | torch.Tensor]:
    """A place where what is outside is read, which stays outside where that is 0; and its slope."""
    if padding_mode == _ZEROS:
        return place, slope
    if padding_mode != _BORDER:
        place, slope = _reflected(place, slope, size, align_corners=align_corners)
    # What is no number is moved to the first element, as PyTorch does it.
    is_within = (place > 0) & (place < size - 1)
    place = torch.where(place > 0, torch.clamp(place, max=size - 1), 0.0)
    return place, torch.where(is_within, slope, 0.0)


def _reflected(
    place: torch.Tensor, slope: float | torch.Tensor, size: int, *, align_corners: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """A place turned back at both ends, as often as it takes, and its slope."""
    low, span = (0.0, size - 1.0) if align_corners else (-0.5, 1.0 * size)
    if span == 0:
        return torch.zeros_like(place), torch.zeros_like(place)
    rest = torch.remainder((place - low).abs(), 2 * span)
    turned = torch.where(rest > span, 2 * span - rest, rest) + low
    falls = (rest > span) ^ (place < low)
    return turned, torch.where(falls, -slope, slope)


def _two_neighbours(place: torch.Tensor, slope: float | torch.Tensor) -> list[_Near]:
    below = torch.floor(place)
    weight = place - below
    slope = slope * torch.ones_like(place)
    return [_Near(below, 1 - weight, -slope), _Near(below + 1, weight, slope)]


def _four_neighbours(place: torch.Tensor, slope: float) -> list[_Near]:
    below = torch.floor(place)
    rest = place - below
    return [
        _Near(
            below + step,
            cubic((rest - step).abs(), _CUBIC),
            slope * torch.sgn(rest - step) * _slope_of_cubic((rest - step).abs()),
        )
        for step in (-1, 0, 1, 2)
    ]


_CUBIC = -0.75
"""The parameter of the convolution kernel."""


def _slope_of_cubic(distance: torch.Tensor) -> torch.Tensor:
    near = (3 * (_CUBIC + 2) * distance - 2 * (_CUBIC + 3)) * distance
    far = ((3 * distance - 10) * distance + 8) * _CUBIC
    return torch.where(distance < 1, near, torch.where(distance < 2, far, 0.0))


def _product(factors: Iterable[torch.Tensor]) -> torch.Tensor:
    return functools.reduce(torch.mul, factors)


@dataclass(frozen=True)
class _At:
    """Where elements lie in a volume."""

    inside: torch.Tensor
    """Whether they are in it at all, [N, 1, count]."""
    index: torch.Tensor
    """Among those of a channel, [N, C, count]; outside, of the nearest."""


def _at(volume: torch.Tensor, corner: Sequence[_Near]) -> _At:
    batch, channels, *sizes = volume.shape
    inside = torch.ones_like(corner[0].place, dtype=torch.bool)
    flat = torch.zeros_like(corner[0].place, dtype=torch.int64)
    for near, size in zip(corner, sizes, strict=True):
        inside = inside & (near.place >= 0) & (near.place <= size - 1)
        # Bounds on whole numbers tell that there is such an element: nobody has to look.
        flat = flat * size + torch.clamp(near.place.to(torch.int64), 0, size - 1)
    # A place that is no number is outside, too.
    index = flat.unsqueeze(1).expand(batch, channels, flat.shape[1])
    return _At(inside.unsqueeze(1), index)


def _read(volume: torch.Tensor, place: _At) -> torch.Tensor:
    """The elements at places, [N, C, count]; 0 outside."""
    batch, channels, *sizes = volume.shape
    read = volume.reshape(batch, channels, math.prod(sizes)).gather(2, place.index)
    return torch.where(place.inside, read, 0.0)


RULES: Rules = {
    aten.grid_sampler_2d.default: _grid_sampler,
    aten.grid_sampler_2d_backward.default: _grid_sampler_backward,
    aten.grid_sampler_3d.default: _grid_sampler,
    aten.grid_sampler_3d_backward.default: _grid_sampler_backward,
}
