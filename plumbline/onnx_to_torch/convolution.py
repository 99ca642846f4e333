"""Convolutions of ONNX."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.elementwise import Function
from plumbline.onnx_to_torch.integer_products import along, convolution_of_dequantized
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, integers, tensor
from plumbline.onnx_to_torch.windows import SAME, Windows, convolution, halves, windows_of

_TRANSPOSED: tuple[Function, ...] = (
    functional.conv_transpose1d,
    functional.conv_transpose2d,
    functional.conv_transpose3d,
)


def conv(node: Node, data: Value, weight: Value, bias: Value = None) -> torch.Tensor:
    """The convolution, of floats or of quantized numbers."""
    if (convolved := convolution_of_dequantized(node, data, weight)) is not None:
        return convolved if bias is None else convolved + along(tensor(bias), convolved.ndim, 1)
    return convolution(node, tensor(data), tensor(weight), None if bias is None else tensor(bias))


def _conv_transpose(node: Node, data: Value, weight: Value, bias: Value = None) -> torch.Tensor:
    x, kernels = tensor(data), tensor(weight)
    windows = windows_of(node, x.shape[2:], kernels.shape[2:])
    extra = node.attribute("output_padding", [0] * windows.rank)
    windows = _cropping(node, windows, x.shape[2:], extra)
    windows = dataclasses.replace(
        windows, after=[end - more for end, more in zip(windows.after, extra, strict=True)]
    )
    groups = node.attribute("group", 1)
    return _transposed(x, kernels, None if bias is None else tensor(bias), windows, groups)


def _cropping(node: Node, windows: Windows, sizes: Sequence[Any], extra: Sequence[int]) -> Windows:
    """`windows` with paddings by which the output is of the size that `node` asks for."""
    auto_pad, wanted = node.attribute("auto_pad", "NOTSET"), node.optional("output_shape")
    if wanted is None and auto_pad not in SAME:
        return windows
    spare = [
        span - stride + more
        for span, stride, more in zip(windows.spans, windows.strides, extra, strict=True)
    ]
    if wanted is None:
        totals: list[Any] = spare
    else:
        # The older versions have sizes of all dimensions.
        totals = [
            size * stride + more - out
            for size, stride, more, out in zip(
                sizes, windows.strides, spare, wanted[-windows.rank :], strict=True
            )
        ]
    cropped = [max(total, 0) if isinstance(total, int) else total for total in totals]
    before, _ = halves(cropped, auto_pad)
    # What there is too little of is added at the end.
    after = [total - first for total, first in zip(totals, before, strict=True)]
    return dataclasses.replace(windows, before=before, after=after)


def _transposed(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    windows: Windows,
    groups: int,
) -> torch.Tensor:
    """A transposed convolution less what is `before` and `after`: less than 0 adds zeros."""
    padding: list[int] = []
    output_padding: list[int] = []
    widths: list[Any] = []
    for stride, dilation, before, after in zip(
        windows.strides, windows.dilations, windows.before, windows.after, strict=True
    ):
        is_known = isinstance(before, int) and isinstance(after, int)
        # What PyTorch can crop and add itself; the rest is done on the result.
        own = before if is_known else 0
        more = own - after if is_known and 0 <= own - after < max(stride, dilation) else 0
        padding.append(own)
        output_padding.append(more)
        widths = [own - before, own - after - more, *widths]
    convolve = _TRANSPOSED[windows.rank - 1]
    if all(isinstance(width, int) and width == 0 for width in widths):
        return convolve(
            x, weight, bias, windows.strides, padding, output_padding, groups, windows.dilations
        )
    made = convolve(
        x, weight, None, windows.strides, padding, output_padding, groups, windows.dilations
    )
    resized = functional.pad(made, widths)
    return resized if bias is None else resized + bias.reshape(-1, *[1] * windows.rank)


def _deformable(
    node: Node, data: Value, weight: Value, offset: Value, bias: Value = None, mask: Value = None
) -> torch.Tensor:
    x, kernels, offsets = tensor(data), tensor(weight), tensor(offset)
    if x.ndim != 4:
        raise Unsupported(f"it is of {x.ndim - 2} dimensions: it can be of 2")
    windows = windows_of(node, x.shape[2:], kernels.shape[2:])
    parts, count = node.attribute("offset_group", 1), math.prod(windows.kernel)
    batch, channels, *sizes = x.shape
    out = list(offsets.shape[2:])
    offsets = offsets.reshape(batch * parts, count, 2, *out)
    coordinates = [
        _normalized(windows, axis, out[axis], offsets[:, :, axis], sizes[axis]) for axis in (0, 1)
    ]
    grid = torch.stack(coordinates[::-1], -1).reshape(batch * parts, count * out[0], out[1], 2)
    planes = x.reshape(batch * parts, channels // parts, *sizes)
    columns = functional.grid_sample(planes, grid, align_corners=False)
    columns = columns.reshape(batch, parts, channels // parts, count, *out)
    if mask is not None:
        columns = columns * tensor(mask).reshape(batch, parts, 1, count, *out)
    # A column of each window lies in the channels now.
    return functional.conv2d(
        columns.reshape(batch, channels * count, *out),
        kernels.reshape(kernels.shape[0], -1, 1, 1),
        None if bias is None else tensor(bias),
        groups=node.attribute("group", 1),
    )


def _normalized(
    windows: Windows, axis: int, count: Any, offsets: torch.Tensor, size: Any
) -> torch.Tensor:
    """Coordinates of the elements of windows, moved by `offsets`, as grids have them.

    Those of a grid are -1 and 1 at the outer edges of the first and the last element.
    """
    behind = [1] * (1 - axis)
    starts = torch.arange(count) * windows.strides[axis] - windows.before[axis]
    within = torch.arange(windows.kernel[axis]) * windows.dilations[axis]
    of_kernel = within.reshape(-1, *behind).expand(windows.kernel).reshape(-1, 1, 1)
    places = of_kernel + starts.reshape(-1, *behind)
    normalized: torch.Tensor = (2 * (offsets + places) + 1) / size - 1
    return normalized


def _col2im(node: Node, data: Value, image: Value, block: Value) -> torch.Tensor:
    x, sizes, kernel = tensor(data), integers(image), integers(block)
    windows = windows_of(node, sizes, kernel)
    counts = windows.counts(sizes, ceil_mode=False)
    size, batch = math.prod(kernel), x.shape[0]
    channels = x.shape[1] // size
    # Windows whose elements are all a kernel of a transposed convolution has but one of.
    weight = torch.eye(size, dtype=x.dtype).reshape(size, 1, *kernel)
    after = [
        (count - 1) * stride + span - before - wanted
        for count, stride, span, before, wanted in zip(
            counts, windows.strides, windows.spans, windows.before, sizes, strict=True
        )
    ]
    windows = dataclasses.replace(windows, after=after)
    columns = x.reshape(batch * channels, size, *counts)
    made = _transposed(columns, weight, None, windows, groups=1)
    return made.reshape(batch, channels, *sizes)


def _causal(
    node: Node, data: Value, weight: Value, bias: Value = None, past: Value = None
) -> tuple[torch.Tensor, torch.Tensor]:
    x, kernels = tensor(data), tensor(weight)
    missing = kernels.shape[2] - 1
    padded = functional.pad(x, [missing, 0]) if past is None else torch.cat([tensor(past), x], 2)
    y = functional.conv1d(
        padded, kernels, None if bias is None else tensor(bias), groups=x.shape[1]
    )
    if node.attribute("activation", "none") in ("silu", "swish"):
        y = functional.silu(y)
    return y, padded.narrow(2, padded.shape[2] - missing, missing)


PATTERNS: Mapping[str, Pattern] = {
    "CausalConvWithState": _causal,
    "Col2Im": _col2im,
    "Conv": conv,
    "ConvTranspose": _conv_transpose,
    "DeformConv": _deformable,
}
