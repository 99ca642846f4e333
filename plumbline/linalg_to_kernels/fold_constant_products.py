"""Makes one computation of products with known numbers and the sum that adds them up.

What a program multiplies by a small matrix, both being broadcast, would else be as many products of
each element as the matrix has rows, with numbers that are read from memory. As a sum of products it
is done by fewer operations (`constant_products.py`). It is added up in the type of the products, as
`block_sums` does that with so few.
"""

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.walk import all_operations
from plumbline.linalg_to_kernels.computations import (
    Computation,
    Indices,
    composed,
    computation,
    computation_of,
    erase_unused,
    is_copy,
    is_tensor,
    is_zero,
    number_everywhere,
)
from plumbline.linalg_to_kernels.constant_products import (
    add_product,
    add_product_unless_zero,
    loops_of_constant,
    numbers_of,
)
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, REDUCTION, loop_nest


def fold_constant_products(module: ir.Operation) -> None:
    """Folds such products of `module` into their sums."""
    with module.context:
        found = filter(None, map(computation, all_operations(module)))
        for total in [member for member in found if member.is_reduction]:
            _fold(total)


def _fold(total: Computation) -> None:
    rounded = _rounded(total)
    if rounded is None:
        return
    (terms,), dims = total.inputs, len(total.loops)
    place = terms, composed(total.maps[0], total.loops, dims)
    chosen = _read("arith.select", place, dims)
    factors = _read("arith.mulf", chosen[1] if chosen else place, dims)
    for element, (constant, places) in (factors, factors[::-1]) if factors else ():
        if loops_of_constant(constant, places) is None:
            continue
        if chosen and not _leaves_out_zeros(chosen, constant, places):
            continue
        add = add_product_unless_zero if chosen else add_product
        maps = [ir.AffineMap.get(dims, 0, list(at)) for at in (element[1], places)]
        with ir.InsertionPoint(rounded.op), total.op.location:
            start = total.inits[0] if rounded is total else _zeros(rounded.inits[0])
            (folded,) = loop_nest(
                [start],
                [element[0], constant],
                [*maps, total.maps[-1]],
                [REDUCTION if is_sum else PARALLEL for is_sum in total.reduces],
                lambda elements, so_far: add(so_far[0], *elements),  # noqa: B023
            )
        rounded.results[0].replace_all_uses_with(folded)
        before = total.inits[0]
        for member in dict.fromkeys((rounded, total)):
            member.op.erase()
        erase_unused(terms, before)
        return


def _zeros(empty: ir.Value) -> ir.Value:
    """Zeros in the place of what is to be written."""
    type_ = ir.RankedTensorType(empty.type)
    zero = arith.constant(type_.element_type, 0.0)
    identity = ir.AffineMap.get_identity(type_.rank)
    (zeros,) = loop_nest([empty], [], [identity], [PARALLEL] * type_.rank, lambda *_: zero)
    return zeros


def _rounded(total: Computation) -> Computation | None:
    """What rounds a sum to the type of its terms: itself, where it is in this; None for others."""
    if len(total.inputs) != 1 or len(total.results) != 1 or not is_tensor(total.inputs[0]):
        return None
    if not is_zero(number_everywhere(total.inits[0])):
        return None
    if total.body_names == ("arith.addf",):
        return total
    if total.body_names != ("arith.extf", "arith.addf"):
        return None
    users = [computation(use.owner.operation) for use in total.results[0].uses]
    rounded = users[0] if len(users) == 1 else None
    if rounded is None or rounded.body_names != ("arith.truncf",):
        return None
    is_same_type = rounded.results[0].type.element_type == total.inputs[0].type.element_type
    return rounded if is_same_type and rounded.maps[0] == rounded.maps[1] else None


_Place = tuple[ir.Value, Indices]
"""A tensor, and where in it an element lies."""


def _read(name: str, place: _Place, dims: int) -> list[_Place]:
    """What is read for an element, if such an operation alone computes it; else nothing."""
    member = computation_of(place[0])
    if member is None or member.is_reduction or member.body_names != (name,):
        return []
    if list(member.body_ops[0].operands) != list(member.body.arguments)[: len(member.inputs)]:
        return []
    loops = member.loops_for(place[1])
    return [
        _copied(value, composed(map_, loops, dims), dims)
        for value, map_ in zip(member.inputs, member.maps, strict=False)
    ]


def _leaves_out_zeros(chosen: list[_Place], constant: ir.Value, places: Indices) -> bool:
    """Whether of products those are chosen whose numbers are not zero, and else zeros."""
    (mask, where), _, (other, _) = chosen
    return (
        is_zero(number_everywhere(other))
        and where == places
        and loops_of_constant(mask, where) is not None
        and np.array_equal(numbers_of(mask) != 0, numbers_of(constant) != 0)
    )


def _copied(value: ir.Value, indices: Indices, dims: int) -> tuple[ir.Value, Indices]:
    """What a tensor is a copy of, and where its element for indices by so many loops lies there."""
    while (copy := computation_of(value)) is not None and is_copy(copy) and copy.inputs:
        indices = composed(copy.maps[0], copy.loops_for(indices), dims)
        value = copy.inputs[0]
    return value, indices
