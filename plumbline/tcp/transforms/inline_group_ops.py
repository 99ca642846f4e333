"""Puts the ops of groups in the place of the groups."""

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import all_operations
from plumbline.tcp.ops.structure import GroupOp, IsolatedGroupOp

_GROUPS = (GroupOp.OPERATION_NAME, IsolatedGroupOp.OPERATION_NAME)


def _inline(operation: ir.Operation) -> None:
    # In reverse, so that a group within a group is gone before the outer one.
    for group in reversed(all_operations(operation)):
        if group.name in _GROUPS:
            _inline_one(group)


def _inline_one(group: ir.Operation) -> None:
    block = group.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, group.operands, strict=True):
        argument.replace_all_uses_with(operand)
    *body, terminator = block.operations
    for op in body:
        op.operation.move_before(group)
    for result, value in zip(group.results, list(terminator.operands), strict=True):
        result.replace_all_uses_with(value)
    group.erase()


TCP_INLINE_GROUP_OPS = Pass(
    "tcp-inline-group-ops",
    "Put the ops of tcp.group and tcp.isolated_group in the place of the groups",
    _inline,
)
