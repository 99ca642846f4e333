"""Products of integers of 8 bits, less their zero points, summed without rounding.

CPUs have instructions for sums of products of such with a sign: numbers without one become such
that are 128 less, and zero points are taken off the sums rather than off what is multiplied.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules

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
        return Integers((self.elements.to(torch.int16) - 128).to(torch.int8), self.zero_point - 128)


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
      x: [batch, channels, sizes...].
      scale: of one element.
      zero_point: that of `x`.
      weight: [channels put out, channels of a group, sizes of a window...]; of more channels than
        there are, if there is one group: of whatever numbers, as the others stand for 0.
      weight_scale: of a channel that is put out, or of no dimension.
      weight_zero_point: of the shape of `weight_scale`; None: it is 0 everywhere.
      bias: float32, of a channel that is put out.
      stride: along each axis, as are `padding` and `dilation`.
      padding: by what stands for 0.
      dilation: steps from an element of a window to the next.
      groups: how many there are, of as many channels each.
    """
    image = Integers(x, zero_point).signed
    padded = image.elements
    missing = weight.shape[1] - x.shape[1] if groups == 1 else 0
    if any(padding) or missing:
        widths = [width for size in reversed(padding) for width in (size, size)]
        assert isinstance(image.zero_point, int)
        padded = torch.nn.functional.pad(padded, [*widths, 0, missing], value=image.zero_point)

    def convolved(windows: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
        operands = (each.to(torch.int32) for each in (windows, by))
        none = [0] * len(padding)
        sums: torch.Tensor = torch.ops.aten.convolution(
            *operands, None, stride, none, dilation, False, none, groups
        )
        return sums

    sums = convolved(padded, weight)
    axes = [-1] + [1] * len(padding)
    if not _is_none(image.zero_point):
        of_windows = weight.flatten(1).sum(1, dtype=torch.int32)
        if weight_zero_point is not None:
            of_windows = of_windows - weight[0].numel() * weight_zero_point.to(torch.int32)
        sums = sums - (image.zero_point * of_windows).view(axes)
    if weight_zero_point is not None:
        # Those of a group are the same for all channels that it puts out.
        added = convolved(padded, torch.ones_like(weight if groups > 1 else weight[:1]))
        sums = sums - added * _of_channels(weight_zero_point.to(torch.int32), axes)
    result = sums.to(torch.float32) * _of_channels(_scales(scale, weight_scale), axes)
    return result if bias is None else result + bias.view(axes)


def _of_channels(numbers: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
    """What there is one of for each channel, or for all, beside what has these axes."""
    return numbers.view(axes) if numbers.ndim else numbers


def _scales(scale: torch.Tensor, weight_scale: torch.Tensor) -> torch.Tensor:
    return scale.reshape(()).to(torch.float32) * weight_scale.to(torch.float32)


linear_of_integers = torch.library.custom_op(
    "plumbline::linear_of_integers", _linear, mutates_args=()
)
convolution_of_integers = torch.library.custom_op(
    "plumbline::convolution_of_integers", _convolution, mutates_args=()
)
linear_of_integers.register_fake(_linear)
convolution_of_integers.register_fake(_convolution)

RULES: Rules = {
    torch.ops.plumbline.convolution_of_integers.default: _convolution,
    torch.ops.plumbline.linear_of_integers.default: _linear,
}
