"""The entries of a program in each calling convention, for tests that call them as C does."""

from torch_mlir import ir

import plumbline
from plumbline.context import make_context
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.kernels_to_llvm.program_signature import program_signature
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.signature.signature import Signature
from plumbline.tcp.assembly.module import parse_module, print_module


def llvm_ir_of(program: plumbline.CompiledProgram, abi: str, memory: str = "malloc") -> str:
    """The LLVM IR of a program for callers of a convention, from its kernels on."""
    return translate_to_llvm_ir(_llvm_dialect(program, abi, memory))


def llvm_dialect_of(program: plumbline.CompiledProgram, abi: str, memory: str = "malloc") -> str:
    """The same in the LLVM dialect."""
    return print_module(_llvm_dialect(program, abi, memory))


def signature_of(program: plumbline.CompiledProgram, memory: str) -> Signature:
    """The signature of a program whose temporaries come from there."""
    return program_signature(_kernels(program), program.signature.name, memory)


def _llvm_dialect(program: plumbline.CompiledProgram, abi: str, memory: str) -> ir.Module:
    module = _kernels(program)
    convert_kernels_to_llvm(module, abi, memory)
    return module


def _kernels(program: plumbline.CompiledProgram) -> ir.Module:
    return parse_module(program.stage("kernels"), make_context(torch=True), "kernels.mlir")
