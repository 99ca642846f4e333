"""Marks that keep two programs with a function of the same name from becoming one binary."""

import llvmlite.binding as llvm


def mark_functions(llvm_ir: str) -> str:
    """Assembly with one symbol for each function that `llvm_ir` defines for others to call.

    Linkers take the first of several functions of a name, where these are in shared objects or in
    archives, and the wrong one runs. An object file with these symbols, which is linked into each
    binary, has them refuse: two definitions of one symbol are an error, whose message is mostly the
    symbol's name. So the name says what to do.
    """
    module = llvm.parse_assembly(llvm_ir, llvm.create_context())
    lines = ["\t.section\t.rodata"]
    for function in module.functions:
        if function.is_declaration or function.linkage != llvm.Linkage.external:
            continue
        mark = f'"{function.name}, defined by two programs: give one of them another func_name"'
        # A byte each: two symbols at one address could be taken for one.
        lines += [f"\t.globl\t{mark}", f"\t.hidden\t{mark}", f"{mark}:", "\t.byte\t0"]
    # Without it, the stack of the binary would be executable.
    lines.append('\t.section\t".note.GNU-stack","",%progbits')
    return "\n".join(lines) + "\n"
