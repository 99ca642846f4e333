"""Has code call what stands for the C library where there is nothing but memory (`calls.c`)."""

import llvmlite.binding as llvm

from plumbline.runtime.freestanding.source import PREFIX, REPLACED


def replace_calls(module: llvm.ModuleRef) -> None:
    """Renames the functions of the C library that `module` declares and that there are others of.

    They are handed sizes of 64 bits, and WebAssembly holds a call against the type of the function.
    """
    for function in module.functions:
        if function.is_declaration and function.name in REPLACED:
            function.name = PREFIX + function.name
