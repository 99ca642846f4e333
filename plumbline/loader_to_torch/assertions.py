"""Assertions on the values of tensors and on numbers, which torch-mlir's importer would drop."""

import operator
import re
from collections.abc import Mapping

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.fx.node import has_side_effect
from torch_mlir import ir

from plumbline.bindings.walk import operations_of
from plumbline.loader_to_torch.node_locations import all_nodes
from plumbline.loader_to_torch.size_words import in_words, words_of_values

_assert = torch.ops.aten._assert_async

ASSERT_NUMBER = torch.ops.aten._assert_scalar.default
"""The op that asserts something of numbers; torch.export makes it of `torch._check`."""

_NAME = "plumbline.require"
_OP = _NAME.replace(".", "::")
torch.library.define(_OP, "(Tensor holds, str message) -> ()")
# What runs the program node by node checks them too.
torch.library.impl(_OP, "CompositeExplicitAutograd")(_assert.msg)

_NAME_OF_NUMBERS = "plumbline.require_number"
_OP_OF_NUMBERS = _NAME_OF_NUMBERS.replace(".", "::")
torch.library.define(_OP_OF_NUMBERS, "(Scalar holds, str message) -> ()")
torch.library.impl(_OP_OF_NUMBERS, "CompositeExplicitAutograd")(ASSERT_NUMBER)

# Nothing uses what they give, so that they are no dead code.
has_side_effect(torch.ops.plumbline.require.default)
has_side_effect(torch.ops.plumbline.require_number.default)

_ASSERTED = re.compile(r"Runtime assertion failed for expression .* on node '\w+'$")
"""The message that torch.export writes, whatever message the program gave."""

_FAILS = "an assertion of the program fails"
"""What is said where no expression tells more."""
_TRUTH_AS_NUMBER = "Piecewise("
"""How an expression begins that torch.export makes of a truth value in a tensor."""


def drop_assertions_of_types(exported: torch.export.ExportedProgram) -> None:
    """Drops what asserts of tensors that they have the types that they were traced with.

    So they have. And PyTorch cannot do it within `vmap` where sizes are not known.
    """
    for node in all_nodes(exported):
        if node.target is torch.ops.aten._assert_tensor_metadata.default:
            node.graph.erase_node(node)


def keep_assertions(
    exported: torch.export.ExportedProgram, names_of_dims: Mapping[str, str]
) -> None:
    """Has the importer take the assertions of a program for ops that it knows nothing of.

    What holds of every tensor is not asserted. `names_of_dims` is what the user calls symbols.
    """
    words = {**words_of_values(all_nodes(exported)), **names_of_dims}
    for node in all_nodes(exported):
        if node.target is _assert.default:
            node.args = (*node.args, _FAILS)
        if node.target in (_assert.default, _assert.msg):
            node.target = torch.ops.plumbline.require.default
        if node.target is ASSERT_NUMBER:
            holds, message = node.args
            if not isinstance(holds, torch.fx.Node) or _holds_of_sizes(holds):
                node.graph.erase_node(node)
                continue
            node.args = (holds, _said(holds, str(message), words))
            node.target = torch.ops.plumbline.require_number.default


def _said(holds: torch.fx.Node, message: str, words: Mapping[str, str]) -> str:
    """What is told where a condition does not hold."""
    if not _ASSERTED.match(message):
        return message
    value = holds.meta.get("val")
    if _TRUTH_AS_NUMBER in message or not isinstance(value, torch.SymBool):
        return _FAILS
    return f"the program asserts that {in_words(value.node.expr, words)}"


def _holds_of_sizes(comparison: torch.fx.Node) -> bool:
    """Whether a comparison is of the size of a tensor that is never below 0, nor too large."""
    if comparison.target not in (operator.ge, operator.le):
        return False
    size, other = comparison.args
    if not isinstance(size, torch.fx.Node) or size.target is not torch.ops.aten.sym_size.int:
        return False
    if comparison.target is operator.ge:
        return bool(other == 0)
    (places,) = size.all_input_nodes
    if places.target is not torch.ops.aten.nonzero.default:
        return False
    (mask,) = places.all_input_nodes
    counts = (mask.meta["val"].numel(), *_unstretched(places))
    # A mask may be of a size that values decide, of which nothing else is known.
    return any(statically_known_true(count == other) for count in counts)


def _unstretched(places: torch.fx.Node) -> list[int | torch.SymInt]:
    """How many elements the operands of a masked_select have, which `places` are of.

    So many PyTorch takes for the most that it can give, also where it stretches the operands.
    """
    # By name: the metadata of a graph are copies.
    op = str(torch.ops.aten.masked_select.default)
    if str(places.meta.get("original_aten")) != op:
        return []
    return [
        node.all_input_nodes[0].meta["val"].numel()
        for node in places.graph.find_nodes(
            op="call_function", target=torch.ops.aten.expand.default
        )
        if str(node.meta.get("original_aten")) == op
    ]


def import_assertions(module: ir.Module) -> None:
    """Has ops of the Torch dialect assert what the importer has left as such ops."""
    for op in operations_of(module, "torch"):
        if op.name != "torch.operator":
            continue
        if _name(op) not in (f"torch.{_NAME}", f"torch.{_NAME_OF_NUMBERS}"):
            continue
        truth, message = op.operands
        with ir.InsertionPoint(op), op.location:
            truth = _truth(truth)
            text = message.owner.attributes["value"]
            ir.Operation.create(
                "torch.runtime.assert", operands=[truth], attributes={"message": text}
            )
        op.erase()


def _truth(value: ir.Value) -> ir.Value:
    """What is asserted, as a truth value."""
    type_ = ir.Type.parse("!torch.bool")
    if value.type == type_:
        return value
    is_number = str(value.type) == "!torch.int"
    if is_number and value.owner.name == "torch.aten.Int.bool":
        # The importer makes whole numbers of all that is computed of such.
        truth: ir.Value = value.owner.operands[0]
        return truth
    name = "torch.aten.Bool.int" if is_number else "torch.aten.Bool.Tensor"
    return ir.Operation.create(name, results=[type_], operands=[value]).result


def _name(op: ir.Operation) -> str:
    return str(ir.StringAttr(op.attributes["name"]).value)
