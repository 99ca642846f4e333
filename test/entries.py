"""The entries of a program in each calling convention, for tests that call them as C does."""

import plumbline
from plumbline.context import make_context
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.tcp.assembly.module import parse_module


def llvm_ir_of(program: plumbline.CompiledProgram, abi: str) -> str:
    """The LLVM IR of a program for callers of a convention, from its kernels on."""
    module = parse_module(program.stage("kernels"), make_context(torch=True), "kernels.mlir")
    convert_kernels_to_llvm(module, abi)
    return translate_to_llvm_ir(module)
