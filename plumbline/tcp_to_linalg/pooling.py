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
    widened,
    with_elements,
)
from plumbline.tcp_to_linalg.building import dim, dynamic_sizes, empty, fill, index
from plumbline.tcp_to_linalg.combiners import is_greater, is_unsigned
from plumbline.tcp_to_linalg.loop_nest import (
    PARALLEL,
    REDUCTION,
    Payload,
    dims_map,
    loop_nest,
)
from plumbline.tcp_to_linalg.pattern import Patterns
from plumbline.tcp_to_linalg.scalars import constant
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
    """The best element of each window is carried beside its place."""
    element, places = op.input.type.element_type, op.out.type
    nest = _Nest(op)
    sizes = [dim(op.input, axis) for axis in range(nest.batches, op.input.type.rank)]
    zero = constant(element, 0)

    def payload(elements: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> list[ir.Value]:
        (element, _), (best, best_place) = elements, so_far
        inside, place = nest.place(sizes)
        place = arith.index_cast(places.element_type, place)
        none_yet = arith.cmpi(arith.CmpIPredicate.slt, best_place, constant(best_place.type, 0))
        wins = is_greater(element, best, unsigned=is_unsigned(op.int_signedness, best.type))
        if is_float(element.type):
            wins = arith.ori(wins, arith.cmpf(arith.CmpFPredicate.UNO, element, element))
        taken = arith.andi(inside, arith.ori(none_yet, wins))
        return [arith.select(taken, element, best), arith.select(taken, place, best_place)]

    best = fill(with_elements(places, element), nest.dynamic_sizes, zero)
    # A place below 0 says that there is no element yet.
    best_place = fill(places, nest.dynamic_sizes, constant(places.element_type, -1))
    _, result = nest.over(nest.windows.padded(op.input, zero), [best, best_place], payload)
    return result


class _Nest:
    """The loops over the batch, the elements of a window, and the windows."""

    def __init__(self, op: WindowOp) -> None:
        self.windows = Windows.of(op)
        self._kernel = [entry.value for entry in op.kernel]
        count = len(self._kernel)
        self.batches = op.input.type.rank - count
        self._elements = list(range(self.batches, self.batches + count))
        self._places = [loop + count for loop in self._elements]
        sizes = [dim(op.input, axis) for axis in range(self.batches)] + [
            self.windows.count(axis, dim(op.input, self.batches + axis), index(size))
            for axis, size in enumerate(self._kernel)
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

    def place(self, sizes: Sequence[ir.Value]) -> tuple[ir.Value, ir.Value]:
        """Where an element is in the input without padding, and before that, whether it is there.

        It is counted through the spatial dimensions, of the given sizes, row by row.
        """
        inside, place = constant(ir.IntegerType.get_signless(1), 1), index(0)
        for axis, size in enumerate(sizes):
            window, element = (
                linalg.IndexOp(self._places[axis]).result,
                linalg.IndexOp(self._elements[axis]).result,
            )
            along = arith.subi(
                arith.addi(
                    arith.muli(window, index(self.windows.strides[axis])),
                    arith.muli(element, index(self.windows.dilations[axis])),
                ),
                index(self.windows.padding_low[axis]),
            )
            # Unsigned, one comparison tells what is below 0 too.
            inside = arith.andi(inside, arith.cmpi(arith.CmpIPredicate.ult, along, size))
            place = arith.addi(arith.muli(place, size), along)
        return inside, place


PATTERNS: Patterns = {
    PoolOp: convert_pool,
    ArgmaxPoolOp: convert_argmax_pool,
}
