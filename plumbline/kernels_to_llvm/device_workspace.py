"""Has the device memory of a call be a workspace's, which is device memory as well.

What `workspace.py` places are allocations of the memref dialect.
"""

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.bindings.walk import operations_named
from plumbline.linalg_to_kernels.planned_memory import PLAN
from plumbline.signature.device_tensors import RESIDENT
from plumbline.signature.signature import WORKSPACE_ALIGNMENT


def allocate_by_memrefs(module: ir.Operation) -> None:
    """Makes memref.alloc and memref.dealloc of gpu.alloc, but for what stays, and gpu.dealloc."""
    for op in operations_named(module, "gpu.alloc", "gpu.dealloc"):
        if op.name == "gpu.alloc" and RESIDENT not in op.attributes:
            with ir.InsertionPoint(op), op.location:
                type_ = ir.MemRefType(op.results[0].type)
                place = memref.alloc(type_, list(op.operands), [], alignment=WORKSPACE_ALIGNMENT)
            if PLAN in op.attributes:
                place.owner.attributes[PLAN] = op.attributes[PLAN]
            op.results[0].replace_all_uses_with(place)
            op.erase()
        elif op.name == "gpu.dealloc":
            with ir.InsertionPoint(op), op.location:
                memref.dealloc(op.operands[0])
            op.erase()
