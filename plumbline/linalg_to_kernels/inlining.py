"""Has LLVM inline the kernels of loops that do little in each round.

A call takes longer than such a kernel, and keeps in memory what could be in registers.
"""

import math

from torch_mlir import ir

from plumbline.bindings.walk import all_operations, callee
from plumbline.linalg_to_kernels.build_kernels import INLINED, KERNEL
from plumbline.linalg_to_kernels.work import LOOPS, known_trips

_LITTLE = 128
"""How many operations a kernel that is inlined may do."""


def inline_small_kernels(module: ir.Operation) -> None:
    """Marks the kernels that loops outside of kernels call, and that do little."""
    with module.context:
        symbols = ir.SymbolTable(module)
        called = {
            callee(op)
            for view in module.regions[0].blocks[0].operations
            if view.operation.name == "func.func" and KERNEL not in view.attributes
            for loop in all_operations(view.operation)
            if loop.name in LOOPS
            for op in all_operations(loop)
            if op.name == "func.call"
        }
        for name in called:
            kernel = symbols[name].operation
            if KERNEL in kernel.attributes and _operations(kernel) <= _LITTLE:
                del kernel.attributes[KERNEL]
                kernel.attributes[INLINED] = ir.UnitAttr.get()


def _operations(op: ir.Operation) -> float:
    """How many operations are done in an operation; infinity if that is not known."""
    inside = sum(
        1 + _operations(inner.operation)
        for region in op.regions
        for block in region.blocks
        for inner in block.operations
    )
    return _rounds(op) * inside if inside else 0


def _rounds(op: ir.Operation) -> float:
    if op.name in ("func.func", "scf.if"):
        return 1
    known = known_trips(op) if op.name == "scf.for" else None
    return math.inf if known is None else known
