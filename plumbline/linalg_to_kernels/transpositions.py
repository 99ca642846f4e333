"""Copies of tensors with their axes in another order, and computations that are turned about.

Whoever computes a tensor can as well do so with its axes in another order, if what it is read for
is a copy in the order that it had.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import defining_operation
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    computation,
    computation_of,
    is_copy,
    is_tensor,
    loops_in,
    number_everywhere,
    reassociation,
)
from plumbline.linalg_to_kernels.sizes import told_size
from plumbline.tcp_to_linalg.building import fill
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, dims_map, loop_nest

_DEEPEST = 32
"""How many operations are gone through, one after the other, to learn how tensors lie."""

_SAME_AXES = ("tensor.pad", "tensor.extract_slice", "tensor.insert_slice", "tensor.concat")
"""Operations whose results have the axes of what they take, whatever these are for."""


def order_of(transposition: Computation) -> list[int] | None:
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
    order = None if found is None else order_of(found)
    return None if found is None or order is None else (found, order)


def comes_of_transposed(value: ir.Value) -> bool:
    """Whether a tensor is computed of one that is transposed, at most so many operations before."""
    found, pending = {value}, [value]
    for _ in range(_DEEPEST):
        operations = [op for op in map(defining_operation, pending) if op is not None]
        if any(transposed(made) is not None for made in pending):
            return True
        read = (operand for op in operations for operand in op.operands if is_tensor(operand))
        pending = [operand for operand in dict.fromkeys(read) if operand not in found]
        found.update(pending)
    return False


def transpose(value: ir.Value, axes: Sequence[int]) -> ir.Value:
    """A copy of a tensor with its axes in another order."""
    type_ = ir.RankedTensorType(value.type)
    (result,) = loop_nest(
        [tensor.EmptyOp(_sizes(value, axes), type_.element_type).result],
        [value],
        [dims_map(type_.rank, inverse(axes)), ir.AffineMap.get_identity(type_.rank)],
        [PARALLEL] * type_.rank,
        lambda read, _: read[0],
    )
    return result


def transpose_back(value: ir.Value, axes: Sequence[int]) -> ir.Value:
    """A copy of a tensor in the order that its axes had before they were in this one."""
    return transpose(value, inverse(axes))


def inverse(axes: Sequence[int]) -> list[int]:
    """Where in `axes` each axis is."""
    return [axes.index(axis) for axis in range(len(axes))]


def _sizes(value: ir.Value, axes: Sequence[int]) -> list[int | ir.Value]:
    shape = ir.RankedTensorType(value.type).shape
    return [told_size(value, at) if shape[at] == DYNAMIC else shape[at] for at in axes]


def empty_turned(value: ir.Value, axes: Sequence[int]) -> ir.Value:
    """A tensor to be written, of the sizes of another with its axes in another order."""
    element = ir.RankedTensorType(value.type).element_type
    return tensor.EmptyOp(_sizes(value, axes), element).result


@dataclass(frozen=True)
class Turned:
    """An operand with its axes in another order, that a computation is to read in place of one."""

    number: int
    value: ir.Value
    axes: Sequence[int]
    """The axes of the operand as it was, in the order that they have in `value`."""


def turn(member: Computation, operands: Sequence[Turned], of_result: Sequence[int]) -> ir.Value:
    """Has a computation read such operands, and its result have its axes in another order.

    Gives the result transposed back, which all that have read it read now.
    """
    op, result = member.op.operation, member.results[0]
    count = len(member.inputs)
    with ir.InsertionPoint(op), op.location:
        out = Turned(count, _turned_init(member.inits[0], of_result), of_result)
    maps = list(op.attributes["indexing_maps"])
    for operand in (*operands, out):
        op.operands[operand.number] = operand.value
        results = member.maps[operand.number].results
        map_ = ir.AffineMap.get(len(member.reduces), 0, [results[axis] for axis in operand.axes])
        maps[operand.number] = ir.AffineMapAttr.get(map_)
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(maps)
    readers = [(use.owner, use.operand_number) for use in result.uses]
    result.set_type(op.operands[count].type)
    with ir.InsertionPoint.after(op), op.location:
        back = transpose_back(result, of_result)
    for reader, number in readers:
        reader.operation.operands[number] = back
    return back


def _turned_init(init: ir.Value, axes: Sequence[int]) -> ir.Value:
    """What a result begins as, with its axes in another order."""
    made, filled = defining_operation(init), computation_of(init)
    if made is not None and made.name == "tensor.empty":
        return empty_turned(init, axes)
    if number_everywhere(init) is None or filled is None or filled.inputs:
        return transpose(init, axes)
    out = empty_turned(init, axes)
    type_ = ir.RankedTensorType(out.type)
    return fill(type_, list(out.owner.operands), filled.yielded[0])


def expands_by_ones(op: ir.Operation) -> bool:
    """Whether a `tensor.expand_shape` does no more than to put axes of size 1 between others."""
    shape = ir.RankedTensorType(op.results[0].type).shape
    return all(sum(shape[axis] != 1 for axis in group) <= 1 for group in reassociation(op))


def insertions(op: ir.Operation) -> list[ir.Operation]:
    """An operation, and what puts further parts, one after the other, into the tensor it gives.

    That is nothing but `op` if it is no `tensor.insert_slice`, or others read what it gives.
    """
    found = [op]
    while op.name == "tensor.insert_slice":
        readers = [use.owner.operation for use in op.results[0].uses]
        if len(readers) != 1 or readers[0].name != op.name:
            break
        if readers[0].operands[1] != op.results[0]:
            break
        op = readers[0]
        found.append(op)
    return found


def innermost_axis(result: ir.Value) -> int | None:
    """The axis of a tensor along which what is computed of it, element by element, is contiguous.

    None if that differs between those who read it.
    """
    found: dict[ir.Value, int | None] = {}

    def innermost(value: ir.Value, depth: int) -> int | None:
        if value not in found:
            readers = [use.owner.operation for use in value.uses]
            axes = {along(value, user, depth) for user in readers if user.name != "tensor.dim"}
            found[value] = axes.pop() if len(axes) == 1 else None
        return found[value]

    def along(value: ir.Value, user: ir.Operation, depth: int) -> int | None:
        """The axis of `value` along which a reader of it is contiguous."""
        last = int(ir.RankedTensorType(value.type).rank) - 1
        axis: int | None
        if depth > _DEEPEST:
            return last
        if user.name in _SAME_AXES:
            whole = insertions(user)[-1].results[0]
            is_of_same_rank = ir.RankedTensorType(whole.type).rank == last + 1
            return innermost(whole, depth + 1) if is_of_same_rank else last
        if user.name == "tensor.expand_shape" and expands_by_ones(user):
            axis = innermost(user.results[0], depth + 1)
            groups = enumerate(reassociation(user))
            return next((number for number, group in groups if axis in group), None)
        reader = computation(user)
        if reader is None or len(reader.results) != 1:
            return last
        loops = reader.result_loops(0)
        if loops == ():
            # One number, which is computed in whatever order.
            return last
        axis = innermost(reader.results[0], depth + 1)
        if axis is None or loops is None or value not in reader.inputs:
            return None
        own = [loops_in(at) for at in reader.maps[reader.inputs.index(value)].results]
        return own.index({loops[axis]}) if {loops[axis]} in own else None

    return innermost(result, 0)
