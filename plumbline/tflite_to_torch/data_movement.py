"""What moves elements, or makes some of known numbers."""

from collections.abc import Mapping

import tflite
import torch
from torch.nn import functional as F  # noqa: N812

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.node import Node, Pattern, axes_of, of_moves
from plumbline.tflite_to_torch.tensors import Operand


def _reshape(node: Node, x: Operand, shape: Operand | None = None) -> torch.Tensor:
    # Files of old have it as an option.
    sizes = node.option_numbers("NewShape") if shape is None else node.numbers(1)
    return node.converted(x).reshape(sizes)


def _transpose(node: Node, x: torch.Tensor) -> torch.Tensor:
    order = axes_of(node.numbers(1), x.ndim)
    if sorted(order) != [*range(x.ndim)]:
        raise Unsupported(f"{order} is no order of the axes")
    return x.permute(order)


def _concatenation(node: Node, *parts: Operand) -> torch.Tensor:
    stored = [node.converted(part) for part in parts]
    (axis,) = axes_of([node.option("Axis")], stored[0].ndim)
    return node.activated(torch.cat(stored, axis))


def _pack(node: Node, *parts: Operand) -> torch.Tensor:
    stored = [node.converted(part) for part in parts]
    (axis,) = axes_of([node.option("Axis")], stored[0].ndim + 1)
    return torch.stack(stored, axis)


def _unpack(node: Node, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    (axis,) = axes_of([node.option("Axis", 0)], x.ndim)
    return x.unbind(axis)


def _split(node: Node, axis: Operand, x: Operand) -> tuple[torch.Tensor, ...]:
    (dim,) = axes_of([node.number(0)], x.stored.ndim)
    count = len(node.outputs)
    if x.stored.shape[dim] % count:
        raise Unsupported(f"{x.stored.shape[dim]} are not split into {count} equal parts")
    return torch.split(node.converted(x), x.stored.shape[dim] // count, dim)


def _split_by_sizes(
    node: Node, x: Operand, sizes: Operand, axis: Operand
) -> tuple[torch.Tensor, ...]:
    (dim,) = axes_of([node.number(2)], x.stored.ndim)
    counts, whole = node.numbers(1), x.stored.shape[dim]
    rest = whole - sum(count for count in counts if count >= 0)
    counts = [rest if count < 0 else count for count in counts]
    if sum(counts) != whole or len(counts) != len(node.outputs):
        raise Unsupported(f"{whole} are not split into {counts}")
    return torch.split(node.converted(x), counts, dim)


def _widths(node: Node, rank: int) -> list[int]:
    """How many are added before and behind, as PyTorch takes them: the last dimension first."""
    widths = node.numbers(1)
    if len(widths) != 2 * rank or min(widths, default=0) < 0:
        raise Unsupported(f"it is padded by {widths}, of {rank} dimensions")
    return [width for axis in reversed(range(rank)) for width in widths[2 * axis : 2 * axis + 2]]


def _pad(node: Node, x: Operand, widths: Operand, value: Operand | None = None) -> torch.Tensor:
    stored = node.converted(x)
    by = node.outputs[0].zero if value is None else node.number(2)
    return F.pad(stored, _widths(node, stored.ndim), value=by)


def _mirror_pad(node: Node, x: torch.Tensor) -> torch.Tensor:
    is_reflected = node.option("Mode") == tflite.MirrorPadMode.REFLECT
    widths = node.numbers(1)
    _widths(node, x.ndim)
    for axis in range(x.ndim):
        before, behind = widths[2 * axis : 2 * axis + 2]
        size, skipped = x.shape[axis], int(is_reflected)
        if max(before, behind) > size - skipped:
            raise Unsupported(f"{size} are mirrored no further than {size - skipped}")
        places = [*range(size)]
        indices = (
            places[skipped : skipped + before][::-1]
            + places
            + places[size - skipped - behind : size - skipped][::-1]
        )
        if before or behind:
            x = x.index_select(axis, torch.tensor(indices))
    return x


def _slice(node: Node, x: torch.Tensor) -> torch.Tensor:
    for axis, (begin, size) in enumerate(zip(node.numbers(1), node.numbers(2), strict=True)):
        length = x.shape[axis] - begin if size == -1 else size
        if not (begin >= 0 <= length and begin + length <= x.shape[axis]):
            raise Unsupported(f"it takes {length} from {begin} on, of {x.shape[axis]}")
        x = x.narrow(axis, begin, length)
    return x


def _strided_slice(node: Node, x: torch.Tensor) -> torch.Tensor:
    begins, ends, strides = (node.numbers(index) for index in (1, 2, 3))
    begin_mask, end_mask, new_mask, shrink_mask, ellipsis_mask = (
        node.option(name, 0)
        for name in ("BeginMask", "EndMask", "NewAxisMask", "ShrinkAxisMask", "EllipsisMask")
    )
    if node.option("Offset", False):
        ends = [begin + end for begin, end in zip(begins, ends, strict=True)]
    taken = sum(not (new_mask | ellipsis_mask) >> place & 1 for place in range(len(begins)))
    axis = 0
    for place, (begin, end, stride) in enumerate(zip(begins, ends, strides, strict=True)):
        bit = 1 << place
        if ellipsis_mask & bit:
            axis += (
                x.ndim
                - axis
                - sum(
                    bool(new_mask >> later & 1) is False for later in range(place + 1, len(begins))
                )
            )
            continue
        if new_mask & bit:
            x = x.unsqueeze(axis)
            axis += 1
            continue
        if axis >= x.ndim or not stride:
            raise Unsupported(f"it takes {taken} dimensions by steps of {strides}")
        if shrink_mask & bit:
            x = x.select(axis, begin)
            continue
        bounds = slice(None if begin_mask & bit else begin, None if end_mask & bit else end, stride)
        x = _sliced(x, axis, bounds)
        axis += 1
    return x


def _sliced(x: torch.Tensor, axis: int, bounds: slice) -> torch.Tensor:
    begin, end, stride = bounds.indices(x.shape[axis])
    if stride > 0:
        return torch.ops.aten.slice.Tensor(x, axis, begin, max(begin, end), stride)  # type: ignore[no-any-return]
    places = range(begin, end, stride)
    if not places:
        return x.narrow(axis, 0, 0)
    return torch.ops.aten.slice.Tensor(x, axis, places[-1], begin + 1, -stride).flip(axis)  # type: ignore[no-any-return]


def _expand(node: Node, x: torch.Tensor) -> torch.Tensor:
    (axis,) = axes_of([node.number(1)], x.ndim + 1)
    return x.unsqueeze(axis)


def _squeeze(node: Node, x: torch.Tensor) -> torch.Tensor:
    # Without axes all of one element go.
    axes = axes_of(node.option_numbers("SqueezeDims"), x.ndim)
    return x.squeeze(tuple(axes)) if axes else x.squeeze()


def _tile(node: Node, x: torch.Tensor) -> torch.Tensor:
    return x.repeat(node.numbers(1))


def _broadcast(node: Node, x: torch.Tensor) -> torch.Tensor:
    return x.expand(node.numbers(1))


def _reverse(node: Node, x: torch.Tensor) -> torch.Tensor:
    return x.flip(axes_of(node.numbers(1), x.ndim))


def _reverse_sequence(node: Node, x: Operand, lengths: Operand) -> torch.Tensor:
    """The first of each sequence, as many as its length says, the other way round."""
    stored = node.converted(x)
    along, batch = axes_of([node.option("SeqDim"), node.option("BatchDim", 0)], stored.ndim)
    moved = stored.movedim((batch, along), (0, 1))
    places = torch.arange(moved.shape[1])
    length = lengths.stored.to(torch.int64)[:, None]
    indices = torch.where(places < length, length - 1 - places, places)
    rows = torch.arange(moved.shape[0])[:, None]
    return moved[rows, indices].movedim((0, 1), (batch, along))


def _blocks(node: Node, x: torch.Tensor) -> int:
    size = node.option("BlockSize")
    if x.ndim != 4 or size < 1:
        raise Unsupported(f"it takes blocks of {size}, of {x.ndim} dimensions")
    return int(size)


def _space_to_depth(node: Node, x: torch.Tensor) -> torch.Tensor:
    size = _blocks(node, x)
    batch, height, width, channels = x.shape
    parts = x.reshape(batch, height // size, size, width // size, size, channels)
    return parts.permute(0, 1, 3, 2, 4, 5).reshape(
        batch, height // size, width // size, size * size * channels
    )


def _depth_to_space(node: Node, x: torch.Tensor) -> torch.Tensor:
    size = _blocks(node, x)
    batch, height, width, channels = x.shape
    parts = x.reshape(batch, height, width, size, size, channels // (size * size))
    return parts.permute(0, 1, 3, 2, 4, 5).reshape(
        batch, height * size, width * size, channels // (size * size)
    )


def _space_to_batch(node: Node, x: Operand, blocks: Operand, widths: Operand) -> torch.Tensor:
    stored = node.converted(x)
    sizes, padding = node.numbers(1), node.numbers(2)
    zero = node.outputs[0].zero
    rest = stored.ndim - 1 - len(sizes)
    flat = [0, 0] * rest
    for axis in reversed(range(len(sizes))):
        flat += padding[2 * axis : 2 * axis + 2]
    padded = F.pad(stored, flat, value=zero)
    shape = [padded.shape[0]]
    for size, length in zip(sizes, padded.shape[1:], strict=False):
        shape += [length // size, size]
    others = padded.shape[1 + len(sizes) :]
    parts = padded.reshape(*shape, *others)
    count = len(sizes)
    order = [
        *(2 + 2 * axis for axis in range(count)),
        0,
        *(1 + 2 * axis for axis in range(count)),
        *range(1 + 2 * count, parts.ndim),
    ]
    return parts.permute(order).reshape(-1, *shape[1::2], *others)


def _batch_to_space(node: Node, x: torch.Tensor) -> torch.Tensor:
    sizes, crops = node.numbers(1), node.numbers(2)
    count, others = len(sizes), x.shape[1 + len(sizes) :]
    lengths = x.shape[1 : 1 + count]
    batch = x.shape[0] // torch.Size(sizes).numel()
    parts = x.reshape(*sizes, batch, *lengths, *others)
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    order += range(1 + 2 * count, parts.ndim)
    whole = [length * size for length, size in zip(lengths, sizes, strict=True)]
    result = parts.permute(order).reshape(batch, *whole, *others)
    for axis in range(count):
        before, behind = crops[2 * axis : 2 * axis + 2]
        result = result.narrow(1 + axis, before, whole[axis] - before - behind)
    return result


def _fill(node: Node, shape: Operand, value: Operand) -> torch.Tensor:
    return node.converted(value).expand(node.numbers(0))


def _range(node: Node, start: Operand, end: Operand, step: Operand) -> torch.Tensor:
    return torch.arange(*(node.number(index) for index in range(3)), dtype=node.outputs[0].dtype)


def _diagonal(node: Node, x: torch.Tensor) -> torch.Tensor:
    return torch.diag_embed(x)


def _with_diagonal(node: Node, x: Operand, diagonal: Operand) -> torch.Tensor:
    stored = node.converted(x)
    rows, columns = stored.shape[-2:]
    count = min(rows, columns)
    placed = F.pad(
        torch.diag_embed(node.converted(diagonal)), [0, columns - count, 0, rows - count]
    )
    return torch.where(torch.eye(rows, columns, dtype=torch.bool), placed, stored)


def _update_slice(node: Node, x: Operand, update: Operand, starts: Operand) -> torch.Tensor:
    stored, by = node.converted(x), node.converted(update)
    indices: list[torch.Tensor] = []
    start = starts.stored.to(torch.int64)
    for axis, (size, length) in enumerate(zip(stored.shape, by.shape, strict=True)):
        first = start[axis].clamp(0, size - length)
        shape = [-1 if other == axis else 1 for other in range(by.ndim)]
        indices.append((first + torch.arange(length)).reshape(shape))
    return torch.index_put(stored, tuple(indices), by)


PATTERNS: Mapping[str, Pattern] = {
    "BATCH_TO_SPACE_ND": of_moves(_batch_to_space),
    "BROADCAST_TO": of_moves(_broadcast),
    "CONCATENATION": _concatenation,
    "DEPTH_TO_SPACE": of_moves(_depth_to_space),
    "DYNAMIC_UPDATE_SLICE": _update_slice,
    "EXPAND_DIMS": of_moves(_expand),
    "FILL": _fill,
    "MATRIX_DIAG": of_moves(_diagonal),
    "MATRIX_SET_DIAG": _with_diagonal,
    "MIRROR_PAD": of_moves(_mirror_pad),
    "PACK": _pack,
    "PAD": _pad,
    "PADV2": _pad,
    "RANGE": _range,
    "RESHAPE": _reshape,
    "REVERSE_SEQUENCE": _reverse_sequence,
    "REVERSE_V2": of_moves(_reverse),
    "SLICE": of_moves(_slice),
    "SPACE_TO_BATCH_ND": _space_to_batch,
    "SPACE_TO_DEPTH": of_moves(_space_to_depth),
    "SPLIT": _split,
    "SPLIT_V": _split_by_sizes,
    "SQUEEZE": of_moves(_squeeze),
    "STRIDED_SLICE": of_moves(_strided_slice),
    "TILE": of_moves(_tile),
    "TRANSPOSE": of_moves(_transpose),
    "UNPACK": of_moves(_unpack),
}
