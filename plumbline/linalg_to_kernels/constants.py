"""Tensors that are known before a program runs: its weights, which can be packed in time."""

from torch_mlir import ir

from plumbline.weight_arguments import EMBEDDED

CONSTANT = "plumbline.constant"
"""The attribute of an argument of a group that is a weight wherever the group is called."""


def is_constant(value: ir.Value) -> bool:
    """Whether a tensor is a weight of the program, or an argument that stands for one."""
    if not isinstance(value.owner, ir.Block):
        return False
    function = value.owner.owner.operation
    if function.name != "func.func" or "arg_attrs" not in function.attributes:
        return False
    if function.regions[0].blocks[0] != value.owner:
        return False
    attributes = ir.DictAttr(
        ir.ArrayAttr(function.attributes["arg_attrs"])[ir.BlockArgument(value).arg_number]
    )
    return EMBEDDED in attributes or CONSTANT in attributes
