"""Translates the LLVM dialect to LLVM IR text."""

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.errors import UserError
from plumbline.llvm_to_asm.float_constants import respell_float_constants


def translate_to_llvm_ir(module: ir.Module) -> str:
    """The LLVM IR of `module`, in a spelling that LLVM 22 and later read.

    Raises:
      UserError: the module holds operations that are not of the LLVM dialect.
    """
    with module.context:
        try:
            text = llvm.translate_module_to_llvmir(module.operation)
        except (ir.MLIRError, RuntimeError, ValueError) as error:
            raise UserError(f"translation to LLVM IR failed: {error}") from None
    return respell_float_constants(text)
