"""Convolutions that are made of others: gradients, and those that mostly see what is outside."""

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from plumbline.loader_to_torch.decompositions import dynamic_groups
from plumbline.loader_to_torch.decompositions.rule import Conditional, Rules, first_of

aten = torch.ops.aten


def _convolution_backward(
    gradient: torch.Tensor,
    operand: torch.Tensor,
    weight: torch.Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[torch.Tensor | None, ...]:
    """The gradients of the operand, the weight and the bias, those that `output_mask` asks for."""
    spatial = operand.ndim - 2
    stride, padding, dilation = (
        list(entries) * (spatial if len(entries) == 1 else 1)
        for entries in (stride, padding, dilation)
    )
    of_operand = of_weight = of_bias = None
    if output_mask[0]:
        # A convolution's is a transposed one, whose windows may end before the operand does.
        extra = [0 if transposed else step - 1 for step in stride]
        whole = aten.convolution(
            gradient, weight, None, stride, padding, dilation, not transposed, extra, groups
        )
        of_operand = _cut(whole, operand.shape[2:])
    if output_mask[1]:
        small, large = (operand, gradient) if transposed else (gradient, operand)
        of_weight = _of_weight(small, large, weight.shape[2:], stride, padding, dilation, groups)
    if output_mask[2]:
        of_bias = gradient.sum((0, *range(2, gradient.ndim)))
    return of_operand, of_weight, of_bias


def _of_weight(
    small: torch.Tensor,
    large: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> torch.Tensor:
    """Of weights [o, c / groups, ..] that take `large` [n, c, ..] to `small` [n, o, ..].

    weight[o, c, k] = sum over n and y of small[n, o, y] * large[n, c, stride y + dilation k]: a
    convolution whose channels are the batch, with stride and dilation in each other's place.
    """
    seen = [
        (results - 1) * step + (taps - 1) * apart + 1
        for results, step, taps, apart in zip(
            small.shape[2:], stride, kernel, dilation, strict=True
        )
    ]
    # Batch and channels change places in what is padded, as padding reads each element anyway. What
    # no window sees is left out before that: a cut after it would keep groups and batch apart, and
    # the convolution from being one of planes.
    padded = _cut(_padded(large, padding, seen), seen)
    if dynamic_groups.is_dynamic(groups):
        return dynamic_groups.gradient_of_weight(small, padded, kernel, stride, dilation, groups)
    if groups == 1:
        turned = padded.transpose(0, 1)
    else:
        batch, channels = padded.shape[:2]
        split = padded.reshape(batch, groups, channels // groups, *padded.shape[2:])
        turned = split.permute(2, 1, 0, *range(3, split.ndim)).flatten(1, 2)
    none = [0] * len(kernel)
    sums = aten.convolution(
        turned, small.transpose(0, 1), None, dilation, none, stride, False, none, groups
    )
    weights: torch.Tensor = sums.transpose(0, 1)
    return weights


def _padded(tensor: torch.Tensor, padding: Sequence[int], seen: Sequence[int]) -> torch.Tensor:
    """With zeros around spatial dimensions, after them no more than are seen, if that is known."""
    sides: list[int] = []
    for size, pad, end in zip(tensor.shape[2:], padding, seen, strict=True):
        after = end - size - pad
        sides = [pad, max(after, 0) if isinstance(after, int) else pad, *sides]
    return aten.constant_pad_nd(tensor, sides, 0) if any(sides) else tensor


def _cut(tensor: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """The first elements of each spatial dimension, as many as `sizes` says."""
    for axis, size in enumerate(sizes, 2):
        if not statically_known_true(tensor.shape[axis] == size):
            tensor = tensor.narrow(axis, 0, size)
    return tensor


def _conv_tbc(
    operand: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, pad: int = 0
) -> torch.Tensor:
    """A convolution along the first dimension, before batch and channels; torch-mlir's mixes them.

    The weight has the places in the window, what goes in and what comes out, in this order.
    """
    result = aten.convolution(
        operand.permute(1, 2, 0),
        weight.permute(2, 1, 0),
        bias,
        [1],
        [pad],
        [1],
        False,
        [0],
        1,
    )
    moved: torch.Tensor = result.permute(2, 0, 1)
    return moved


# -- windows of which most is outside --------------------------------------------------------------

_FEW = 0.6
"""The part of the products with elements inside, up to which those with zeros are left out.

Windows of 3 x 3 that are 12 wide apart, of 2048 channels of 16 x 16, have 0.25: 41 ms become 15.
"""

_MOST_TAPS = 32

_LEAST_CHANNELS = 64
"""Of fewer channels the products are no more work than to add them up."""

_LEAST_WINDOWS = 16
"""Nor of fewer windows."""


@dataclass(frozen=True)
class _Axis:
    """What windows see along one dimension."""

    size: int
    """Of what they see."""
    taps: int
    """Elements of a window."""
    pad: int
    """What is outside on either side."""
    step: int
    """How far apart the elements are."""

    @property
    def results(self) -> int:
        """How many windows there are."""
        return self.size + 2 * self.pad - self.step * (self.taps - 1)

    def seen(self, tap: int) -> range:
        """Of which windows an element is inside."""
        offset = self.offset(tap)
        return range(max(0, -offset), min(self.results, self.size - offset))

    def offset(self, tap: int) -> int:
        """How far an element lies from the place of its window."""
        return tap * self.step - self.pad


def _axes(
    operand: torch.Tensor, weight: torch.Tensor, padding: Sequence[int], dilation: Sequence[int]
) -> list[_Axis]:
    return [
        _Axis(*each)
        for each in zip(
            operand.shape[2:],
            weight.shape[2:],
            itertools.cycle(padding),
            itertools.cycle(dilation),
            strict=False,
        )
    ]


def _sees_mostly_zeros(
    operand: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    *_rest: Any,
) -> bool:
    # What is added up is rounded to the dtype in between.
    is_wide = operand.dtype in (torch.float32, torch.float64)
    if not is_wide or transposed or any(step != 1 for step in stride) or max(dilation) == 1:
        return False
    if not all(isinstance(size, int) for size in (*operand.shape[1:], *weight.shape)):
        return False
    if weight.shape[1] < _LEAST_CHANNELS or math.prod(weight.shape[2:]) > _MOST_TAPS:
        return False
    axes = _axes(operand, weight, padding, dilation)
    windows = math.prod(axis.results for axis in axes)
    products = math.prod(sum(len(axis.seen(tap)) for tap in range(axis.taps)) for axis in axes)
    few = _FEW * windows * math.prod(axis.taps for axis in axes)
    return windows >= _LEAST_WINDOWS and 0 < products <= few


def _by_taps(
    operand: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> torch.Tensor:
    """The sum over the elements of a window of what each makes of the operands that it has."""
    axes = _axes(operand, weight, padding, dilation)
    ones, zeros = [1] * len(axes), [0] * len(axes)
    parts = []
    for taps in itertools.product(*(range(axis.taps) for axis in axes)):
        places = [axis.seen(tap) for axis, tap in zip(axes, taps, strict=True)]
        if not all(places):
            continue
        seen, of_tap = operand, weight
        around: list[int] = []
        for number, (axis, tap, place) in enumerate(zip(axes, taps, places, strict=True), 2):
            seen = seen.narrow(number, place.start + axis.offset(tap), len(place))
            of_tap = of_tap.narrow(number, tap, 1)
            around = [place.start, axis.results - place.stop, *around]
        product = aten.convolution(seen, of_tap, None, ones, zeros, ones, False, zeros, groups)
        parts.append(torch.nn.functional.pad(product, around))
    total = functools.reduce(torch.add, parts)
    return total if bias is None else total + bias.reshape(-1, *ones)


RULES: Rules = {
    aten.convolution.default: first_of(
        Conditional(dynamic_groups.applies, dynamic_groups.convolution),
        Conditional(_sees_mostly_zeros, _by_taps),
    ),
    aten.conv_tbc.default: _conv_tbc,
    aten.convolution_backward.default: _convolution_backward,
}
