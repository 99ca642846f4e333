"""Translates the LLVM dialect to LLVM IR text."""

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.errors import UserError
from plumbline.llvm_to_asm.constant_bytes import spell_constants_as_bytes
from plumbline.llvm_to_asm.float_constants import respell_float_constants
from plumbline.location import describe
from plumbline.walk import all_operations


def translate_to_llvm_ir(module: ir.Module) -> str:
    """The LLVM IR of `module`, in a spelling that LLVM 22 and later read.

    Raises:
      UserError: the module holds operations that are not of the LLVM dialect.
    """
    _refuse_other_dialects(module)
    # A copy: the module stays as it is.
    with_bytes = module.operation.clone().operation
    spell_constants_as_bytes(with_bytes)
    with module.context:
        try:
            text = llvm.translate_module_to_llvmir(with_bytes)
        except (ir.MLIRError, RuntimeError, ValueError) as error:
            raise UserError(f"translation to LLVM IR failed: {error}") from None
    return respell_float_constants(text)


def _refuse_other_dialects(module: ir.Module) -> None:
    """Refuses what has no LLVM IR: MLIR says so, and then takes the process with it."""
    others = [
        f"{describe(op.location)}: error: '{op.name}' is no operation of the LLVM dialect"
        for op in all_operations(module)[1:]
        if not op.name.startswith("llvm.")
    ]
    if others:
        raise UserError("\n".join(others))
