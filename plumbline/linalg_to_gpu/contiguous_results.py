"""Copies results that are parts of other tensors, whose elements lie apart.

Callers have the elements of a result one after the other, and copies between the host and the
device know no others. Where sizes are not known, bufferization takes such a part for a whole.
"""

from torch_mlir import ir

from plumbline.linalg_to_kernels.layouts import is_contiguous, layout_of
from plumbline.signature.c_signature import functions_with_bodies
from plumbline.tcp_to_linalg.building import empty_like, generic


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
    identity = ir.AffineMap.get_identity(type_.rank)
    out = empty_like(value, type_.element_type)
    return generic(out, [value], [identity], lambda elements: elements[0])
