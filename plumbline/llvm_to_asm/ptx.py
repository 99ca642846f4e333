"""Turns LLVM IR of kernels into PTX, the assembly of NVIDIA's GPUs, with llvmlite."""

import re
from pathlib import Path

from plumbline.errors import UserError
from plumbline.llvm_to_asm.assembly import emit_assembly
from plumbline.target.target import Target

IMAGE = "plumbline_gpu_image"
"""The symbol under which what launches kernels finds them: PTX, whose text ends with a zero, or a
fatbin (`fatbin.py`)."""

PROGRAM = "plumbline_cuda_program"
"""The symbol of what the runtime (`runtime/cuda`) remembers of a program between calls."""

PROGRAM_WORDS = 1
"""Its size, in words of 64 bits, which are zeros at first."""


def emit_ptx(llvm_ir: str, target: Target, optimisation_level: int = 2) -> str:
    """Optimises the `llvm_ir` of kernels and gives the text of a PTX module.

    Raises:
      UserError: LLVM cannot read the text, or a kernel calls a function that is not there.
    """
    ptx = emit_assembly(llvm_ir, target, optimisation_level)
    if missing := re.findall(r"^\.extern \.func\s+(?:\([^)]*\)\s+)?([\w$]+)", ptx, re.MULTILINE):
        raise UserError(f"kernels call functions that no GPU has: {', '.join(sorted(missing))}")
    return ptx


def include_image(file: Path) -> str:
    """Assembly of what a program for a GPU has beside its code: the image in a file, and its state.

    The assembler looks for the file by its name alone.
    """
    quoted = file.name.replace("\\", "\\\\").replace('"', '\\"')
    image = f'"{IMAGE}":\n\t.incbin\t"{quoted}"\n\t.byte\t0\n'
    state = f'"{PROGRAM}":\n\t.zero\t{8 * PROGRAM_WORDS}\n'
    return f"\t.section\t.rodata\n\t.balign\t8\n{image}\t.bss\n\t.balign\t8\n{state}"
