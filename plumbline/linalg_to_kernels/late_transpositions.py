"""Has transpositions come late, so that tensors are read as they lie.

Where images have their channels last, programs turn them around pools, interpolations and the like.
What turns them there and back is nothing to do, unless something is between that is not computed
where it is read:

- Zeros that are laid around what has been turned are laid around it before.
- What is turned back right away is what it was.
- What is read at computed places has to be there as a whole. It is read where it was before it was
  turned, if elements that are computed one after the other then lie side by side.
"""

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import defining_operation, operations_named, operations_of
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    computation,
    computation_of,
    erase_unused,
    is_copy,
    is_tensor,
    loops_in,
    seen_through,
    users,
)
from plumbline.linalg_to_kernels.pads import pad_of
from plumbline.tcp_to_linalg.building import padded
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, dims_map, loop_nest

_DEEPEST = 32
"""How many computations are gone through, one after the other, to learn how results lie."""


def transpose_late(module: ir.Operation) -> None:
    """Has transpositions of `module` come after pads, and reads at computed places before them."""
    with module.context:
        for op in operations_named(module, "tensor.pad"):
            _pad_first(op)
        for op in operations_of(module, "linalg"):
            _undo(op)
        for op in operations_named(module, "tensor.extract"):
            _read_untransposed(op)


def _order(transposition: Computation) -> list[int] | None:
    """Along which axis of a copy each axis of what it copies lies; None if it does more."""
    axes = transposition.result_loops(0)
    if (
        not is_copy(transposition)
        or len(transposition.inputs) != 1
        or transposition.yielded[0] != transposition.body.arguments[0]
        or axes is None
    ):
        return None
    loops = [
        dim.position
        for dim in map(ir.AffineExpr.maybe_downcast, transposition.maps[0].results)
        if isinstance(dim, ir.AffineDimExpr)
    ]
    if sorted(loops) != sorted(axes) or loops == list(axes):
        return None
    return [axes.index(loop) for loop in loops]


def transposed(value: ir.Value) -> tuple[Computation, list[int]] | None:
    """What transposes a tensor to this one, if something does.

    With it goes along which axis of this one each axis of that lies.
    """
    found = computation_of(value)
    order = None if found is None else _order(found)
    return None if found is None or order is None else (found, order)


def _undo(op: ir.Operation) -> None:
    """Has those who read what is transposed there and back read what it was."""
    back = transposed(op.results[0]) if len(op.results) == 1 else None
    there = None if back is None else transposed(back[0].inputs[0])
    if back is None or there is None:
        return
    (second, further), (first, order) = back, there
    source = first.inputs[0]
    is_undone = [further[axis] for axis in order] == sorted(order)
    if is_undone and source.type == op.results[0].type:
        transposition = second.inputs[0]
        op.results[0].replace_all_uses_with(source)
        op.erase()
        erase_unused(transposition)


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
    type_ = ir.RankedTensorType(op.results[0].type)
    with ir.InsertionPoint(op), op.location:
        low, high = ([of[axis] for axis in order] for of in (known.low, known.high))
        before = padded(transposition.inputs[0], low, high, known.value)
        sizes = [
            tensor.dim(before, index(order.index(axis))) if size == DYNAMIC else size
            for axis, size in enumerate(type_.shape)
        ]
        (result,) = loop_nest(
            [tensor.EmptyOp(sizes, type_.element_type).result],
            [before],
            [dims_map(type_.rank, order), ir.AffineMap.get_identity(type_.rank)],
            [PARALLEL] * type_.rank,
            lambda read, _: read[0],
        )
    unpadded = op.operands[0]
    op.results[0].replace_all_uses_with(result)
    op.erase()
    erase_unused(unpadded)


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


def innermost_axis(result: ir.Value) -> int | None:
    """The axis of a tensor along which what is computed of it, element by element, is contiguous.

    None if that differs between those who read it.
    """
    found: dict[ir.Value, int | None] = {}

    def innermost(value: ir.Value, depth: int) -> int | None:
        if value not in found:
            axes = {along(value, computation(use.owner.operation), depth) for use in value.uses}
            found[value] = axes.pop() if len(axes) == 1 else None
        return found[value]

    def along(value: ir.Value, reader: Computation | None, depth: int) -> int | None:
        """The axis of `value` along which a reader of it is contiguous."""
        last = len(ir.RankedTensorType(value.type).shape) - 1
        if reader is None or reader.is_reduction or len(reader.results) != 1 or depth > _DEEPEST:
            return last
        axis, loops = innermost(reader.results[0], depth + 1), reader.result_loops(0)
        if axis is None or loops is None or value not in reader.inputs:
            return None
        own = [loops_in(at) for at in reader.maps[reader.inputs.index(value)].results]
        return own.index({loops[axis]}) if {loops[axis]} in own else None

    return innermost(result, 0)


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
