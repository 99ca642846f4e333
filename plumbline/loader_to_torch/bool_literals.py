"""Makes numbers of True and False where an op takes a number: 1 and 0.

torch-mlir's importer does so for most numbers, but has no bool that may also be None, as a bound of
`clamp` may, nor one in the place of a tensor, as the divisor of `//` is.
"""

import torch
from torch.fx import Node

from plumbline.loader_to_torch.node_locations import all_nodes

_NUMBERS = (torch.NumberType, torch.TensorType)
"""What an argument is that may be a number: a number, or a tensor of rank 0 in its place."""


def spell_bools_as_numbers(exported: torch.export.ExportedProgram) -> None:
    """Has the ops of a functional program take no bools for numbers, in place.

    A bool does not decide of which type a result is that is none itself, nor does a whole number
    beside tensors that are none.
    """
    for node in all_nodes(exported):
        if isinstance(node.target, torch._ops.OpOverload) and not _is_bool(node):
            arguments = node.target._schema.arguments
            for place, (argument, value) in enumerate(zip(arguments, node.args, strict=False)):
                if isinstance(value, bool) and _is_number(argument.type):
                    node.update_arg(place, int(value))
            for argument in arguments:
                value = node.kwargs.get(argument.name)
                if isinstance(value, bool) and _is_number(argument.type):
                    node.update_kwarg(argument.name, int(value))


def _is_bool(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.bool


def _is_number(type_: "torch._C.JitType") -> bool:
    if isinstance(type_, torch.OptionalType):
        type_ = type_.getElementType()
    return isinstance(type_, _NUMBERS)
