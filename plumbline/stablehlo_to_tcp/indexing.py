"""Ops that read or write places which are known at run time only.

TCP names the places of whole slices by rows of indices into the leading dimensions. To that form
all of StableHLO's come: dimensions that indices name, or that a window takes part of, go to the
front, and a row has an index for each of them: where the window begins and how far into it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp.attributes import gather_dimensions, scatter_dimensions
from plumbline.stablehlo_to_tcp.bodies import (
    combine,
    combiner,
    is_argument,
    neutral,
    returned,
    single_op,
)
from plumbline.stablehlo_to_tcp.pattern import Patterns, integers, tensor, tensors
from plumbline.stablehlo_to_tcp.shape_tensors import elements
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import concatenate, iota, pad, slice_along, transpose
from plumbline.tcp.building.dtypes import signedness
from plumbline.tcp.building.elementwise import apply, like
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast_to, cast, from_size, scalar
from plumbline.tcp.building.size_polynomials import same
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops.elementwise import (
    AddOp,
    CompareOp,
    LogicalAndOp,
    MaximumOp,
    MinimumOp,
    NegOp,
    SelectOp,
)
from plumbline.tcp.ops.indexing import GatherNdOp, ScatterNdOp

_INDEX_DTYPE = "si64"


@dataclass(frozen=True)
class _Places:
    """Which part of an operand each row of indices is about."""

    operand: Tensor
    indices: Tensor
    """Of the places outside, with the dimension of a row's entries as the last one."""
    window: Sequence[Size]
    """How much a window takes of each dimension of the operand."""
    indexed: Sequence[int]
    """The dimension that each entry of a row begins a window in."""
    batches: Sequence[tuple[int, int]]
    """Dimensions of the operand that go along with one of the indices."""

    @classmethod
    def of(
        cls,
        operand: Tensor,
        indices: Tensor,
        vector_dim: int,
        window: Sequence[Size],
        indexed: Sequence[int],
        batches: Sequence[tuple[int, int]],
    ) -> "_Places":
        """The same, where the entries of a row are along `vector_dim`, or are just one."""
        wide = cast(indices, _INDEX_DTYPE)
        rank = wide.type.rank
        if vector_dim == rank:
            wide = reshape(wide, [*size_arithmetic.all_of(wide), 1])
        else:
            others = [axis for axis in range(rank) if axis != vector_dim]
            wide = transpose(wide, [*others, vector_dim])
        outside = [(dim, axis - (axis > vector_dim)) for dim, axis in batches]
        return cls(operand, wide, window, indexed, outside)

    def outer(self) -> list[Size]:
        """The sizes of the indices without the dimension of a row."""
        return size_arithmetic.all_of(self.indices)[:-1]

    def leading(self) -> list[int]:
        """The dimensions of the operand that a row has an index for, in its order.

        So the operand is transposed only where one that is taken whole lies before them.
        """
        named = [*self.indexed, *(dim for dim, _ in self.batches)]
        sizes = size_arithmetic.all_of(self.operand)
        partly = [
            dim
            for dim, size in enumerate(self.window)
            if dim not in named and not same(size, sizes[dim])
        ]
        return sorted([*named, *partly])

    def following(self) -> list[int]:
        """The dimensions of the operand that are taken whole."""
        leading = self.leading()
        return [dim for dim in range(self.operand.type.rank) if dim not in leading]

    def windowed(self) -> list[int]:
        """The leading dimensions of which a window may take more than one element."""
        return [dim for dim in self.leading() if self.window[dim] != 1]

    def starts(self) -> dict[int, Tensor]:
        """Where the windows begin in each dimension that rows name, in the shape outside."""
        return {
            dim: reshape(
                slice_along(self.indices, self.indices.type.rank - 1, entry, 1), self.outer()
            )
            for entry, dim in enumerate(self.indexed)
        }

    def shape(self) -> list[Size]:
        """The sizes outside, then those of what windows take of the leading dimensions."""
        return [*self.outer(), *(self.window[dim] for dim in self.windowed())]

    def columns(self, starts: dict[int, Tensor]) -> list[Tensor]:
        """An index into each leading dimension, all of `shape`."""
        sizes, windowed = self.shape(), self.windowed()
        outside = len(self.outer())
        along = dict(self.batches)
        columns = []
        for dim in self.leading():
            column = None
            if dim in starts:
                own = [*self.outer(), *[1] * len(windowed)]
                column = broadcast_to(reshape(starts[dim], own), sizes)
            elif dim in along:
                column = iota(sizes, along[dim], _INDEX_DTYPE)
            if dim in windowed:
                within = iota(sizes, outside + windowed.index(dim), _INDEX_DTYPE)
                column = within if column is None else apply(AddOp, column, within)
            if column is None:
                column = broadcast_to(scalar(0, _INDEX_DTYPE), sizes)
            columns.append(column)
        return columns


def _rows(columns: Sequence[Tensor]) -> Tensor:
    if not columns:
        raise Unsupported("places that no index names; take or replace the whole instead")
    parts = [reshape(column, [*size_arithmetic.all_of(column), 1]) for column in columns]
    sizes = (*columns[0].type.sizes, len(columns))
    return concatenate(parts, len(sizes) - 1, sizes)


def _within(start: Tensor, last: Size) -> Tensor:
    """Places moved to between 0 and `last`."""
    sizes = size_arithmetic.all_of(start)
    raised = apply(MaximumOp, start, like(start, 0), int_signedness="Signed")
    ends = broadcast_to(from_size(last), sizes)
    return apply(MinimumOp, raised, ends, int_signedness="Signed")


# -- gather ----------------------------------------------------------------------------------------


def convert_gather(op: ir.OpView) -> Tensor:
    """Windows that begin where rows of indices say, moved to where they fit."""
    operand, indices = tensors(op)[:2]
    return _gather(operand, indices, gather_dimensions(op), integers(op, "slice_sizes"))


def convert_dynamic_gather(op: ir.OpView) -> Tensor:
    """The same, of windows whose size is computed."""
    operand, indices = map(tensor, list(op.operands)[:2])
    return _gather(operand, indices, gather_dimensions(op), elements(op.operands[2]))


def _gather(operand: Tensor, indices: Tensor, dims: Any, window: Sequence[Size]) -> Tensor:
    batches = list(zip(dims.operand_batching_dims, dims.start_indices_batching_dims, strict=True))
    places = _Places.of(
        operand, indices, dims.index_vector_dim, window, list(dims.start_index_map), batches
    )
    sizes = size_arithmetic.all_of(operand)
    starts = {
        dim: _within(start, size_arithmetic.subtract(sizes[dim], window[dim]))
        for dim, start in places.starts().items()
    }
    following = places.following()
    ordered = transpose(operand, [*places.leading(), *following])
    rows = _rows(places.columns(starts))
    taken = GatherNdOp(ordered.value, rows.value).out
    gathered = Tensor(taken, TensorType(tuple(taken.type.shape), operand.type.dtype))
    # What windows take, in the order of the operand; dimensions of one element were left out.
    dropped = {*dims.collapsed_slice_dims, *dims.operand_batching_dims}
    kept = [dim for dim in range(operand.type.rank) if dim not in dropped]
    outer = places.outer()
    have = [*places.windowed(), *following]
    wanted = [dim for dim in kept if dim in have] + [dim for dim in have if dim in dropped]
    gathered = transpose(
        gathered, [*range(len(outer)), *(len(outer) + have.index(dim) for dim in wanted)]
    )
    gathered = reshape(gathered, [*outer, *(window[dim] for dim in kept)])
    offsets = list(dims.offset_dims)
    result_rank = gathered.type.rank
    outside = iter(range(len(outer)))
    return transpose(
        gathered,
        [
            len(outer) + offsets.index(axis) if axis in offsets else next(outside)
            for axis in range(result_rank)
        ],
    )


# -- scatter ---------------------------------------------------------------------------------------


def convert_scatter(op: ir.OpView) -> list[Tensor]:
    """Windows put, or combined with what is there, where rows of indices say.

    What would lie outside is left out.
    """
    operands = tensors(op)
    count = (len(operands) - 1) // 2
    block = op.regions[0].blocks[0]
    kinds = [_update(block, number) for number in range(count)]
    dims = scatter_dimensions(op)
    indices = operands[count]
    return [
        _scatter(operand, indices, update, dims, kind)
        for operand, update, kind in zip(
            operands[:count], operands[count + 1 :], kinds, strict=True
        )
    ]


_REPLACE, _SUBTRACT = "replace", "subtract"


def _update(block: ir.Block, number: int) -> str:
    """What becomes of the value `number` that is there: one of TCP's combiners, or the above."""
    count = len(block.arguments) // 2
    if is_argument(returned(block)[number], block, number + count):
        return _REPLACE
    if single_op(block, number) == "stablehlo.subtract":
        return _SUBTRACT
    return combiner(block, number)


def _scatter(operand: Tensor, indices: Tensor, updates: Tensor, dims: Any, kind: str) -> Tensor:
    inserted = {*dims.inserted_window_dims, *dims.input_batching_dims}
    own = [dim for dim in range(operand.type.rank) if dim not in inserted]
    update_window = list(dims.update_window_dims)
    update_sizes = size_arithmetic.all_of(updates)
    window: list[Size] = [1] * operand.type.rank
    for dim, axis in zip(own, update_window, strict=True):
        window[dim] = update_sizes[axis]
    batches = list(zip(dims.input_batching_dims, dims.scatter_indices_batching_dims, strict=True))
    places = _Places.of(
        operand,
        indices,
        dims.index_vector_dim,
        window,
        list(dims.scattered_dims_to_operand_dims),
        batches,
    )
    leading, following, windowed = places.leading(), places.following(), places.windowed()
    # The updates as outside, then what windows take of the leading dimensions, then the others.
    outside = [axis for axis in range(updates.type.rank) if axis not in update_window]
    taken = [dim for dim in (*windowed, *following) if dim in own]
    taken += [dim for dim in own if dim not in taken]
    updates = transpose(updates, [*outside, *(update_window[own.index(dim)] for dim in taken)])
    sizes = size_arithmetic.all_of(operand)
    updates = reshape(updates, [*places.shape(), *(sizes[dim] for dim in following)])
    if kind == _SUBTRACT:
        updates, kind = apply(NegOp, updates), "sum"
    columns = places.columns(places.starts())
    order = [*leading, *following]
    ordered = transpose(operand, order)
    back = sorted(range(len(order)), key=lambda axis: order[axis])
    if not columns and not outside:
        # All of it, once.
        return transpose(updates if kind == _REPLACE else combine(kind, ordered, updates), back)
    inside = _all_inside(columns, [sizes[dim] for dim in leading])
    columns = [
        _within(column, size_arithmetic.subtract(sizes[dim], 1))
        for dim, column in zip(leading, columns, strict=True)
    ]
    if kind == _REPLACE:
        scattered = _replaced(ordered, columns, updates, inside)
    else:
        scattered = _combined(ordered, columns, updates, inside, kind)
    return transpose(scattered, back)


def _all_inside(columns: Sequence[Tensor], sizes: Sequence[Size]) -> Tensor:
    """Whether all indices of a row lie within dimensions of the given sizes."""
    tests = []
    for column, size in zip(columns, sizes, strict=True):
        ends = broadcast_to(from_size(size), size_arithmetic.all_of(column))
        type_ = TensorType(column.type.sizes, "i1")
        # Unsigned, one comparison tells what is below 0 too.
        below = CompareOp(column.value, ends.value, predicate="lt", int_signedness="Unsigned")
        tests.append(Tensor(below.out, type_))
    if not tests:
        raise Unsupported("places that no index names; take or replace the whole instead")
    result = tests[0]
    for test in tests[1:]:
        result = apply(LogicalAndOp, result, test)
    return result


def _replaced(
    operand: Tensor, columns: Sequence[Tensor], updates: Tensor, inside: Tensor
) -> Tensor:
    """Updates put at places; those that have none go to an element more, which is cut off."""
    rank = operand.type.rank
    size = size_arithmetic.of(operand, 0)
    first, *others = columns
    end = broadcast_to(from_size(size), size_arithmetic.all_of(first))
    first = apply(SelectOp, inside, first, end)
    none: list[Size] = [0] * rank
    longer = pad(operand, scalar(0, operand.type.dtype), none, [1, *none[1:]])
    rows = _rows([first, *others])
    out = ScatterNdOp(longer.value, rows.value, updates.value).out
    return slice_along(Tensor(out, longer.type), 0, 0, size)


def _combined(
    operand: Tensor, columns: Sequence[Tensor], updates: Tensor, inside: Tensor, name: str
) -> Tensor:
    """Updates combined with what is at places; those that have none change nothing somewhere."""
    sizes = size_arithmetic.all_of(updates)
    extra = [1] * (updates.type.rank - inside.type.rank)
    counts = broadcast_to(reshape(inside, [*size_arithmetic.all_of(inside), *extra]), sizes)
    # 0.0 added to -0.0 would be 0.0.
    number = -0.0 if name == "sum" else neutral(name, updates.type.dtype)
    harmless = broadcast_to(scalar(number, updates.type.dtype), sizes)
    updates = apply(SelectOp, counts, updates, harmless)
    out = ScatterNdOp(
        operand.value,
        _rows(columns).value,
        updates.value,
        combiner=name,
        int_signedness=signedness(operand.type.dtype),
    ).out
    return Tensor(out, operand.type)


PATTERNS: Patterns = {
    "stablehlo.dynamic_gather": convert_dynamic_gather,
    "stablehlo.gather": convert_gather,
    "stablehlo.scatter": convert_scatter,
}
