"""How many windows a pooling has, for any size of what it pools."""

import contextlib
from collections.abc import Callable
from unittest import mock

import torch
from torch import _meta_registrations


def sizes_of_poolings() -> contextlib.AbstractContextManager[object]:
    """Has what is exported meanwhile count windows of dynamic sizes without a branch.

    With `ceil_mode`, PyTorch compares where the last window begins, and takes what comes of that
    for the example's size to hold in every call.
    """
    return mock.patch.object(
        _meta_registrations, "pooling_output_shape_pad_lr", _pooling_output_shape_pad_lr
    )


_Size = int | torch.SymInt

_of_numbers: Callable[..., _Size] = _meta_registrations.pooling_output_shape_pad_lr

_least: Callable[[_Size, _Size], _Size] = torch.sym_min


def _pooling_output_shape_pad_lr(
    size: _Size,
    kernel: int,
    pad_low: int,
    pad_high: int,
    stride: int,
    dilation: int,
    ceil_mode: bool,
) -> _Size:
    """As many windows as begin within the operand or in the padding below it, and end somewhere."""
    if not ceil_mode or isinstance(size, int):
        return _of_numbers(size, kernel, pad_low, pad_high, stride, dilation, ceil_mode)
    reach = dilation * (kernel - 1)
    ending = (size + pad_low + pad_high - reach - 1 + stride - 1) // stride + 1
    beginning = (size + pad_low - 1) // stride + 1
    return _least(ending, beginning)
