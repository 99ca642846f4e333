"""Stage program: compiles a .ll file of LLVM IR to assembly for the host."""

import argparse

from plumbline.library_description import section_assembly
from plumbline.llvm_to_asm.assembly import Target, emit_assembly
from plumbline.llvm_to_asm.function_marks import mark_functions
from plumbline.llvm_to_asm.ptx import include_ptx
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
    weights = None if given.weights is None else str(given.weights)
    packed = None
    if given.packed_weights is not None:
        packed = str(given.packed_weights)
        stage.write_bytes(given.packed_weights, pack_weights(llvm_ir, weights))
    description = "" if given.description is None else stage.read(given.description)
    stage.write(
        given.output,
        assembly
        + include_weights(llvm_ir, weights, packed)
        + mark_functions(llvm_ir, given.program)
        + (include_ptx(str(given.ptx)) if given.ptx is not None else "")
        + (section_assembly(description) if description else ""),
    )


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_target_cpu(arguments)
    stage.add_opt_level(arguments)
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
        "--ptx",
        type=stage.path,
        metavar="PTX",
        help="the program's kernels for a GPU, which the assembler will copy from here",
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
