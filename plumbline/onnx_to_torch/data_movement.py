"""Ops of ONNX that move elements, and that make tensors."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import (
    Value,
    dtype_of,
    integer,
    integers,
    only,
    sym_max,
    tensor,
    tensors,
    torch_dtype,
)


def _reshape(node: Node, data: Value, shape: Value = None) -> torch.Tensor:
    x, sizes = tensor(data), node.integers("shape", shape) or []
    if not node.attribute("allowzero", 0):
        sizes = [
            x.shape[axis] if isinstance(size, int) and size == 0 else size
            for axis, size in enumerate(sizes)
        ]
    return x.reshape(sizes)


def _flatten(node: Node, data: Value) -> torch.Tensor:
    x = tensor(data)
    axis = node.attribute("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _squeeze(node: Node, data: Value, axes: Value = None) -> torch.Tensor:
    x, along = tensor(data), node.integers("axes", axes)
    return x.squeeze() if along is None else x.squeeze(along)


def _unsqueeze(node: Node, data: Value, axes: Value = None) -> torch.Tensor:
    x, along = tensor(data), node.integers("axes", axes) or []
    rank = x.ndim + len(along)
    for axis in sorted(axis % rank for axis in along):
        x = x.unsqueeze(axis)
    return x


def _transpose(node: Node, data: Value) -> torch.Tensor:
    x = tensor(data)
    return x.permute(node.attribute("perm", list(range(x.ndim))[::-1]))


def _concat(node: Node, *parts: Value) -> torch.Tensor:
    return torch.cat(tensors(parts), node.required("axis"))


def _split(node: Node, data: Value, split: Value = None) -> tuple[torch.Tensor, ...]:
    x, axis = tensor(data), node.attribute("axis", 0)
    sizes = node.integers("split", split)
    if sizes is None:
        return torch.split(x, -(-x.shape[axis] // len(node.outputs)), axis)
    return torch.split(x, sizes, axis)


def _slice(
    node: Node,
    data: Value,
    starts: Value = None,
    ends: Value = None,
    axes: Value = None,
    steps: Value = None,
) -> torch.Tensor:
    x = tensor(data)
    first, last = node.integers("starts", starts) or [], node.integers("ends", ends) or []
    along = node.integers("axes", axes) or range(len(first))
    by = node.integers("steps", steps) or [1] * len(first)
    for axis, start, end, step in zip(along, first, last, by, strict=True):
        if not isinstance(step, int):
            raise Unsupported("a step is not known as the program is exported")
        if step < 0:
            # What begins at the last and ends at the first, of the tensor in reverse.
            size = x.shape[axis]
            x = x.flip(axis)
            start, end = (_from_end(each, size) for each in (start, end))
            step = -step
        x = torch.ops.aten.slice.Tensor(x, axis, start, end, step)
    return x


def _from_end(place: Any, size: Any) -> Any:
    """Where an element lies in a dimension in reverse; what is outside of it lies at its ends."""
    if isinstance(place, int) and place < 0:
        # From the end, as ONNX counts them, or before the first of all.
        return -place - 1 if not isinstance(size, int) or place >= -size else size
    return sym_max(size - 1 - place, 0)


def _gather(node: Node, data: Value, indices: Value) -> torch.Tensor:
    x, at, axis = tensor(data), tensor(indices), node.attribute("axis", 0)
    if at.ndim == 0 and (index := only(indices)) is not None:
        return x.select(axis, index)
    axis %= x.ndim
    index = [slice(None)] * axis
    # By a tensor of rank 0, PyTorch would read the number that is in it.
    found = x[(*index, at.to(torch.int64).reshape(at.shape or [1]))]
    return found if at.ndim else found.squeeze(axis)


def _pad(
    node: Node, data: Value, pads: Value = None, constant: Value = None, axes: Value = None
) -> torch.Tensor:
    x, mode = tensor(data), node.attribute("mode", "constant")
    # The oldest version calls it so.
    given = node.integers("pads", pads) or node.attribute("paddings", [])
    along = [axis % x.ndim for axis in (range(x.ndim) if axes is None else integers(axes))]
    half = len(given) // 2
    widths = {axis: (given[i], given[half + i]) for i, axis in enumerate(along)}
    if mode == "constant":
        flat = [width for axis in reversed(range(x.ndim)) for width in widths.get(axis, (0, 0))]
        if constant is None:
            return functional.pad(x, flat, value=node.attribute("value", 0.0))
        return functional.pad(x, flat, value=tensor(constant).reshape(()).item())
    return _padded_by_own(x, widths, mode)


def _padded_by_own(
    x: torch.Tensor, widths: Mapping[int, tuple[Any, Any]], mode: str
) -> torch.Tensor:
    """What is padded by its own elements, dimension by dimension."""
    for axis, (before, after) in widths.items():
        if isinstance(before, int) and isinstance(after, int) and before == after == 0:
            continue
        size = x.shape[axis]
        places = torch.arange(-before, size + after)
        if mode == "edge":
            places = places.clamp(0, size - 1)
        elif mode == "reflect":
            # There and back, again and again.
            period = sym_max(2 * (size - 1), 1)
            places = places.remainder(period)
            places = torch.minimum(places, period - places) if size != 1 else places * 0
        elif mode == "wrap":
            places = places.remainder(size)
        else:
            raise Unsupported(f"there is no mode {mode!r}")
        x = x.index_select(axis, places)
    return x


def _expand(node: Node, data: Value, shape: Value) -> torch.Tensor:
    x, sizes = tensor(data), integers(shape)
    # Either may have the dimension that is 1.
    rank = max(x.ndim, len(sizes))
    own = [1] * (rank - x.ndim) + list(x.shape)
    given = [1] * (rank - len(sizes)) + sizes
    pairs = zip(own, given, strict=True)
    return x.expand([mine if isinstance(size, int) and size == 1 else size for mine, size in pairs])


def _tile(node: Node, data: Value, repeats: Value) -> torch.Tensor:
    return tensor(data).repeat(integers(repeats))


def _constant_of_shape(node: Node, shape: Value) -> torch.Tensor:
    value = node.attribute("value", torch.zeros(1))
    return torch.full(integers(shape), value.item(), dtype=value.dtype)


def _range(node: Node, start: Value, limit: Value, delta: Value) -> torch.Tensor:
    first, last, step = (integer(each) for each in (start, limit, delta))
    return torch.arange(first, last, step, dtype=dtype_of(start))


def _eye_like(node: Node, like: Value) -> torch.Tensor:
    x = tensor(like)
    data_type = node.optional("dtype")
    dtype = x.dtype if data_type is None else torch_dtype(data_type)
    rows, columns = (torch.arange(size) for size in x.shape)
    return (columns - rows[:, None] == node.attribute("k", 0)).to(dtype)


def _triangle(node: Node, data: Value, k: Value = None) -> torch.Tensor:
    diagonal = 0 if k is None else integer(k)
    if node.attribute("upper", 1):
        return torch.triu(tensor(data), diagonal)
    return torch.tril(tensor(data), diagonal)


def _depth_to_space(node: Node, data: Value) -> torch.Tensor:
    x, block = tensor(data), node.required("blocksize")
    batch, depth, height, width = x.shape
    if node.attribute("mode", "DCR") == "DCR":
        x = x.reshape(batch, block, block, depth // block**2, height, width)
        x = x.permute(0, 3, 4, 1, 5, 2)
    else:
        x = x.reshape(batch, depth // block**2, block, block, height, width)
        x = x.permute(0, 1, 4, 2, 5, 3)
    return x.reshape(batch, depth // block**2, height * block, width * block)


def _space_to_depth(node: Node, data: Value) -> torch.Tensor:
    x, block = tensor(data), node.required("blocksize")
    batch, depth, height, width = x.shape
    x = x.reshape(batch, depth, height // block, block, width // block, block)
    is_depth_last = node.attribute("mode", "DCR") == "DCR"
    x = x.permute(0, 3, 5, 1, 2, 4) if is_depth_last else x.permute(0, 1, 3, 5, 2, 4)
    return x.reshape(batch, depth * block**2, height // block, width // block)


def _reverse_sequence(node: Node, data: Value, lengths: Value) -> torch.Tensor:
    x = tensor(data)
    batch, time = node.attribute("batch_axis", 1), node.attribute("time_axis", 0)
    shape = [1] * x.ndim
    shape[time] = -1
    steps = torch.arange(x.shape[time]).reshape(shape)
    shape = [1] * x.ndim
    shape[batch] = -1
    length = tensor(lengths).reshape(shape)
    places = torch.where(steps < length, length - 1 - steps, steps)
    return torch.gather(x, time, places.expand(x.shape))


def _compress(node: Node, data: Value, condition: Value) -> torch.Tensor:
    x, axis = tensor(data), node.optional("axis")
    if axis is None:
        x, axis = x.reshape(-1), 0
    places = tensor(condition).nonzero().reshape(-1)
    return x.index_select(axis, places)


def _center_crop_pad(node: Node, data: Value, shape: Value) -> torch.Tensor:
    x, sizes = tensor(data), integers(shape)
    axes = node.attribute("axes", list(range(x.ndim)))
    for axis, size in zip(axes, sizes, strict=True):
        missing = size - x.shape[axis]
        before = missing // 2 if missing >= 0 else -((-missing) // 2)
        widths = [0] * (2 * x.ndim)
        place = 2 * (x.ndim - 1 - axis % x.ndim)
        widths[place : place + 2] = [before, missing - before]
        x = functional.pad(x, widths)
    return x


PATTERNS: Mapping[str, Pattern] = {
    "CenterCropPad": _center_crop_pad,
    "Compress": _compress,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "EyeLike": _eye_like,
    "Flatten": _flatten,
    "Gather": _gather,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "ReverseSequence": _reverse_sequence,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _triangle,
    "Unsqueeze": _unsqueeze,
}
