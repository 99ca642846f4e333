"""Pools of images, whose channels come last."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch.nn import functional as F  # noqa: N812

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.convolution import channels_first, channels_last
from plumbline.tflite_to_torch.custom_options import OptionsOfWindows
from plumbline.tflite_to_torch.model_file import CUSTOM
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


def _max_and_place(node: Node, x: Operand) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest of each window, and which of its elements that is, counted by columns."""
    windows, image = _windows_side_by_side(node), x.permuted(_FIRST).real
    # The elements next to the padding are the largest there, and counted there, for XNNPACK.
    padded = F.pad(image, _widths(windows, image), mode="replicate")
    (height, width), sizes = windows.sizes, padded.shape[2:]
    shape = sizes[0] // height, height, sizes[1] // width, width
    whole = padded[:, :, : shape[0] * height, : shape[2] * width]
    elements = whole.reshape(*image.shape[:2], *shape).permute(0, 1, 2, 4, 5, 3).flatten(4)
    largest, places = elements.max(-1)
    stored = node.store(largest), _as_stored(places, node.outputs[1].dtype)
    return stored[0].permute(_LAST), stored[1].permute(_LAST)


def _as_stored(places: torch.Tensor, dtype: torch.dtype | None) -> torch.Tensor:
    """Numbers of 32 bits, which a tensor that is said to be of floats has none the less."""
    numbers = places.to(torch.int32)
    return numbers.view(torch.float32) if dtype == torch.float32 else numbers


def _at_place(node: Node, x: Operand, places: Operand) -> torch.Tensor:
    """Windows that have an element each at such a place, and zeros at the others."""
    windows = _windows_side_by_side(node)
    height, width = windows.sizes
    stored = places.permuted(_FIRST).stored
    numbers = stored.view(torch.int32) if stored.dtype == torch.float32 else stored
    is_there = numbers[..., None] == torch.arange(height * width, dtype=numbers.dtype)
    elements = torch.where(is_there, x.permuted(_FIRST).real[..., None], 0.0)
    *shape, _ = elements.shape
    image = elements.reshape(*shape, width, height).permute(0, 1, 2, 5, 3, 4)
    return node.store(image.flatten(4).flatten(2, 3)).permute(_LAST)


def _windows_side_by_side(node: Node) -> Windows:
    """Those of MediaPipe's ops."""
    windows = _windows(replace(node, options=OptionsOfWindows(node.options)))
    if windows.sizes != windows.strides:
        raise Unsupported(f"its windows of {windows.sizes} are {windows.strides} apart")
    return windows


def _itself(x: torch.Tensor) -> torch.Tensor:
    return x


PATTERNS: Mapping[str, Pattern] = {
    f"{CUSTOM} MaxPoolingWithArgmax2D": _max_and_place,
    f"{CUSTOM} MaxUnpooling2D": _at_place,
    "AVERAGE_POOL_2D": _mean_of_windows(_itself, _itself),
    "L2_POOL_2D": _mean_of_windows(torch.square, torch.sqrt),
    "MAX_POOL_2D": _max_pool,
}
