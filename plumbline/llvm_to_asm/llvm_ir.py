"""Translates the LLVM dialect to LLVM IR text."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.bindings.walk import all_operations
from plumbline.errors import UserError
from plumbline.errors.location import describe
from plumbline.llvm_to_asm.constant_bytes import spell_constants_as_bytes
from plumbline.llvm_to_asm.float_constants import respell_float_constants

GPU_MODULE = "gpu.module"
"""The operation that holds the kernels of a program for a GPU, beside its functions."""


def translate_to_llvm_ir(module: ir.Module) -> str:
    """The LLVM IR of `module`, in a spelling that LLVM 22 and later read; without kernels of a GPU.

    Raises:
      UserError: the module holds operations that are not of the LLVM dialect.
    """
    # A copy: the module stays as it is.
    host = module.operation.clone().operation
    for kernels in _kernels(host):
        kernels.erase()
    if _HAS_KERNELS in host.attributes:
        del host.attributes[_HAS_KERNELS]
    return _translated(host, ("llvm", "arm_neon"))


def translate_kernels_to_llvm_ir(module: ir.Module) -> str:
    """The LLVM IR of the kernels in `module`, in such a spelling; there may be none.

    Raises:
      UserError: they hold operations that are not of NVVM.
    """
    with module.context, ir.Location.unknown():
        device = ir.Module.create()
        for kernels in _kernels(module.operation):
            for view in kernels.regions[0].blocks[0].operations:
                view.operation.clone(ip=ir.InsertionPoint(device.body))
    return _translated(device.operation, ("llvm", "nvvm"))


_HAS_KERNELS = "gpu.container_module"


def _kernels(module: ir.Operation) -> list[ir.Operation]:
    return [
        view.operation
        for view in module.regions[0].blocks[0].operations
        if view.operation.name == GPU_MODULE
    ]


def _translated(module: ir.Operation, dialects: Sequence[str]) -> str:
    _refuse_other_dialects(module, dialects)
    spell_constants_as_bytes(module)
    with module.context:
        try:
            text = llvm.translate_module_to_llvmir(module)
        except (ir.MLIRError, RuntimeError, ValueError) as error:
            raise UserError(f"translation to LLVM IR failed: {error}") from None
    return respell_float_constants(text)


def _refuse_other_dialects(module: ir.Operation, dialects: Sequence[str]) -> None:
    """Refuses what has no LLVM IR: MLIR says so, and then takes the process with it."""
    others = [
        f"{describe(op.location)}: error: '{op.name}' is no operation of the LLVM dialect"
        for op in all_operations(module)[1:]
        if op.name.partition(".")[0] not in dialects
    ]
    if others:
        raise UserError("\n".join(others))
