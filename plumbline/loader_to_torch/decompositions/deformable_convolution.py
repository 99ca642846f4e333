"""Convolutions that read at places which another tensor moves: torchvision's `deform_conv2d`.

By Dai et al., "Deformable convolutional networks" (2017), 2.1, and with a factor for each place by
Zhu et al., "Deformable ConvNets v2" (2018), 3.2. Channels of an image are put last, so that what
is read at a place is a row: of those of a group that is moved alike. All that windows read, the
columns of `im2col`, is multiplied with the weight as a matrix. Half precision is computed in
float32.
"""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules, rules_of_library


@dataclass(frozen=True)
class _Near:
    """What is read along one dimension for each place [reads]: a pixel on one side of it."""

    pixel: torch.Tensor
    """Of those that there are, the nearest."""
    weight: torch.Tensor
    """0 where there is none."""
    slope: torch.Tensor
    """Of the weight, as the place moves on."""


def _neighbours(place: torch.Tensor, size: int) -> list[_Near]:
    below = torch.floor(place)
    rest = place - below
    neighbours = []
    for pixel, weight, slope in ((below, 1 - rest, -1.0), (below + 1, rest, 1.0)):
        inside = (pixel >= 0) & (pixel <= size - 1)
        neighbours.append(
            _Near(
                pixel.to(torch.int64).clamp(0, size - 1),
                torch.where(inside, weight, 0.0),
                torch.where(inside, slope, 0.0).to(place.dtype),
            )
        )
    return neighbours


@dataclass(frozen=True)
class _Convolution:
    """What is read, and in which order.

    A read is of an image, a place of the result, a group that is moved alike, and a place of the
    kernel, in this order, and gives the channels of the group.
    """

    seen: torch.Tensor
    """[images, channels, height, width]."""
    weight: torch.Tensor
    """[outputs, channels / groups, kernel height, kernel width]."""
    offset: torch.Tensor
    """[images, offset groups * kernel places * 2, height and width of the result]."""
    mask: torch.Tensor | None
    """[images, offset groups * kernel places, height and width of the result]."""
    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    groups: int
    offset_groups: int

    @property
    def kernel(self) -> int:
        """How many places it has."""
        return self.weight.shape[2] * self.weight.shape[3]

    @property
    def row(self) -> int:
        """How many channels are moved alike."""
        return self.seen.shape[1] // self.offset_groups

    @property
    def places(self) -> tuple[int, int, int]:
        """Images, and height and width of the result."""
        return (self.seen.shape[0], *self.offset.shape[2:])

    @functools.cached_property
    def table(self) -> torch.Tensor:
        """The rows that are read, (image, y, x, offset group) of them."""
        images, _, height, width = self.seen.shape
        apart = self.seen.reshape(images, self.offset_groups, self.row, height, width)
        return apart.permute(0, 3, 4, 1, 2).reshape(-1, self.row)

    @functools.cached_property
    def corners(self) -> list[tuple[torch.Tensor, _Near, _Near]]:
        """The rows that a read is between, by their numbers, and what is near down and across."""
        images, _, height, width = self.seen.shape
        moved = self.offset.reshape(images, self.offset_groups, self.kernel, 2, *self.places[1:])
        moved = moved.permute(0, 4, 5, 1, 2, 3)
        near = []
        for axis, size in enumerate((height, width)):
            windows = torch.arange(self.places[1 + axis]) * self.stride[axis] - self.padding[axis]
            within = torch.arange(self.weight.shape[2 + axis]) * self.dilation[axis]
            shape = [1, 1, 1, 1, 1, 1]
            shape[1 + axis], shape[4 + axis] = windows.shape[0], within.shape[0]
            begins = windows.reshape([*shape[:4], 1, 1]) + within.reshape([1, 1, 1, 1, *shape[4:]])
            begins = begins.expand(*begins.shape[:4], *self.weight.shape[2:]).flatten(4)
            near.append(_neighbours(begins + moved[..., axis], size))
        image = torch.arange(images).reshape(-1, 1, 1, 1, 1)
        group = torch.arange(self.offset_groups).reshape(-1, 1)
        corners = []
        for down, across in itertools.product(*near):
            pixel = (image * height + down.pixel) * width + across.pixel
            corners.append(((pixel * self.offset_groups + group).reshape(-1), down, across))
        return corners

    @functools.cached_property
    def factors(self) -> torch.Tensor | None:
        """What each read is multiplied by [reads, 1], if it is."""
        return None if self.mask is None else self._by_read(self.mask)

    def _by_read(self, mask: torch.Tensor) -> torch.Tensor:
        images, down, across = self.places
        parts = mask.reshape(images, self.offset_groups, self.kernel, down, across)
        return parts.permute(0, 3, 4, 1, 2).reshape(-1, 1)

    def by_place(self, of_reads: torch.Tensor) -> torch.Tensor:
        """Numbers of reads [reads, n] as they are in an offset or a mask."""
        images, down, across = self.places
        parts = of_reads.reshape(images, down, across, -1)
        return parts.permute(0, 3, 1, 2)

    def reads(self) -> torch.Tensor:
        """What is read [reads, row], without factors."""
        return self._sum([down.weight * across.weight for _, down, across in self.corners])

    def slopes(self) -> list[torch.Tensor]:
        """How that changes as places move down, and across."""
        return [
            self._sum([down.slope * across.weight for _, down, across in self.corners]),
            self._sum([down.weight * across.slope for _, down, across in self.corners]),
        ]

    def _sum(self, weights: Sequence[torch.Tensor]) -> torch.Tensor:
        terms = zip(self.corners, weights, strict=True)
        return functools.reduce(
            torch.add,
            (
                self.table.index_select(0, rows) * weight.reshape(-1, 1)
                for (rows, _, _), weight in terms
            ),
        )

    def columns(self) -> torch.Tensor:
        """What is multiplied with the weight [groups, places, channels and kernel]."""
        reads = self.reads()
        return self._columns(reads if self.factors is None else reads * self.factors)

    def _columns(self, reads: torch.Tensor) -> torch.Tensor:
        if self.groups == 1:
            return reads.reshape(1, -1, self.offset_groups * self.kernel * self.row)
        parts = reads.reshape(-1, self.offset_groups, self.kernel, self.row).transpose(2, 3)
        columns = parts.reshape(-1, self.groups, self.weight.shape[1] * self.kernel)
        return columns.transpose(0, 1)

    def of_columns(self, columns: torch.Tensor) -> torch.Tensor:
        """Reads [reads, row] of columns."""
        if self.groups == 1:
            return columns.reshape(-1, self.row)
        parts = columns.transpose(0, 1)
        parts = parts.reshape(-1, self.offset_groups, self.row, self.kernel)
        return parts.transpose(2, 3).reshape(-1, self.row)

    def matrices(self) -> torch.Tensor:
        """The weight [groups, channels and kernel, outputs of a group]."""
        outputs = self.weight.shape[0]
        if self.groups == 1:
            apart = self.weight.reshape(outputs, self.offset_groups, self.row, self.kernel)
            return apart.permute(1, 3, 2, 0).reshape(1, -1, outputs)
        return self.weight.reshape(self.groups, outputs // self.groups, -1).transpose(1, 2)

    def of_matrices(self, matrices: torch.Tensor) -> torch.Tensor:
        """And back."""
        if self.groups == 1:
            apart = matrices.reshape(self.offset_groups, self.kernel, self.row, -1)
            return apart.permute(3, 0, 2, 1).reshape(self.weight.shape)
        return matrices.transpose(1, 2).reshape(self.weight.shape)

    def result(self, products: torch.Tensor) -> torch.Tensor:
        """[images, outputs, height, width] of [groups, places, outputs of a group]."""
        apart = products.transpose(0, 1).reshape(*self.places, self.weight.shape[0])
        return apart.permute(0, 3, 1, 2)

    def of_result(self, result: torch.Tensor) -> torch.Tensor:
        """And back."""
        outputs = self.weight.shape[0]
        places = result.permute(0, 2, 3, 1).reshape(-1, self.groups, outputs // self.groups)
        return places.transpose(0, 1)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.dtype == torch.float64 else tensor.to(torch.float32)


def _convolution(
    seen: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    mask: torch.Tensor,
    *options: int,
) -> _Convolution:
    *sizes, groups, offset_groups, use_mask = options
    return _Convolution(
        _wide(seen),
        _wide(weight),
        _wide(offset),
        _wide(mask) if use_mask else None,
        sizes[:2],
        sizes[2:4],
        sizes[4:],
        groups,
        offset_groups,
    )


def _deform_conv2d(
    seen: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    mask: torch.Tensor,
    bias: torch.Tensor,
    *options: int,
) -> torch.Tensor:
    """[images, outputs, height, width]; `options` are as the op names them."""
    convolution = _convolution(seen, weight, offset, mask, *options)
    products = torch.bmm(convolution.columns(), convolution.matrices())
    result = convolution.result(products) + _wide(bias).reshape(-1, 1, 1)
    return result.to(seen.dtype)


def _deform_conv2d_backward(
    grad: torch.Tensor,
    seen: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    mask: torch.Tensor,
    bias: torch.Tensor,
    *options: int,
) -> tuple[torch.Tensor, ...]:
    """The gradients of the image, the weight, the offset, the mask and the bias."""
    convolution = _convolution(seen, weight, offset, mask, *options)
    of_result = convolution.of_result(_wide(grad))
    of_weight = torch.bmm(convolution.columns().transpose(1, 2), of_result)
    of_columns = torch.bmm(of_result, convolution.matrices().transpose(1, 2))
    of_reads = of_columns = convolution.of_columns(of_columns)
    if convolution.factors is None:
        of_mask = torch.zeros_like(mask)
    else:
        met = (of_columns * convolution.reads()).sum(1, keepdim=True)
        of_mask = convolution.by_place(met)
        of_reads = of_columns * convolution.factors
    moved = [(of_reads * slope).sum(1) for slope in convolution.slopes()]
    of_seen = torch.zeros_like(convolution.table)
    for rows, down, across in convolution.corners:
        weights = (down.weight * across.weight).reshape(-1, 1)
        of_seen = of_seen.index_add(0, rows, of_reads * weights)
    images, channels, height, width = seen.shape
    of_seen = of_seen.reshape(images, height, width, channels).permute(0, 3, 1, 2)
    return (
        of_seen.to(seen.dtype),
        convolution.of_matrices(of_weight).to(weight.dtype),
        convolution.by_place(torch.stack(moved, 1)).to(offset.dtype),
        of_mask.to(mask.dtype),
        grad.sum((0, 2, 3)).to(bias.dtype),
    )


def rules_of_registered() -> Rules:
    """Rules of the op and its gradient, if there are any: torchvision brings them along."""
    return rules_of_library(
        "torchvision",
        {
            "_deform_conv2d_backward": _deform_conv2d_backward,
            "deform_conv2d": _deform_conv2d,
        },
    )
