"""Products of integers of 8 bits, less their zero points, summed without rounding.

CPUs have instructions for sums of products of such with a sign: numbers without one become such
that are 128 less, and zero points are taken off the sums rather than off what is multiplied.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules


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


def integer_matmul(
    one: Integers, other: Integers, columns_are: Sequence[int] | None = None
) -> torch.Tensor:
    """The product of matrices, in int32; zero points are of rows of `one`, columns of `other`.

    With `columns_are`, it has axes of such sizes in place of that of columns, before anything is
    taken off: what follows becomes one kernel with the product then.
    """
    if one.elements.ndim < 2 or other.elements.ndim < 2:
        return torch.matmul(one.less_zero_point(torch.int32), other.less_zero_point(torch.int32))
    left, right = one.signed, other.signed
    product = torch.matmul(left.elements.to(torch.int32), right.elements.to(torch.int32))

    def of_result(term: torch.Tensor) -> torch.Tensor:
        if columns_are is None:
            return term
        is_one = isinstance(term.shape[-1], int) and term.shape[-1] == 1
        return term.reshape(*term.shape[:-1], *([1] * len(columns_are) if is_one else columns_are))

    product = of_result(product)
    if not _is_none(left.zero_point):
        columns = right.elements.sum(-2, keepdim=True, dtype=torch.int32)
        if not _is_none(right.zero_point):
            columns = columns - left.elements.shape[-1] * right.zero_point
        product = product - of_result(left.zero_point * columns)
    if not _is_none(right.zero_point):
        rows = left.elements.sum(-1, keepdim=True, dtype=torch.int32)
        product = product - of_result(rows * right.zero_point)
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
) -> torch.Tensor:
    """The convolution, of one group, of numbers that integers of 8 bits stand for, in float32.

    Args:
      x: [batch, channels, sizes...].
      scale: of one element.
      zero_point: that of `x`.
      weight: [channels put out, channels, sizes of a window...].
      weight_scale: of a channel that is put out, or of no dimension.
      weight_zero_point: of the shape of `weight_scale`; None: it is 0 everywhere.
      bias: float32, of a channel that is put out.
      stride: along each axis, as are `padding` and `dilation`.
      padding: by what stands for 0.
      dilation: steps from an element of a window to the next.
    """
    kernel = weight.shape[2:]
    # Channels come first, so that the windows of all images are columns of one matrix.
    image = Integers(x.transpose(0, 1), zero_point).signed
    padded = image.elements
    if any(padding):
        widths = [width for size in reversed(padding) for width in (size, size)]
        assert isinstance(image.zero_point, int)
        padded = torch.nn.functional.pad(padded, widths, value=image.zero_point)
    counts = [
        (size - step * (span - 1) - 1) // by + 1
        for size, span, by, step in zip(padded.shape[2:], kernel, stride, dilation, strict=True)
    ]
    # The elements of windows by place and channel; those of a place lie as in the images.
    parts = []
    for places in itertools.product(*map(range, kernel)):
        part = padded
        for axis, (place, by, step, count) in enumerate(
            zip(places, stride, dilation, counts, strict=True), start=2
        ):
            first = place * step
            part = torch.ops.aten.slice.Tensor(part, axis, first, first + (count - 1) * by + 1, by)
        parts.append(part)
    # As planes they are copied once; of rows each would be made one before.
    columns = (torch.cat(parts, 0) if len(parts) > 1 else parts[0]).flatten(1)
    of_weight = 0 if weight_zero_point is None else weight_zero_point.to(torch.int32)
    if isinstance(of_weight, torch.Tensor) and of_weight.ndim:
        of_weight = of_weight.unsqueeze(1)
    rows = Integers(weight.flatten(2).transpose(1, 2).flatten(1), of_weight)
    axes = [x.shape[0], *counts]
    sums = integer_matmul(rows, Integers(columns, image.zero_point), axes)
    scales = _scales(scale, weight_scale)
    of_channels = [-1] + [1] * len(axes)
    result = sums.to(torch.float32) * (scales.view(of_channels) if scales.ndim else scales)
    if bias is not None:
        result = result + bias.view(of_channels)
    return result.transpose(0, 1)


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
