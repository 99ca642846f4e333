"""Has weights lie in a library as contractions read them, where that is a part or in another order.

The weights of a transposed convolution are turned about, and those of a window that mostly sees
what is outside are read one by one. What would be copied in each call is copied once, when the
library is built.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import all_operations, defining_operation
from plumbline.linalg_to_kernels.computations import (
    Computation,
    Indices,
    computation,
    computation_of,
    is_copy,
    is_widening,
    loops_in,
    seen_through,
    widening_of,
)
from plumbline.linalg_to_kernels.constants import argument_attributes
from plumbline.linalg_to_kernels.contraction_groups import is_large_sum_of_products
from plumbline.linalg_to_kernels.laid_out_weights import LaidOutWeights
from plumbline.signature.strided_layout import StridedLayout
from plumbline.signature.weight_arguments import EMBEDDED, LAYOUT
from plumbline.signature.weight_layout import WeightLayout

_Places = NDArray[np.int64]


@dataclass(frozen=True)
class _Read:
    """An operand of a contraction that is an argument seen through copies and views."""

    op: ir.Operation
    number: int
    layout: WeightLayout
    widening: ir.Operation | None
    """What gives its elements a wider type on the way, if anything does."""


def rearrange_weights(module: ir.Operation) -> None:
    """Gives contractions of `module` views of weights as weights, none larger in all than these."""
    with module.context:
        found: dict[ir.Value, list[_Read]] = defaultdict(list)
        for op in all_operations(module):
            member = computation(op)
            if member is None or not is_large_sum_of_products(member):
                continue
            for number, value in enumerate(member.inputs):
                weight, layout, widening = _weight(value)
                if layout is not None:
                    found[weight].append(_Read(op, number, layout, widening))
        weights = LaidOutWeights()
        for weight, reads in found.items():
            shape = ir.RankedTensorType(weight.type).shape
            layouts = {read.layout for read in reads}
            if sum(math.prod(layout.shape(shape)) for layout in layouts) <= math.prod(shape):
                for read in reads:
                    _replace(read, weights.laid_out(weight, read.layout))
        weights.finish()


def _replace(read: _Read, weight: ir.Value) -> None:
    old = read.op.operands[read.number]
    if read.widening is not None:
        weight = _widened(weight, read)
    read.op.operands[read.number] = weight
    while (made := defining_operation(old)) is not None and not list(old.uses):
        old = made.operands[0]
        made.erase()


def _widened(weight: ir.Value, read: _Read) -> ir.Value:
    """A weight with elements as wide as those that are read."""
    type_ = ir.RankedTensorType(read.op.operands[read.number].type)
    each = ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank, context=type_.context))
    assert read.widening is not None
    with ir.InsertionPoint(read.op), read.op.location:
        out = tensor.empty(list(type_.shape), type_.element_type)
        op = read.widening.clone(ip=ir.InsertionPoint.current).operation
    op.operands[0], op.operands[1] = weight, out
    op.results[0].set_type(type_)
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([each, each])
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    op.attributes["iterator_types"] = ir.ArrayAttr.get([parallel] * type_.rank)
    return op.results[0]


def _weight(value: ir.Value) -> tuple[ir.Value, WeightLayout | None, ir.Operation | None]:
    """The weight that a tensor is a view or a copy of, and in which order; if it is in another.

    With it goes what widens its elements, if anything does.
    """
    type_ = ir.RankedTensorType(value.type)
    if not type_.has_static_shape:
        return value, None, None
    widening = None
    indices: Indices = tuple(ir.AffineDimExpr.get(axis) for axis in range(type_.rank))
    source, indices = seen_through(value, indices)
    while (step := _copied(source) or widening_of(source)) is not None:
        if is_widening(step):
            if widening is not None:
                return source, None, None
            widening = step.op
        source, indices = step.reads(step.loops_for(indices), type_.rank)[0]
    attributes = argument_attributes(source)
    if EMBEDDED not in attributes or LAYOUT in attributes:
        return source, None, None
    view = _view(indices, type_.shape, ir.RankedTensorType(source.type).shape)
    return source, None if view is None else WeightLayout(view), widening


def _copied(value: ir.Value) -> Computation | None:
    """What copies one tensor to this one, if anything does."""
    copy = computation_of(value)
    if copy is None or not is_copy(copy) or len(copy.inputs) != 1:
        return None
    return None if copy.reads_inits[0] else copy


def _view(indices: Indices, shape: Sequence[int], source: Sequence[int]) -> StridedLayout | None:
    """The layout in which elements of a tensor of a shape are those of a source at these places.

    None if they are at no regular distances; or all of the source's, in its own order or with its
    axes in another, in which kernels read it as well.
    """
    if 0 in shape or not all(map(_is_sum_of_axes, indices)):
        return None
    strides = [math.prod(source[axis + 1 :]) for axis in range(len(source))]

    def place(loops: Sequence[_Places]) -> _Places:
        """Where in the memory of the source elements are."""
        total = np.zeros(1, np.int64)
        for index, stride in zip(indices, strides, strict=True):
            total = total + _evaluated(index, loops) * stride
        return total

    first = [np.zeros(1, np.int64)] * len(shape)
    offset = int(place(first)[0])
    axes = []
    for axis, size in enumerate(shape):
        along = place([*first[:axis], np.arange(size), *first[axis + 1 :]])
        digits = _digits(np.broadcast_to(along, size) - offset)
        if digits is None:
            return None
        axes.append(tuple(digits))
    view = StridedLayout(offset, tuple(axes))
    is_usual = _is_all_in_order(view, source) or _is_transposed(view, source, strides)
    return None if is_usual else view


def _is_transposed(view: StridedLayout, source: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the axes of a view are those of what it is a view of, in any order."""
    axes = [digits for digits in view.axes if digits]
    long = [((size, stride),) for size, stride in zip(source, strides, strict=True) if size != 1]
    return view.offset == 0 and sorted(axes) == sorted(long)


def _is_all_in_order(view: StridedLayout, source: Sequence[int]) -> bool:
    far = math.prod(view.shape)
    if far != math.prod(source):
        return False
    for size, stride in (digit for axis in view.axes for digit in axis):
        far //= size
        if stride != far:
            return False
    return view.offset == 0


def _is_sum_of_axes(expression: ir.AffineExpr) -> bool:
    """Whether an index is a sum of terms of one loop each."""
    match expression.maybe_downcast():
        case ir.AffineAddExpr() as both:
            return _is_sum_of_axes(both.lhs) and _is_sum_of_axes(both.rhs)
        case ir.AffineMulExpr() as both:
            return _is_sum_of_axes(both.lhs)
        case other:
            return len(loops_in(other)) <= 1


_OPERATIONS: Mapping[type, Callable[[_Places, _Places], _Places]] = {
    ir.AffineAddExpr: np.add,
    ir.AffineMulExpr: np.multiply,
    ir.AffineModExpr: np.remainder,
    ir.AffineFloorDivExpr: np.floor_divide,
    ir.AffineCeilDivExpr: lambda left, right: -(-left // right),
}


def _evaluated(expression: ir.AffineExpr, loops: Sequence[_Places]) -> _Places:
    """An index where loops are at these places."""
    match expression.maybe_downcast():
        case ir.AffineDimExpr() as dim:
            return loops[int(dim.position)]
        case ir.AffineConstantExpr() as constant:
            return np.full(1, constant.value)
        case both:
            operands = (_evaluated(each, loops) for each in (both.lhs, both.rhs))
            index: _Places = _OPERATIONS[type(both)](*operands)
            return index


def _digits(places: _Places) -> list[tuple[int, int]] | None:
    """Sizes and strides of axes that are together one at such places, the first of which is 0."""
    if len(places) == 1:
        return []
    steps = np.arange(len(places)) * places[1]
    different = np.flatnonzero(places != steps)
    run = int(different[0]) if len(different) else len(places)
    if len(places) % run:
        return None
    outer = places[::run]
    if (places.reshape(-1, run) != outer[:, None] + steps[:run]).any():
        return None
    rest = _digits(outer)
    return None if rest is None else [*rest, (run, int(places[1]))]
