"""Pools of ONNX."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.decompositions.integer_products import Integers
from plumbline.onnx_to_torch.elementwise import Function
from plumbline.onnx_to_torch.integer_products import dequantized
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Dequantized, Unsigned, Value, integers, tensor
from plumbline.onnx_to_torch.windows import CONVOLUTIONS, Windows, windows_of

_AVERAGES: tuple[Function, ...] = (
    functional.avg_pool1d,
    functional.avg_pool2d,
    functional.avg_pool3d,
)
_MAXIMA: tuple[Function, ...] = (
    functional.max_pool1d,
    functional.max_pool2d,
    functional.max_pool3d,
)


def _own_padding(windows: Windows) -> list[int] | None:
    """How much PyTorch's pools are to pad; None where they cannot."""
    padding = windows.symmetric_padding
    if padding is None or any(
        2 * width > size for width, size in zip(padding, windows.kernel, strict=True)
    ):
        return None
    return padding


def average_pool(node: Node, data: Value) -> torch.Tensor:
    """The means of windows; what these have beyond the padding is not counted."""
    x = tensor(data)
    windows = windows_of(node, x.shape[2:])
    ceil_mode = bool(node.attribute("ceil_mode", 0))
    count_include_pad = bool(node.attribute("count_include_pad", 0))
    padding = _own_padding(windows)
    if padding is not None and all(dilation == 1 for dilation in windows.dilations):
        average = _AVERAGES[windows.rank - 1]
        return average(x, windows.kernel, windows.strides, padding, ceil_mode, count_include_pad)
    reach = windows.covered(x.shape[2:]) if ceil_mode else windows
    return _sums(reach, x) / _sums(*_counted(windows, reach, x, count_include_pad))


def _counted(
    windows: Windows, reach: Windows, x: torch.Tensor, count_include_pad: bool
) -> tuple[Windows, torch.Tensor]:
    """1 for each element of a plane that is counted; what is beyond all padding never is."""
    ones = torch.ones(1, 1, *x.shape[2:], dtype=x.dtype)
    if not count_include_pad:
        return reach, ones
    beyond = [far - near for far, near in zip(reach.after, windows.after, strict=True)]
    behind = dataclasses.replace(windows, before=[0] * windows.rank, after=beyond)
    return behind, windows.padded(ones, 1)


def _sums(windows: Windows, x: torch.Tensor) -> torch.Tensor:
    """The sums of the elements of each window, of which those that are padded are 0."""
    planes = windows.padded(x, 0).flatten(0, 1).unsqueeze(1)
    ones = torch.ones(1, 1, *windows.kernel, dtype=x.dtype)
    sums = CONVOLUTIONS[windows.rank - 1](
        planes, ones, stride=windows.strides, dilation=windows.dilations
    ).squeeze(1)
    return sums.reshape(*x.shape[:2], *sums.shape[1:])


def _lp_pool(node: Node, data: Value) -> torch.Tensor:
    x, p = tensor(data), node.attribute("p", 2)
    windows = windows_of(node, x.shape[2:])
    if node.attribute("ceil_mode", 0):
        windows = windows.covered(x.shape[2:])
    return _sums(windows, x.abs() ** p) ** (1 / p)


def _max_pool(node: Node, data: Value) -> Any:
    if isinstance(data, Dequantized) and data.keeps_order and not node.has_output(1):
        most = Integers(_max_pool(node, data.integers), data.zero_point)
        return dequantized(most, data.scale, data.numbers.dtype, keeps_order=True)
    if isinstance(data, Unsigned) and not node.has_output(1):
        return Unsigned.of(_max_pool(node, data.signed))
    x = tensor(data)
    sizes = x.shape[2:]
    windows = windows_of(node, sizes)
    ceil_mode = bool(node.attribute("ceil_mode", 0))
    padding = _own_padding(windows)
    before = [0] * windows.rank
    if padding is None:
        reach = windows.covered(sizes) if ceil_mode else windows
        x = reach.padded(x, _least(x.dtype))
        before, padding, ceil_mode = windows.before, before, False
    with_indices = node.has_output(1)
    pooled = _MAXIMA[windows.rank - 1](
        x,
        windows.kernel,
        windows.strides,
        padding,
        windows.dilations,
        ceil_mode,
        return_indices=with_indices,
    )
    if not with_indices:
        return pooled
    largest, places = pooled
    by_column = bool(node.attribute("storage_order", 0))
    return largest, _indices(places, x.shape[2:], before, sizes, by_column)


def _least(dtype: torch.dtype) -> Any:
    return float("-inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def _indices(
    places: torch.Tensor,
    padded: Sequence[Any],
    before: Sequence[Any],
    sizes: Sequence[Any],
    by_column: bool,
) -> torch.Tensor:
    """Where elements lie in the whole tensor, of where they lie in planes that are padded."""
    coordinates = []
    for size, width in zip(reversed(padded), reversed(before), strict=True):
        coordinates.append(places % size - width)
        places = places // size
    # The innermost dimension is the last, or the first.
    pairs = list(zip(coordinates, reversed(sizes), strict=True))
    index, step = torch.zeros_like(places), 1
    for coordinate, size in reversed(pairs) if by_column else pairs:
        index, step = index + coordinate * step, step * size
    batch, channels = places.shape[:2]
    planes = torch.arange(batch * channels).reshape(batch, channels, *[1] * len(sizes))
    return index + planes * step


def _global(node: Node, data: Value) -> tuple[torch.Tensor, list[int]]:
    x = tensor(data)
    return x, list(range(2, x.ndim))


def _global_average_pool(node: Node, data: Value) -> torch.Tensor:
    x, axes = _global(node, data)
    return x.mean(axes, keepdim=True)


def _global_max_pool(node: Node, data: Value) -> torch.Tensor:
    x, axes = _global(node, data)
    return x.amax(axes, keepdim=True)


def _global_lp_pool(node: Node, data: Value) -> torch.Tensor:
    x, axes = _global(node, data)
    p = node.attribute("p", 2)
    return (x.abs() ** p).sum(axes, keepdim=True) ** (1 / p)


def _max_unpool(node: Node, data: Value, indices: Value, shape: Value = None) -> torch.Tensor:
    x, at = tensor(data), tensor(indices)
    windows = windows_of(node, x.shape[2:])
    # The pool's input as it is without a shape: indices are of it.
    sizes = [
        (count - 1) * stride + span - before - after
        for count, stride, span, before, after in zip(
            x.shape[2:], windows.strides, windows.spans, windows.before, windows.after, strict=True
        )
    ]
    whole = [*x.shape[:2], *sizes]
    flat = torch.zeros(math.prod(whole), dtype=x.dtype)
    unpooled = flat.scatter(0, at.reshape(-1), x.reshape(-1)).reshape(whole)
    if shape is None:
        return unpooled
    wanted = integers(shape)[2:]
    pairs = zip(reversed(wanted), reversed(sizes), strict=True)
    return functional.pad(unpooled, [width for size, own in pairs for width in (0, size - own)])


def _max_roi_pool(node: Node, data: Value, rois: Value) -> torch.Tensor:
    x, regions = tensor(data), tensor(rois)
    batch = regions[:, 0].to(torch.int64)
    # By region, as corners of x and y.
    corners = torch.round(regions[:, 1:] * node.attribute("spatial_scale", 1.0))
    planes = x[batch]
    for axis, count in zip((0, 1), node.required("pooled_shape"), strict=True):
        start, end = corners[:, 1 - axis, None, None], corners[:, 3 - axis, None, None]
        length = (end - start + 1).clamp(min=1) / count
        numbers = torch.arange(count).reshape(-1, 1)
        first = torch.floor(numbers * length) + start
        last = torch.ceil((numbers + 1) * length) + start
        places = torch.arange(x.shape[2 + axis])
        # By region, bin and place; elements by region, channel, and the bins before the places.
        within = ((places >= first) & (places < last)).unsqueeze(1)
        within = within.unsqueeze(-1) if axis == 0 else within.unsqueeze(2)
        candidates = planes.unsqueeze(2 + axis)
        planes = torch.where(within, candidates, float("-inf")).amax(3 + axis)
    # A bin without elements is 0.
    return torch.where(planes == float("-inf"), torch.zeros_like(planes), planes)


def _roi_align(node: Node, data: Value, rois: Value, batch_indices: Value) -> torch.Tensor:
    x, regions = tensor(data), tensor(rois)
    ratio = node.attribute("sampling_ratio", 0)
    if ratio <= 0:
        raise Unsupported("how many samples it takes depends on its regions: sampling_ratio is 0")
    default = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    half_pixel = node.attribute("coordinate_transformation_mode", default) == "half_pixel"
    corners = regions * node.attribute("spatial_scale", 1.0) - (0.5 if half_pixel else 0.0)
    height, width = node.attribute("output_height", 1), node.attribute("output_width", 1)
    rows, columns = (
        _samples(corners[:, start], corners[:, start + 2], count, ratio, size, half_pixel)
        for start, count, size in ((1, height, x.shape[2]), (0, width, x.shape[3]))
    )
    batch = tensor(batch_indices).to(torch.int64).reshape(-1, 1, 1)
    plane = x.permute(0, 2, 3, 1)
    parts = [
        # By region, row, column and channel.
        plane[batch, row[:, :, None], column[:, None]]
        * (of_row[:, :, None] * of_column[:, None]).unsqueeze(-1)
        for row, of_row in rows
        for column, of_column in columns
    ]
    if node.attribute("mode", "avg") == "avg":
        samples = sum(parts[1:], parts[0])
    else:
        samples = torch.stack(parts).amax(0)
    grid = samples.reshape(-1, height, ratio, width, ratio, x.shape[1])
    pooled = grid.mean([2, 4]) if node.attribute("mode", "avg") == "avg" else grid.amax([2, 4])
    return pooled.permute(0, 3, 1, 2)


def _samples(
    start: torch.Tensor, end: torch.Tensor, count: int, ratio: int, size: Any, half_pixel: bool
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The places on either side of each sample in a dimension, and how much each weighs.

    By region and sample, of which there are `ratio` to each of `count` bins.
    """
    length = end - start if half_pixel else (end - start).clamp(min=1)
    steps = (torch.arange(count * ratio) + 0.5) / (count * ratio)
    at = start[:, None] + steps.to(length.dtype) * length[:, None]
    inside = ((at >= -1) & (at <= size)).to(at.dtype)
    at = at.clamp(min=0)
    at = torch.minimum(at, torch.full_like(at, size - 1))
    low = at.floor()
    behind = at - low
    first = low.to(torch.int64)
    second = (first + 1).clamp(max=size - 1)
    return [(first, (1 - behind) * inside), (second, behind * inside)]


PATTERNS: Mapping[str, Pattern] = {
    "AveragePool": average_pool,
    "GlobalAveragePool": _global_average_pool,
    "GlobalLpPool": _global_lp_pool,
    "GlobalMaxPool": _global_max_pool,
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
    "MaxRoiPool": _max_roi_pool,
    "MaxUnpool": _max_unpool,
    "RoiAlign": _roi_align,
}
