"""Fills tensors in a loop that would else be constants with one value everywhere.

Such a constant is one number up to here. LLVM has no form for that, but lists all elements: twenty
million took 90 s, 6 GB and 400 MB of LLVM IR, and their space in the library.
"""

import math

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from plumbline.bindings.walk import operations_named
from plumbline.linalg_to_kernels.computations import is_splat, is_tensor
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, loop_nest

_MOST_ELEMENTS = 64
"""Of a constant that stays one."""


def fill_splats(module: ir.Operation) -> None:
    """Replaces the large constants of `module` that have one value everywhere by loops."""
    with module.context:
        for op in operations_named(module, "arith.constant"):
            if _is_large_splat(op):
                with ir.InsertionPoint(op), op.location:
                    op.results[0].replace_all_uses_with(_filled(op.attributes["value"]))
                op.erase()


def _is_large_splat(constant: ir.Operation) -> bool:
    (value,) = constant.results
    return (
        is_tensor(value)
        and is_splat(constant)
        and math.prod(ir.RankedTensorType(value.type).shape) > _MOST_ELEMENTS
    )


def _filled(value: ir.DenseElementsAttr) -> ir.Value:
    """A tensor that has the number of a splat everywhere.

    The number is within the loops, as in all that comes this far, where `linalg.fill` has it as an
    operand.
    """
    type_ = ir.RankedTensorType(value.type)
    empty = tensor.empty(type_.shape, type_.element_type)
    identity = ir.AffineMap.get_identity(type_.rank)
    (filled,) = loop_nest(
        [empty],
        [],
        [identity],
        [PARALLEL] * type_.rank,
        lambda *_: arith.ConstantOp(type_.element_type, value.get_splat_value()).result,
    )
    return filled
