"""Takes indices that count from the start as they are, where they might count from the end as well.

Indices in brackets do: a size is added to those below 0. What PyTorch refuses below 0 has that size
taken off such indices before, so that they are refused by their numbers, and is an index in
brackets then.
"""

from torch_mlir import ir

from plumbline.bindings.walk import constant_integer, defining_operation
from plumbline.tcp.attributes import case_of
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops.elementwise import AddOp, CompareOp, SelectOp, SubOp
from plumbline.tcp.transforms.known_numbers import number_everywhere, stretched


def counted_from_start(select: SelectOp) -> ir.Value | None:
    """`i`, of what adds a size to the negative ones of what takes it off those of `i`."""
    added = _shifted(select.operation, AddOp)
    if added is None:
        return None
    indices, by = added
    owner = defining_operation(indices)
    taken = None if owner is None else _shifted(owner, SubOp)
    if taken is None or _element(taken[1]) is None or _element(taken[1]) != _element(by):
        return None
    return taken[0]


def _shifted(select: ir.Operation, op: type[TcpOp]) -> tuple[ir.Value, ir.Value] | None:
    """The indices whose negative ones an operation moves, and by what."""
    if select.name != SelectOp.OPERATION_NAME:
        return None
    condition, moved, kept = select.operands
    compare, move = defining_operation(condition), defining_operation(moved)
    if compare is None or compare.name != CompareOp.OPERATION_NAME or move is None:
        return None
    is_below = case_of(compare.attributes["predicate"]) == "lt" and compare.operands[0] == kept
    if not is_below or _element(compare.operands[1]) != 0:
        return None
    if move.name != op.OPERATION_NAME or move.operands[0] != kept:
        return None
    return kept, move.operands[1]


def _element(value: ir.Value) -> float | int | ir.Value | None:
    """The one number that all elements of a tensor are, known or not."""
    number = number_everywhere(value)
    if number is not None:
        return number
    op = defining_operation(stretched(value))
    if op is None or op.name != "tensor.from_elements" or len(op.operands) != 1:
        return None
    (element,) = op.operands
    known = constant_integer(element)
    return element if known is None else known
