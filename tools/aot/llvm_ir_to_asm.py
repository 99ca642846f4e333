"""Stage program: compiles a .ll file of LLVM IR to assembly for the host."""

import argparse

from plumbline.library_description import section_assembly
from plumbline.llvm_to_asm.assembly import OPTIMISATION_LEVELS, Target, emit_assembly
from plumbline.llvm_to_asm.function_marks import mark_functions
from plumbline.llvm_to_asm.mapped_weights import EMPTY_FILE, map_weights, mapped_symbols
from plumbline.llvm_to_asm.weights import include_weights, pack_weights
from tools.aot import stage

_SAMPLE = """
define float @sample(float %x) {
  ret float %x
}
"""


def _compile(given: argparse.Namespace) -> None:
    llvm_ir = stage.read(given.input)
    assembly = emit_assembly(llvm_ir, Target.for_cpu(given.target_cpu), given.opt_level)
    description = "" if given.description is None else stage.read(given.description)
    stage.write(
        given.output,
        assembly
        + _weights(given, llvm_ir, None if given.weights is None else str(given.weights))
        + mark_functions(llvm_ir, given.program)
        + (section_assembly(description) if description else ""),
    )


def _weights(given: argparse.Namespace, llvm_ir: str, archive: str | None) -> str:
    """Writes what files of weights there are to be; gives the assembly for them."""
    if given.weights_file is not None:
        symbols = mapped_symbols(llvm_ir)
        content, assembly = map_weights(llvm_ir, symbols, archive) if symbols else (EMPTY_FILE, "")
        stage.write_bytes(given.weights_file, content)
        return assembly
    packed = None
    if given.packed_weights is not None:
        packed = str(given.packed_weights)
        stage.write_bytes(given.packed_weights, pack_weights(llvm_ir, archive))
    return include_weights(llvm_ir, archive, packed)


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_target_cpu(arguments)
    arguments.add_argument(
        "--opt-level",
        type=int,
        choices=OPTIMISATION_LEVELS,
        default=2,
        help="how much LLVM optimises, as in clang -O (default: 2)",
    )
    arguments.add_argument(
        "--weights",
        type=stage.path,
        metavar="SAFETENSORS",
        help="the program's weights, which the assembler will copy from here",
    )
    arguments.add_argument(
        "--packed-weights",
        type=stage.path,
        metavar="SAFETENSORS",
        help="a file to write: the weights that kernels read in an order of their own, which the "
        "assembler will copy from there",
    )
    arguments.add_argument(
        "--weights-file",
        type=stage.path,
        metavar="SAFETENSORS",
        help="a file to write: the weights of a program that maps them, for its users",
    )
    arguments.add_argument(
        "--description",
        type=stage.path,
        metavar="JSON",
        help="what describe_library says of the program, for a section that tells it to loaders",
    )
    arguments.add_argument(
        "--program",
        metavar="SYMBOL",
        help="a symbol to define: a linker that is told to look for it (-u) takes the object out "
        "of its archive, and refuses two programs with a function of the same name",
    )
    stage.run(
        arguments,
        _compile,
        warm_up=lambda: emit_assembly(_SAMPLE, Target.for_cpu("baseline")),
    )
