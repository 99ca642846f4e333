"""Shared memory whose size a launch says."""

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.target.gpu_chip import SHARED_ALIGNMENT

_SHARED = 3
"""The address space of NVVM in which the threads of a block have memory together."""


def declare_shared_memory(kernels: ir.Operation) -> None:
    """Declares dynamic shared memory in a `gpu.module` as defined elsewhere: by the launch.

    MLIR defines an array of no elements, of which LLVM knows that nobody can read or write any.
    """
    with kernels.context:
        external = ir.Attribute.parse("#llvm.linkage<external>")
        i64 = ir.IntegerType.get_signless(64)
        for view in kernels.regions[0].blocks[0].operations:
            op = view.operation
            if op.name != "llvm.mlir.global" or op.opview.addr_space.value != _SHARED:
                continue
            type_ = ir.TypeAttr(op.attributes["global_type"]).value
            if isinstance(type_, llvm.ArrayType) and type_.num_elements == 0:
                op.attributes["linkage"] = external
                op.attributes["alignment"] = ir.IntegerAttr.get(i64, SHARED_ALIGNMENT)
