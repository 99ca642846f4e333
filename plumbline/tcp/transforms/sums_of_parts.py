"""Has sums of tensors that are zero but for a part each be these parts, put together.

The derivative of a loop over the places of a sequence, `for t in range(n): step(x[:, t])`, adds up
as many tensors of the size of `x` as it has steps: n times what is to be computed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import defining_operation
from plumbline.tcp.constraints import is_float
from plumbline.tcp.ops.data_movement import ConcatOp, ConstOp
from plumbline.tcp.ops.elementwise import AddOp
from plumbline.tcp.transforms.known_numbers import number_everywhere

_INSERT = tensor.InsertSliceOp.OPERATION_NAME

_FEWEST = 4
"""Of fewer parts the sum is one loop, which reads each where it lies."""


@dataclass(frozen=True)
class _Part:
    """A tensor that stands somewhere along a dimension, where all others of the whole is zero."""

    value: ir.Value
    dim: int
    start: int

    @property
    def stop(self) -> int:
        return self.start + int(self.value.type.shape[self.dim])


def concatenate_summands(op: AddOp) -> ir.Value | None:
    """What a sum is of what its summands have besides zeros.

    None if it is summed further, or of fewer than four parts that do not overlap.
    """
    type_ = op.out.type
    if not type_.has_static_shape or _summed_further(op):
        return None
    summands = list(_summands(op))
    found = {value: _part(value) for value in summands}
    parts = [part for part in found.values() if part is not None]
    if len(parts) < _FEWEST:
        return None
    dims = [part.dim for part in parts]
    dim = max(dims, key=dims.count)
    at = sorted((part for part in parts if part.dim == dim), key=lambda part: part.start)
    places = [list(same) for _, same in groupby(at, key=lambda part: (part.start, part.stop))]
    if len(places) < _FEWEST or _overlap(places):
        return None
    whole = _joined(places, type_)
    if is_float(type_.element_type):
        # Which makes 0.0 of -0.0, as the zeros of the other summands do.
        whole = AddOp(whole, _zeros(type_), results=type_).out
    for value in summands:
        part = found[value]
        if part is None or part.dim != dim:
            whole = AddOp(value, whole, results=type_).out
    return whole


def _summed_further(op: AddOp) -> bool:
    users = [use.owner.operation for use in op.out.uses]
    return len(users) == 1 and _sums(users[0], op.out.type)


def _sums(op: ir.Operation, type_: ir.Type) -> bool:
    """Whether an operation adds tensors of one type."""
    adds = op.name == AddOp.OPERATION_NAME
    return adds and all(operand.type == type_ for operand in op.operands)


def _summands(op: AddOp) -> Iterator[ir.Value]:
    """What is summed, in order, by `op` and by what sums for it alone."""
    left = [op.in2, op.in1]
    while left:
        value = left.pop()
        owner = defining_operation(value)
        if owner is not None and _sums(owner, op.out.type) and len(list(value.uses)) == 1:
            left += [owner.operands[1], owner.operands[0]]
        else:
            yield value


def _part(value: ir.Value) -> _Part | None:
    """What a tensor has besides zeros, if it was put into zeros along one dimension."""
    owner = defining_operation(value)
    if owner is None or owner.name != _INSERT or number_everywhere(owner.opview.dest) != 0:
        return None
    source, insert = owner.opview.source, owner.opview
    whole = [*value.type.shape]
    if len(source.type.shape) != len(whole) or any(stride != 1 for stride in insert.static_strides):
        return None
    dims = [dim for dim, size in enumerate(source.type.shape) if size != whole[dim]]
    if len(dims) != 1 or not source.type.has_static_shape:
        return None
    start = insert.static_offsets[dims[0]]
    # A start that is not known has the number that stands for such, below 0.
    return _Part(source, dims[0], start) if start >= 0 else None


def _overlap(places: list[list[_Part]]) -> bool:
    firsts = [same[0] for same in places]
    return any(after.start < before.stop for before, after in pairwise(firsts))


def _joined(places: list[list[_Part]], type_: ir.RankedTensorType) -> ir.Value:
    """The parts in order, those of one place added up, and zeros where there are none."""
    pieces: list[ir.Value] = []
    dim = places[0][0].dim
    end = 0
    for same in places:
        first, *others = same
        if first.start > end:
            pieces.append(_gap(type_, dim, first.start - end))
        piece = first.value
        for other in others:
            piece = AddOp(piece, other.value, results=piece.type).out
        pieces.append(piece)
        end = first.stop
    if end < type_.shape[dim]:
        pieces.append(_gap(type_, dim, type_.shape[dim] - end))
    return ConcatOp(pieces, dim=dim, results=type_).out


def _gap(type_: ir.RankedTensorType, dim: int, size: int) -> ir.Value:
    shape = [*type_.shape]
    shape[dim] = size
    return _zeros(ir.RankedTensorType.get(shape, type_.element_type))


def _zeros(type_: ir.RankedTensorType) -> ir.Value:
    is_real = is_float(type_.element_type)
    zero = (
        ir.FloatAttr.get(type_.element_type, 0.0)
        if is_real
        else ir.IntegerAttr.get(type_.element_type, 0)
    )
    return ConstOp(value=ir.DenseElementsAttr.get_splat(type_, zero)).out
