"""Ops that read or write places which are known at run time only.

Reads are parallel loops over the result. Writes may meet at one place: sequential loops over the
updates, the last of which stays. The places of what is true are counted, then written one after
the other.
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, scf, tensor

from plumbline.bindings.walk import defining_operation
from plumbline.tcp.ops.data_movement import BroadcastOp, ConcatOp
from plumbline.tcp.ops.indexing import (
    GatherNdOp,
    GatherOp,
    NonzeroOp,
    ScatterNdOp,
    ScatterOp,
)
from plumbline.tcp_to_linalg.building import DYNAMIC, dim, empty, fill, generic, index
from plumbline.tcp_to_linalg.combiners import Combination
from plumbline.tcp_to_linalg.loop_nest import REDUCTION, SCAN, dims_map, loop_nest
from plumbline.tcp_to_linalg.pattern import Patterns

_CONCATENATIONS = (ConcatOp.OPERATION_NAME, "tensor.concat")
"""Before and after these are converted."""


def _as_index(element: ir.Value) -> ir.Value:
    return arith.index_cast(ir.IndexType.get(), element)


def convert_gather(op: GatherOp) -> ir.Value:
    """Reads the operand at the loops, but along `dim` at the index there."""
    type_ = op.out.type
    sizes = [dim(op.indices, axis) for axis, size in enumerate(type_.shape) if size == DYNAMIC]

    def payload(elements: Sequence[ir.Value]) -> ir.Value:
        place = [linalg.IndexOp(axis).result for axis in range(type_.rank)]
        place[op.dim.value] = _as_index(elements[0])
        return tensor.extract(op.input, place)

    identity = ir.AffineMap.get_identity(type_.rank)
    return generic(empty(type_, sizes), [op.indices], [identity], payload)


def convert_gather_nd(op: GatherNdOp) -> ir.Value:
    """Reads the operand at the indices of a row, and at the loops over a slice."""
    type_ = op.out.type
    outer = op.indices.type.rank - 1
    depth = op.indices.type.shape[outer]
    sizes = [
        dim(op.indices, axis) if axis < outer else dim(op.input, axis - outer + depth)
        for axis, size in enumerate(type_.shape)
        if size == DYNAMIC
    ]
    # Each column of the rows is an input of its own, which a fused computation of it can replace.
    columns = _columns(op.indices)
    maps = [
        dims_map(type_.rank, [*range(outer), ir.AffineConstantExpr.get(number)])
        for _, number in columns
    ]

    def payload(elements: Sequence[ir.Value]) -> ir.Value:
        inner = [linalg.IndexOp(axis).result for axis in range(outer, type_.rank)]
        return tensor.extract(op.input, [*map(_as_index, elements), *inner])

    return generic(empty(type_, sizes), [rows for rows, _ in columns], maps, payload)


def _columns(rows: ir.Value) -> list[tuple[ir.Value, int]]:
    """Each column of rows of indices: a tensor and the place in its last dimension.

    Rows that were put together of columns need not be: those are often the same all along some
    dimensions, and rows of them take several times the memory of what is read.
    """
    axis = rows.type.rank - 1
    depth = rows.type.shape[axis]
    op = defining_operation(rows)
    if op is None or op.name not in _CONCATENATIONS or len(op.operands) != depth:
        return [(rows, number) for number in range(depth)]
    if ir.IntegerAttr(op.attributes["dim"]).value != axis:
        return [(rows, number) for number in range(depth)]
    return [(column, 0) for column in op.operands]


def convert_scatter(op: ScatterOp) -> ir.Value:
    """Writes at the place of the update, but along `dim` at the index there."""

    def place_of(loops: Sequence[ir.Value]) -> list[ir.Value]:
        place = list(loops)
        place[op.dim.value] = _as_index(_extract(op.indices, loops))
        return place

    return _write_each(op, place_of)


def convert_scatter_nd(op: ScatterNdOp) -> ir.Value:
    """Writes at the indices of a row, and at the loops over a slice."""
    outer = op.indices.type.rank - 1
    depth = op.indices.type.shape[outer]

    def place_of(loops: Sequence[ir.Value]) -> list[ir.Value]:
        row = loops[:outer]
        indices = [_extract(op.indices, [*row, index(column)]) for column in range(depth)]
        return [*map(_as_index, indices), *loops[outer:]]

    return _write_each(op, place_of)


def _write_each(
    op: ScatterOp | ScatterNdOp, place_of: Callable[[Sequence[ir.Value]], list[ir.Value]]
) -> ir.Value:
    """Loops over the updates, each of which goes to `place_of` its own place."""
    sizes = [dim(op.updates, axis) for axis in range(op.updates.type.rank)]

    def write(out: ir.Value, loops: Sequence[ir.Value]) -> ir.Value:
        if len(loops) < len(sizes):
            loop = scf.ForOp(index(0), sizes[len(loops)], index(1), [out])
            with ir.InsertionPoint(loop.body):
                scf.YieldOp([write(loop.inner_iter_args[0], [*loops, loop.induction_variable])])
            return loop.results[0]
        place = place_of(loops)
        update = _extract(op.updates, loops)
        if op.combiner is not None:
            combine = Combination(op.combiner, op.int_signedness, update.type)
            update = combine(tensor.extract(out, place), update)
        return tensor.insert(update, out, place)

    return write(op.input, [])


def _extract(source: ir.Value, place: Sequence[ir.Value]) -> ir.Value:
    """An element of a tensor; of one that is stretched, the element that is there in its place.

    Where indices are the same all along a slice, that is then written as a whole.
    """
    made = source.owner
    if not isinstance(made, BroadcastOp):
        return tensor.extract(source, place)
    axes = {axis.value for axis in made.axes}
    return _extract(made.input, [index(0) if a in axes else at for a, at in enumerate(place)])


def convert_nonzero(op: NonzeroOp) -> ir.Value:
    """Writes each place where the next one goes, which one that is true moves on.

    Nothing branches on what the mask holds: behind the last place that is true nothing is looked
    at, so that what is written is written over, or stays for a reason.
    """
    size = dim(op.input, 0)
    count, end = _count_and_end(op.input)
    # So it is anyway; said here, these are bounds that callers can allocate by.
    bounded = arith.maxsi(arith.minsi(count, size), index(0))
    out = empty(op.out.type, [bounded])
    loop = scf.ForOp(index(0), end, index(1), [out, index(0)])
    loop.operation.attributes[SCAN] = ir.UnitAttr.get()
    with ir.InsertionPoint(loop.body):
        places, at = loop.inner_iter_args
        here = loop.induction_variable
        place = arith.index_cast(ir.IntegerType.get_signless(64), here)
        written = tensor.insert(place, places, [at])
        step = arith.index_castui(ir.IndexType.get(), tensor.extract(op.input, [here]))
        scf.YieldOp([written, arith.addi(at, step)])
    return loop.results[0]


def _count_and_end(mask: ir.Value) -> tuple[ir.Value, ir.Value]:
    """How many elements of a mask are true, and the place behind the last of them."""
    i64 = ir.IntegerType.get_signless(64)
    numbers = ir.RankedTensorType.get([], i64)
    zero = arith.constant(i64, 0)

    def payload(elements: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> list[ir.Value]:
        (holds,) = elements
        count, end = so_far
        after = arith.addi(linalg.IndexOp(0).result, index(1))
        own_end = arith.select(holds, arith.index_cast(i64, after), zero)
        return [arith.addi(count, arith.extui(i64, holds)), arith.maxsi(end, own_end)]

    results = loop_nest(
        [fill(numbers, [], zero), fill(numbers, [], zero)],
        [mask],
        [dims_map(1, [0]), dims_map(1, []), dims_map(1, [])],
        [REDUCTION],
        payload,
    )
    count, end = (_as_index(tensor.extract(result, [])) for result in results)
    return count, end


PATTERNS: Patterns = {
    GatherNdOp: convert_gather_nd,
    GatherOp: convert_gather,
    NonzeroOp: convert_nonzero,
    ScatterNdOp: convert_scatter_nd,
    ScatterOp: convert_scatter,
}
