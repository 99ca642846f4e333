"""Sums of products of blocks: of rows of int8 with weights that are computed of bytes.

A byte has a weight of several columns, or of one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.bindings.walk import defining_operation
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    composed,
    computation_of,
    is_tensor,
    is_zero,
    number_everywhere,
    reassociation,
    seen_through,
    viewed,
)
from plumbline.linalg_to_kernels.constants import is_constant
from plumbline.linalg_to_kernels.vector_evaluation import Lanes

IN_LANE = 4
"""How many summed elements a lane of 32 bits holds."""

_MOST_PARTS = 4
"""How many weights a byte may hold."""


@dataclass(frozen=True)
class Products:
    """The sums of products of blocks, and the weights in them."""

    sums: Computation
    """[blocks, rows, columns] of int32."""
    rows: ir.Value
    """[blocks, rows, elements of a block] of int8."""
    weights: Computation
    """Of int8: [blocks, elements of a block, columns], or with two axes for the last one: as many
    parts of a byte as there are, and bytes."""
    bytes: ir.Value
    """[blocks, elements of a block, bytes]."""
    block: int
    row: int
    column: int
    summed: int
    """The loops of `sums`."""

    @property
    def parts(self) -> int:
        """How many weights a byte holds."""
        shape = ir.RankedTensorType(self.weights.results[0].type).shape
        return int(shape[2]) if len(shape) == 4 else 1

    @property
    def are_below_128(self) -> bool:
        """Whether weights are known to have no sign."""
        *_, last = self.weights.body_ops or (None,)
        if last is None or last.name != "arith.andi" or self.weights.yielded != (last.results[0],):
            return False
        masks = [self._number(operand) for operand in last.operands]
        return any(isinstance(mask, ir.IntegerAttr) and 0 <= mask.value < 128 for mask in masks)

    def _number(self, operand: ir.Value) -> ir.Attribute | None:
        arguments = list(self.weights.body.arguments)
        if operand in arguments:
            return number_everywhere(self.weights.inputs[arguments.index(operand)])
        return number_everywhere(operand)


def products_of_blocks(sums: Computation) -> Products | None:
    """How a computation sums the products of blocks, if it does."""
    found = sums.sum_of_products
    if found is None or [*map(_width, (*sums.inputs, *sums.results))] != [8, 8, 32]:
        return None
    loops = [found.batches, found.rows, found.columns, found.summed]
    if any(len(each) != 1 for each in loops) or not is_zero(number_everywhere(sums.inits[0])):
        return None
    block, row, column, summed = (each[0] for each in loops)
    places = [[(loop, 1)] for loop in (block, row, summed)]
    if [[*axis] for axis in found.accesses[found.left].axes] != places:
        return None
    places = [[(loop, 1)] for loop in (block, summed, column)]
    if [[*axis] for axis in found.accesses[found.right].axes] != places:
        return None
    size, value = sums.sizes[summed], sums.inputs[found.right]
    weights = computation_of(viewed(value))
    if weights is None or weights.is_reduction or len(weights.results) != 1:
        return None
    if DYNAMIC in weights.sizes or size % IN_LANE or not _has_parts(value, weights):
        return None
    bytes_ = _bytes_of(weights)
    if bytes_ is None:
        return None
    rows = sums.inputs[found.left]
    return Products(sums, rows, weights, bytes_, block, row, column, summed)


def _width(value: ir.Value) -> int | None:
    element = ir.RankedTensorType(value.type).element_type
    return int(element.width) if isinstance(element, ir.IntegerType) else None


def _has_parts(value: ir.Value, weights: Computation) -> bool:
    """Whether an operand of products is weights as they are, or with two last axes as one."""
    (result,) = weights.results
    shape = ir.RankedTensorType(result.type).shape
    if weights.result_loops(0) != tuple(range(len(shape))):
        return False
    if value == result:
        return True
    op = defining_operation(value)
    return (
        op is not None
        and op.name == "tensor.collapse_shape"
        and op.operands[0] == result
        and reassociation(op) == [[0], [1], [2, 3]]
        and shape[2] <= _MOST_PARTS
    )


def _bytes_of(weights: Computation) -> ir.Value | None:
    """The bytes that weights are computed of, each of one; None if of anything else as well.

    What is the same for all elements of a block and all bytes may be read besides.
    """
    # Elements of a block, and bytes.
    lanes = Lanes((1, len(weights.sizes) - 1), (weights.sizes[1], weights.sizes[-1]))
    found: set[ir.Value] = set()
    for source, indices in _sources(weights, weights.loops, len(weights.sizes)):
        if not lanes.matter_to(indices) or number_everywhere(source) is not None:
            continue
        lie_so = [*indices] == [ir.AffineDimExpr.get(loop) for loop in (0, *lanes.loops)]
        if not is_constant(source) or _width(source) != 8 or not lie_so:
            return None
        found.add(source)
    return found.pop() if len(found) == 1 else None


def _sources(member: Computation, loops: Indices, count: int) -> Iterator[tuple[ir.Value, Indices]]:
    """What a computation is made of, element by element, and where that lies by its loops."""
    for value, map_ in zip(member.inputs, member.maps, strict=False):
        if not is_tensor(value):
            continue
        source, indices = seen_through(value, composed(map_, loops, count))
        producer = computation_of(source)
        if producer is None or producer.is_reduction or len(producer.results) != 1:
            yield source, indices
        else:
            yield from _sources(producer, producer.loops_for(indices), count)
