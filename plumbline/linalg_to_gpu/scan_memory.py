"""Gives scans memory for what parts of their rows come to.

Their launches are built when memory has been planned, so that they are given it before.
"""

from torch_mlir import ir
from torch_mlir.dialects import func, memref

from plumbline.bindings.views import NOALIAS
from plumbline.bindings.walk import all_operations
from plumbline.linalg_to_gpu.launch_loops import is_launched
from plumbline.linalg_to_gpu.loop_kernels import HAS_MEMORY, loop_kernel
from plumbline.linalg_to_gpu.scan_kernel import memory_of_parts
from plumbline.linalg_to_kernels.build_kernels import KERNEL


def give_scans_memory(module: ir.Operation) -> None:
    """Has each kernel that may scan rows in parts take a buffer more, and its calls allocate it."""
    with module.context:
        for op in [view.operation for view in module.regions[0].blocks[0].operations]:
            if KERNEL not in op.attributes or is_launched(op):
                continue
            with op.location:
                found = loop_kernel(op)
                type_ = None if found is None else memory_of_parts(found)
                if type_ is not None:
                    _give(module, op.opview, type_)


def _give(module: ir.Operation, kernel: func.FuncOp, type_: ir.MemRefType) -> None:
    kernel.attributes[HAS_MEMORY] = ir.UnitAttr.get()
    known = list(ir.ArrayAttr(kernel.attributes["arg_attrs"]))
    kernel.attributes["arg_attrs"] = ir.ArrayAttr.get(
        [*known, ir.DictAttr.get({NOALIAS: ir.UnitAttr.get()})]
    )
    kernel.regions[0].blocks[0].add_argument(type_, kernel.location)
    inputs = [*kernel.type.inputs, type_]
    kernel.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, []))
    name = ir.FlatSymbolRefAttr.get(kernel.name.value)
    for op in all_operations(module):
        if op.name == "func.call" and op.attributes["callee"] == name:
            with ir.InsertionPoint(op), op.location:
                buffer = memref.alloc(type_, [], [])
                func.CallOp([], name, [*op.operands, buffer])
                memref.dealloc(buffer)
            op.erase()
