"""Ops of ONNX that sample a tensor at places between its elements."""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, integers, shape_of, sym_max, sym_min, tensor

_LINEAR = ("linear", "bilinear", "trilinear")
"""What PyTorch calls it by the number of dimensions, from 1 on."""


@dataclass(frozen=True)
class _Axis:
    """A dimension that is resized."""

    number: int
    size: Any
    resized: Any
    """The size that it gets."""
    scale: Any
    """By how much coordinates are scaled: by a little more, where `resized` is rounded down."""
    is_exact: bool
    """Whether `resized` is known not to be rounded."""
    start: Any = 0
    """Where in it the part begins that is taken, from 0 to 1, with `tf_crop_and_resize`."""
    end: Any = 1

    @property
    def stays(self) -> bool:
        """Whether it is known to be as it was."""
        numbers = (self.scale, self.start, self.end)
        return self.is_exact and all(map(_is_known, numbers)) and numbers == (1, 0, 1)

    @property
    def is_repeated(self) -> bool:
        """Whether each element is known to be there so many times."""
        return _is_known(self.scale) and self.is_exact and float(self.scale).is_integer()


def _is_known(number: Any) -> bool:
    return isinstance(number, int | float)


@dataclass(frozen=True)
class _Resampling:
    """How elements are computed of those that are there."""

    mode: str
    transformation: str
    """How coordinates are those of what is resized."""
    nearest_mode: str = "round_prefer_floor"
    antialias: bool = False
    cubic_coefficient: float = -0.75
    exclude_outside: bool = False
    """Whether elements that are not there have no weight; else they are as those at the edge."""
    extrapolation_value: float = 0.0


def _resize(node: Node, data: Value, *given: Value) -> torch.Tensor:
    x = tensor(data)
    if node.opset < 11:
        (scales,) = given
        return _resampled(x, _scaled(x, range(x.ndim), integers(scales)), _oldest(node))
    roi, scales, sizes = (*given, None, None, None)[:3]
    how = _Resampling(
        node.attribute("mode", "nearest"),
        node.attribute("coordinate_transformation_mode", "half_pixel"),
        node.attribute("nearest_mode", "round_prefer_floor"),
        bool(node.attribute("antialias", 0)),
        node.attribute("cubic_coeff_a", -0.75),
        bool(node.attribute("exclude_outside", 0)),
        node.attribute("extrapolation_value", 0.0),
    )
    along = [axis % x.ndim for axis in node.attribute("axes", list(range(x.ndim)))]
    if _is_given(scales):
        axes = _scaled(x, along, integers(scales))
    elif _is_given(sizes):
        policy = node.attribute("keep_aspect_ratio_policy", "stretch")
        axes = _sized(x, along, integers(sizes), policy)
    else:
        raise Unsupported("it is given neither scales nor sizes")
    if how.transformation == "tf_crop_and_resize":
        corners = integers(roi)
        parts = zip(axes, corners[: len(axes)], corners[len(axes) :], strict=True)
        axes = [dataclasses.replace(axis, start=start, end=end) for axis, start, end in parts]
    return _resampled(x, axes, how)


def _is_given(value: Value) -> bool:
    """Whether an input is there: of scales and sizes, the one that is not may be empty."""
    return value is not None and math.prod(shape_of(value)) != 0


def _upsample(node: Node, data: Value, scales: Value = None) -> torch.Tensor:
    x = tensor(data)
    if node.opset < 7:
        by = [1.0, 1.0, node.required("height_scale"), node.required("width_scale")]
    else:
        by = node.integers("scales", scales) or []
    return _resampled(x, _scaled(x, range(x.ndim), by), _oldest(node))


def _oldest(node: Node) -> _Resampling:
    return _Resampling(node.attribute("mode", "nearest"), "asymmetric", "simple")


def _scaled(x: torch.Tensor, along: Iterable[int], scales: Sequence[Any]) -> list[_Axis]:
    axes = []
    for number, scale in zip(along, scales, strict=True):
        size = x.shape[number]
        if _is_known(scale) and float(scale).is_integer():
            axes.append(_Axis(number, size, size * int(scale), scale, is_exact=True))
            continue
        length = size * scale
        whole = math.floor(length)
        is_exact = _is_known(length) and length == whole
        axes.append(_Axis(number, size, whole, scale, is_exact))
    return axes


def _sized(x: torch.Tensor, along: Sequence[int], sizes: Sequence[Any], policy: str) -> list[_Axis]:
    scales = [size / x.shape[number] for number, size in zip(along, sizes, strict=True)]
    if policy == "stretch":
        return [
            _Axis(number, x.shape[number], size, scale, is_exact=True)
            for number, size, scale in zip(along, sizes, scales, strict=True)
        ]
    scale = functools.reduce(sym_min if policy == "not_larger" else sym_max, scales)
    return [
        _Axis(number, x.shape[number], math.floor(scale * x.shape[number] + 0.5), scale, False)
        for number in along
    ]


def _resampled(x: torch.Tensor, resized: Sequence[_Axis], how: _Resampling) -> torch.Tensor:
    """`x` with each dimension resized."""
    axes = [axis for axis in resized if not axis.stays]
    if (interpolated := _interpolated(x, axes, how)) is not None:
        return interpolated
    if how.mode == "nearest":
        for axis in axes:
            x = _nearest(x, axis, how)
        return x
    is_precise = x.dtype in (torch.float32, torch.float64)
    y = x if is_precise else x.to(torch.float32)
    for axis in axes:
        y = _weighted(y, axis, how)
    if not x.dtype.is_floating_point:
        bounds = torch.iinfo(x.dtype)
        y = y.clamp(bounds.min, bounds.max)
    return y.to(x.dtype)


def _interpolated(x: torch.Tensor, axes: Sequence[_Axis], how: _Resampling) -> torch.Tensor | None:
    """What PyTorch's own function gives, where it means the same; else None."""
    rank = x.ndim - 2
    if not 1 <= rank <= 3 or any(axis.number < 2 or not axis.is_exact for axis in axes):
        return None
    sizes = list(x.shape[2:])
    for axis in axes:
        sizes[axis.number - 2] = axis.resized
    is_half_pixel = how.transformation == "half_pixel"
    if how.mode == "nearest":
        is_floor = how.transformation == "asymmetric" and how.nearest_mode in ("floor", "simple")
        is_near = is_half_pixel and how.nearest_mode.startswith("round")
        is_same = (is_floor or is_near) and all(axis.is_repeated for axis in axes)
        return functional.interpolate(x, sizes) if is_same else None
    is_aligned = how.transformation == "align_corners"
    if how.antialias or how.exclude_outside or not x.dtype.is_floating_point:
        return None
    if not (is_half_pixel or is_aligned):
        return None
    if how.mode == "linear":
        return functional.interpolate(x, sizes, mode=_LINEAR[rank - 1], align_corners=is_aligned)
    if rank == 2 and how.cubic_coefficient == -0.75:
        return functional.interpolate(x, sizes, mode="bicubic", align_corners=is_aligned)
    return None


def _nearest(x: torch.Tensor, axis: _Axis, how: _Resampling) -> torch.Tensor:
    at = _coordinates(axis, how.transformation)
    rounded = _ROUNDED[how.nearest_mode](at, axis)
    places = _within(rounded, axis)
    return _extrapolated(x.index_select(axis.number, places), at, axis, how)


_ROUNDED: Mapping[str, Callable[[torch.Tensor, _Axis], torch.Tensor]] = {
    "ceil": lambda at, axis: at.ceil(),
    "floor": lambda at, axis: at.floor(),
    "round_prefer_ceil": lambda at, axis: (at + 0.5).floor(),
    "round_prefer_floor": lambda at, axis: (at - 0.5).ceil(),
    # As version 10 has it, whose text does not say, in ONNX Runtime.
    "simple": lambda at, axis: at.ceil() if axis.scale < 1 else at.floor(),
}


def _within(places: torch.Tensor, axis: _Axis) -> torch.Tensor:
    return places.to(torch.int64).clamp(0, axis.size - 1)


def _weighted(x: torch.Tensor, axis: _Axis, how: _Resampling) -> torch.Tensor:
    """Sums of elements around each place, by their distance from it."""
    at = _coordinates(axis, how.transformation)
    base = at.floor()
    # Where there is less of it than before, the elements between count as well.
    closeness = sym_min(axis.scale, 1.0) if how.antialias else 1.0
    if not _is_known(closeness):
        raise Unsupported("how many elements are around a place depends on a dynamic size")
    radius, weigh = (2, _cubic) if how.mode == "cubic" else (1, _linear)
    first = math.floor(-radius / closeness) + 1
    around = [base + offset for offset in range(first, 2 - first)]
    weights = [weigh((place - at) * closeness, how) for place in around]
    if how.exclude_outside:
        weights = [
            torch.where((place >= 0) & (place < axis.size), weight, 0.0)
            for place, weight in zip(around, weights, strict=True)
        ]
    if how.exclude_outside or how.antialias:
        total = sum(weights[1:], weights[0])
        weights = [weight / total for weight in weights]
    shape = [-1, *[1] * (x.ndim - 1 - axis.number)]
    terms = [
        x.index_select(axis.number, _within(place, axis)) * weight.to(x.dtype).reshape(shape)
        for place, weight in zip(around, weights, strict=True)
    ]
    return _extrapolated(sum(terms[1:], terms[0]), at, axis, how)


def _linear(distance: torch.Tensor, how: _Resampling) -> torch.Tensor:
    return (1 - distance.abs()).clamp(min=0)


def _cubic(distance: torch.Tensor, how: _Resampling) -> torch.Tensor:
    a, x = how.cubic_coefficient, distance.abs()
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return torch.where(x <= 1, near, torch.where(x < 2, far, 0.0))


def _coordinates(axis: _Axis, transformation: str) -> torch.Tensor:
    """Where each element of the resized dimension lies in that which is there."""
    places = torch.arange(axis.resized, dtype=torch.float64)
    length = axis.resized if axis.is_exact else axis.scale * axis.size
    return _TRANSFORMATIONS[transformation](places, axis, length)


def _is_one(length: Any) -> bool:
    return _is_known(length) and length == 1


def _align_corners(places: torch.Tensor, axis: _Axis, length: Any) -> torch.Tensor:
    at: torch.Tensor = places if _is_one(length) else places * (axis.size - 1) / (length - 1)
    return at


def _crop_and_resize(places: torch.Tensor, axis: _Axis, length: Any) -> torch.Tensor:
    last = axis.size - 1
    part = (axis.end - axis.start) * last
    within = places + part / 2 if _is_one(length) else places * part / (length - 1)
    at: torch.Tensor = within + axis.start * last
    return at


def _half_pixel(places: torch.Tensor, axis: _Axis, length: Any) -> torch.Tensor:
    at: torch.Tensor = (places + 0.5) / axis.scale - 0.5
    return at


def _pytorch_half_pixel(places: torch.Tensor, axis: _Axis, length: Any) -> torch.Tensor:
    return places - 0.5 if _is_one(length) else _half_pixel(places, axis, length)


def _half_pixel_symmetric(places: torch.Tensor, axis: _Axis, length: Any) -> torch.Tensor:
    offset = axis.size / 2 * (1 - axis.resized / length)
    at: torch.Tensor = _half_pixel(places, axis, length) + offset
    return at


_TRANSFORMATIONS: Mapping[str, Callable[[torch.Tensor, _Axis, Any], torch.Tensor]] = {
    "align_corners": _align_corners,
    "asymmetric": lambda places, axis, length: places / axis.scale,
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": _pytorch_half_pixel,
    "tf_crop_and_resize": _crop_and_resize,
}
"""Of elements of the resized dimension, it, and its length that is not rounded."""


def _extrapolated(x: torch.Tensor, at: torch.Tensor, axis: _Axis, how: _Resampling) -> torch.Tensor:
    """`x`, but for what is of places outside."""
    if how.transformation != "tf_crop_and_resize":
        return x
    is_outside = (at < 0) | (at > axis.size - 1)
    shape = [-1, *[1] * (x.ndim - 1 - axis.number)]
    return torch.where(is_outside.reshape(shape), how.extrapolation_value, x)


_SAMPLING = {"cubic": "bicubic", "linear": "bilinear"}
"""What PyTorch calls it, where that is not as ONNX does."""


def _grid_sample(node: Node, data: Value, grid: Value) -> torch.Tensor:
    mode = node.attribute("mode", "linear")
    return functional.grid_sample(
        tensor(data),
        tensor(grid),
        _SAMPLING.get(mode, mode),
        node.attribute("padding_mode", "zeros"),
        bool(node.attribute("align_corners", 0)),
    )


def _affine_grid(node: Node, theta: Value, size: Value) -> torch.Tensor:
    is_aligned = bool(node.attribute("align_corners", 0))
    return functional.affine_grid(tensor(theta), integers(size), align_corners=is_aligned)


PATTERNS: Mapping[str, Pattern] = {
    "AffineGrid": _affine_grid,
    "GridSample": _grid_sample,
    "Resize": _resize,
    "Upsample": _upsample,
}
