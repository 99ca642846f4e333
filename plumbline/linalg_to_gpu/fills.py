"""Tensors without content, and their sizes: where something is to be put among one number."""

from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import defining_operation
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.computations import DYNAMIC, computation_of

Size: TypeAlias = int | ir.Value


def unfilled(filled: ir.Value) -> ir.Value:
    """A tensor without content as large as one that is a number everywhere."""
    found = computation_of(filled)
    if found is not None:
        return found.inits[0]
    type_ = ir.RankedTensorType(filled.type)
    return tensor.empty(list(type_.shape), type_.element_type)


def sizes_of(value: ir.Value) -> list[Size]:
    """The sizes of a tensor; numbers where these are known."""
    empty = defining_operation(value)
    given = iter(empty.operands if empty is not None and empty.name == "tensor.empty" else ())
    return [
        size if size != DYNAMIC else next(given, None) or tensor.dim(value, index(axis))
        for axis, size in enumerate(ir.RankedTensorType(value.type).shape)
    ]
