"""Reductions, as loops that carry what was combined so far."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, scf, tensor

from plumbline.tcp.constraints import is_float
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops.reduction import ArgmaxOp, ArgminOp, ReduceOp, ScanOp
from plumbline.tcp_to_linalg.accumulators import (
    all_narrowed,
    combination,
    narrowed,
    widened,
    with_elements,
)
from plumbline.tcp_to_linalg.combiners import GREATEST, LEAST, Order, is_unsigned
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, REDUCTION, dims_map, loop_nest
from plumbline.tcp_to_linalg.pattern import (
    DYNAMIC,
    Pattern,
    Patterns,
    dim,
    empty,
    fill,
    index,
)
from plumbline.tcp_to_linalg.scalars import constant


def convert_reduce(op: ReduceOp) -> ir.Value:
    """A loop over all dimensions, of which those that stay are parallel."""
    combine = combination(op)
    source, axes = op.input.type, [axis.value for axis in op.axes]
    kept = [axis for axis in range(source.rank) if axis not in axes]
    start = fill(with_elements(op.out.type, combine.type), _sizes(op, kept), combine.identity())
    (result,) = loop_nest(
        [start],
        [op.input],
        [ir.AffineMap.get_identity(source.rank), dims_map(source.rank, kept)],
        [REDUCTION if axis in axes else PARALLEL for axis in range(source.rank)],
        lambda elements, so_far: combine(so_far[0], widened(op, elements[0], combine.type)),
    )
    return all_narrowed(result, source.element_type)


def _arg_reduction(order: Order) -> Pattern:
    """A loop that carries the best element beside its place; the first one of equals stays."""

    def convert(op: TcpOp) -> ir.Value:
        source, axis, places = op.input.type, op.dim.value, op.out.type
        kept = [other for other in range(source.rank) if other != axis]
        sizes = _sizes(op, kept)
        best = fill(
            with_elements(places, source.element_type), sizes, constant(source.element_type, 0)
        )
        # A place below 0 says that there is no element yet.
        best_place = fill(places, sizes, constant(places.element_type, -1))

        def payload(elements: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> list[ir.Value]:
            (element,), (best, best_place) = elements, so_far
            place = arith.index_cast(places.element_type, linalg.IndexOp(axis).result)
            none_yet = arith.cmpi(arith.CmpIPredicate.slt, best_place, constant(best_place.type, 0))
            wins = order.precedes(
                element, best, unsigned=is_unsigned(op.int_signedness, element.type)
            )
            if is_float(element.type):
                # The first NaN comes before all numbers.
                is_nan = arith.cmpf(arith.CmpFPredicate.UNO, element, element)
                best_is_number = arith.cmpf(arith.CmpFPredicate.ORD, best, best)
                wins = arith.ori(wins, arith.andi(is_nan, best_is_number))
            taken = arith.ori(none_yet, wins)
            return [arith.select(taken, element, best), arith.select(taken, place, best_place)]

        at_kept = dims_map(source.rank, kept)
        _, result = loop_nest(
            [best, best_place],
            [op.input],
            [ir.AffineMap.get_identity(source.rank), at_kept, at_kept],
            [REDUCTION if other == axis else PARALLEL for other in range(source.rank)],
            payload,
        )
        return result

    return convert


def convert_scan(op: ScanOp) -> ir.Value:
    """A sequential loop along the dimension, over slices of one element's thickness.

    It is no `linalg` reduction, whose iterations may be put in another order.
    """
    combine = combination(op)
    source, axis = op.input.type, op.dim.value
    sizes = [dim(op.input, other) for other, size in enumerate(source.shape) if size == DYNAMIC]
    out = empty(op.out.type, sizes)
    if 0 in source.shape:
        # There is no slice of it, not even one that is never read.
        return out
    others = [other for other in range(source.rank) if other != axis]
    slice_shape = [source.shape[other] for other in others]
    slice_sizes = [dim(op.input, other) for other in others if source.shape[other] == DYNAMIC]
    slice_type = ir.RankedTensorType.get(slice_shape, source.element_type)
    start = fill(with_elements(slice_type, combine.type), slice_sizes, combine.identity())
    loop = scf.ForOp(index(0), dim(op.input, axis), index(1), [out, start])
    with ir.InsertionPoint(loop.body):
        out, so_far = loop.inner_iter_args
        place = _slice_at(source, axis, loop.induction_variable, slice_sizes)
        identity = ir.AffineMap.get_identity(len(others))

        def payload(elements: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> list[ir.Value]:
            combined = combine(so_far[1], widened(op, elements[0], combine.type))
            return [narrowed(combined, source.element_type), combined]

        stored, so_far = loop_nest(
            [empty(slice_type, slice_sizes), so_far],
            [tensor.ExtractSliceOp(slice_type, op.input, *place).result],
            [identity] * 3,
            [PARALLEL] * len(others),
            payload,
        )
        scf.YieldOp([tensor.InsertSliceOp(stored, out, *place).result, so_far])
    return loop.results[0]


def _slice_at(
    source: ir.RankedTensorType, axis: int, place: ir.Value, dynamic_sizes: Sequence[ir.Value]
) -> tuple[Sequence[ir.Value] | Sequence[int], ...]:
    """Offsets, sizes and strides, dynamic and static, of the slice at one place of an axis."""
    rank = source.rank
    offsets = [DYNAMIC if other == axis else 0 for other in range(rank)]
    sizes = [1 if other == axis else size for other, size in enumerate(source.shape)]
    return [place], dynamic_sizes, [], offsets, sizes, [1] * rank


def _sizes(op: TcpOp, kept: Sequence[int]) -> list[ir.Value]:
    """The sizes of the result's dynamic dimensions, which are the operand's at `kept`."""
    return [
        dim(op.input, axis)
        for axis, size in zip(kept, op.out.type.shape, strict=True)
        if size == DYNAMIC
    ]


PATTERNS: Patterns = {
    ReduceOp: convert_reduce,
    ScanOp: convert_scan,
    ArgmaxOp: _arg_reduction(GREATEST),
    ArgminOp: _arg_reduction(LEAST),
}
