"""Tensors that are known before a program runs: its weights, which can be packed in time."""

from torch_mlir import ir

from plumbline.signature.weight_arguments import EMBEDDED, LAYOUT
from plumbline.signature.weight_layout import WeightLayout

CONSTANT = "plumbline.constant"
"""The attribute of an argument of a group that is a weight wherever the group is called."""


def is_constant(value: ir.Value) -> bool:
    """Whether a tensor is a weight of the program, or an argument that stands for one.

    One that a file says is packed can be packed no more.
    """
    attributes = argument_attributes(value)
    return CONSTANT in attributes or (EMBEDDED in attributes and not _is_packed(attributes))


def _is_packed(attributes: ir.DictAttr) -> bool:
    if LAYOUT not in attributes:
        return False
    layout = WeightLayout.parse(ir.StringAttr(attributes[LAYOUT]).value)
    return layout is None or layout.packed is not None


def argument_attributes(value: ir.Value) -> ir.DictAttr:
    """What is noted of a value that is an argument of a function; of others nothing."""
    none = ir.DictAttr.get({})
    if not isinstance(value.owner, ir.Block):
        return none
    function = value.owner.owner.operation
    if function.name != "func.func" or "arg_attrs" not in function.attributes:
        return none
    if function.regions[0].blocks[0] != value.owner:
        return none
    given = ir.ArrayAttr(function.attributes["arg_attrs"])
    return ir.DictAttr(given[ir.BlockArgument(value).arg_number])
