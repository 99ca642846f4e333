"""Ops that read or write places which are known at run time only.

Reads are parallel loops over the result. Writes may meet at one place: sequential loops over the
updates, the last of which stays.
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, scf, tensor

from plumbline.tcp.ops.indexing import GatherNdOp, GatherOp, ScatterNdOp, ScatterOp
from plumbline.tcp_to_linalg.combiners import Combination
from plumbline.tcp_to_linalg.loop_nest import dims_map
from plumbline.tcp_to_linalg.pattern import DYNAMIC, Patterns, dim, empty, generic, index


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
    columns = [
        dims_map(type_.rank, [*range(outer), ir.AffineConstantExpr.get(column)])
        for column in range(depth)
    ]

    def payload(elements: Sequence[ir.Value]) -> ir.Value:
        inner = [linalg.IndexOp(axis).result for axis in range(outer, type_.rank)]
        return tensor.extract(op.input, [*map(_as_index, elements), *inner])

    return generic(empty(type_, sizes), [op.indices] * depth, columns, payload)


def convert_scatter(op: ScatterOp) -> ir.Value:
    """Writes at the place of the update, but along `dim` at the index there."""

    def place_of(loops: Sequence[ir.Value]) -> list[ir.Value]:
        place = list(loops)
        place[op.dim.value] = _as_index(tensor.extract(op.indices, loops))
        return place

    return _write_each(op, place_of)


def convert_scatter_nd(op: ScatterNdOp) -> ir.Value:
    """Writes at the indices of a row, and at the loops over a slice."""
    outer = op.indices.type.rank - 1
    depth = op.indices.type.shape[outer]

    def place_of(loops: Sequence[ir.Value]) -> list[ir.Value]:
        row = loops[:outer]
        indices = [tensor.extract(op.indices, [*row, index(column)]) for column in range(depth)]
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
        update = tensor.extract(op.updates, loops)
        if op.combiner is not None:
            combine = Combination(op.combiner, op.int_signedness, update.type)
            update = combine(tensor.extract(out, place), update)
        return tensor.insert(update, out, place)

    return write(op.input, [])


PATTERNS: Patterns = {
    GatherNdOp: convert_gather_nd,
    GatherOp: convert_gather,
    ScatterNdOp: convert_scatter_nd,
    ScatterOp: convert_scatter,
}
