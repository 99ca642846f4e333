"""Ops that read or write places which are known at run time only."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch._decomp import decomposition_table

from plumbline.loader_to_torch.decompositions.rule import (
    Conditional,
    Rule,
    Rules,
    along,
    broadcast,
    first_of,
)

aten = torch.ops.aten

_COUNTED = 128
"""The longest sequence in which it is quicker to count all elements than to search."""

_BLOCK = 32
"""How many elements of a sequence whose size is not known are one block. To count ends of blocks
takes the less time the longer they are, and to search in one the more."""


def _searchsorted(
    sequence: torch.Tensor,
    values: torch.Tensor | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: torch.Tensor | None = None,
) -> torch.Tensor:
    """How many of a rising sequence are less than each value, or equal if `right`.

    Of a short sequence all are counted, which takes no loads from places that depend on others;
    else the count is found by its bits, from the highest on. Of a size that is not known, the
    number of whole blocks is counted, by their last elements, and bits tell how many come after.
    """
    if sorter is not None:
        sequence = sequence.gather(-1, sorter)
    if not isinstance(values, torch.Tensor):
        values = torch.full((), values, dtype=torch.result_type(sequence, values))
    rank = values.dim()
    values = values.reshape(1) if rank == 0 else values
    dtype = torch.promote_types(sequence.dtype, values.dtype)
    sequence, values = sequence.to(dtype), values.to(dtype)

    def before(others: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        # Not the same as `<=` and `<`: a NaN is greater than all.
        return ~(others > wanted) if right or side == "right" else ~(others >= wanted)

    size, bits = sequence.shape[-1], (_BLOCK - 1).bit_length()
    if isinstance(size, int) and size <= _COUNTED:
        counts, bits = before(sequence.unsqueeze(-2), values.unsqueeze(-1)).sum(-1), 0
    elif isinstance(size, int):
        counts, bits = torch.zeros(values.shape, dtype=torch.int64), size.bit_length()
    else:
        # An element behind the last one is there to be read, though not counted, where no other is;
        # and ends of more blocks than there are, as of one export would know that it is broadcast.
        sequence = torch.constant_pad_nd(sequence, [0, 1])
        ends = torch.arange(size // _BLOCK + 2) * _BLOCK + (_BLOCK - 1)
        last = sequence.index_select(-1, torch.clamp(ends, max=size))
        are_whole = (ends < size) & before(last.unsqueeze(-2), values.unsqueeze(-1))
        counts = are_whole.sum(-1) * _BLOCK
    for bit in reversed(range(bits)):
        more = counts + (1 << bit)
        last = torch.clamp(more - 1, max=sequence.shape[-1] - 1)
        others = sequence[last] if sequence.dim() == 1 else sequence.gather(-1, last)
        counts = torch.where((more <= size) & before(others, values), more, counts)
    counts = counts.reshape(()) if rank == 0 else counts
    return counts.to(torch.int32) if out_int32 else counts


def _isin(
    elements: torch.Tensor | float,
    among: torch.Tensor | float,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> torch.Tensor | bool:
    """Whether elements are among others: compared with all of a few, else found in their order.

    Which of the two is for no size but that of the others to say, and only where it is known:
    PyTorch's rule compares both sizes, and binds the program to what comes out.
    """
    if not isinstance(among, torch.Tensor):
        return elements != among if invert else elements == among
    if not isinstance(elements, torch.Tensor):
        elements = torch.full((), elements, dtype=torch.result_type(among, elements))
    among = among.reshape(-1)
    size = among.shape[0]
    if isinstance(size, int) and size > _COUNTED:
        among = torch.sort(among)[0]
        places = _searchsorted(among, elements)
        places = torch.clamp(places, max=size - 1).reshape(-1)
        found = among[places].reshape(elements.shape) == elements
    else:
        found = (elements.unsqueeze(-1) == among).any(-1)
    return ~found if invert else found


def _is_half(operand: torch.Tensor, *_: Any, **__: Any) -> bool:
    return operand.dtype in (torch.float16, torch.bfloat16)


def _in_float32(op: Any) -> Conditional:
    """The rule of what combines elements of half precision at places: it rounds once, at the end.

    As PyTorch's kernels do. Each rounding on the way loses what is small beside what there is.
    """

    def combined(
        operand: torch.Tensor,
        dim: int,
        places: torch.Tensor,
        source: torch.Tensor,
        *arguments: Any,
        **options: Any,
    ) -> Any:
        wide = (operand.to(torch.float32), dim, places, source.to(torch.float32))
        return op(*wide, *arguments, **options).to(operand.dtype)

    return Conditional(_is_half, combined)


def _index_reduce(
    operand: torch.Tensor,
    dim: int,
    index: torch.Tensor,
    source: torch.Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> torch.Tensor:
    """Slices of `source` combined with those of `operand` that `index` names."""
    if operand.dim() == 0:
        result = operand.reshape(1).scatter_reduce(
            0, index.reshape(1).to(torch.int64), source.reshape(1), reduce,
            include_self=include_self,
        )  # fmt: skip
        return result.reshape(())
    dim = dim % operand.dim()
    places = along(index.to(torch.int64), operand, dim).expand(source.shape)
    return operand.scatter_reduce(dim, places, source, reduce, include_self=include_self)


def _in_segments(
    data: torch.Tensor, lengths: torch.Tensor | None, offsets: torch.Tensor | None, axis: int
) -> torch.Tensor:
    """Which rows each segment has, [.., segments, rows, 1 ..]: `data` with one dimension more.

    Each row is in one segment or in none.
    """
    if lengths is not None:
        ends = lengths.to(torch.int64).cumsum(axis)
        begins = ends - lengths
    elif offsets is not None:
        count = offsets.shape[axis] - 1
        begins, ends = offsets.narrow(axis, 0, count), offsets.narrow(axis, 1, count)
    else:
        raise NotImplementedError("segments by indices, which PyTorch has no kernel for either")
    places = torch.arange(data.shape[axis])
    inside = (places >= begins.unsqueeze(-1)) & (places < ends.unsqueeze(-1))
    return inside.reshape(*inside.shape, *[1] * (data.dim() - axis - 1))


def _bucketize(
    values: torch.Tensor | float,
    boundaries: torch.Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
) -> torch.Tensor:
    return _searchsorted(boundaries, values, out_int32=out_int32, right=right)


def _row_starts(rows: torch.Tensor, size: int, *, out_int32: bool = False) -> torch.Tensor:
    """Where each of `size` rows begins among entries that are in the order of rows, and the end."""
    return _searchsorted(rows, torch.arange(size + 1), out_int32=out_int32)


def combinations(operand: torch.Tensor, r: int = 2, with_replacement: bool = False) -> torch.Tensor:
    """All choices of `r` elements of a row, in order, each in a row of the result.

    PyTorch's own rule chooses them by a mask, of which only a run tells how many they are.
    """
    count = operand.shape[0]
    if r == 0:
        return operand.new_zeros(0)
    numbers = torch.arange(count)
    grids = torch.meshgrid([numbers] * r, indexing="ij")
    chosen = torch.ones([count] * r, dtype=torch.bool)
    for left, right in itertools.pairwise(grids):
        chosen = chosen & (left <= right if with_replacement else left < right)
    size = math.comb(count + r - 1, r) if with_replacement else math.comb(count, r)
    return operand[_nonzero_static(chosen, size=size)]


_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


def _segment_reduce(
    data: torch.Tensor,
    reduce: str,
    *,
    lengths: torch.Tensor | None = None,
    indices: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> torch.Tensor:
    """Rows of `data` combined with those beside them, as many at a time as `lengths` says."""
    inside = _in_segments(data, lengths, offsets, axis)
    neutral = _NEUTRAL[reduce]
    start = neutral if initial is None else initial
    rows = torch.where(inside, data.unsqueeze(axis), neutral)
    along = axis + 1
    if reduce in ("max", "min"):
        extreme, clamped = (
            (torch.amax, torch.maximum) if reduce == "max" else (torch.amin, torch.minimum)
        )
        return clamped(extreme(rows, along), torch.full((), start, dtype=data.dtype))
    if reduce == "prod":
        return rows.prod(along) * start
    total = rows.sum(along) + start
    if reduce == "sum":
        return total
    counts = inside.to(data.dtype).sum(along)
    # Of no rows the mean is what it begins with, and NaN if it begins with nothing.
    return torch.where(counts == 0, math.nan if initial is None else total, total / counts)


def _segment_reduce_backward(
    grad: torch.Tensor,
    output: torch.Tensor,
    data: torch.Tensor,
    reduce: str,
    *,
    lengths: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None,
    axis: int = 0,
    initial: float | None = None,
) -> torch.Tensor:
    """The gradient of `data`, of which rows in no segment have none."""
    inside = _in_segments(data, lengths, offsets, axis)
    rows, along = data.unsqueeze(axis), axis + 1
    share = grad.unsqueeze(along)
    if reduce == "mean":
        share = share / inside.to(data.dtype).sum(along, keepdim=True)
    elif reduce in ("max", "min"):
        inside = inside & (rows == output.unsqueeze(along))
        share = share / inside.to(data.dtype).sum(along, keepdim=True)
    elif reduce == "prod":
        # The product of the others: of one zero, of all that are none, and of two, 0.
        is_zero = inside & (rows == 0)
        zeros = is_zero.to(data.dtype).sum(along, keepdim=True)
        product = torch.where(inside & ~is_zero, rows, 1.0).prod(along, keepdim=True)
        product = product if initial is None else product * initial
        others = torch.where(is_zero, product, product / torch.where(is_zero, 1.0, rows))
        share = share * torch.where(zeros == is_zero.to(data.dtype), others, 0.0)
    return torch.where(inside, share, 0.0).sum(axis)


def _masked_scatter(
    operand: torch.Tensor, mask: torch.Tensor, source: torch.Tensor
) -> torch.Tensor:
    """The elements of `source` in turn where `mask` is true.

    torch-mlir's own rule takes the result to be of the shape of `operand`, also where `mask` is of
    more dimensions.
    """
    operand, mask = broadcast(operand, mask)
    if source.numel() == 0:
        return operand.clone()
    # Where it is false, a place that there is. One beyond the end is told of as any index is.
    places = torch.where(mask.reshape(-1), mask.reshape(-1).to(torch.int64).cumsum(0) - 1, 0)
    return torch.where(mask, source.reshape(-1)[places].reshape(mask.shape), operand)


def _masked_scatter_backward(
    grad: torch.Tensor, mask: torch.Tensor, sizes: Sequence[int]
) -> torch.Tensor:
    """The gradient of what is taken in turn: where the mask is true, and 0 for what is left."""
    grad, mask = broadcast(grad, mask)
    flat, count = mask.reshape(-1), math.prod(sizes)
    places = torch.where(flat, flat.to(torch.int64).cumsum(0) - 1, count)
    nothing = torch.zeros(count + 1, dtype=grad.dtype)
    return nothing.scatter(0, places, grad.reshape(-1))[:count].reshape(sizes)


def _nonzero_static(operand: torch.Tensor, *, size: int, fill_value: int = -1) -> torch.Tensor:
    """The places of the first `size` elements that are not 0, in rows of indices."""
    rank = operand.dim()
    flat = (operand != 0).reshape(-1)
    # Which row each goes to; those that have none share the one beyond the end.
    row = torch.where(flat, flat.to(torch.int64).cumsum(0) - 1, size)
    row = torch.clamp(row, max=size)
    numbers = torch.arange(flat.shape[0])
    chosen = torch.full((size + 1,), -1, dtype=torch.int64).scatter(0, row, numbers)[:size]
    rows = torch.full((size, 0), fill_value, dtype=torch.int64)
    rest = chosen
    for axis in reversed(range(rank)):
        count = max(operand.shape[axis], 1)
        column = torch.where(chosen < 0, fill_value, rest % count).unsqueeze(-1)
        rows = torch.cat([column, rows], -1)
        rest = torch.div(rest, count, rounding_mode="floor")
    return rows


def index_put_apart(
    operand: torch.Tensor,
    indices: Sequence[torch.Tensor | None],
    values: torch.Tensor,
    accumulate: bool = False,
) -> Any:
    """Values put at places of dimensions that others lie between, by bringing those to the front.

    There the values have the dimensions of the indices, too.
    """
    named = [axis for axis, index in enumerate(indices) if index is not None]
    if named == [*range(named[0], named[-1] + 1)]:
        return NotImplemented
    order = [*named, *(axis for axis in range(operand.dim()) if axis not in named)]
    put = operand.permute(order).index_put([indices[axis] for axis in named], values, accumulate)
    return put.permute([order.index(axis) for axis in range(operand.dim())])


def index_put_along(
    operand: torch.Tensor,
    indices: Sequence[torch.Tensor | None],
    values: torch.Tensor,
    accumulate: bool = False,
) -> Any:
    """Values put at places along one dimension that is not the first, as a scatter of elements.

    As slices, each would have a row of indices, and no two elements of one would be side by side.
    """
    (axis, places), *others = [each for each in enumerate(indices) if each[1] is not None]
    if axis == 0 or others or places is None or places.dim() != 1 or operand.is_complex():
        return NotImplemented
    if accumulate and operand.dtype in (torch.bool, torch.float16, torch.bfloat16):
        return NotImplemented  # Of which PyTorch rounds each sum, unlike those of a scatter.
    sizes = [*operand.shape]
    places = torch.where(places < 0, places + sizes[axis], places).to(torch.int64)
    sizes[axis] = places.shape[0]
    put = operand.scatter_add if accumulate else operand.scatter
    return put(axis, along(places, operand, axis).expand(sizes), values.expand(sizes))


def _take(operand: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """The elements at places of `operand` as if it had one dimension."""
    return operand.reshape(-1)[index.reshape(-1)].reshape(index.shape)


def _embedding_renorm(
    weight: torch.Tensor, indices: torch.Tensor, max_norm: float, norm_type: float
) -> torch.Tensor:
    """`weight` with those rows made shorter that `indices` names and that are too long."""
    places = indices.reshape(-1)
    rows = weight[places]
    norms = torch.linalg.vector_norm(rows, norm_type, 1, keepdim=True).to(torch.float64)
    shares = torch.where(norms > max_norm, max_norm / (norms + 1e-7), 1.0)
    return weight.index_put([places], rows * shares.to(weight.dtype))


def _from_the_start(op: Any) -> Rule:
    """The rule of what takes no place below 0, by that of what counts such from the end.

    The same distance before them they are as wrong, and are refused by their numbers. A number
    names one place, where what counts so takes it for no dimension.
    """

    def decomposed(
        operand: torch.Tensor, dim: int, places: torch.Tensor, *arguments: Any, **options: Any
    ) -> Any:
        size = operand.shape[dim] if operand.dim() else 1
        places = torch.where(places < 0, places - size, places).reshape(-1)
        return decomposition_table[op](operand, dim, places, *arguments, **options)

    return decomposed


def _index_fill(
    operand: torch.Tensor, dim: int, places: torch.Tensor, value: torch.Tensor | complex
) -> torch.Tensor:
    """A number at places, which count from the end below 0; as copies they would not."""
    size = operand.shape[dim] if operand.dim() else 1
    is_number = not isinstance(value, torch.Tensor)
    op = aten.index_fill.int_Scalar if is_number else aten.index_fill.int_Tensor
    places = torch.where(places < 0, places + size, places)
    filled: torch.Tensor = decomposition_table[op](operand, dim, places, value)
    return filled


RULES: Rules = {
    aten._convert_indices_from_coo_to_csr.default: _row_starts,
    aten.bucketize.Scalar: _bucketize,
    aten.bucketize.Tensor: _bucketize,
    aten.combinations.default: combinations,
    aten.embedding_renorm.default: _embedding_renorm,
    aten.index_add.default: first_of(
        _in_float32(aten.index_add.default), _from_the_start(aten.index_add.default)
    ),
    aten.index_copy.default: _from_the_start(aten.index_copy.default),
    aten.index_fill.int_Scalar: _index_fill,
    aten.index_fill.int_Tensor: _index_fill,
    aten.index_reduce.default: _index_reduce,
    aten.isin.Scalar_Tensor: _isin,
    aten.isin.Tensor_Scalar: _isin,
    aten.isin.Tensor_Tensor: _isin,
    aten.masked_scatter.default: _masked_scatter,
    aten.masked_scatter_backward.default: _masked_scatter_backward,
    aten.nonzero_static.default: _nonzero_static,
    aten.scatter_add.default: _in_float32(aten.scatter_add.default),
    aten.scatter_reduce.two: _in_float32(aten.scatter_reduce.two),
    aten.searchsorted.Scalar: _searchsorted,
    aten.searchsorted.Tensor: _searchsorted,
    aten.segment_reduce.default: _segment_reduce,
    aten._segment_reduce_backward.default: _segment_reduce_backward,
    aten.take.default: _take,
}
