"""Convolutions of as many groups of channels as a call says, such as one for each channel.

TCP's convolutions have a known number of groups. Here they are a dimension instead, and windows are
views of what is seen:

    out[n, g, o, y] = sum over i and k of  seen[n, g, i, stride y + dilation k] weight[g, o, i, k]

Of a channel each, that is a sum of products which copies no window. Of several channels there is
much to compute of each window, so that these are copied, and become products of matrices.
"""

from collections.abc import Sequence

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

aten = torch.ops.aten


def is_dynamic(groups: int) -> bool:
    """Whether the number of groups is not known before the program runs."""
    return isinstance(groups, torch.SymInt) and groups.node.maybe_as_int() is None


def applies(
    operand: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> bool:
    """Whether a convolution is to be computed here."""
    return is_dynamic(groups)


def convolution(
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
    """What `aten.convolution` computes: sums are rounded to the operand's dtype at the end.

    A transposed convolution is one of what has zeros between its elements, by mirrored weights.
    """
    spatial = operand.ndim - 2
    stride, padding, dilation, output_padding = (
        list(entries) * (spatial if len(entries) == 1 else 1)
        for entries in (stride, padding, dilation, output_padding)
    )
    seen, weights = _wide(operand), _parted(_wide(weight), 0, groups)
    if transposed:
        weights = weights.transpose(1, 2).flip(list(range(3, 3 + spatial)))
        reach = [apart * (size - 1) for apart, size in zip(dilation, weight.shape[2:], strict=True)]
        low = [each - pad for each, pad in zip(reach, padding, strict=True)]
        high = [each + extra for each, extra in zip(low, output_padding, strict=True)]
        seen, stride = _padded(_spread(seen, stride), low, high), [1] * spatial
    else:
        seen = _padded(seen, padding, padding)
    windows = _windows(_parted(seen, 1, groups), weights.shape[3:], stride, dilation)
    _, outputs, inputs, *kernel = weights.shape
    if statically_known_true(outputs * inputs == 1):
        weights = weights.reshape(groups, *[1] * spatial, *kernel)
        within = list(range(2 + spatial, 2 + 2 * spatial))
        sums = (windows.squeeze(2) * weights).sum(within)
    else:
        columns = _columns(windows, spatial)
        products = weights.reshape(groups, outputs, -1) @ columns
        places = windows.shape[3 : 3 + spatial]
        sums = products.reshape(groups, outputs, windows.shape[0], *places)
        sums = sums.movedim(2, 0).flatten(1, 2)
    if bias is not None:
        sums = sums + _wide(bias).reshape(-1, *[1] * spatial)
    return sums.to(operand.dtype)


def gradient_of_weight(
    small: torch.Tensor,
    large: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> torch.Tensor:
    """Of weights [o, c / groups, ..] that take `large` [n, c, ..], padded, to `small` [n, o, ..].

    There are as many windows in `large` as elements in `small`.
    """
    windows = _windows(_parted(_wide(large), 1, groups), kernel, stride, dilation)
    columns = _columns(windows, len(kernel))
    results = _parted(_wide(small), 1, groups).movedim(0, 2).flatten(2)
    products = results @ columns.transpose(1, 2)
    return products.reshape(small.shape[1], -1, *kernel).to(small.dtype)


def _columns(windows: torch.Tensor, spatial: int) -> torch.Tensor:
    """Windows [n, g, i, y.., k..] as columns of matrices [g, i * k.., n * y..]."""
    places = range(3, 3 + spatial)
    within = range(3 + spatial, 3 + 2 * spatial)
    columns = windows.permute(1, 2, *within, 0, *places)
    return columns.flatten(2 + spatial).flatten(1, 1 + spatial)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """What is multiplied: sums of half precision are of float32."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _parted(tensor: torch.Tensor, axis: int, parts: int) -> torch.Tensor:
    """An axis as two, of which the first has `parts` places."""
    sizes = list(tensor.shape)
    sizes[axis : axis + 1] = [parts, sizes[axis] // parts]
    return tensor.reshape(sizes)


def _padded(tensor: torch.Tensor, low: Sequence[int], high: Sequence[int]) -> torch.Tensor:
    """The spatial dimensions with zeros around them, or less of them where a number is negative."""
    sides = [side for pads in zip(reversed(low), reversed(high), strict=True) for side in pads]
    if all(isinstance(side, int) and side == 0 for side in sides):
        return tensor
    padded: torch.Tensor = aten.constant_pad_nd(tensor, sides, 0)
    return padded


def _spread(tensor: torch.Tensor, stride: Sequence[int]) -> torch.Tensor:
    """The elements `stride` places apart, with zeros between them."""
    for axis, step in enumerate(stride, 2):
        if step == 1:
            continue
        size = tensor.shape[axis]
        wider = aten.constant_pad_nd(tensor.unsqueeze(-1), [0, step - 1], 0)
        tensor = wider.movedim(-1, axis + 1).flatten(axis, axis + 1)
        tensor = tensor.narrow(axis, 0, (size - 1) * step + 1)
    return tensor


def _windows(
    tensor: torch.Tensor, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> torch.Tensor:
    """Windows of `tensor` [n, g, c, ..]: their places in place of its own, then what they see."""
    first = tensor.ndim - len(kernel)
    for axis, (size, step, apart) in enumerate(
        zip(kernel, stride, dilation, strict=True), start=first
    ):
        reach = (size - 1) * apart + 1
        if isinstance(size, int):
            tensor = tensor.unfold(axis, reach, step)[..., ::apart]
        else:
            begins = torch.arange((tensor.shape[axis] - reach) // step + 1) * step
            places = begins.unsqueeze(1) + torch.arange(size) * apart
            seen = tensor.index_select(axis, places.flatten())
            tensor = seen.unflatten(axis, places.shape).movedim(axis + 1, -1)
    return tensor
