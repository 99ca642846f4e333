"""Regions of images, pooled into bins of which each has as many: torchvision's ops for detectors.

The channels of an image are put last first, so that what is read at a place is one row of a table,
and all channels of it are computed at once. Where a bin reads few places, and it is known how many,
they are terms of a sum; else a loop over the regions has one over the places of a bin in it, which
takes as many turns as the region is large.

Averages of what is between pixels are those of He et al., "Mask R-CNN" (2017), 3, the greatest of
pixels are those of Girshick, "Fast R-CNN" (2015), 2.1, and channels of their own for each bin are
those of Dai et al., "R-FCN" (2016), 3. What these leave open, such as what is read beyond an edge,
is as in torchvision's kernels. Half precision is computed in float32 and rounded at the end.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch._higher_order_ops.while_loop import while_loop_op
from torch.nn.functional import pad

from plumbline.loader_to_torch.decompositions.loops import contiguous, looped
from plumbline.loader_to_torch.decompositions.rule import Rules, rules_of_library

_MOST_PLACES = 4
"""What a bin may read where the terms of its sum are written out, each place being between 4."""

_RANK = 5
"""Of tables, and of nothing else."""

_Tensors = Sequence[torch.Tensor]


@dataclass(frozen=True)
class _Images:
    """Images [count, channels, height, width] as tables, and the bins that regions of them have.

    A table [count, height, width, parts, row] has rows of parts of the channels. There is one part,
    or each bin has one that it alone reads: of every channel of a result as many channels of an
    image follow each other.
    """

    count: int
    channels: int
    height: int
    width: int
    bins: tuple[int, int]
    """From top to bottom, and from left to right."""
    apart: bool = False
    """Whether each bin has channels of its own."""

    @staticmethod
    def of(images: torch.Tensor, bins: tuple[int, int], *, apart: bool = False) -> "_Images":
        """Of what is given."""
        count, channels, height, width = images.shape
        return _Images(count, channels, height, width, bins, apart)

    @property
    def parts(self) -> int:
        """Of the channels."""
        return math.prod(self.bins) if self.apart else 1

    @property
    def row(self) -> int:
        """How many channels a row, and a result, has."""
        return self.channels // self.parts

    def table(self, images: torch.Tensor) -> torch.Tensor:
        """The table of images."""
        parted = images.reshape(self.count, self.row, self.parts, self.height, self.width)
        return _wide(parted.permute(0, 3, 4, 2, 1)).contiguous()

    def zeros(self, dtype: torch.dtype) -> torch.Tensor:
        """A table of what is to be added up."""
        shape = (self.count, self.height, self.width, self.parts, self.row)
        return torch.zeros(shape, dtype=_wide_dtype(dtype))

    def of_table(self, table: torch.Tensor) -> torch.Tensor:
        """The images of a table."""
        shape = (self.count, self.channels, self.height, self.width)
        return table.permute(0, 4, 3, 1, 2).reshape(shape)

    def within(self, operands: _Tensors) -> "_Images":
        """The same in the body of a loop, which knows sizes by its operands: one is a table."""
        [table] = (each for each in operands if each.dim() == _RANK)
        count, height, width, parts, row = table.shape
        return _Images(count, parts * row, height, width, self.bins, self.apart)

    def results(self, rows: torch.Tensor) -> torch.Tensor:
        """[regions, row, *bins] of rows [regions, bins, row]."""
        return rows.transpose(1, 2).reshape(rows.shape[0], rows.shape[2], *self.bins)

    def rows(self, image: torch.Tensor, y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The rows [..., bins, m * n] at the places y [..., bins down, m], x [..., across, n].

        `image` [...] tells which one it is.
        """
        down, across = self.bins
        lines = (image.unsqueeze(-1).unsqueeze(-1) * self.height + y) * self.width
        places = lines.unsqueeze(-1).unsqueeze(-3) + x.unsqueeze(-2).unsqueeze(-4)
        if self.apart:
            part = torch.arange(down * across).reshape(down, across, 1, 1)
            places = places * self.parts + part
        return places.flatten(-2).flatten(-3, -2)


def _wide_dtype(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(_wide_dtype(tensor.dtype))


def _image(images: _Images, rois: torch.Tensor) -> torch.Tensor:
    """Which image each region is in, the first column of `rois`."""
    return rois[:, 0].to(torch.int64).clamp(0, images.count - 1)


def _over_regions(
    region: Callable[..., _Tensors], told: _Tensors, carried: _Tensors, given: _Tensors
) -> list[torch.Tensor]:
    """What `region(*each of told, *carried, *given)` makes of `carried`, and its results of each.

    No loop of PyTorch's is about nothing. So there is a region more, of which all is 0, the number
    of its places too.
    """
    more = (pad(each, (*[0, 0] * (each.dim() - 1), 0, 1)) for each in told)
    results = looped(region, [*more], carried, given)
    count = told[0].shape[0]
    of_each = (each.narrow(0, 0, count) for each in results[len(carried) :])
    return [*results[: len(carried)], *of_each]


def _over_places(
    turn: Callable[..., _Tensors],
    counts: tuple[torch.Tensor, torch.Tensor],
    carried: _Tensors,
    given: _Tensors,
) -> list[torch.Tensor]:
    """What `turn(y, x, *carried, *given)` makes of `carried`, for all y and x below two counts."""
    down, across = counts

    def goes_on(y: torch.Tensor, x: torch.Tensor, *operands: torch.Tensor) -> torch.Tensor:
        return y < torch.where(operands[len(carried) + 1] > 0, operands[len(carried)], 0)

    def body(y: torch.Tensor, x: torch.Tensor, *operands: torch.Tensor) -> _Tensors:
        before, rest = operands[: len(carried)], operands[len(carried) + 2 :]
        is_last = x + 1 >= operands[len(carried) + 1]
        after = turn(y, x, *before, *rest)
        return y + is_last.to(torch.int64), torch.where(is_last, 0, x + 1), *after

    zero = torch.zeros((), dtype=torch.int64)
    start = (zero, zero.clone(), *map(contiguous, carried))
    _, _, *results = while_loop_op(goes_on, body, start, (down, across, *given))  # type: ignore[arg-type]
    return [*results]


# -- averages of what is between pixels ------------------------------------------------------------


@dataclass(frozen=True)
class _Axis:
    """Where the places are that bins read along one dimension."""

    start: torch.Tensor
    """Where regions begin [...]."""
    bin: torch.Tensor
    """How large a bin of theirs is [...]."""
    places: torch.Tensor
    """How many a bin has [...], a float."""
    size: int
    """Of an image."""
    bins: int

    def near(self, number: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What is read at the places of some numbers [n], and its weights, [..., bins, 2 * n].

        What is beyond the middle of the last pixel by no more than one pixel is as on that; further
        out there is nothing.
        """
        start, step, places = (
            each.unsqueeze(-1).unsqueeze(-1) for each in (self.start, self.bin, self.places)
        )
        bins = torch.arange(self.bins).unsqueeze(-1)
        place = start + bins * step + (number + 0.5) * step / places
        inside = (place >= -1) & (place <= self.size)
        place = place.clamp(0, self.size - 1)
        below = torch.floor(place)
        weight = place - below
        first = below.to(torch.int64).clamp(0, self.size - 1)
        second = (first + 1).clamp(max=self.size - 1)
        weights = torch.stack([1 - weight, weight], -1)
        weights = torch.where(inside.unsqueeze(-1), weights, 0.0)
        return torch.stack([first, second], -1).flatten(-2), weights.flatten(-2)


@dataclass(frozen=True)
class _Averages:
    """How regions are averaged."""

    images: _Images
    rois: torch.Tensor
    """[regions, 5], wide: an image, and two corners."""
    scale: float
    sampling_ratio: int
    """The places of a bin along each dimension; if not above 0, about as many as pixels."""
    offset: float
    """Of the middle of a pixel."""
    least: float | None
    """The size that a region has at least."""

    @property
    def count(self) -> int | None:
        """The places of a bin, if they are so few that they are written out."""
        count = self.sampling_ratio * self.sampling_ratio
        return count if self.sampling_ratio > 0 and count <= _MOST_PLACES else None

    def axes(self) -> tuple[_Axis, _Axis]:
        """From top to bottom, and from left to right."""
        left, top, right, bottom = (self.rois[:, 1:] * self.scale - self.offset).unbind(1)
        images = self.images
        return (
            self._axis(top, bottom, images.height, images.bins[0]),
            self._axis(left, right, images.width, images.bins[1]),
        )

    def _axis(self, first: torch.Tensor, last: torch.Tensor, size: int, bins: int) -> _Axis:
        length = last - first
        if self.least is not None:
            length = length.clamp(min=self.least)
        step = length / bins
        if self.sampling_ratio > 0:
            return _Axis(first, step, torch.full_like(step, self.sampling_ratio), size, bins)
        return _Axis(first, step, torch.ceil(step), size, bins)

    def terms(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows of the table and their weights, [regions * bins, terms] both."""
        down, across = self.axes()
        number = torch.arange(self.sampling_ratio)
        image = _image(self.images, self.rois)
        rows, weights = _terms(self.images, image, down, across, number, number)
        weights = weights / (self.sampling_ratio * self.sampling_ratio)
        return rows.flatten(0, 1), weights.flatten(0, 1)

    def of_regions(self) -> list[torch.Tensor]:
        """What `in_turns` is told of each region."""
        down, across = self.axes()
        image = _image(self.images, self.rois)
        axes = (each for axis in (down, across) for each in (axis.start, axis.bin, axis.places))
        return [image, *axes]

    def in_turns(
        self,
        turn: Callable[..., torch.Tensor],
        told: _Tensors,
        carried: torch.Tensor,
        given: _Tensors,
    ) -> torch.Tensor:
        """What `turn(carried, rows, weights, *given)` makes of `carried` by a region's places.

        Rows and their weights are [bins, 4] each.
        """
        places = told[3], told[6]

        def at(
            y: torch.Tensor, x: torch.Tensor, carried: torch.Tensor, *operands: torch.Tensor
        ) -> _Tensors:
            told, rest = operands[:7], operands[7:]
            images = self.images.within([carried, *rest])
            down = _Axis(told[1], told[2], told[3], images.height, images.bins[0])
            across = _Axis(told[4], told[5], told[6], images.width, images.bins[1])
            # As many as there are, though there may be none.
            count = torch.clamp(down.places * across.places, min=1)
            rows, weights = _terms(images, told[0], down, across, y.reshape(1), x.reshape(1))
            return [turn(carried, rows, weights / count, *rest)]

        counts = [each.to(torch.int64) for each in places]
        [result] = _over_places(at, (counts[0], counts[1]), [carried], [*told, *given])
        return result


def _terms(
    images: _Images,
    image: torch.Tensor,
    down: _Axis,
    across: _Axis,
    y: torch.Tensor,
    x: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of the table and their weights [..., bins, terms], of places down and across."""
    (lines, of_lines), (columns, of_columns) = down.near(y), across.near(x)
    weights = of_lines.unsqueeze(-1).unsqueeze(-3) * of_columns.unsqueeze(-2).unsqueeze(-4)
    return images.rows(image, lines, columns), weights.flatten(-2).flatten(-3, -2)


def _read(table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """The rows of a table that have these numbers."""
    return table.flatten(0, 3).index_select(0, rows)


def _added(table: torch.Tensor, rows: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The table with values added to the rows that have these numbers."""
    return table.flatten(0, 3).index_add(0, rows, values).reshape(table.shape)


def _sum_of_terms(table: torch.Tensor, rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Of each row of `rows` the rows of the table that it names, by their weights."""
    terms = zip(rows.unbind(1), weights.unbind(1), strict=True)
    return functools.reduce(
        torch.add, (_read(table, row) * weight.unsqueeze(1) for row, weight in terms)
    )


def _with_terms(
    table: torch.Tensor, rows: torch.Tensor, weights: torch.Tensor, values: torch.Tensor
) -> torch.Tensor:
    """The table with values [n, row], by their weights, added to the rows that each names."""
    for row, weight in zip(rows.unbind(1), weights.unbind(1), strict=True):
        table = _added(table, row, values * weight.unsqueeze(1))
    return table


def _averaged(averages: _Averages, features: torch.Tensor) -> torch.Tensor:
    """[regions, row, *bins]."""
    images = averages.images
    table = images.table(features)
    if averages.count is not None:
        rows = _sum_of_terms(table, *averages.terms())
        rows = rows.reshape(averages.rois.shape[0], math.prod(images.bins), images.row)
    else:

        def turn(
            total: torch.Tensor, rows: torch.Tensor, weights: torch.Tensor, table: torch.Tensor
        ) -> torch.Tensor:
            return total + _sum_of_terms(table, rows, weights)

        def region(*operands: torch.Tensor) -> _Tensors:
            *told, table = operands
            row = images.within([table]).row
            nothing = torch.zeros(math.prod(images.bins), row, dtype=table.dtype)
            return [averages.in_turns(turn, told, nothing, [table])]

        [rows] = _over_regions(region, averages.of_regions(), [], [table])
    return images.results(rows).to(features.dtype)


def _averaged_backward(averages: _Averages, grad: torch.Tensor) -> torch.Tensor:
    """The gradient of the images, from that of [regions, row, *bins]."""
    images = averages.images
    values = _wide(grad.flatten(2).transpose(1, 2))
    table = images.zeros(grad.dtype)
    if averages.count is not None:
        table = _with_terms(table, *averages.terms(), values.reshape(-1, images.row))
    else:

        def region(*operands: torch.Tensor) -> _Tensors:
            *told, values, table = operands
            return [averages.in_turns(_with_terms, told, table, [values])]

        [table] = _over_regions(region, [*averages.of_regions(), values], [table], [])
    return images.of_table(table).to(grad.dtype)


def _roi_align(
    features: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> torch.Tensor:
    """[regions, channels, pooled_height, pooled_width]."""
    images = _Images.of(features, (pooled_height, pooled_width))
    return _averaged(_of_roi_align(images, rois, spatial_scale, sampling_ratio, aligned), features)


def _roi_align_backward(
    grad: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> torch.Tensor:
    bins = (pooled_height, pooled_width)
    images = _Images(batch_size, channels, height, width, bins)
    averages = _of_roi_align(images, rois, spatial_scale, sampling_ratio, aligned)
    return _averaged_backward(averages, grad)


def _of_roi_align(
    images: _Images, rois: torch.Tensor, scale: float, sampling_ratio: int, aligned: bool
) -> _Averages:
    offset, least = (0.5, None) if aligned else (0.0, 1.0)
    return _Averages(images, _wide(rois), scale, sampling_ratio, offset, least)


def _ps_roi_align(
    features: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """[regions, row, pooled_height, pooled_width], and the channel that each was read from."""
    images = _Images.of(features, (pooled_height, pooled_width), apart=True)
    averages = _Averages(images, _wide(rois), spatial_scale, sampling_ratio, 0.5, None)
    return _averaged(averages, features), _channels(images, rois)


def _ps_roi_align_backward(
    grad: torch.Tensor,
    rois: torch.Tensor,
    channel_mapping: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> torch.Tensor:
    bins = (pooled_height, pooled_width)
    images = _Images(batch_size, channels, height, width, bins, apart=True)
    averages = _Averages(images, _wide(rois), spatial_scale, sampling_ratio, 0.5, None)
    return _averaged_backward(averages, grad)


def _channels(images: _Images, rois: torch.Tensor) -> torch.Tensor:
    """The channel that each of [regions, row, *bins] is read from, where bins have their own."""
    numbers = torch.arange(images.channels, dtype=torch.int32)
    return numbers.reshape(1, images.row, *images.bins).repeat(rois.shape[0], 1, 1, 1)


# -- whole pixels ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pixels:
    """Which pixels bins are made of along one dimension, [..., bins] both."""

    begin: torch.Tensor
    end: torch.Tensor
    size: int
    """Of an image."""

    @staticmethod
    def of(first: torch.Tensor, length: torch.Tensor, size: int, bins: int, last: int) -> "_Pixels":
        """Of regions that begin at a pixel, and are as long; none of it is beyond `last`."""
        numbers, step = torch.arange(bins), (length / bins).unsqueeze(-1)
        edges = torch.floor(numbers * step), torch.ceil((numbers + 1) * step)
        begin, end = ((first.unsqueeze(-1) + edge).clamp(0, last) for edge in edges)
        return _Pixels(begin.to(torch.int64), end.to(torch.int64), size)

    @property
    def length(self) -> torch.Tensor:
        """How many, none of them if below 1."""
        return self.end - self.begin

    def at(self, number: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The pixel of a number in all bins [bins, 1], and whether they have it."""
        place = self.begin + number
        return place.clamp(max=self.size - 1).unsqueeze(-1), (place < self.end).unsqueeze(-1)


def _corners(rois: torch.Tensor, scale: float) -> _Tensors:
    """Left, top, right and bottom as whole numbers, half of one going away from 0."""
    corners = _wide(rois[:, 1:]) * scale
    whole = torch.trunc(corners)
    rest = torch.where((corners - whole).abs() >= 0.5, torch.sgn(corners), 0.0)
    return (whole + rest).unbind(1)


@dataclass(frozen=True)
class _PixelBins:
    """Pixels of bins down and across, of all regions or of one."""

    images: _Images
    image: torch.Tensor
    down: _Pixels
    across: _Pixels

    @property
    def area(self) -> torch.Tensor:
        """The number of pixels [..., bins]."""
        lengths = (each.length.clamp(min=0) for each in (self.down, self.across))
        down, across = lengths
        return (down.unsqueeze(-1) * across.unsqueeze(-2)).flatten(-2)

    def over_pixels(
        self,
        turn: Callable[..., _Tensors],
        of_regions: _Tensors,
        carried: _Tensors,
        given: _Tensors,
        *,
        results: Callable[[torch.Tensor, int], _Tensors] | None = None,
    ) -> list[torch.Tensor]:
        """What `turn(pixel, *carried, *given)` makes of `carried` by all pixels of all regions.

        With `results`, each region begins with those of its area and of a row's length, and has its
        own.
        """
        bounds = (self.down.begin, self.down.end, self.across.begin, self.across.end)
        told = [self.image, *bounds, *of_regions]

        def region(*operands: torch.Tensor) -> _Tensors:
            (image, *bounds), rest = operands[:5], operands[5:]
            own, rest = rest[: len(of_regions)], rest[len(of_regions) :]
            bins = self._within(rest, image, bounds)
            before, given = rest[: len(carried)], rest[len(carried) :]
            if results is not None:
                before = tuple(results(bins.area, bins.images.row))

            def at(y: torch.Tensor, x: torch.Tensor, *operands: torch.Tensor) -> _Tensors:
                of_region = operands[len(before) :][:5]
                bins = self._within(operands, of_region[0], of_region[1:])
                more = operands[len(before) + 5 :]
                return turn(bins.pixel(y, x), *operands[: len(before)], *more)

            counts = bins.down.length.amax(-1), bins.across.length.amax(-1)
            return _over_places(at, counts, before, [image, *bounds, *own, *given])

        return _over_regions(region, told, carried, given)

    def _within(self, operands: _Tensors, image: torch.Tensor, bounds: _Tensors) -> "_PixelBins":
        """Those of one region, in the body of a loop."""
        images = self.images.within(operands)
        down = _Pixels(bounds[0], bounds[1], images.height)
        return _PixelBins(images, image, down, _Pixels(bounds[2], bounds[3], images.width))

    def pixel(self, y: torch.Tensor, x: torch.Tensor) -> "_Pixel":
        """The one of some number in every bin, of one region."""
        (line, has_line), (column, has_column) = self.down.at(y), self.across.at(x)
        inside = (has_line.unsqueeze(-2) & has_column.unsqueeze(-3)).reshape(-1, 1)
        place = (line.unsqueeze(-2) * self.images.width + column.unsqueeze(-3)).reshape(-1, 1)
        return _Pixel(self.images.rows(self.image, line, column).squeeze(1), place, inside)


@dataclass(frozen=True)
class _Pixel:
    """One of each bin."""

    row: torch.Tensor
    """Of the table [bins]."""
    place: torch.Tensor
    """In its image [bins, 1]."""
    inside: torch.Tensor
    """Whether the bin has it [bins, 1]."""


def _roi_pool(
    features: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """[regions, channels, pooled_height, pooled_width], and where in its image each is found.

    A bin without pixels has 0, and is found nowhere, at -1.
    """
    images = _Images.of(features, (pooled_height, pooled_width))
    left, top, right, bottom = _corners(rois, spatial_scale)
    lengths = ((last - first + 1).clamp(min=1) for first, last in ((top, bottom), (left, right)))
    bins = _pixel_bins(images, rois, (top, left), tuple(lengths), 0)
    table = images.table(features)
    least = torch.finfo(torch.float32).min

    def start(area: torch.Tensor, row: int) -> _Tensors:
        greatest = torch.where(area.unsqueeze(1) > 0, least, 0.0).to(table.dtype)
        greatest = greatest.expand(area.shape[0], row)
        return greatest, torch.full_like(greatest, -1, dtype=torch.int32)

    def turn(
        pixel: _Pixel, greatest: torch.Tensor, found: torch.Tensor, table: torch.Tensor
    ) -> _Tensors:
        read = _read(table, pixel.row)
        is_greater = pixel.inside & (read > greatest)
        place = pixel.place.to(torch.int32)
        return torch.where(is_greater, read, greatest), torch.where(is_greater, place, found)

    greatest, found = bins.over_pixels(turn, [], [], [table], results=start)
    return images.results(greatest).to(features.dtype), images.results(found)


def _roi_pool_backward(
    grad: torch.Tensor,
    rois: torch.Tensor,
    argmax: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> torch.Tensor:
    images = _Images(batch_size, channels, height, width, (pooled_height, pooled_width))
    image = _image(images, rois).reshape(-1, 1, 1, 1)
    planes = image * channels + torch.arange(channels).reshape(-1, 1, 1)
    places = planes * (height * width) + argmax.clamp(min=0)
    values = torch.where(argmax >= 0, _wide(grad), 0.0)
    total = torch.zeros(batch_size * channels * height * width, dtype=values.dtype)
    total = total.index_add(0, places.reshape(-1), values.reshape(-1))
    return total.reshape(batch_size, channels, height, width).to(grad.dtype)


def _ps_roi_pool(
    features: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """[regions, row, pooled_height, pooled_width], and the channel that each was read from."""
    images = _Images.of(features, (pooled_height, pooled_width), apart=True)
    bins = _bins_of_ps_roi_pool(images, rois, spatial_scale, left_out=1)
    table = images.table(features)

    def start(area: torch.Tensor, row: int) -> _Tensors:
        return [torch.zeros(area.shape[0], row, dtype=table.dtype)]

    def turn(pixel: _Pixel, total: torch.Tensor, table: torch.Tensor) -> _Tensors:
        return [total + torch.where(pixel.inside, _read(table, pixel.row), 0.0)]

    [total] = bins.over_pixels(turn, [], [], [table], results=start)
    mean = total / bins.area.clamp(min=1).unsqueeze(-1)
    return images.results(mean).to(features.dtype), _channels(images, rois)


def _ps_roi_pool_backward(
    grad: torch.Tensor,
    rois: torch.Tensor,
    channel_mapping: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> torch.Tensor:
    bins_of_region = (pooled_height, pooled_width)
    images = _Images(batch_size, channels, height, width, bins_of_region, apart=True)
    # Here torchvision's kernel has the last line and column, which that of the op leaves out.
    bins = _bins_of_ps_roi_pool(images, rois, spatial_scale, left_out=0)
    values = _wide(grad.flatten(2).transpose(1, 2)) / bins.area.clamp(min=1).unsqueeze(-1)

    def turn(pixel: _Pixel, table: torch.Tensor, values: torch.Tensor) -> _Tensors:
        return [_added(table, pixel.row, torch.where(pixel.inside, values, 0.0))]

    [table] = bins.over_pixels(turn, [values], [images.zeros(grad.dtype)], [])
    return images.of_table(table).to(grad.dtype)


def _bins_of_ps_roi_pool(
    images: _Images, rois: torch.Tensor, scale: float, left_out: int
) -> _PixelBins:
    left, top, right, bottom = _corners(rois, scale)
    lengths = ((last - first).clamp(min=1) for first, last in ((top, bottom), (left, right)))
    return _pixel_bins(images, rois, (top, left), tuple(lengths), left_out)


def _pixel_bins(
    images: _Images,
    rois: torch.Tensor,
    first: _Tensors,
    lengths: _Tensors,
    left_out: int,
) -> _PixelBins:
    """The bins of regions; so many of the last lines and columns of an image are in none."""
    sizes = images.height, images.width
    down, across = (
        _Pixels.of(begin, length, size, bins, size - left_out)
        for begin, length, size, bins in zip(first, lengths, sizes, images.bins, strict=True)
    )
    return _PixelBins(images, _image(images, rois), down, across)


def rules_of_registered() -> Rules:
    """Rules of those ops that there are: torchvision brings them along."""
    return rules_of_library(
        "torchvision",
        {
            "_ps_roi_align_backward": _ps_roi_align_backward,
            "_ps_roi_pool_backward": _ps_roi_pool_backward,
            "_roi_align_backward": _roi_align_backward,
            "_roi_pool_backward": _roi_pool_backward,
            "ps_roi_align": _ps_roi_align,
            "ps_roi_pool": _ps_roi_pool,
            "roi_align": _roi_align,
            "roi_pool": _roi_pool,
        },
    )
