"""Products of integers of 8 bits, less their zero points, summed without rounding.

CPUs have instructions for sums of products of such with a sign: numbers without one become such
that are 128 less, and zero points are taken off the sums rather than off what is multiplied.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules

SIGN = 128
"""By how much integers of 8 bits with a sign are less than such without."""

MOST_SUMMED = 1 << 15
"""Of so many products of 8 bits each the sum is within int32, whatever is taken off."""

_LANE = 4
"""How many products an instruction adds up: CPUs that have it take sums of a multiple of these."""

_MOST_WITH_ZEROS = Fraction(4, 3)
"""How many times as many channels as there are may be multiplied: a picture has three colours."""

_LEAST_SUMMED = 16
"""Of fewer, sums of floats are as fast."""


def adds_up_bytes(count: int) -> bool:
    """Whether products of matrices that sum so many are worth that they are those of integers."""
    return _LEAST_SUMMED <= count <= MOST_SUMMED and count % _LANE == 0


def convolves_bytes(weight: Sequence[int], groups: int) -> bool:
    """Whether convolutions by weights of this shape are, which PyTorch has channels first in.

    Channels of a place lie side by side. They are multiplied several at once and added up, or each
    is one of a vector.
    """
    if math.prod(weight[1:]) > MOST_SUMMED:
        return False
    return weight[1] % _LANE == 0 if groups == 1 else weight[1] == 1 and weight[0] == groups


def with_missing_channels(weight: Sequence[int], groups: int) -> tuple[int, ...]:
    """The shape of weights with the channels of zeros that have convolutions by them be such."""
    count, channels, *window = weight
    missing = -channels % _LANE if groups == 1 else 0
    if channels + missing <= _MOST_WITH_ZEROS * channels:
        channels += missing
    return count, channels, *window


@dataclass(frozen=True)
class Integers:
    """Integers of 8 bits that stand for what is less by a zero point."""

    elements: torch.Tensor
    zero_point: torch.Tensor | int
    """Of int32, and of a shape that goes with that of the elements; or a number that is known."""

    def less_zero_point(self, dtype: torch.dtype) -> torch.Tensor:
        """What they stand for."""
        return self.elements.to(dtype) - self.zero_point

    @property
    def signed(self) -> "Integers":
        """The same as int8."""
        if self.elements.dtype == torch.int8:
            return self
        less = (self.elements.to(torch.int16) - SIGN).to(torch.int8)
        return Integers(less, self.zero_point - SIGN)


def integer_matmul(one: Integers, other: Integers) -> torch.Tensor:
    """The product of matrices, in int32; zero points are of rows of `one`, columns of `other`."""
    if one.elements.ndim < 2 or other.elements.ndim < 2:
        return torch.matmul(one.less_zero_point(torch.int32), other.less_zero_point(torch.int32))
    left, right = one.signed, other.signed
    product = torch.matmul(left.elements.to(torch.int32), right.elements.to(torch.int32))
    if not _is_none(left.zero_point):
        columns = right.elements.sum(-2, keepdim=True, dtype=torch.int32)
        if not _is_none(right.zero_point):
            columns = columns - left.elements.shape[-1] * right.zero_point
        product = product - left.zero_point * columns
    if not _is_none(right.zero_point):
        rows = left.elements.sum(-1, keepdim=True, dtype=torch.int32)
        product = product - rows * right.zero_point
    return product


def _is_none(zero_point: torch.Tensor | int) -> bool:
    return isinstance(zero_point, int) and zero_point == 0


# -- ops that stand for products of quantized tensors, in graphs -----------------------------------


def _linear(
    x: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    known_zero_point: int,
    weight: torch.Tensor,
    weight_scale: torch.Tensor,
    weight_zero_point: torch.Tensor | None,
    bias: torch.Tensor | None,
) -> torch.Tensor:
    """What `F.linear` makes of numbers that integers of 8 bits stand for, in float32.

    Args:
      x: [..., k].
      scale: of one element.
      zero_point: that of `x`, of one element; None: it is `known_zero_point`.
      known_zero_point: as `zero_point` says.
      weight: [n, k].
      weight_scale: [n], or of no dimension.
      weight_zero_point: of the shape of `weight_scale`; None: it is 0 everywhere.
      bias: float32 [n].
    """
    of_x = known_zero_point if zero_point is None else zero_point.reshape(()).to(torch.int32)
    of_weight = 0 if weight_zero_point is None else weight_zero_point.to(torch.int32)
    sums = integer_matmul(Integers(x, of_x), Integers(weight.t(), of_weight))
    result = sums.to(torch.float32) * _scales(scale, weight_scale)
    return result if bias is None else result + bias


def _sums_of_windows(
    x: torch.Tensor,
    zero_point: torch.Tensor | None,
    known_zero_point: int,
    weight: torch.Tensor,
    weight_zero_point: torch.Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    groups: int,
) -> torch.Tensor:
    """The convolution of integers of 8 bits, less their zero points, in int32.

    Args:
      x: [batch, channels, sizes...].
      zero_point: that of `x`, of one element; None: it is `known_zero_point`.
      known_zero_point: as `zero_point` says.
      weight: [channels put out, channels of a group, sizes of a window...]; of more channels than
        there are, if there is one group: of whatever numbers, as the others stand for 0.
      weight_zero_point: of a channel that is put out, or of no dimension; None: it is 0 everywhere.
      stride: along each axis, as are `padding` and `dilation`.
      padding: by what stands for 0.
      dilation: steps from an element of a window to the next.
      groups: how many there are, of as many channels each.
    """
    of_x = known_zero_point if zero_point is None else zero_point.reshape(()).to(torch.int32)
    image = Integers(x, of_x).signed
    widths = [width for size in reversed(padding) for width in (size, size)]
    missing = weight.shape[1] - x.shape[1] if groups == 1 else 0
    elements = padded(image, [*widths, *([0, missing] if missing else [])])

    def convolved(image: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
        operands = (each.to(torch.int32) for each in (image, by))
        sums: torch.Tensor = convolution_of_int32(*operands, stride, dilation, groups)
        return sums

    sums = convolved(elements, weight)
    axes = [-1] + [1] * len(padding)
    if not _is_none(image.zero_point):
        of_windows = weight.flatten(1).sum(1, dtype=torch.int32)
        if weight_zero_point is not None:
            of_windows = of_windows - weight[0].numel() * weight_zero_point.to(torch.int32)
        sums = sums - (image.zero_point * of_windows).view(axes)
    if weight_zero_point is not None:
        # Those of a group are the same for all channels that it puts out.
        added = elements if groups > 1 else elements.sum(1, keepdim=True, dtype=torch.int32)
        added = convolved(added, torch.ones_like(weight if groups > 1 else weight[:1, :1]))
        sums = sums - added * _of_channels(weight_zero_point.to(torch.int32), axes)
    return sums


def padded(image: Integers, widths: Sequence[Any]) -> torch.Tensor:
    """The elements of int8, padded by what stands for 0; `widths` are those of `F.pad`."""
    x, zero_point = image.elements, image.zero_point
    if all(isinstance(width, int) and width == 0 for width in widths):
        return x
    if isinstance(zero_point, int):
        return torch.nn.functional.pad(x, widths, value=zero_point)
    channels = x.shape[1] if len(widths) > 2 * (x.ndim - 2) else 1
    within = torch.ones(1, channels, *x.shape[2:], dtype=torch.bool)
    return torch.where(
        torch.nn.functional.pad(within, widths),
        torch.nn.functional.pad(x, widths),
        zero_point.to(torch.int8),
    )


def _convolution(
    x: torch.Tensor,
    scale: torch.Tensor,
    zero_point: int,
    weight: torch.Tensor,
    weight_scale: torch.Tensor,
    weight_zero_point: torch.Tensor | None,
    bias: torch.Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    groups: int,
) -> torch.Tensor:
    """The convolution of numbers that integers of 8 bits stand for, in float32.

    Args:
      x: as `_sums_of_windows` has it, as is what is not said here.
      scale: of one element.
      zero_point: that of `x`.
      weight: as there.
      weight_scale: of a channel that is put out, or of no dimension.
      weight_zero_point: of the shape of `weight_scale`; None: it is 0 everywhere.
      bias: float32, of a channel that is put out.
      stride: as there.
      padding: as there.
      dilation: as there.
      groups: as there.
    """
    how = stride, padding, dilation, groups
    sums = _sums_of_windows(x, None, zero_point, weight, weight_zero_point, *how)
    axes = [-1] + [1] * len(padding)
    result = sums.to(torch.float32) * _of_channels(_scales(scale, weight_scale), axes)
    return result if bias is None else result + bias.view(axes)


def _of_channels(numbers: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
    """What there is one of for each channel, or for all, beside what has these axes."""
    return numbers.view(axes) if numbers.ndim else numbers


def _scales(scale: torch.Tensor, weight_scale: torch.Tensor) -> torch.Tensor:
    return scale.reshape(()).to(torch.float32) * weight_scale.to(torch.float32)


def _convolution_of_int32(
    x: torch.Tensor, weight: torch.Tensor, stride: list[int], dilation: list[int], groups: int
) -> torch.Tensor:
    """The convolution of what is padded already, of int32."""
    none = [0] * len(stride)
    sums: torch.Tensor = torch.ops.aten.convolution(
        x, weight, None, stride, none, dilation, False, none, groups
    )
    return sums


def _computed_as_float64(
    x: torch.Tensor, weight: torch.Tensor, stride: list[int], dilation: list[int], groups: int
) -> torch.Tensor:
    """The same, exactly, where PyTorch has none of integers that is dilated."""
    of_image, of_windows = (each.to(torch.float64) for each in (x, weight))
    return _convolution_of_int32(of_image, of_windows, stride, dilation, groups).to(torch.int32)


linear_of_integers = torch.library.custom_op(
    "plumbline::linear_of_integers", _linear, mutates_args=()
)
convolution_of_integers = torch.library.custom_op(
    "plumbline::convolution_of_integers", _convolution, mutates_args=()
)
sums_of_windows = torch.library.custom_op(
    "plumbline::sums_of_windows", _sums_of_windows, mutates_args=()
)
convolution_of_int32 = torch.library.custom_op(
    "plumbline::convolution_of_int32", _computed_as_float64, mutates_args=()
)
linear_of_integers.register_fake(_linear)
convolution_of_integers.register_fake(_convolution)
sums_of_windows.register_fake(_sums_of_windows)
convolution_of_int32.register_fake(_convolution_of_int32)

RULES: Rules = {
    torch.ops.plumbline.convolution_of_int32.default: _convolution_of_int32,
    torch.ops.plumbline.convolution_of_integers.default: _convolution,
    torch.ops.plumbline.linear_of_integers.default: _linear,
    torch.ops.plumbline.sums_of_windows.default: _sums_of_windows,
}
