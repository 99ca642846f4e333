"""Sums of products over a nest of loops, as seen in a `linalg.generic` on buffers.

Matrix products, batches of such, convolutions and whatever einsum can say are all of one kind:

    out[...] += left[...] * right[...]

where the place in each buffer is a sum of multiples of the loops. By the buffers whose places it
moves, a loop is of one of four kinds: over batches (all three), over rows (the left operand and the
result), over columns (the right operand and the result), or summed over (both operands).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir

from plumbline.bindings.walk import constant_integer

DYNAMIC = ir.ShapedType.get_dynamic_size()

CASTS = frozenset({"arith.extf", "arith.extsi", "arith.sitofp", "arith.truncf"})
_SIGN = -128
_PRODUCTS = {"arith.mulf": "arith.addf", "arith.muli": "arith.addi"}


@dataclass(frozen=True)
class Access:
    """How the loops move through a buffer: the place along each of its axes."""

    axes: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def loops(self) -> set[int]:
        """The loops that matter to the place."""
        return {loop for axis in self.axes for loop, _ in axis}

    @property
    def has_windows(self) -> bool:
        """Whether windows move over an axis: it is along a loop over them, and one within each."""
        return any(len(axis) > 1 for axis in self.axes)


@dataclass(frozen=True)
class SumOfProducts:
    """What a `linalg.generic` of that kind is made of. `left` and `right` are operand numbers."""

    left: int
    right: int
    accesses: tuple[Access, Access, Access]
    """Of operand 0, operand 1 and the result."""
    batches: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    summed: tuple[int, ...]
    turned: int | None = None
    """The operand of bytes whose signs have been turned about, and are turned back in the body: it
    is one of bytes without a sign that are 128 more."""

    @property
    def loops(self) -> int:
        """The number of loops."""
        return sum(map(len, (self.batches, self.rows, self.columns, self.summed)))


def sum_of_products(op: ir.OpView) -> SumOfProducts | None:
    """How a `linalg.generic` on buffers is a sum of products, or None if it is none.

    The right operand is the one that shares the result's last axis, so that columns of the result
    lie one beside the other.
    """
    if len(op.operands) != 3:
        return None
    block = op.regions[0].blocks[0]
    operations = [each.operation for each in block.operations if each.name != "arith.constant"]
    turning = _turning(operations[0], block)
    if not _multiplies_and_adds(operations, block, turning):
        return None
    maps = [ir.AffineMapAttr(attribute).value for attribute in op.attributes["indexing_maps"]]
    accesses = tuple(access_of(map_) for map_ in maps)
    first, second, result = accesses
    if first is None or second is None or result is None:
        return None
    loops = set(range(maps[0].n_dims))
    reductions = {
        loop
        for loop, reduces in enumerate(reductions_of(op.attributes["iterator_types"]))
        if reduces
    }
    found = sum_of_accesses((first, second, result), loops, reductions)
    if found is None or turning is None:
        return found
    return replace(found, turned=ir.BlockArgument(turning.operands[0]).arg_number)


def sum_of_accesses(
    accesses: tuple[Access, Access, Access], loops: set[int], reductions: set[int]
) -> SumOfProducts | None:
    """How such accesses of two operands and the result make a sum of products, if they do."""
    first, second, result = accesses
    summed = loops - result.loops
    if summed != reductions:
        return None
    # Two loops at one axis of the result would write to one place in turns.
    if any(len(axis) > 1 for axis in result.axes) or loops != first.loops | second.loops:
        return None
    left, right = 0, 1
    if _shares_last_axis(first, result) and not _shares_last_axis(second, result):
        left, right = 1, 0
    of_left, of_right = (first, second) if left == 0 else (second, first)
    batches = result.loops & of_left.loops & of_right.loops
    if not summed <= of_left.loops & of_right.loops:
        return None
    order = [loop for axis in result.axes for loop, _ in axis]
    return SumOfProducts(
        left,
        right,
        accesses,
        batches=tuple(loop for loop in order if loop in batches),
        rows=tuple(loop for loop in order if loop in of_left.loops - batches),
        columns=tuple(loop for loop in order if loop in of_right.loops - batches),
        summed=tuple(sorted(summed)),
    )


def static_sizes(op: ir.OpView, accesses: Sequence[Access]) -> list[int] | None:
    """How often each loop runs, DYNAMIC where the types do not tell.

    None if a loop is no axis of a buffer.
    """
    sizes: dict[int, int] = {}
    for operand, access in zip(op.operands, accesses, strict=True):
        for size, terms in zip(ir.MemRefType(operand.type).shape, access.axes, strict=True):
            if len(terms) == 1 and terms[0][1] == 1 and sizes.get(terms[0][0], DYNAMIC) == DYNAMIC:
                sizes[terms[0][0]] = size
    count = len(op.attributes["iterator_types"])
    return [sizes[loop] for loop in range(count)] if len(sizes) == count else None


def product_of(sizes: Sequence[int]) -> int | None:
    """The product of sizes, or None if one is not known."""
    return None if DYNAMIC in sizes else math.prod(sizes)


def reductions_of(iterator_types: ir.Attribute) -> tuple[bool, ...]:
    """Of each loop of a `linalg.generic` whether it is a reduction."""
    if len(ir.ArrayAttr(iterator_types)) == 0:
        return ()
    # The bindings have no class for what the array holds, and to ask each for its text takes long.
    return tuple("reduction" in kind for kind in str(iterator_types).split(","))


def _multiplies_and_adds(
    body: Sequence[ir.Operation], block: ir.Block, turning: ir.Operation | None
) -> bool:
    """Whether a body is out + left * right, with operands cast to the type of the result.

    Before that it turns the signs of one about, or does not.
    """
    elements, so_far = set(block.arguments[:2]), block.arguments[2]
    operations = list(body)
    if turning is not None:
        operations.pop(0)
        elements = {*(elements - {turning.operands[0]}), turning.results[0]}
    casts = {}
    while operations and operations[0].name in CASTS:
        cast = operations.pop(0)
        if cast.operands[0] not in elements or cast.result.type != so_far.type:
            return False
        casts[cast.operands[0]] = cast.result
    if [operation.name for operation in operations[2:]] != ["linalg.yield"]:
        return False
    multiply, add, end = operations
    factors = {casts.get(element, element) for element in elements}
    return (
        _PRODUCTS.get(multiply.name) == add.name
        and set(multiply.operands) == factors
        and set(add.operands) == {so_far, multiply.result}
        and list(end.operands) == [add.result]
    )


def _turning(first: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """What a body begins with, if that turns about the signs of the elements of an operand."""
    is_turning = (
        first.name == "arith.xori"
        and first.operands[0] in list(block.arguments)[:2]
        and constant_integer(first.operands[1]) == _SIGN
    )
    return first if is_turning else None


def access_of(map_: ir.AffineMap) -> Access | None:
    """What a map says of a buffer, or None if a place is not a sum of multiples of loops."""
    axes = []
    for result in map_.results:
        terms: dict[int, int] = {}
        if map_.n_symbols or not _add_terms(result, 1, terms):
            return None
        axes.append(tuple(sorted(terms.items())))
    return Access(tuple(axes))


def _add_terms(expression: ir.AffineExpr, factor: int, terms: dict[int, int]) -> bool:
    match expression.maybe_downcast():
        case ir.AffineDimExpr() as dim:
            terms[dim.position] = terms.get(dim.position, 0) + factor
            return True
        case ir.AffineConstantExpr() as constant:
            return bool(constant.value == 0)
        case ir.AffineAddExpr() as both:
            return _add_terms(both.lhs, factor, terms) and _add_terms(both.rhs, factor, terms)
        case ir.AffineMulExpr() as both:
            by = both.rhs.maybe_downcast()
            if isinstance(by, ir.AffineConstantExpr) and by.value > 0:
                return _add_terms(both.lhs, factor * by.value, terms)
    return False


def _shares_last_axis(operand: Access, result: Access) -> bool:
    return any(loop in operand.loops for axis in result.axes[-1:] for loop, _ in axis)
