"""Requirements on values that only a run tells: indices lie within, no integer is divided by zero.

PyTorch raises where they do not hold; a compiled function would read or write memory that is not
its own. What is checked are the tensors that indices and divisors come from, before they are
counted from the start, stretched to a common shape and put together in rows: those are smaller,
and the lowering can still fuse the rest. What is known when the program is compiled costs nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from plumbline.bindings.counts import is_place_below
from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import all_operations, constant_integer, operations_of
from plumbline.errors.location import located
from plumbline.runtime.requirement import require
from plumbline.tcp.attributes import case_of
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops.data_movement import BroadcastOp, ConcatOp
from plumbline.tcp.ops.elementwise import (
    AddOp,
    CompareOp,
    DivsiOp,
    DivuiOp,
    LogicalOrOp,
    RemsiOp,
    RemuiOp,
    SelectOp,
)
from plumbline.tcp.ops.indexing import GatherNdOp, GatherOp, ScatterNdOp, ScatterOp
from plumbline.tcp_to_linalg.building import DYNAMIC, dim, fill, index
from plumbline.tcp_to_linalg.integer_ranges import range_of
from plumbline.tcp_to_linalg.loop_nest import REDUCTION, dims_map, loop_nest

_I64 = 64

# Ops that give the elements of their first operand and no others.
_REARRANGED = frozenset(
    {
        BroadcastOp.OPERATION_NAME,
        "tensor.cast",
        "tensor.collapse_shape",
        "tensor.expand_shape",
    }
)


def _check_values(operation: ir.Operation) -> None:
    with operation.context:
        for op in operations_of(operation, "tcp"):
            check = _CHECKS.get(type(op.opview))
            if check is not None:
                with ir.InsertionPoint(op), op.location:
                    check(op.opview)


# -- indices ---------------------------------------------------------------------------------------


def _check_gather(op: GatherOp) -> None:
    axis = op.dim.value
    _check_no_larger(op, "indices", op.indices, op.input, axis)
    _check_indices(op, op.indices, op.input, axis)


def _check_scatter(op: ScatterOp) -> None:
    axis = op.dim.value
    _check_no_larger(op, "indices", op.indices, op.input, axis)
    for other in range(op.indices.type.rank):
        _check_equal_sizes(op, "updates", (op.updates, other), "indices", (op.indices, other))
    _check_indices(op, op.indices, op.input, axis)


def _check_gather_nd(op: GatherNdOp) -> None:
    for axis, column in enumerate(_columns(op.indices)):
        _check_indices(op, column, op.input, axis)


def _check_scatter_nd(op: ScatterNdOp) -> None:
    outer = op.indices.type.rank - 1
    columns = _columns(op.indices)
    for axis in range(op.updates.type.rank):
        if axis < outer:
            other, where = "indices", (op.indices, axis)
        else:
            other, where = "the input", (op.input, axis - outer + len(columns))
        _check_equal_sizes(op, "updates", (op.updates, axis), other, where)
    for axis, column in enumerate(columns):
        _check_indices(op, column, op.input, axis)


@dataclass(frozen=True)
class _Column:
    """One index out of each row of indices."""

    rows: ir.Value
    number: int


def _columns(rows: ir.Value) -> list["ir.Value | _Column"]:
    """Where the indices of rows come from: a tensor for each column, if they were put together."""
    depth = rows.type.shape[rows.type.rank - 1]
    if depth == 1:
        return [rows]
    concat = _made_by(rows, ConcatOp)
    if concat is not None and concat.opview.dim.value == rows.type.rank - 1:
        parts = list(concat.operands)
        if len(parts) == depth:
            return parts
    return [_Column(rows, number) for number in range(depth)]


def _check_indices(op: TcpOp, indices: "ir.Value | _Column", operand: ir.Value, axis: int) -> None:
    """Requires that `indices` lie within a dimension of `operand`."""
    size = operand.type.shape[axis]
    values, from_end = (indices, None) if isinstance(indices, _Column) else _unwrapped(indices)
    counted = 0 if from_end is None else constant_integer(from_end)
    if isinstance(values, ir.Value) and counted is not None and counted <= size:
        least, greatest = range_of(values)
        if -counted <= least and greatest < size:
            return
    i64 = ir.IntegerType.get_signless(_I64)
    extent = arith.index_cast(i64, dim(operand, axis) if size == DYNAMIC else index(size))
    zero = arith.constant(i64, 0)
    below = zero if from_end is None else from_end
    # Of numbers without a sign, those below the first index are the greatest.
    last = _reduced(values, 0, lambda element: arith.addi(element, below), arith.maxui)
    fits = arith.cmpi(arith.CmpIPredicate.ult, last, arith.addi(extent, below))
    if from_end is not None:
        fits = arith.andi(fits, arith.cmpi(arith.CmpIPredicate.sle, below, extent))
    if size in (DYNAMIC, 0):
        # Where there is no index, `last` is 0, which lies within all but nothing.
        fits = arith.ori(fits, _has_no_elements(values))
    _require(
        op,
        fits,
        f"index {{}} is out of range for dimension {axis} of size {{}}",
        [arith.subi(last, below), extent],
    )


def _unwrapped(indices: ir.Value) -> tuple[ir.Value, ir.Value | None]:
    """The tensor that indices come from, and what has been added to its negative ones, an i64.

    They count from the end of a dimension of that size: PyTorch's indices in brackets do.
    """
    indices = _origin(indices)
    select = _made_by(indices, SelectOp)
    if select is None:
        return indices, None
    condition, sum_, kept = select.operands
    compare, add = _made_by(condition, CompareOp), _made_by(sum_, AddOp)
    if compare is None or add is None or case_of(compare.attributes["predicate"]) != "lt":
        return indices, None
    (negative, zero), (moved, by) = compare.operands, add.operands
    if negative != kept or moved != kept or range_of(zero) != (0, 0):
        return indices, None
    size = _element(by)
    return (indices, None) if size is None else (_origin(kept), size)


def _made_by(value: ir.Value, op: type[TcpOp]) -> ir.Operation | None:
    """The operation that makes `value`, if it is such an op."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) or owner.name != op.OPERATION_NAME else owner


def _origin(value: ir.Value) -> ir.Value:
    """The tensor whose elements, and no others, are those of `value`."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in _REARRANGED:
        value = value.owner.operands[0]
    return value


def _element(value: ir.Value) -> ir.Value | None:
    """The one i64 that all elements of `value` are, if that can be seen."""
    least, greatest = range_of(value)
    if least == greatest:
        return arith.constant(ir.IntegerType.get_signless(_I64), least)
    owner = _origin(value).owner
    if isinstance(owner, ir.Block) or owner.name != "tensor.from_elements":
        return None
    (element,) = owner.operands
    return element if element.type == ir.IntegerType.get_signless(_I64) else None


# -- divisors --------------------------------------------------------------------------------------


def _is_never_zero(values: ir.Value) -> bool:
    """Whether that can be seen of a tensor: by its range, or as something else is put for zeros."""
    least, greatest = range_of(values)
    if least > 0 or greatest < 0:
        return True
    select = _made_by(values, SelectOp)
    if select is None:
        return False
    condition, instead, kept = select.operands
    return _is_never_zero(instead) and _holds_for_zeros(condition, kept)


def _holds_for_zeros(condition: ir.Value, values: ir.Value) -> bool:
    """Whether a condition holds, among others, wherever a tensor is zero."""
    either = _made_by(condition, LogicalOrOp)
    if either is not None:
        return any(_holds_for_zeros(part, values) for part in either.operands)
    compare = _made_by(condition, CompareOp)
    if compare is None or case_of(compare.attributes["predicate"]) != "eq":
        return False
    left, right = compare.operands
    return left == values and range_of(right) == (0, 0)


def _check_divisor(op: DivsiOp | DivuiOp | RemsiOp | RemuiOp) -> None:
    divisor = _origin(op.in2)
    if _is_never_zero(divisor):
        return
    # Of numbers without a sign, zero is the least.
    nearest = _reduced(divisor, -1, lambda element: element, arith.minui)
    zero = arith.constant(ir.IntegerType.get_signless(_I64), 0)
    _require(op, arith.cmpi(arith.CmpIPredicate.ne, nearest, zero), "an integer is divided by zero")


# -- sizes -----------------------------------------------------------------------------------------


def _check_no_larger(op: TcpOp, what: str, value: ir.Value, operand: ir.Value, along: int) -> None:
    """Requires that no size of `value` but that `along` one dimension is above the operand's."""
    for axis, (count, size) in enumerate(zip(value.type.shape, operand.type.shape, strict=True)):
        if axis == along or DYNAMIC not in (count, size):
            continue
        have, most = dim(value, axis), dim(operand, axis)
        _require(
            op,
            arith.cmpi(arith.CmpIPredicate.sle, have, most),
            f"{what} have size {{}} in dimension {axis}, where the input has {{}}",
            [have, most],
        )


def _check_equal_sizes(
    op: TcpOp, what: str, one: tuple[ir.Value, int], than: str, other: tuple[ir.Value, int]
) -> None:
    if DYNAMIC not in (one[0].type.shape[one[1]], other[0].type.shape[other[1]]):
        return
    have, want = dim(*one), dim(*other)
    _require(
        op,
        arith.cmpi(arith.CmpIPredicate.eq, have, want),
        f"{what} have size {{}} in dimension {one[1]}, where {than} have {{}} in dimension "
        f"{other[1]}",
        [have, want],
    )


def _check_parts(operation: ir.Operation) -> None:
    with operation.context:
        for op in all_operations(operation):
            if op.name in _PARTS:
                with ir.InsertionPoint(op), op.location:
                    _PARTS[op.name](op)


def _check_slice(op: ir.Operation) -> None:
    """Requires that a slice of known size lies within what it is taken from.

    One whose size is computed has one that fits, as PyTorch cuts off what does not.
    """
    operand = op.operands[0]
    dynamic_offsets = iter(list(op.operands)[1:])
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"]))
        for name in ("offsets", "sizes", "strides")
    )
    starts = [next(dynamic_offsets) if start == DYNAMIC else index(start) for start in offsets]
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        if operand.type.shape[axis] != DYNAMIC or DYNAMIC in (size, stride) or size == 0:
            continue
        first, count = starts[axis], dim(operand, axis)
        if size == 1 and is_place_below(first, count):
            continue
        last = arith.addi(first, index((size - 1) * stride))
        fits = arith.andi(
            arith.cmpi(arith.CmpIPredicate.sge, first, index(0)),
            arith.cmpi(arith.CmpIPredicate.slt, last, count),
        )
        message = f"places {{}} to {{}} are out of range for dimension {axis} of size {{}}"
        require(fits, located(op.location, message), [first, last, count])


def _check_topk(op: ir.Operation) -> None:
    """Requires that there are as many elements as are picked."""
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    wanted, operand = op.results[0].type.shape[axis], op.operands[0]
    if DYNAMIC not in (wanted, operand.type.shape[axis]):
        return
    have = dim(operand, axis)
    picked = dim(op.operands[1], axis) if wanted == DYNAMIC else index(wanted)
    fits = arith.cmpi(arith.CmpIPredicate.sle, picked, have)
    message = f"{{}} elements are picked out of dimension {axis} of size {{}}"
    require(fits, located(op.location, message), [picked, have])


_PARTS = {"tensor.extract_slice": _check_slice, "tm_tensor.topk": _check_topk}


# -- what requirements are made of -----------------------------------------------------------------


def _reduced(
    values: "ir.Value | _Column",
    start: int,
    element_of: Callable[[ir.Value], ir.Value],
    combine: Callable[[ir.Value, ir.Value], ir.Value],
) -> ir.Value:
    """All elements, signed integers, combined as i64."""
    i64 = ir.IntegerType.get_signless(_I64)
    source = values.rows if isinstance(values, _Column) else values
    rank = source.type.rank
    places: list[int | ir.AffineExpr] = list(range(rank))
    loops = rank
    if isinstance(values, _Column):
        loops = rank - 1
        places = [*range(loops), ir.AffineConstantExpr.get(values.number)]
    narrow = source.type.element_type.width < _I64

    def payload(elements: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> ir.Value:
        element = arith.extsi(i64, elements[0]) if narrow else elements[0]
        return combine(so_far[0], element_of(element))

    scalar = ir.RankedTensorType.get([], i64)
    (result,) = loop_nest(
        [fill(scalar, [], arith.constant(i64, start))],
        [source],
        [dims_map(loops, places), dims_map(loops, [])],
        [REDUCTION] * loops,
        payload,
    )
    return tensor.extract(result, [])


def _has_no_elements(values: "ir.Value | _Column") -> ir.Value:
    source = values.rows if isinstance(values, _Column) else values
    empty = arith.constant(ir.IntegerType.get_signless(1), 0 in source.type.shape)
    for axis, size in enumerate(source.type.shape):
        if size == DYNAMIC:
            none = arith.cmpi(arith.CmpIPredicate.eq, dim(source, axis), index(0))
            empty = arith.ori(empty, none)
    return empty


def _require(op: TcpOp, holds: ir.Value, message: str, values: Sequence[ir.Value] = ()) -> None:
    operation = op.operation
    require(holds, located(operation.location, f"'{operation.name}' op {message}"), values)


_CHECKS: dict[type[TcpOp], Callable[..., None]] = {
    DivsiOp: _check_divisor,
    DivuiOp: _check_divisor,
    GatherNdOp: _check_gather_nd,
    GatherOp: _check_gather,
    RemsiOp: _check_divisor,
    RemuiOp: _check_divisor,
    ScatterNdOp: _check_scatter_nd,
    ScatterOp: _check_scatter,
}


CHECK_PARTS = Pass(
    "check-parts",
    "Require that parts of known size lie within what they are taken from",
    _check_parts,
)

CHECK_VALUES = Pass(
    "check-values",
    "Require that indices lie within what they index, and that no integer is divided by zero",
    _check_values,
)
