"""Refuses sizes whose product is more than memory can be.

What memref.alloc asks the C library for is the product of its sizes modulo 2^64, which may be
little where the product is not.
"""

import math

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_named
from plumbline.errors.location import located
from plumbline.runtime.requirement import MOST_VALUES, require

_MOST_ELEMENTS = 2**58
"""More than any memory holds, and so few that even 16 bytes for each are a number of 64 bits."""


def _check(operation: ir.Operation) -> None:
    with operation.context:
        for op in operations_named(operation, "memref.alloc"):
            if len(op.operands) > 0:
                with ir.InsertionPoint(op), op.location:
                    _check_sizes(op)


def _check_sizes(op: ir.Operation) -> None:
    type_ = ir.MemRefType(op.results[0].type)
    sizes = [None if type_.is_dynamic_dim(axis) else size for axis, size in enumerate(type_.shape)]
    index = ir.IndexType.get()
    count = arith.constant(index, math.prod(size for size in sizes if size is not None))
    zero = arith.constant(index, 0)
    fits = None
    for size in op.operands:
        count, excess = arith.MulUIExtendedOp(count, size).results
        exact = arith.cmpi(arith.CmpIPredicate.eq, excess, zero)
        fits = exact if fits is None else arith.andi(fits, exact)
    small = arith.cmpi(arith.CmpIPredicate.ule, count, arith.constant(index, _MOST_ELEMENTS))
    # Of more sizes than a requirement has numbers for, the last ones are not told.
    unsaid = len(op.operands) - MOST_VALUES
    spelled = [
        "{}" if size is None and sizes[axis:].count(None) > unsaid else str(size or "?")
        for axis, size in enumerate(sizes)
    ]
    message = f"there is no memory for a tensor of the sizes {', '.join(spelled)}"
    require(
        arith.andi(fits, small),
        located(op.location, message),
        list(op.operands)[:MOST_VALUES],
    )


CHECK_ALLOCATION_SIZES = Pass(
    "check-allocation-sizes",
    "Require that the sizes of each new buffer have a product that memory can hold",
    _check,
)
