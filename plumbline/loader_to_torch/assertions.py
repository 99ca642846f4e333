"""Assertions on the values of tensors, which torch-mlir's importer would drop."""

import torch
from torch_mlir import ir

from plumbline.loader_to_torch.node_locations import all_nodes
from plumbline.walk import operations_of

_assert = torch.ops.aten._assert_async

_NAME = "plumbline.require"
_OP = _NAME.replace(".", "::")
torch.library.define(_OP, "(Tensor holds, str message) -> ()")
# What runs the program node by node checks them too.
torch.library.impl(_OP, "CompositeExplicitAutograd")(_assert.msg)


def keep_assertions(exported: torch.export.ExportedProgram) -> None:
    """Has the importer take the assertions of a program for ops that it knows nothing of."""
    for node in all_nodes(exported):
        if node.target is _assert.default:
            node.args = (*node.args, "an assertion of the program fails")
        if node.target in (_assert.default, _assert.msg):
            node.target = torch.ops.plumbline.require.default


def import_assertions(module: ir.Module) -> None:
    """Has ops of the Torch dialect assert what the importer has left as such ops."""
    for op in operations_of(module, "torch"):
        if op.name != "torch.operator" or _name(op) != f"torch.{_NAME}":
            continue
        holds, message = op.operands
        with ir.InsertionPoint(op), op.location:
            truth = ir.Operation.create(
                "torch.aten.Bool.Tensor",
                results=[ir.Type.parse("!torch.bool")],
                operands=[holds],
            ).result
            text = message.owner.attributes["value"]
            ir.Operation.create(
                "torch.runtime.assert", operands=[truth], attributes={"message": text}
            )
        op.erase()


def _name(op: ir.Operation) -> str:
    return str(ir.StringAttr(op.attributes["name"]).value)
