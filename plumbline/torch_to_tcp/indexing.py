"""Ops that read or write places which are known at run time only."""

from collections.abc import Callable, Sequence

from torch_mlir import ir

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import concatenate, slice_along
from plumbline.tcp.building.dtypes import is_bool, is_float, signedness
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast, broadcast_to, cast, from_size, full
from plumbline.tcp.building.size_polynomials import same
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops import indexing as tcp
from plumbline.tcp.ops.elementwise import (
    AddOp,
    CompareOp,
    DivfOp,
    DivsiOp,
    DivuiOp,
    MaximumOp,
    SelectOp,
)
from plumbline.tcp.shapes import DYNAMIC
from plumbline.torch_to_tcp.pattern import (
    Pattern,
    Patterns,
    axis,
    items,
    number,
    string,
    tensor,
    tensor_type,
)
from plumbline.torch_to_tcp.torch_types import parse_tensor_type

_INDEX_DTYPE = "si64"


def _check_indices(values: Sequence[ir.Value]) -> None:
    for value in values:
        dtype = tensor_type(value).dtype
        if is_bool(dtype) or is_float(dtype):
            raise Unsupported(f"indices of {dtype}: how many they name depends on the data")


def _as_rank_1(operand: Tensor) -> Tensor:
    return reshape(operand, [1]) if operand.type.rank == 0 else operand


def _as_rank_of(operand: Tensor, result: TensorType) -> ir.Value:
    """What was computed in rank 1, in the rank 0 that the result may have."""
    return (reshape(operand, []) if result.rank == 0 else operand).value


# -- an index for each element ---------------------------------------------------------------------


def convert_aten_gather(op: ir.OpView) -> ir.Value:
    """The elements that indices name along a dimension."""
    result = tensor_type(op.result)
    _check_indices([op.operands[2]])
    operand = _as_rank_1(tensor(op.operands[0]))
    indices = _as_rank_1(cast(tensor(op.operands[2]), _INDEX_DTYPE))
    gathered = _gather(operand, indices, axis(op.operands[1], operand.type.rank))
    return _as_rank_of(gathered, result)


def _gather(operand: Tensor, indices: Tensor, dim: int) -> Tensor:
    op = tcp.GatherOp(operand.value, indices.value, dim=dim)
    return Tensor(op.out, TensorType(indices.type.sizes, operand.type.dtype))


def convert_aten_index_select(op: ir.OpView) -> ir.Value:
    """The slices that a list of indices names along a dimension."""
    result = tensor_type(op.result)
    _check_indices([op.operands[2]])
    operand = _as_rank_1(tensor(op.operands[0]))
    indices = _as_rank_1(cast(tensor(op.operands[2]), _INDEX_DTYPE))
    dim = axis(op.operands[1], operand.type.rank)
    if dim == 0:
        return _as_rank_of(_gather_nd(operand, _as_rows(indices)), result)
    sizes = size_arithmetic.all_of(operand)
    sizes[dim] = size_arithmetic.of(indices, 0)
    own: list[Size] = [1] * operand.type.rank
    own[dim] = sizes[dim]
    return _as_rank_of(_gather(operand, broadcast_to(reshape(indices, own), sizes), dim), result)


_Combiner = Callable[[ir.OpView], str | None]


def _scattering(combiner_of: _Combiner) -> Pattern:
    """The pattern of an op that puts updates where indices name places along a dimension."""

    def convert(op: ir.OpView) -> ir.Value:
        combiner = combiner_of(op)
        _check_indices([op.operands[2]])
        operand, indices, updates, dim = _scatter_operands(op)
        scattered = _scatter(operand, indices, updates, dim, combiner)
        return _as_rank_of(scattered, tensor_type(op.result))

    return convert


def _scatter_operands(op: ir.OpView) -> tuple[Tensor, Tensor, Tensor, int]:
    operand = _as_rank_1(tensor(op.operands[0]))
    indices = _as_rank_1(cast(tensor(op.operands[2]), _INDEX_DTYPE))
    if parse_tensor_type(op.operands[3].type) is None:
        updates = _like(indices, number(op.operands[3]) or 0, operand.type.dtype)
    else:
        updates = _as_rank_1(tensor(op.operands[3]))
    # There may be more updates than indices.
    for place in range(operand.type.rank):
        count = size_arithmetic.of(indices, place)
        if not same(count, size_arithmetic.of(updates, place)):
            updates = slice_along(updates, place, 0, count)
    return operand, indices, updates, axis(op.operands[1], operand.type.rank)


def _scatter(
    operand: Tensor, indices: Tensor, updates: Tensor, dim: int, combiner: str | None
) -> Tensor:
    op = tcp.ScatterOp(
        operand.value,
        indices.value,
        updates.value,
        dim=dim,
        **_combining(combiner, operand.type.dtype),
    )
    return Tensor(op.out, operand.type)


_ON_BOOLS = {"sum": "or", "max": "or", "prod": "and", "min": "and"}


def _combining(combiner: str | None, dtype: str) -> dict[str, str | None]:
    if combiner is None:
        return {}
    if is_bool(dtype):
        combiner = _ON_BOOLS[combiner]
    return {"combiner": combiner, "int_signedness": signedness(dtype)}


_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "sum": "sum",
    "prod": "prod",
    "amax": "max",
    "amin": "min",
    "mean": "sum",
}


def _reduction_of(op: ir.OpView) -> str:
    name = string(op.operands[4])
    if name not in _REDUCTIONS:
        raise Unsupported(f"a reduction called {name!r}")
    return _REDUCTIONS[name]


def convert_aten_scatter_reduce(op: ir.OpView) -> ir.Value:
    """Updates combined with each other, and with what is there if that is to be included."""
    combiner, include_self = _reduction_of(op), bool(number(op.operands[5]))
    mean = string(op.operands[4]) == "mean"
    result = tensor_type(op.result)
    _check_indices([op.operands[2]])
    operand, indices, updates, dim = _scatter_operands(op)
    if not include_self:
        neutral = _like(indices, _neutral(combiner, result.dtype), result.dtype)
        operand = _scatter(operand, indices, neutral, dim, None)
    combined = _scatter(operand, indices, updates, dim, combiner)
    if mean:
        counts = _like(operand, int(include_self), result.dtype)
        ones = _like(indices, 1, result.dtype)
        combined = _mean(combined, _scatter(counts, indices, ones, dim, "sum"))
    return _as_rank_of(combined, result)


def _neutral(combiner: str, dtype: str) -> int | float:
    """What changes nothing when it is combined with a number."""
    if combiner in ("sum", "prod"):
        return int(combiner == "prod")
    if is_float(dtype):
        return float("-inf" if combiner == "max" else "inf")
    if is_bool(dtype):
        return int(combiner == "min")
    width = int(dtype[2:])
    least, greatest = (
        (0, 2**width - 1) if dtype[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    )
    return least if combiner == "max" else greatest


def _mean(total: Tensor, count: Tensor) -> Tensor:
    kind = signedness(total.type.dtype)
    one = _like(count, 1, count.type.dtype)
    count_value = MaximumOp(count.value, one.value, int_signedness=kind).out
    if kind is None:
        value = DivfOp(total.value, count_value).out
    else:
        division = DivuiOp if kind == "Unsigned" else DivsiOp
        value = division(total.value, count_value, rounding_mode="Floor").out
    return Tensor(value, total.type)


def _like(operand: Tensor, value: int | float, dtype: str) -> Tensor:
    return full(value, dtype, (operand,), operand.type.sizes)


# -- a row of indices for each slice ---------------------------------------------------------------


def _as_rows(indices: Tensor) -> Tensor:
    """Indices with a last dimension of size 1: rows of one index each."""
    return reshape(indices, [*size_arithmetic.all_of(indices), 1])


def _gather_nd(operand: Tensor, rows: Tensor) -> Tensor:
    sizes = (*rows.type.sizes[:-1], *operand.type.sizes[rows.type.sizes[-1] :])
    op = tcp.GatherNdOp(operand.value, rows.value)
    return Tensor(op.out, TensorType(sizes, operand.type.dtype))


def _rows(operand: Tensor, indices: Sequence[Tensor]) -> Tensor:
    """Rows of one index into each leading dimension of `operand`, counted from its start."""
    sizes = _common_sizes(indices)
    columns = [
        _as_rows(broadcast(_from_start(index, operand, dim), indices, sizes))
        for dim, index in enumerate(indices)
    ]
    return concatenate(columns, len(sizes), (*sizes, len(columns)))


def _common_sizes(operands: Sequence[Tensor]) -> tuple[int, ...]:
    """The shape that broadcasting takes tensors to."""
    rank = max(operand.type.rank for operand in operands)
    aligned = [(1,) * (rank - operand.type.rank) + operand.type.sizes for operand in operands]
    return tuple(
        next((size for size in sizes if size not in (1, DYNAMIC)), None)
        or (0 if 0 in sizes else DYNAMIC if DYNAMIC in sizes else 1)
        for sizes in zip(*aligned, strict=True)
    )


def _from_start(index: Tensor, operand: Tensor, dim: int) -> Tensor:
    """An index that counts from the end where it is negative, as one that does not."""
    size = from_size(size_arithmetic.of(operand, dim))
    whole = broadcast(size, (index,), index.type.sizes)
    zero = _like(index, 0, _INDEX_DTYPE)
    negative = CompareOp(index.value, zero.value, predicate="lt").out
    moved = AddOp(index.value, whole.value).out
    return Tensor(SelectOp(negative, moved, index.value).out, index.type)


def convert_aten_index(op: ir.OpView) -> ir.Value:
    """The slices at the places that one tensor of indices for each leading dimension names."""
    _check_indices(items(op.operands[1]))
    operand = tensor(op.operands[0])
    indices = [cast(tensor(index), _INDEX_DTYPE) for index in items(op.operands[1])]
    return _gather_nd(operand, _rows(operand, indices)).value


def convert_aten_index_put(op: ir.OpView) -> ir.Value:
    """Values put at such places, or added to what is there."""
    accumulate = bool(number(op.operands[3]))
    _check_indices(items(op.operands[1]))
    operand, values = tensor(op.operands[0]), tensor(op.operands[2])
    indices = [cast(tensor(index), _INDEX_DTYPE) for index in items(op.operands[1])]
    rows = _rows(operand, indices)
    slices = size_arithmetic.all_of(operand)[len(indices) :]
    updates = broadcast_to(values, [*size_arithmetic.all_of(rows)[:-1], *slices])
    scattered = tcp.ScatterNdOp(
        operand.value,
        rows.value,
        updates.value,
        **_combining("sum" if accumulate else None, operand.type.dtype),
    )
    return scattered.out


def convert_aten_embedding(op: ir.OpView) -> ir.Value:
    """The rows of a table that indices name."""
    _check_indices([op.operands[1]])
    table, indices = tensor(op.operands[0]), cast(tensor(op.operands[1]), _INDEX_DTYPE)
    return _gather_nd(table, _as_rows(indices)).value


def convert_aten_nonzero(op: ir.OpView) -> ir.Value:
    """The places of what is true in a mask of rank 1, each in a row of its own."""
    mask = tensor(op.operands[0])
    if mask.type.rank != 1 or not is_bool(mask.type.dtype):
        raise Unsupported("anything but a mask of rank 1, which decompositions make of it")
    places = Tensor(tcp.NonzeroOp(mask.value).out, TensorType((DYNAMIC,), _INDEX_DTYPE))
    return _as_rows(places).value


PATTERNS: Patterns = {
    "torch.aten.embedding": convert_aten_embedding,
    "torch.aten.gather": convert_aten_gather,
    "torch.aten.index.Tensor_hacked_twin": convert_aten_index,
    "torch.aten.index_put.hacked_twin": convert_aten_index_put,
    "torch.aten.index_select": convert_aten_index_select,
    "torch.aten.nonzero": convert_aten_nonzero,
    "torch.aten.scatter.reduce": _scattering(_reduction_of),
    "torch.aten.scatter.src": _scattering(lambda op: None),
    "torch.aten.scatter.value": _scattering(lambda op: None),
    "torch.aten.scatter_add": _scattering(lambda op: "sum"),
    "torch.aten.scatter_reduce.two": convert_aten_scatter_reduce,
}
