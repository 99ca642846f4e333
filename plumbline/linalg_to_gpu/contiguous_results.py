"""Copies results that are parts of other tensors, whose elements lie apart.

Callers have the elements of a result one after the other, and copies between the host and the
device know no others. Where sizes are not known, bufferization takes such a part for a whole.
"""

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.layouts import is_contiguous, layout_of
from plumbline.signature.c_signature import functions_with_bodies
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, loop_nest


def copy_parts(module: ir.Operation) -> None:
    """Has public functions of `module` return copies of what does not lie as callers have it."""
    with module.context:
        for function in functions_with_bodies(module, "func.func", public=True):
            block = function.regions[0].blocks[0]
            returned = block.operations[len(block.operations) - 1].operation
            for number, result in enumerate(returned.operands):
                if not isinstance(result.type, ir.RankedTensorType):
                    continue
                if not is_contiguous(layout_of(result)):
                    with ir.InsertionPoint(returned), returned.location:
                        returned.operands[number] = _copy(result)


def _copy(value: ir.Value) -> ir.Value:
    type_ = ir.RankedTensorType(value.type)
    sizes = [
        tensor.dim(value, index(axis)) if type_.is_dynamic_dim(axis) else type_.shape[axis]
        for axis in range(type_.rank)
    ]
    return loop_nest(
        [tensor.empty(sizes, type_.element_type)],
        [value],
        [ir.AffineMap.get_identity(type_.rank)] * 2,
        [PARALLEL] * type_.rank,
        lambda inputs, outs: inputs[0],
    )[0]
