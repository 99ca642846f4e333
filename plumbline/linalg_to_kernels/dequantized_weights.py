"""Has few rows multiplied with weights that are computed of narrower ones as those are read.

Weights are kept in few bits, with a scale for each row of them or for some elements of it. Where
one row is multiplied with them, as in a step of a language model, each is needed once: a kernel of
their own would write, and another one read, several times the bytes that there are. So such a
product is a sum like others, of what is computed as it is read; of some rows each time anew.

Where some elements at a time have a scale, the sums are first of those at each place among them:
these lie side by side, and are added up by vectors, with no sum across one for each scale.

How many rows there are may not be known before the program runs: then few are told apart from more,
as a step of a language model is from the text that it begins with, and done one after the other.
"""

import math
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from plumbline.bindings.walk import defining_operation, operations_named
from plumbline.linalg_to_kernels.building import either, for_each
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    GENERIC,
    Computation,
    computation,
    computation_of,
    erase_unused,
    is_copy,
    is_tensor,
    is_zero,
    number_everywhere,
    read_source,
    reassociation,
    viewed,
)
from plumbline.linalg_to_kernels.constants import is_constant
from plumbline.linalg_to_kernels.expand_contractions import has_loop_along_each_axis, split_loop
from plumbline.linalg_to_kernels.products import SumOfProducts, product_of, sum_of_products
from plumbline.linalg_to_kernels.products_of_blocks import products_of_blocks
from plumbline.linalg_to_kernels.vectors import add
from plumbline.tcp_to_linalg.building import dim, fill, index, zero
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, REDUCTION, dims_map, loop_nest

_MOST_ROWS = 8
"""Of the type that products are summed in. Two rows by 4096 x 4096 of int8 take 0.12 of the time,
eight 0.3, and by 1024 x 1024 as long (AMD Zen 5). Those of half precision are multiplied by faster
instructions, with weights of it."""

_LEAST_PLACES = 16
"""Of a group that has a scale: as many as fill the widest vectors."""

_LEAST_WEIGHTS = 1 << 14
"""So many are worth that few rows are told apart where it is not known how many there are."""

_COLLAPSE = "tensor.collapse_shape"


def read_dequantized_weights(module: ir.Operation) -> None:
    """Has rows of `module` multiplied with weights in the shape that these are computed in.

    They are turned about or reshaped on their way there otherwise.
    """
    with module.context:
        for op in operations_named(module, GENERIC):
            if (sum_ := sum_of_products(op)) is not None:
                member = computation(op)
                # The kernel of products of blocks does as many rows at once as there are.
                if member is not None and products_of_blocks(member) is None:
                    _tell_few_rows_apart(member, sum_)
        for op in operations_named(module, GENERIC):
            if sum_of_products(op) is not None:
                _take_moves_in(op)


def multiplies_dequantized_weights(member: Computation) -> bool:
    """Whether a computation multiplies few rows with weights that are computed of others."""
    number = _matrix(member)
    if number is None:
        return False
    # By way of a reshape each element would be looked for.
    found = computation_of(member.inputs[number])
    return found is not None and not is_copy(found) and _is_computed(member.inputs[number])


def _matrix(member: Computation) -> int | None:
    """Which operand few rows are multiplied with; None if more are, or it is no such product."""
    sum_ = sum_of_products(member.op)
    if sum_ is None or any(access.has_windows for access in sum_.accesses):
        return None
    rows, columns = (
        product_of([member.sizes[loop] for loop in loops]) for loops in (sum_.rows, sum_.columns)
    )
    if rows is None or (columns is not None and columns < rows):
        few, number = columns, sum_.left
    else:
        few, number = rows, sum_.right
    if few is None or rows == columns:
        return None
    return number if few <= _most_rows(member, number) else None


def _most_rows(member: Computation, number: int) -> int:
    """How many rows are few for an operand that they are multiplied with."""
    of_rows, sums = (
        ir.RankedTensorType(value.type).element_type
        for value in (member.inputs[1 - number], *member.results)
    )
    return _MOST_ROWS if of_rows == sums else 1


def _is_computed(value: ir.Value) -> bool:
    """Whether a tensor is computed of weights, rather than one, moved or not."""
    found = computation_of(viewed(value))
    if found is None or not _follows_from_weights(value):
        return False
    return not is_copy(found) or any(map(_is_computed, _read(found)))


def _follows_from_weights(value: ir.Value) -> bool:
    """Whether a tensor is a weight, or computed element by element of those and of numbers."""
    pending, seen = [value], set()
    while pending:
        source = viewed(pending.pop())
        # In a chain in which each is read twice there are two to the power of its length ways.
        if source in seen:
            continue
        seen.add(source)
        found = computation_of(source)
        if found is None:
            owner = defining_operation(source)
            if not is_constant(source) and (owner is None or owner.name != "arith.constant"):
                return False
        elif found.is_reduction:
            return False
        else:
            pending += _read(found)
    return True


def _read(member: Computation) -> list[ir.Value]:
    """The tensors that a computation reads; a number everywhere it computes of none."""
    return list(filter(is_tensor, (*member.inputs, *member.read_anywhere)))


def _tell_few_rows_apart(member: Computation, sum_: SumOfProducts) -> None:
    """Has a product of rows, of which there may be any number, be done in two ways."""
    op = member.op
    if not is_zero(number_everywhere(member.inits[0])):
        return
    found = _rows_of_any_number(member, sum_)
    if found is None:
        return
    number, loop = found
    rows, weights, result = member.inputs[1 - number], member.inputs[number], member.results[0]
    of_rows, of_result = (
        [*map(str, member.maps[place].results)].index(f"d{loop}") for place in (1 - number, 2)
    )

    def product(given: ir.Value, type_: ir.RankedTensorType, sizes: Sequence[ir.Value]) -> ir.Value:
        here = _computed_here(weights, {})
        zeros = fill(type_, sizes, zero(type_.element_type))
        made = op.clone(ip=ir.InsertionPoint.current).operation
        for place, operand in ((number, here), (1 - number, given), (2, zeros)):
            made.operands[place] = operand
        made.results[0].set_type(type_)
        return made.results[0]

    def of_row(at: ir.Value, so_far: ir.Value) -> list[ir.Value]:
        row = _slice_of_one(rows, of_rows, at)
        made = product(row, _with_one(result.type, of_result), [])
        return [_with_slice(so_far, of_result, at, made)]

    with ir.InsertionPoint(op), op.location:
        count = dim(rows, of_rows)
        are_few = arith.cmpi(arith.CmpIPredicate.ule, count, index(_most_rows(member, number)))
        of_many = ir.RankedTensorType(result.type)

        def of_few() -> list[ir.Value]:
            sizes = [count if size == DYNAMIC else size for size in of_many.shape]
            return for_each(index(0), count, 1, of_row, [tensor.empty(sizes, of_many.element_type)])

        (chosen,) = either([of_many], are_few, of_few, lambda: [product(rows, of_many, [count])])
    result.replace_all_uses_with(chosen)
    (init,) = member.inits
    op.erase()
    erase_unused(weights, init)


def _rows_of_any_number(member: Computation, sum_: SumOfProducts) -> tuple[int, int] | None:
    """Which operand is weights that are computed of others, and the one loop of unknown size.

    That is one along the rows that the weights are multiplied with. None if there is no such.
    """
    unknown = [loop for loop, size in enumerate(member.sizes) if size == DYNAMIC]
    if any(access.has_windows for access in sum_.accesses):
        return None
    for number, loops in ((sum_.right, sum_.rows), (sum_.left, sum_.columns)):
        weights = ir.RankedTensorType(member.inputs[number].type)
        if (
            unknown == [*loops]
            and weights.has_static_shape
            and math.prod(weights.shape) >= _LEAST_WEIGHTS
            and _is_computed(member.inputs[number])
        ):
            return number, unknown[0]
    return None


def _with_one(type_: ir.Type, axis: int) -> ir.RankedTensorType:
    """The type of a tensor of the size 1 along an axis."""
    ranked = ir.RankedTensorType(type_)
    shape = [*ranked.shape]
    shape[axis] = 1
    return ir.RankedTensorType.get(shape, ranked.element_type)


def _slice_of_one(value: ir.Value, axis: int, at: ir.Value) -> ir.Value:
    """The part of a tensor of the size 1 along an axis that begins at a place of it."""
    type_ = _with_one(value.type, axis)
    return tensor.ExtractSliceOp(type_, value, [at], [], [], *_place(type_, axis)).result


def _with_slice(value: ir.Value, axis: int, at: ir.Value, part: ir.Value) -> ir.Value:
    """A tensor with such a part."""
    place = _place(ir.RankedTensorType(part.type), axis)
    return tensor.InsertSliceOp(part, value, [at], [], [], *place).result


def _place(type_: ir.RankedTensorType, axis: int) -> tuple[list[int], list[int], list[int]]:
    """The offsets, sizes and strides of a part of such a type that begins anywhere on an axis."""
    offsets = [DYNAMIC if other == axis else 0 for other in range(type_.rank)]
    return offsets, [*type_.shape], [1] * type_.rank


def _computed_here(value: ir.Value, known: dict[ir.Value, ir.Value]) -> ir.Value:
    """A tensor that follows from weights, computed anew of these where ops are inserted."""
    op = defining_operation(value)
    if value in known or op is None or is_constant(value) or op.name == "arith.constant":
        return known.get(value, value)
    operands = [_computed_here(operand, known) for operand in op.operands]
    clone = op.clone(ip=ir.InsertionPoint.current).operation
    for place, operand in enumerate(operands):
        clone.operands[place] = operand
    known.update(zip(op.results, clone.results, strict=True))
    return known[value]


def _take_moves_in(op: ir.Operation) -> None:
    """Has a product read computed weights where they are computed."""
    member = computation(op)
    number = None if member is None else _matrix(member)
    if member is None or number is None or not _is_computed(member.inputs[number]):
        return
    value = member.inputs[number]
    copy, reshape = computation_of(value), defining_operation(value)
    if copy is not None and is_copy(copy):
        read_source(member, number, copy)
        if not list(value.uses):
            copy.op.erase()
        _take_moves_in(op)
        return
    if reshape is not None and reshape.name == _COLLAPSE:
        loop = _collapsed_loop(member, number, reshape)
        if loop is not None:
            _take_moves_in(split_loop(op, *loop))
        return
    last = list(member.maps[number].results)[-1].maybe_downcast()
    if not isinstance(last, ir.AffineDimExpr) or sum(member.reduces) < 2:
        return
    if member.reduces[last.position] and member.sizes[last.position] >= _LEAST_PLACES:
        _sum_last(op, member, last.position)


def _sum_last(op: ir.Operation, member: Computation, loop: int) -> None:
    """Has the elements that a loop goes over be added up after all else is."""
    (init,) = member.inits
    type_, of_result = ir.RankedTensorType(init.type), member.maps[-1]
    place = ir.AffineMap.get(of_result.n_dims, 0, [*of_result.results, ir.AffineDimExpr.get(loop)])
    kinds = list(op.attributes["iterator_types"])
    kinds[loop] = ir.Attribute.parse(f"#linalg.iterator_type<{PARALLEL}>")
    with ir.InsertionPoint(op), op.location:
        shape = [*type_.shape, member.sizes[loop]]
        sizes = [dim(init, axis) for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]
        zeros = fill(
            ir.RankedTensorType.get(shape, type_.element_type), sizes, zero(type_.element_type)
        )
        partial = op.clone(ip=ir.InsertionPoint.current).operation
        partial.operands[2] = zeros
        partial.results[0].set_type(zeros.type)
        partial.attributes["indexing_maps"] = ir.ArrayAttr.get(
            [ir.AffineMapAttr.get(map_) for map_ in (*member.maps[:-1], place)]
        )
        partial.attributes["iterator_types"] = ir.ArrayAttr.get(kinds)
        (total,) = loop_nest(
            [init],
            [partial.results[0]],
            [ir.AffineMap.get_identity(len(shape)), dims_map(len(shape), range(type_.rank))],
            [PARALLEL] * type_.rank + [REDUCTION],
            lambda elements, sums: add(sums[0], elements[0]),
        )
    op.results[0].replace_all_uses_with(total)
    op.erase()


def _collapsed_loop(
    member: Computation, number: int, reshape: ir.Operation
) -> tuple[int, list[int]] | None:
    """The summed loop along the one axis that is of several, with the sizes of these."""
    shape = ir.RankedTensorType(reshape.operands[0].type).shape
    split = [
        (at.maybe_downcast(), [shape[axis] for axis in group])
        for at, group in zip(member.maps[number].results, reassociation(reshape), strict=True)
        if len(group) > 1
    ]
    if len(split) != 1 or not has_loop_along_each_axis(member):
        return None
    ((dim, sizes),) = split
    is_summed = isinstance(dim, ir.AffineDimExpr) and member.reduces[dim.position]
    return (dim.position, sizes) if is_summed and DYNAMIC not in sizes else None
