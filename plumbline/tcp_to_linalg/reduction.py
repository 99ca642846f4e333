"""Reductions, as loops that carry what was combined so far."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, scf, tensor

from plumbline.tcp.attributes import Combiner
from plumbline.tcp.constraints import is_float
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops.reduction import ArgmaxOp, ArgminOp, ReduceOp, ScanOp
from plumbline.tcp_to_linalg.accumulators import (
    accumulator_type,
    all_narrowed,
    combination,
    in_any_order,
    narrowed,
    place_type,
    widened,
    with_elements,
)
from plumbline.tcp_to_linalg.building import DYNAMIC, dim, empty, fill, generic, index
from plumbline.tcp_to_linalg.combiners import Combination
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, REDUCTION, SCAN, dims_map, loop_nest
from plumbline.tcp_to_linalg.pattern import Pattern, Patterns
from plumbline.tcp_to_linalg.scalars import cast, constant


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


def _arg_reduction(combiner: str) -> Pattern:
    """Two loops: over the elements for the best one, and for the first place that has it."""

    def convert(op: TcpOp) -> ir.Value:
        source, axis, places = op.input.type, op.dim.value, op.out.type
        kept = [other for other in range(source.rank) if other != axis]
        sizes, at_kept = _sizes(op, kept), dims_map(source.rank, kept)
        every = ir.AffineMap.get_identity(source.rank)
        loops = [REDUCTION if other == axis else PARALLEL for other in range(source.rank)]
        type_ = accumulator_type(source.element_type)
        best = Combination(Combiner.build(combiner), op.int_signedness, type_)
        (extreme,) = loop_nest(
            [fill(with_elements(places, type_), sizes, best.identity())],
            [op.input],
            [every, at_kept],
            loops,
            lambda elements, so_far: best(so_far[0], widened(op, elements[0], type_)),
        )
        counted = place_type([source.shape[axis]], places.element_type)
        first = Combination(Combiner.build("min"), None, counted)

        def payload(elements: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> ir.Value:
            element, extreme = widened(op, elements[0], type_), elements[1]
            if is_float(element.type):
                # Where there is a NaN, it is the extreme, which nothing is equal to.
                is_nan = arith.cmpf(arith.CmpFPredicate.UNO, element, element)
                is_best = arith.cmpf(arith.CmpFPredicate.OEQ, element, extreme)
                is_best = arith.ori(is_nan, is_best)
            else:
                is_best = arith.cmpi(arith.CmpIPredicate.eq, element, extreme)
            place = arith.index_cast(counted, linalg.IndexOp(axis).result)
            return first(so_far[0], arith.select(is_best, place, first.identity()))

        (result,) = loop_nest(
            [fill(with_elements(places, counted), sizes, first.identity())],
            [op.input, extreme],
            [every, at_kept, at_kept],
            loops,
            payload,
        )
        has_none = source.shape[axis] in (0, DYNAMIC)
        if counted == places.element_type and not has_none:
            return result

        def found(elements: Sequence[ir.Value]) -> ir.Value:
            (place,) = elements
            result = cast(place, places.element_type, from_unsigned=False, to_unsigned=False)
            if not has_none:
                return result
            is_none = arith.cmpi(arith.CmpIPredicate.eq, place, first.identity())
            # Of no elements the place is -1.
            return arith.select(is_none, constant(places.element_type, -1), result)

        every_place = ir.AffineMap.get_identity(places.rank)
        return generic(empty(places, sizes), [result], [every_place], found)

    return convert


def convert_scan(op: ScanOp) -> ir.Value:
    """Sequential loops: of elements along the dimension, or of slices of one element's thickness.

    Slices are taken where elements are contiguous across the dimension. They are no `linalg`
    reductions, whose iterations may be put in another order.
    """
    source, axis = op.input.type, op.dim.value
    sizes = [dim(op.input, other) for other, size in enumerate(source.shape) if size == DYNAMIC]
    out = empty(op.out.type, sizes)
    if all(size == 1 for size in source.shape[axis + 1 :]):
        return _scan_of_elements(op, out)
    # There is no slice of nothing, not even one that is never read.
    return out if 0 in source.shape else _scan_of_slices(op, out)


def _scan_of_elements(op: ScanOp, out: ir.Value) -> ir.Value:
    combine, source, axis = combination(op), op.input.type, op.dim.value

    def row(out: ir.Value, outside: Sequence[ir.Value]) -> ir.Value:
        loop = scf.ForOp(index(0), dim(op.input, axis), index(1), [out, combine.identity()])
        loop.operation.attributes[SCAN] = ir.UnitAttr.get()
        with ir.InsertionPoint(loop.body):
            out, so_far = loop.inner_iter_args
            inside = [index(0)] * (source.rank - 1 - axis)
            place = [*outside, loop.induction_variable, *inside]
            element = tensor.extract(op.input, place)
            so_far = in_any_order(combine(so_far, widened(op, element, combine.type)))
            stored = tensor.insert(narrowed(so_far, source.element_type), out, place)
            scf.YieldOp([stored, so_far])
        return loop.results[0]

    def rows(out: ir.Value, outside: Sequence[ir.Value]) -> ir.Value:
        if len(outside) == axis:
            return row(out, outside)
        loop = scf.ForOp(index(0), dim(op.input, len(outside)), index(1), [out])
        with ir.InsertionPoint(loop.body):
            (out,) = loop.inner_iter_args
            scf.YieldOp([rows(out, [*outside, loop.induction_variable])])
        return loop.results[0]

    return rows(out, [])


def _scan_of_slices(op: ScanOp, out: ir.Value) -> ir.Value:
    combine = combination(op)
    source, axis = op.input.type, op.dim.value
    others = [other for other in range(source.rank) if other != axis]
    slice_shape = [source.shape[other] for other in others]
    slice_sizes = [dim(op.input, other) for other in others if source.shape[other] == DYNAMIC]
    slice_type = ir.RankedTensorType.get(slice_shape, source.element_type)
    start = fill(with_elements(slice_type, combine.type), slice_sizes, combine.identity())
    loop = scf.ForOp(index(0), dim(op.input, axis), index(1), [out, start])
    loop.operation.attributes[SCAN] = ir.UnitAttr.get()
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
    ArgmaxOp: _arg_reduction("max"),
    ArgminOp: _arg_reduction("min"),
}
