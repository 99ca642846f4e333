"""Marks that keep two programs with a function of the same name from becoming one binary."""

import llvmlite.binding as llvm

from plumbline.llvm_to_asm.object_format import ELF, ObjectFormat


def mark_functions(llvm_ir: str, program: str | None, format_: ObjectFormat = ELF) -> str:
    """Assembly with one symbol for each function that `llvm_ir` defines for others to call.

    It is for object files of a format.

    Linkers take the first of several functions of a name, where these are in archives, and the
    wrong one runs. Two definitions of one symbol in objects that are both taken are an error,
    whose message is mostly the symbol's name. So the name of these symbols says what to do.

    And one symbol more, the name of the `program` (None: none such). The linker takes an object out
    of an archive when it looks for a symbol of it, as `-Wl,-u,<program>` has it do.
    """
    module = llvm.parse_assembly(llvm_ir, llvm.create_context())
    marks = [
        f"{function.name}, defined by two programs: give one of them another func_name"
        for function in module.functions
        if not function.is_declaration and function.linkage == llvm.Linkage.external
    ]
    if program is not None:
        marks.append(program)
    lines = [format_.read_only]
    for mark in marks:
        # A byte each: two symbols at one address could be taken for one.
        lines += [
            *format_.of_symbol(mark, 1, shown=True),
            f'"{mark}":',
            "\t.byte\t0",
        ]
    return "\n".join(lines) + "\n"
