"""Turns groups into isolated groups, which see nothing but their operands.

Constants and symbolic sizes that a group uses are cloned into it; all else becomes an operand.
"""

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import all_operations, captured_values, replace_operands
from plumbline.tcp.ops.data_movement import ConstOp
from plumbline.tcp.ops.structure import GroupOp, IsolatedGroupOp
from plumbline.tcp.ops.symbolic_shape import SymbolicIntOp

_CLONED = (ConstOp.OPERATION_NAME, SymbolicIntOp.OPERATION_NAME, "arith.constant")


def _isolate(operation: ir.Operation) -> None:
    # In reverse: an inner group asks for its operands before the outer one looks for its own.
    for op in reversed(all_operations(operation)):
        if op.name == GroupOp.OPERATION_NAME:
            _isolate_one(op)


def _isolate_one(group: ir.Operation) -> None:
    body = group.regions[0].blocks[0]
    captured = captured_values(group)
    cloned = [value for value in captured if _is_cloned(value)]
    inputs = [value for value in captured if value not in cloned]
    with ir.InsertionPoint(group), group.location:
        isolated = IsolatedGroupOp(
            inputs, results=[result.type for result in group.results]
        ).operation
    for name in group.attributes:
        isolated.attributes[name] = group.attributes[name]
    block = isolated.regions[0].blocks.append(
        *[value.type for value in inputs], arg_locs=[value.location for value in inputs]
    )
    inside = dict(zip(inputs, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        for value in cloned:
            inside[value] = value.owner.operation.clone().results[0]
    for op in list(body.operations):
        op.operation.move_after(block.operations[len(block.operations) - 1]) if len(
            block.operations
        ) else block.append(op.operation)
    for view in block.operations:
        replace_operands(view.operation, inside)
    for old, new in zip(group.results, isolated.results, strict=True):
        old.replace_all_uses_with(new)
    group.erase()


def _is_cloned(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name in _CLONED


TCP_ISOLATE_GROUP_OPS = Pass(
    "tcp-isolate-group-ops",
    "Turn tcp.group ops into tcp.isolated_group ops",
    _isolate,
)
