"""Turns groups into isolated groups, which see nothing but their operands.

Constants and symbolic sizes that a group uses are cloned into it; all else becomes an operand.
"""

from torch_mlir import ir

from plumbline.pipeline import Pass
from plumbline.tcp.ops.data_movement import ConstOp
from plumbline.tcp.ops.structure import GroupOp, IsolatedGroupOp
from plumbline.tcp.ops.symbolic_shape import SymbolicIntOp
from plumbline.walk import all_operations

_CLONED = (ConstOp.OPERATION_NAME, SymbolicIntOp.OPERATION_NAME, "arith.constant")


def _isolate(operation: ir.Operation) -> None:
    # In reverse: an inner group asks for its operands before the outer one looks for its own.
    for op in reversed(all_operations(operation)):
        if op.name == GroupOp.OPERATION_NAME:
            _isolate_one(op)


def _isolate_one(group: ir.Operation) -> None:
    body = group.regions[0].blocks[0]
    captured = _captured_values(group)
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
    for op in all_operations(isolated)[1:]:
        for index, operand in enumerate(op.operands):
            if operand in inside:
                op.operands[index] = inside[operand]
    for old, new in zip(group.results, isolated.results, strict=True):
        old.replace_all_uses_with(new)
    group.erase()


def _is_cloned(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name in _CLONED


def _captured_values(group: ir.Operation) -> list[ir.Value]:
    """The values from around `group` that its ops use, in the order of their first use."""
    inner = all_operations(group)[1:]
    defined = {result for op in inner for result in op.results}
    for op in (group, *inner):
        for region in op.regions:
            for block in region.blocks:
                defined.update(block.arguments)
    captured: dict[ir.Value, None] = {}
    for op in inner:
        for operand in op.operands:
            if operand not in defined:
                captured[operand] = None
    return list(captured)


TCP_ISOLATE_GROUP_OPS = Pass(
    "tcp-isolate-group-ops",
    "Turn tcp.group ops into tcp.isolated_group ops",
    _isolate,
)
