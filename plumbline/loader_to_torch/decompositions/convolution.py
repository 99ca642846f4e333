"""Gradients of convolutions, as convolutions."""

from collections.abc import Sequence

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from plumbline.loader_to_torch.decompositions.rule import Rules

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
    batch, channels = large.shape[:2]
    if groups == 1:
        turned = large.transpose(0, 1)
    else:
        split = large.reshape(batch, groups, channels // groups, *large.shape[2:])
        turned = split.permute(2, 1, 0, *range(3, split.ndim)).flatten(1, 2)
    none = [0] * len(kernel)
    sums = aten.convolution(
        turned, small.transpose(0, 1), None, dilation, padding, stride, False, none, groups
    )
    return _cut(sums.transpose(0, 1), kernel)


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


RULES: Rules = {
    aten.conv_tbc.default: _conv_tbc,
    aten.convolution_backward.default: _convolution_backward,
}
