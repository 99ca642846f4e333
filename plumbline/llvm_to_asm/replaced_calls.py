"""Has code call what stands for the C library of Linux where there is another, or hardly any."""

import llvmlite.binding as llvm

from plumbline.runtime.c_library.stand_in import PREFIX, stand_in_for
from plumbline.target.target import Target


def replace_calls(module: llvm.ModuleRef, target: Target) -> None:
    """Renames the functions of the C library that `module` declares and that there are others of.

    They are handed sizes of 64 bits, and WebAssembly holds a call against the type of the function.
    """
    stand_in = stand_in_for(target)
    if stand_in is None:
        return
    for function in module.functions:
        if function.is_declaration and function.name in stand_in.functions:
            function.name = PREFIX + function.name
