"""Has code call what stands for the C library in modules of WebAssembly (`calls.c`)."""

import llvmlite.binding as llvm

from plumbline.runtime.webassembly.source import PREFIX, REPLACED


def replace_calls(module: llvm.ModuleRef) -> None:
    """Renames the functions of the C library that `module` declares and that there are others of.

    A call is held against the type of the function there, where other machines look at its name.
    """
    for function in module.functions:
        if function.is_declaration and function.name in REPLACED:
            function.name = PREFIX + function.name
