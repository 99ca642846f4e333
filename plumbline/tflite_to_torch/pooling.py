"""Pools of images, whose channels come last."""

from collections.abc import Callable, Mapping

import torch
from torch.nn import functional as F  # noqa: N812

from plumbline.tflite_to_torch.convolution import channels_first, channels_last
from plumbline.tflite_to_torch.node import Node, Pattern
from plumbline.tflite_to_torch.tensors import Operand
from plumbline.tflite_to_torch.windows import Windows, windows_of

_FIRST, _LAST = channels_first(4), channels_last(4)


def _windows(node: Node) -> Windows:
    sizes = node.option("FilterHeight"), node.option("FilterWidth")
    return windows_of(node, sizes, are_dilated=False)


def _widths(windows: Windows, image: torch.Tensor) -> list[int]:
    """By how much an image whose channels come first is padded, as PyTorch takes it."""
    padding = windows.padding(image.shape[2:])
    return [width for pair in reversed(padding) for width in pair]


def _max_pool(node: Node, x: Operand) -> torch.Tensor:
    windows, image = _windows(node), node.converted(x).permute(_FIRST)
    if any(widths := _widths(windows, image)):
        dtype = image.dtype
        least = -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min
        image = F.pad(image, widths, value=least)
    real = image if image.is_floating_point() else image.to(torch.float32)
    result = F.max_pool2d(real, windows.sizes, windows.strides).to(image.dtype)
    # Of what is stored the largest stands for the largest, and so it is with bounds.
    return node.activated(result).permute(_LAST)


def _mean_of_windows(
    compute: Callable[[torch.Tensor], torch.Tensor], finish: Callable[[torch.Tensor], torch.Tensor]
) -> Pattern:
    """Zeros around an image do not count."""

    def pattern(node: Node, x: Operand) -> torch.Tensor:
        windows, image = _windows(node), x.permuted(_FIRST).real
        widths = _widths(windows, image)
        padded = F.pad(compute(image), widths)
        if any(widths):
            counted = F.pad(torch.ones(1, 1, *image.shape[2:]), widths)
            sums, counts = (
                F.avg_pool2d(each, windows.sizes, windows.strides, divisor_override=1)
                for each in (padded, counted)
            )
            result = sums / counts
        else:
            result = F.avg_pool2d(padded, windows.sizes, windows.strides)
        return node.store(finish(result)).permute(_LAST)

    return pattern


def _itself(x: torch.Tensor) -> torch.Tensor:
    return x


PATTERNS: Mapping[str, Pattern] = {
    "AVERAGE_POOL_2D": _mean_of_windows(_itself, _itself),
    "L2_POOL_2D": _mean_of_windows(torch.square, torch.sqrt),
    "MAX_POOL_2D": _max_pool,
}
