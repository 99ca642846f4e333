"""Sums of products with a small matrix that is known, by as few operations as its numbers allow.

Fourier, cosine and Hadamard transforms of a few numbers are such products. Where two columns are
equal but for signs, the sum and the difference of the two elements that they are multiplied by take
their places: each has a number only where the signs are the same, or only where they differ. Of the
16 columns of a transform of 8 complex numbers that leaves two numbers in each row at most, so that
256 products become 52 additions and multiplications: what is known as a butterfly.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.walk import defining_operation
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    computation,
    is_splat,
    is_zero,
    loops_in,
    number_everywhere,
)

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

_CONTRACT = arith.FastMathFlags.contract

_MOST = 1 << 10
"""How many numbers a matrix may have: all that is done with it is one after the other in a loop."""

_ALL = ("arith.mulf", "arith.addf")
_WITHOUT_ZEROS = ("arith.mulf", "arith.cmpf", "arith.select", "arith.addf")
"""What is done with an element: it may be left out where the number is zero."""


def add_product(so_far: ir.Value, element: ir.Value, number: ir.Value) -> ir.Value:
    """Builds the body of a sum of products with numbers."""
    return arith.addf(so_far, arith.mulf(element, number))


def add_product_unless_zero(so_far: ir.Value, element: ir.Value, number: ir.Value) -> ir.Value:
    """The same of one that leaves out those with zeros."""
    product, zero = arith.mulf(element, number), arith.constant(number.type, 0.0)
    is_there = arith.cmpf(arith.CmpFPredicate.UNE, number, zero)
    return arith.addf(so_far, arith.select(is_there, product, zero))


@dataclass(frozen=True)
class ConstantProduct:
    """A sum of the products of elements with the numbers of a matrix, for each row of that."""

    loops: frozenset[int]
    """The loops of the sum that the matrix is of; no others are summed over."""
    matrix: Array
    rows: tuple[Indices, ...]
    """For each row the loops of the sum, of which those of the matrix are numbers."""
    columns: tuple[Indices, ...]
    """For each column the same."""
    elements: int
    """The number of the operand of which elements are multiplied."""
    constant: ir.Value
    """The operand that the matrix is."""


def constant_product(step: Computation) -> ConstantProduct | None:
    """How a computation is a sum of products with a known matrix, if it is one."""
    operations = tuple(name for name in step.body_names if name != "arith.constant")
    if operations not in (_ALL, _WITHOUT_ZEROS) or not step.is_reduction:
        return None
    element = ir.RankedTensorType(step.results[0].type).element_type
    if not isinstance(element, ir.F32Type | ir.F64Type):
        return None
    if not is_zero(number_everywhere(step.inits[0])):
        return None
    for number, constant in enumerate(step.inputs):
        loops = loops_of_constant(constant, step.maps[number].results)
        if loops is None:
            continue
        summed = [loop for loop in loops if step.reduces[loop]]
        rows = [loop for loop in loops if not step.reduces[loop]]
        if any(not loops_in(at).isdisjoint(rows) for at in step.maps[1 - number].results):
            # Each row is of other elements, as in a convolution of groups.
            return None
        sizes = [step.sizes[loop] for loop in (*rows, *summed)]
        if len(summed) < sum(step.reduces) or DYNAMIC in sizes or math.prod(sizes) > _MOST:
            return None
        grid = dict(zip((*rows, *summed), np.indices(sizes), strict=True))
        along = _along(constant, step.maps[number].results)
        at = [0 if loop is None else grid[loop] for loop in along]
        matrix = numbers_of(constant)[tuple(at)]
        if operations == _ALL and not matrix.all():
            # What is infinite makes NaN of a zero.
            return None
        return ConstantProduct(
            frozenset(loops),
            matrix.reshape(math.prod(step.sizes[loop] for loop in rows), -1),
            tuple(_iterations(step, rows)),
            tuple(_iterations(step, summed)),
            1 - number,
            constant,
        )
    return None


def give_own_constant(op: ir.Operation) -> None:
    """Has an operation that is such a product read a constant that nothing else reads.

    It goes with the operation, which asks for its numbers alone; who reads elements needs a buffer.
    """
    step = computation(op)
    product = None if step is None else constant_product(step)
    if step is None or product is None or len(list(product.constant.uses)) == 1:
        return
    clone = product.constant.owner.operation.clone(ip=ir.InsertionPoint(op))
    op.operands[step.inputs.index(product.constant)] = clone.operation.results[0]


def numbers_of(constant: ir.Value) -> Array:
    """The numbers of a constant tensor of floats, or of truth values."""
    return np.array(ir.DenseElementsAttr(constant.owner.attributes["value"]), np.float64)


def loops_of_constant(value: ir.Value, indices: Sequence[ir.AffineExpr]) -> list[int] | None:
    """The loops along the axes of a tensor, if its numbers are known and not all the same."""
    op = defining_operation(value)
    if op is None or op.name != "arith.constant" or is_splat(op):
        return None
    # Of a resource the numbers are elsewhere.
    if not isinstance(op.attributes["value"], ir.DenseFPElementsAttr | ir.DenseIntElementsAttr):
        return None
    along = _along(value, indices)
    found = [loop for loop in along if loop is not None]
    is_simple = len(set(found)) == len(found) and DYNAMIC not in found
    return sorted(found) if is_simple else None


def _along(value: ir.Value, indices: Sequence[ir.AffineExpr]) -> list[int | None]:
    """The loop along each axis of a tensor; None of an axis with one element, `DYNAMIC` of others.

    An axis that is along no loop alone is one of the others.
    """
    found: list[int | None] = []
    for size, index in zip(ir.RankedTensorType(value.type).shape, indices, strict=True):
        dim = index.maybe_downcast()
        if size == 1:
            found.append(None)
        else:
            found.append(dim.position if isinstance(dim, ir.AffineDimExpr) else DYNAMIC)
    return found


def _iterations(step: Computation, loops: Sequence[int]) -> list[Indices]:
    """All loops of a step, of which these are numbers, in each iteration of these."""
    return [
        tuple(
            ir.AffineConstantExpr.get(numbers[loops.index(loop)]) if loop in loops else at
            for loop, at in enumerate(step.loops)
        )
        for numbers in itertools.product(*(range(step.sizes[loop]) for loop in loops))
    ]


def build_product(matrix: Array, elements: Sequence[ir.Value]) -> list[ir.Value]:
    """The product of a matrix with as many elements as it has columns."""
    columns = list(zip(matrix.T, elements, strict=True))
    while (fewer := _paired(columns)) is not None:
        columns = fewer
    return [
        _combination(
            [(float(column[row]), element) for column, element in columns if column[row]],
            elements[0].type,
        )
        for row in range(len(matrix))
    ]


_Column = tuple[Array, ir.Value]
"""A column of a matrix, and the element that is multiplied by it."""


def _paired(columns: Sequence[_Column]) -> list[_Column] | None:
    """Columns that are equal but for signs two by two, those of sums and of differences; or None.

    Of many that are equal the first is paired with the first of the other half, as the elements of
    a Fourier transform are.
    """
    alike: dict[bytes, list[_Column]] = {}
    for column, element in columns:
        alike.setdefault(np.abs(column).tobytes(), []).append((column, element))
    result: list[_Column] = []
    has_pairs = False
    for group in alike.values():
        # A number that stands alone in its column is multiplied by once as it is.
        half = len(group) // 2 if np.count_nonzero(group[0][0]) > 1 else 0
        for (one, left), (other, right) in zip(group[:half], group[half : 2 * half], strict=True):
            has_pairs = True
            is_same = one == other
            if (same := np.where(is_same, one, 0)).any():
                result.append((same, arith.addf(left, right)))
            if (opposite := np.where(is_same, 0, one)).any():
                result.append((opposite, arith.subf(left, right)))
        result += group[2 * half :]
    return result if has_pairs else None


def _combination(terms: Sequence[tuple[float, ir.Value]], type_: ir.Type) -> ir.Value:
    """The sum of elements with factors; LLVM makes one operation of a product and its sum."""
    if not terms:
        return arith.constant(type_, 0.0)
    # What needs no product comes first.
    (factor, first), *rest = sorted(terms, key=lambda term: (abs(term[0]) != 1, term[0] < 0))
    so_far = first if factor == 1 else _scaled(factor, first)
    for factor, element in rest:
        term = element if abs(factor) == 1 else _scaled(abs(factor), element)
        build = arith.addf if factor > 0 else arith.subf
        so_far = build(so_far, term, fastmath=_CONTRACT)
    return so_far


def _scaled(factor: float, element: ir.Value) -> ir.Value:
    if factor == -1:
        return arith.negf(element)
    return arith.mulf(element, arith.constant(element.type, factor), fastmath=_CONTRACT)
