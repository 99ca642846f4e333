"""Has transpositions come late, so that tensors are read as they lie.

Where images have their channels last, programs turn them around pools, interpolations and the like.
What turns them there and back is nothing to do, unless something is between that is not computed
where it is read:

- Zeros that are laid around what has been turned are laid around it before.
- Where what is made in the end has the axis innermost that what was turned has, parts are taken of
  it before it is turned, and put together; windows are gone through there, and what is done to each
  element before or after that.
- What is turned back right away is what it was.
- What is read at computed places has to be there as a whole. It is read where it was before it was
  turned, if elements that are computed one after the other then lie side by side.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import defining_operation, operations_named
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    GENERIC,
    Computation,
    Indices,
    computation,
    computation_of,
    erase_unused,
    is_tensor,
    loops_in,
    reassociation,
    seen_through,
    users,
)
from plumbline.linalg_to_kernels.pads import pad_of
from plumbline.linalg_to_kernels.transpositions import (
    Turned,
    empty_turned,
    expands_by_ones,
    innermost_axis,
    insertions,
    order_of,
    transpose_back,
    transposed,
    turn,
)
from plumbline.tcp_to_linalg.building import padded


def transpose_late(module: ir.Operation) -> None:
    """Has transpositions of `module` come after what is done to tensors, as far as that helps.

    Reads at computed places come before them.
    """
    with module.context:
        # In the order of the program, so that a transposition goes past one after the other. What
        # is erased comes before what it is erased for.
        for op in operations_named(module, *_PAST):
            _PAST[op.name](op)
        for op in operations_named(module, "tensor.extract"):
            _read_untransposed(op)


def _past_computation(op: ir.Operation) -> None:
    if not _undo(op):
        _compute_first(op)


def _undo(op: ir.Operation) -> bool:
    """Has those who read what is transposed there and back read what it was, if it is that."""
    back = transposed(op.results[0]) if len(op.results) == 1 else None
    there = None if back is None else transposed(back[0].inputs[0])
    if back is None or there is None:
        return False
    (second, further), (first, order) = back, there
    source = first.inputs[0]
    is_undone = [further[axis] for axis in order] == sorted(order)
    if not is_undone or source.type != op.results[0].type:
        return False
    transposition = second.inputs[0]
    op.results[0].replace_all_uses_with(source)
    op.erase()
    erase_unused(transposition)
    return True


def _replace(op: ir.Operation, result: ir.Value) -> None:
    """Replaces an operation whose operands may not be read any more."""
    before = list(op.operands)
    op.results[0].replace_all_uses_with(result)
    op.erase()
    erase_unused(*before)


# -- pads ------------------------------------------------------------------------------------------


def _pad_first(op: ir.Operation) -> None:
    """Pads what is transposed, and transposes that, unless kernels of contractions pad."""
    found, known = transposed(op.operands[0]), pad_of(op)
    readers = [computation(user) for user in users(op.results[0])]
    if found is None or known is None or not readers:
        return
    if any(reader is None or reader.sum_of_products is not None for reader in readers):
        return
    transposition, order = found
    with ir.InsertionPoint(op), op.location:
        low, high = ([of[axis] for axis in order] for of in (known.low, known.high))
        before = padded(transposition.inputs[0], low, high, known.value)
        result = transpose_back(before, order)
    _replace(op, result)


# -- parts -----------------------------------------------------------------------------------------


def _stays_innermost(value: ir.Value, axis: int) -> bool:
    """Whether what is computed of a tensor is contiguous along this axis, which is not its last."""
    return axis != ir.RankedTensorType(value.type).rank - 1 and innermost_axis(value) == axis


def _slice_first(op: ir.Operation) -> None:
    """Takes a part of what is transposed, and transposes that."""
    found = transposed(op.operands[0])
    if found is None or not _stays_innermost(op.results[0], found[1][-1]):
        return
    transposition, order = found
    if ir.RankedTensorType(op.results[0].type).rank != len(order):
        return
    with ir.InsertionPoint(op), op.location:
        shape = _in_order(ir.RankedTensorType(op.results[0].type).shape, order)
        type_ = ir.RankedTensorType.get(shape, op.results[0].type.element_type)
        places = _places_in_order(op, order)
        result = transpose_back(
            tensor.ExtractSliceOp(type_, transposition.inputs[0], **places).result, order
        )
    _replace(op, result)


def _insert_first(op: ir.Operation) -> None:
    """Puts parts that are transposed together before they are, if all are alike."""
    found = transposed(op.operands[0])
    if found is None or not _stays_innermost(op.results[0], found[1][-1]):
        return
    (transposition, order), into = found, op.operands[1]
    if ir.RankedTensorType(into.type).rank != len(order):
        return
    begun, made = transposed(into), defining_operation(into)
    with ir.InsertionPoint(op), op.location:
        if begun is not None and begun[1] == order:
            whole = begun[0].inputs[0]
        elif made is not None and made.name == "tensor.empty" and _are_all_alike(op, order):
            whole = empty_turned(into, order)
        else:
            return
        places = _places_in_order(op, order)
        result = transpose_back(
            tensor.InsertSliceOp(transposition.inputs[0], whole, **places).result, order
        )
    _replace(op, result)


def _are_all_alike(op: ir.Operation, order: Sequence[int]) -> bool:
    """Whether all that is put into a tensor, from `op` on, has been transposed so."""
    parts = [transposed(insertion.operands[0]) for insertion in insertions(op)]
    return all(part is not None and part[1] == order for part in parts)


def _in_order(of_axes: Sequence[Any], order: Sequence[int]) -> list[Any]:
    return [of_axes[axis] for axis in order]


def _places_in_order(op: ir.Operation, order: Sequence[int]) -> dict[str, Any]:
    """Where a part is, with the axes in another order, as builders of slices take it."""
    places: dict[str, Any] = {}
    known = [*map(int, ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))]
    operands = iter(list(op.operands)[len(op.operands) - sum(known[-3:]) :])
    for name in ("offsets", "sizes", "strides"):
        static = list(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"]))
        values = [next(operands) if number == DYNAMIC else None for number in static]
        places[name] = [value for value in _in_order(values, order) if value is not None]
        places[f"static_{name}"] = _in_order(static, order)
    return places


def _expand_first(op: ir.Operation) -> None:
    """Puts axes of size 1 between those of what is transposed, and transposes that."""
    found = transposed(op.operands[0])
    if found is None or not expands_by_ones(op):
        return
    transposition, order = found
    type_ = ir.RankedTensorType(op.results[0].type)
    # The axis that each axis of the operand is, among those that are put beside it.
    own = [
        next((axis for axis in group if type_.shape[axis] != 1), group[0])
        for group in reassociation(op)
    ]
    axes = _with_ones(_in_order(own, order), type_.rank)
    if not _stays_innermost(op.results[0], axes[-1]):
        return
    static = list(ir.DenseI64ArrayAttr(op.attributes["static_output_shape"]))
    operands = iter(list(op.operands)[1:])
    sizes = [next(operands) if size == DYNAMIC else None for size in static]
    begins = [0, *[at for at, axis in enumerate(axes) if axis in own][1:], len(axes)]
    with ir.InsertionPoint(op), op.location:
        expanded = tensor.ExpandShapeOp(
            ir.RankedTensorType.get(_in_order(type_.shape, axes), type_.element_type),
            transposition.inputs[0],
            [list(range(begin, end)) for begin, end in itertools.pairwise(begins)],
            [size for size in _in_order(sizes, axes) if size is not None],
            _in_order(static, axes),
        ).result
        result = transpose_back(expanded, axes)
    _replace(op, result)


def _with_ones(axes: Sequence[int], rank: int) -> list[int]:
    """Axes in another order, and between them the others of so many, which are of size 1.

    These stay where they were beside others, but for the last one, after which none is put.
    """
    placed, innermost = list(axes), axes[-1]
    for axis in range(rank):
        if axis in placed:
            continue
        if axis == 0:
            at = 0
        elif axis - 1 != innermost:
            at = placed.index(axis - 1) + 1
        else:
            further = [other for other in range(axis, rank) if other in placed]
            at = placed.index(further[0] if further else innermost)
        placed.insert(at, axis)
    return placed


# -- computations ----------------------------------------------------------------------------------

_READ_WHOLE = ("tensor.pad", "tensor.extract_slice", "tensor.insert_slice", "tensor.expand_shape")
"""Operations that a computation is not fused with."""


def _compute_first(op: ir.Operation) -> None:
    """Computes a tensor of what is not transposed yet, and transposes it, where it is one for all.

    That is a reduction, or what is read by one or by such as put parts of tensors together: other
    computations take in what transposes.
    """
    member = computation(op)
    if member is None or len(member.results) != 1 or member.sum_of_products is not None:
        return
    along = member.result_loops(0)
    if along is None or order_of(member) is not None or not _is_one_for_all(member):
        return
    for number, value in enumerate(member.inputs):
        found = transposed(value) if is_tensor(value) else None
        axes = None if found is None else _turned_axes(member, number, found[1], along)
        if found is not None and axes is not None:
            turn(member, [Turned(number, found[0].inputs[0], found[1])], axes)
            erase_unused(value)
            return


def _is_one_for_all(member: Computation) -> bool:
    readers = [use.owner.operation for use in member.results[0].uses]
    return member.is_reduction or any(
        reader.name in _READ_WHOLE or ((found := computation(reader)) and found.is_reduction)
        for reader in readers
    )


def _turned_axes(
    member: Computation, number: int, order: Sequence[int], along: Sequence[int]
) -> list[int] | None:
    """The axes of a result in the order in which an operand has their loops before it is turned.

    None if they are in that order as it is, or are not all there.
    """
    of_operand = [loops_in(at) for at in member.maps[number].results]
    if not _stays_innermost(member.results[0], _axis_of(along, of_operand[order[-1]])):
        return None
    axes = [place for axis in order for place, loop in enumerate(along) if loop in of_operand[axis]]
    ones = [place for place in range(len(along)) if place not in axes]
    if not axes or any(member.sizes[along[place]] != 1 for place in ones):
        return None
    axes = _with_ones(axes, len(along))
    return None if axes == sorted(axes) or len(axes) != len(along) else axes


def _axis_of(along: Sequence[int], loops: set[int]) -> int:
    """The axis of a result along the only one of these loops; its last if there are several."""
    return along.index(*loops) if len(loops) == 1 and loops <= {*along} else len(along) - 1


_PAST: dict[str, Callable[[ir.Operation], None]] = {
    GENERIC: _past_computation,
    "tensor.pad": _pad_first,
    "tensor.extract_slice": _slice_first,
    "tensor.insert_slice": _insert_first,
    "tensor.expand_shape": _expand_first,
}
"""What has a transposition come after an operation, by its name."""


# -- reads at computed places ----------------------------------------------------------------------


def _read_untransposed(extract: ir.Operation) -> None:
    source = extract.operands[0]
    found, reader = transposed(source), computation(extract.parent.operation)
    if found is None or reader is None or reader.is_reduction or len(reader.results) != 1:
        return
    transposition, order = found
    places = list(extract.operands)[1:]
    innermost = innermost_axis(reader.results[0])
    axes = reader.result_loops(0)
    if innermost is None or axes is None:
        return
    along = [
        axis
        for axis, place in enumerate(places)
        if axes[innermost] in _loops_of_value(place, reader)
    ]
    # Each that is read for the next element then lies beside the one before.
    if along != [order[-1]]:
        return
    with ir.InsertionPoint(extract), extract.location:
        element = tensor.extract(transposition.inputs[0], [places[axis] for axis in order])
    extract.results[0].replace_all_uses_with(element)
    extract.erase()
    erase_unused(source)


def _loops_of_value(value: ir.Value, reader: Computation) -> set[int]:
    """The loops of a computation that a value within its body depends on."""
    if value in reader.body.arguments:
        number = list(reader.body.arguments).index(value)
        if number >= len(reader.inputs) or not is_tensor(reader.inputs[number]):
            return set()
        places = tuple(reader.maps[number].results)
        return _loops_of_element(reader.inputs[number], places, len(reader.reduces))
    op = defining_operation(value)
    if op is None or op.block != reader.body:
        return set()
    if op.name == "linalg.index":
        return {ir.IntegerAttr(op.attributes["dim"]).value}
    return set().union(*(_loops_of_value(operand, reader) for operand in op.operands))


def _loops_of_element(value: ir.Value, indices: Indices, dims: int) -> set[int]:
    """Of `dims` loops those that an element of a tensor depends on, which is read at such places.

    What is broadcast is the same along others.
    """
    found: set[int] = set()
    asked, pending = set(), [(value, indices)]
    while pending:
        source, places = seen_through(*pending.pop())
        if (source, places) in asked:
            continue
        asked.add((source, places))
        producer = computation_of(source)
        if producer is None or producer.is_reduction or len(producer.results) != 1:
            found.update(*map(loops_in, places))
            continue
        loops = producer.loops_for(places)
        for op in producer.body_ops:
            if op.name == "linalg.index":
                found |= loops_in(loops[ir.IntegerAttr(op.attributes["dim"]).value])
        if producer.read_anywhere:
            found.update(*map(loops_in, places))
        pending += producer.reads(loops, dims)
    return found
