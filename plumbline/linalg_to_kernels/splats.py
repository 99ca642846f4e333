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
                _fill_where_read(op)
                op.erase()


def _fill_where_read(constant: ir.Operation) -> None:
    """Has each block that reads a constant fill a tensor of its own.

    What computes with it in a loop is then one kernel with what fills it, which knows the number,
    and reads no memory for it in each round.
    """
    filled: dict[ir.Block, ir.Value] = {}
    value = constant.attributes["value"]
    for use in list(constant.results[0].uses):
        user = use.owner.operation
        block = _block_around(user)
        if block not in filled:
            is_own = block == constant.block
            before = constant if is_own else block.operations[0].operation
            with ir.InsertionPoint(before), constant.location:
                filled[block] = _filled(value)
        user.operands[use.operand_number] = filled[block]


def _block_around(op: ir.Operation) -> ir.Block:
    """The block of a function, a loop or a branch that an operation is in, if in a body of it."""
    while op.parent.name.partition(".")[0] not in ("func", "scf"):
        op = op.parent.operation
    return op.block


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
