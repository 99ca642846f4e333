"""Has each call of a group say how much its kernel computes, reads and writes.

It is counted of the computations on tensors, as they are before strategies choose how they are
done: what a kernel computes twice counts once.
"""

import math
from collections import Counter
from collections.abc import Iterable

from torch_mlir import ir

from plumbline.bindings.walk import all_operations, callee
from plumbline.linalg_to_kernels.computations import DYNAMIC, Computation, computation, is_tensor
from plumbline.linalg_to_kernels.fusion_groups import GROUP
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.timed_calls import Work, note_work

_MOVES = frozenset({"bitcast", "cmpf", "cmpi", "constant", "index_cast", "index_castui", "select"})
"""Ops of arith that compute no element; nor do those that convert types."""

_CONVERTS = ("ext", "trunc", "fpto", "sito", "uito")


def count_work(module: ir.Operation) -> None:
    """Notes it with the calls of groups whose sizes are all known."""
    with module.context:
        works = {
            ir.StringAttr(op.attributes["sym_name"]).value: _work(op.operation)
            for op in module.regions[0].blocks[0].operations
            if GROUP in op.attributes
        }
        for op in all_operations(module):
            work = works.get(callee(op)) if op.name == "func.call" else None
            if work is not None:
                note_work(op, work)


def _work(group: ir.Operation) -> Work | None:
    """What a group does; None if that depends on sizes that differ."""
    block = group.regions[0].blocks[0]
    found = [computation(op.operation) for op in block.operations]
    members = [member for member in found if member is not None]
    outputs = list(block.operations[len(block.operations) - 1].operands)
    inputs = [value for value in block.arguments if is_tensor(value)]
    if any(DYNAMIC in member.sizes for member in members):
        return None
    looked_up = Counter[ir.Value]()
    for member in members:
        for value in member.read_anywhere:
            looked_up[value] += math.prod(member.sizes)
    bytes_ = sum(_bytes(value, looked_up.get(value)) for value in (*inputs, *outputs))
    return Work(sum(map(_operations, members)), bytes_)


def _operations(member: Computation) -> int:
    return int(math.prod(member.sizes)) * _computed(member.body_ops)


def _computed(ops: Iterable[ir.Operation]) -> int:
    """How many of these operations, and of those in them, compute elements."""
    return sum(map(_computes, (inner for op in ops for inner in all_operations(op))))


def _computes(op: ir.Operation) -> bool:
    dialect, _, name = op.name.partition(".")
    if any(isinstance(result.type, ir.IndexType) for result in op.results):
        return False
    return dialect == "math" or (
        dialect == "arith" and name not in _MOVES and not name.startswith(_CONVERTS)
    )


def _bytes(tensor: ir.Value, read: int | None) -> int:
    """Of a tensor, of which no more than so many elements are read."""
    type_ = ir.RankedTensorType(tensor.type)
    count = int(math.prod(type_.shape))
    return (count if read is None else min(count, read)) * element_bytes(type_.element_type)
