"""How much memory tensors take, and how an arena says how it was planned.

An arena has the temporaries of a function. The attribute of its `memref.alloc` is
{peak = 72, sum = 96, lower_bound = 64}: the bytes of the arena, those of all temporaries, and those
that live at once at least. One of a size that is known as the program runs, `memref<?x72xi8>`, has
so many for each of its `?`.
"""

import math

from torch_mlir import ir

PLAN = "plumbline.memory_plan"

LIVE = "plumbline.live_bytes"
"""Of a call: the bytes of temporaries of the arena that are in use while it runs."""

OF_SIZES = frozenset({"affine.apply", "arith.constant", "arith.muli", "memref.dim"})
"""The operations that sizes are computed by that are allocated by."""


def planned_bytes(allocation: ir.Operation, name: str, bytes_: int) -> int:
    """A number of the plan of an arena; of another allocation, its bytes."""
    if PLAN not in allocation.attributes:
        return bytes_
    return int(ir.IntegerAttr(ir.DictAttr(allocation.attributes[PLAN])[name]).value)


def buffer_bytes(type_: ir.MemRefType) -> int:
    """How many bytes a buffer takes, with 1 for each of its sizes that is dynamic."""
    sizes = [
        type_.get_dim_size(axis) for axis in range(type_.rank) if not type_.is_dynamic_dim(axis)
    ]
    return int(math.prod(sizes)) * element_bytes(type_.element_type)


def element_bytes(type_: ir.Type) -> int:
    """How many bytes an element of that type takes."""
    if isinstance(type_, ir.ComplexType):
        return 2 * element_bytes(type_.element_type)
    if isinstance(type_, ir.IndexType):
        return 8
    # An i1 takes a byte of its own.
    return max(int(type_.width) // 8, 1)
