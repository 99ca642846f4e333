"""Gathers elementwise ops in groups, each around the op whose results the others only serve.

An elementwise producer goes into its consumer's group when all its uses are in it. What says which
symbolic sizes a value has goes along with the op that makes the value; of what a group yields, it
says so of the group's result, outside. Ops of arith and math on tensors are elementwise, too.

`fuse_elementwise_ops` makes the pass with a predicate of one's own.
"""

from collections.abc import Callable

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import all_operations
from plumbline.tcp.ops.elementwise import ElementwiseOp
from plumbline.tcp.ops.structure import GroupOp, YieldOp
from plumbline.tcp.ops.symbolic_shape import BindSymbolicShapeOp

MayFuse = Callable[[ir.Operation, ir.Operation], bool]
"""Whether a producer may go into the group of a consumer that uses its result."""

_BESIDE_TCP = ("arith.", "math.")


def fuse_elementwise_ops(may_fuse: MayFuse = lambda producer, consumer: True) -> Pass:
    """The pass, with `may_fuse` to say which elementwise ops a group is made of.

    For a pipeline: `Pipeline("mine", (fuse_elementwise_ops(mine),)).run(module)`.
    """

    def fuse(operation: ir.Operation) -> None:
        # In reverse: by the time that a producer is come to, its consumers have their groups.
        for op in reversed(all_operations(operation)):
            if _is_elementwise(op):
                _fuse_into_consumers(op, may_fuse)

    return Pass("tcp-fuse-elementwise-ops", "Gather elementwise ops of TCP in tcp.group ops", fuse)


def _is_elementwise(op: ir.Operation) -> bool:
    if isinstance(op.opview, ElementwiseOp):
        return True
    return (
        op.name.startswith(_BESIDE_TCP)
        and len(op.results) == 1
        and bool(op.operands)
        and all(
            isinstance(value.type, ir.RankedTensorType) for value in (*op.operands, *op.results)
        )
    )


def _fuse_into_consumers(producer: ir.Operation, may_fuse: MayFuse) -> None:
    binds, consumers = _users(producer)
    if not consumers or not all(_is_elementwise(op) and may_fuse(producer, op) for op in consumers):
        return
    group = _enclosing_group(consumers[0])
    if any(_enclosing_group(op) != group for op in consumers[1:]):
        return
    if group is None:
        if len(consumers) > 1 or consumers[0].block != producer.block:
            return
        group = _group_around(consumers[0])
    elif group.block != producer.block:
        return
    first = group.regions[0].blocks[0].operations[0]
    producer.move_before(first)
    for bind in binds:
        _move_symbols_before(bind, group)
        bind.move_after(producer)


def _users(op: ir.Operation) -> tuple[list[ir.Operation], list[ir.Operation]]:
    """The ops that bind symbolic sizes to the result of `op`, and those that compute with it."""
    users = []
    for use in op.results[0].uses:
        user = use.owner.operation
        if user not in users:
            users.append(user)
    binds = [user for user in users if user.name == BindSymbolicShapeOp.OPERATION_NAME]
    return binds, [user for user in users if user not in binds]


def _enclosing_group(op: ir.Operation) -> ir.Operation | None:
    parent = op.parent
    if parent is None or parent.name != GroupOp.OPERATION_NAME:
        return None
    return parent.operation


def _group_around(op: ir.Operation) -> ir.Operation:
    """A new group in the place of `op`, which is then its only op."""
    with ir.InsertionPoint(op), op.location:
        group = GroupOp(results=[op.results[0].type]).operation
    block = group.regions[0].blocks.append()
    with ir.InsertionPoint(block), op.location:
        terminator = YieldOp([op.results[0]]).operation
    op.results[0].replace_all_uses_except(group.results[0], [terminator])
    op.move_before(terminator)
    return group


def _move_symbols_before(bind: ir.Operation, group: ir.Operation) -> None:
    """Has the symbols of `bind` stand before `group`, into which it goes."""
    for symbol in list(bind.operands)[1:]:
        owner = symbol.owner.operation
        if owner.block == group.block and not owner.is_before_in_block(group):
            owner.move_before(group)


TCP_FUSE_ELEMENTWISE_OPS = fuse_elementwise_ops()
