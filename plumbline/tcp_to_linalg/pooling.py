"""Pooling, as loops over windows and their elements."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg

from plumbline.tcp.constraints import is_float
from plumbline.tcp.ops.pooling import ArgmaxPoolOp, PoolOp, WindowOp
from plumbline.tcp_to_linalg.accumulators import (
    all_narrowed,
    combination,
    narrowed,
    place_type,
    widened,
    with_elements,
)
from plumbline.tcp_to_linalg.building import (
    dim,
    dynamic_sizes,
    empty,
    fill,
    generic,
    index,
)
from plumbline.tcp_to_linalg.combiners import is_greater, is_unsigned, least_element
from plumbline.tcp_to_linalg.loop_nest import (
    PARALLEL,
    REDUCTION,
    Payload,
    dims_map,
    loop_nest,
)
from plumbline.tcp_to_linalg.pattern import Patterns
from plumbline.tcp_to_linalg.scalars import cast, constant
from plumbline.tcp_to_linalg.windows import Windows


def convert_pool(op: PoolOp) -> ir.Value:
    """The elements of each window combined."""
    combine = combination(op)
    element = op.input.type.element_type
    nest = _Nest(op)
    out_type = with_elements(op.out.type, combine.type)
    padding = narrowed(combine.identity(), element)

    def payload(elements: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> ir.Value:
        return combine(so_far[0], widened(op, elements[0], combine.type))

    start = fill(out_type, nest.dynamic_sizes, combine.identity())
    (result,) = nest.over(nest.windows.padded(op.input, padding), [start], payload)
    return all_narrowed(result, element)


def convert_argmax_pool(op: ArgmaxPoolOp) -> ir.Value:
    """The best element of each window is carried beside its place.

    What pads never wins, so that it need not be told from the input; nor does the least of all
    elements: a window of such alone has the place of its first one.
    """
    nest = _Nest(op)
    element = op.input.type.element_type
    unsigned = is_unsigned(op.int_signedness, element)
    spatial = op.input.type.shape[nest.batches :]
    places = place_type(spatial, ir.IntegerType.get_signless(64))

    def payload(elements: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> list[ir.Value]:
        (element, _), (best, best_place) = elements, so_far
        wins = is_greater(element, best, unsigned=unsigned)
        if is_float(element.type):
            wins = arith.ori(wins, arith.cmpf(arith.CmpFPredicate.UNO, element, element))
        place = nest.place(places)
        return [arith.select(wins, element, best), arith.select(wins, place, best_place)]

    def found(elements: Sequence[ir.Value]) -> ir.Value:
        (place,) = elements
        none = arith.cmpi(arith.CmpIPredicate.slt, place, constant(places, 0))
        place = arith.select(none, nest.first_place(places), place)
        return cast(place, op.out.type.element_type, from_unsigned=False, to_unsigned=False)

    least = least_element(element, unsigned=unsigned)
    starts = [
        fill(with_elements(op.out.type, start.type), nest.dynamic_sizes, start)
        for start in (least, constant(places, -1))
    ]
    _, best_places = nest.over(nest.windows.padded(op.input, least), starts, payload)
    out = empty(op.out.type, nest.dynamic_sizes)
    return generic(out, [best_places], [ir.AffineMap.get_identity(op.out.type.rank)], found)


class _Nest:
    """The loops over the batch, the elements of a window, and the windows."""

    def __init__(self, op: WindowOp) -> None:
        self.windows = Windows.of(op)
        self._kernel = [entry.value for entry in op.kernel]
        count = len(self._kernel)
        self.batches = op.input.type.rank - count
        self._elements = list(range(self.batches, self.batches + count))
        self._places = [loop + count for loop in self._elements]
        self._spatial = [dim(op.input, self.batches + axis) for axis in range(count)]
        sizes = [dim(op.input, axis) for axis in range(self.batches)] + [
            self.windows.count(axis, length, index(size))
            for axis, (length, size) in enumerate(zip(self._spatial, self._kernel, strict=True))
        ]
        self.dynamic_sizes = dynamic_sizes(op.out.type, sizes)

    def over(self, padded: ir.Value, outs: Sequence[ir.Value], payload: Payload) -> list[ir.Value]:
        """Runs the loops; `payload` gets an element of the padded input, and a second one.

        That is of no value: it comes from a tensor that only tells the size of a window.
        """
        rank = self.batches + 2 * len(self._kernel)
        batches = list(range(self.batches))
        window = empty(ir.RankedTensorType.get(self._kernel, padded.type.element_type), [])
        at_place = dims_map(rank, [*batches, *self._places])
        return loop_nest(
            outs,
            [padded, window],
            [
                dims_map(rank, [*batches, *self.windows.places(self._places, self._elements)]),
                dims_map(rank, self._elements),
                *[at_place] * len(outs),
            ],
            [
                *[PARALLEL] * len(batches),
                *[REDUCTION] * len(self._elements),
                *[PARALLEL] * len(self._places),
            ],
            payload,
        )

    def place(self, type_: ir.Type) -> ir.Value:
        """Where an element is in the input without padding.

        It is counted through the spatial dimensions, row by row.
        """
        along = [
            arith.addi(
                self._start(axis, self._places[axis], type_),
                arith.muli(
                    _loop(self._elements[axis], type_),
                    constant(type_, self.windows.dilations[axis]),
                ),
            )
            for axis in range(len(self._kernel))
        ]
        return self._counted(along, type_)

    def first_place(self, type_: ir.Type) -> ir.Value:
        """Where the first element of a window is, in loops over the batch and the windows."""
        along = []
        for axis in range(len(self._kernel)):
            start = self._start(axis, self.batches + axis, type_)
            zero, step = constant(type_, 0), constant(type_, self.windows.dilations[axis])
            # Past the elements that are in the padding.
            missing = arith.maxsi(arith.subi(zero, start), zero)
            skipped = arith.muli(arith.ceildivsi(missing, step), step)
            along.append(arith.addi(start, skipped))
        return self._counted(along, type_)

    def _counted(self, along: Sequence[ir.Value], type_: ir.Type) -> ir.Value:
        place = constant(type_, 0)
        for size, at in zip(self._spatial, along, strict=True):
            place = arith.addi(arith.muli(place, arith.index_cast(type_, size)), at)
        return place

    def _start(self, axis: int, windows: int, type_: ir.Type) -> ir.Value:
        """Where a window begins, below 0 in the padding; `windows` is the loop over them."""
        steps = arith.muli(_loop(windows, type_), constant(type_, self.windows.strides[axis]))
        return arith.subi(steps, constant(type_, self.windows.padding_low[axis]))


def _loop(number: int, type_: ir.Type) -> ir.Value:
    return arith.index_cast(type_, linalg.IndexOp(number).result)


PATTERNS: Patterns = {
    PoolOp: convert_pool,
    ArgmaxPoolOp: convert_argmax_pool,
}
