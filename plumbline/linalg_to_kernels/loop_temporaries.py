"""Has the small temporaries of loops be on the stack, where LLVM makes registers of them.

A loop that computes with a few numbers at a time, as one that draws random numbers until they are
accepted, else spends its time in malloc and free.
"""

from collections.abc import Iterable

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.bindings.walk import all_operations
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.planned_memory import buffer_bytes
from plumbline.linalg_to_kernels.work import LOOPS

_SMALL = 128
"""How many bytes a temporary may have."""


def put_loop_temporaries_on_stack(module: ir.Operation) -> None:
    """Replaces what is allocated and released in one round of a loop, outside of kernels.

    The space is that of the function, not of a round: the stack would grow with each.
    """
    with module.context:
        for view in module.regions[0].blocks[0].operations:
            function = view.operation
            if function.name != "func.func" or KERNEL in function.attributes:
                continue
            for loop in [op for op in all_operations(function) if op.name in LOOPS]:
                for region in loop.regions:
                    _replace(_temporaries(region.blocks[0]), function.regions[0].blocks[0])


def _temporaries(block: ir.Block) -> list[tuple[ir.Operation, ir.Operation]]:
    """The small allocations of a block, and what releases each in that block."""
    released = {
        op.operands[0]: op.operation for op in block.operations if op.name == "memref.dealloc"
    }
    return [
        (op.operation, released[op.results[0]])
        for op in block.operations
        if op.name == "memref.alloc" and op.results[0] in released and _is_small(op.results[0])
    ]


def _is_small(buffer: ir.Value) -> bool:
    type_ = ir.MemRefType(buffer.type)
    return bool(type_.has_static_shape) and buffer_bytes(type_) <= _SMALL


def _replace(temporaries: Iterable[tuple[ir.Operation, ir.Operation]], entry: ir.Block) -> None:
    for allocation, release in temporaries:
        old = allocation.results[0]
        with ir.InsertionPoint.at_block_begin(entry), allocation.location:
            alignment = allocation.attributes.get("alignment")
            old.replace_all_uses_with(memref.alloca(old.type, [], [], alignment=alignment))
        release.erase()
        allocation.erase()
