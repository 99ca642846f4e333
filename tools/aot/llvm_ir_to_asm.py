"""Stage program: compiles a .ll file of LLVM IR to assembly for the host."""

import argparse

from plumbline.archives import text_file
from plumbline.errors import UserError
from plumbline.llvm_to_asm.library_assembly import llvm_ir_to_asm
from tools.aot import stage

_SAMPLE = """
define float @sample(float %x) {
  ret float %x
}
"""


def _compile(given: argparse.Namespace) -> None:
    try:
        assembly = llvm_ir_to_asm(
            text_file.read(given.input),
            target_cpu=given.target_cpu,
            opt_level=given.opt_level,
            weights=given.weights,
            packed_weights=given.packed_weights,
            weights_file=given.weights_file,
            gpu_image=given.gpu_image,
            description="" if given.description is None else text_file.read(given.description),
            program=given.program,
        )
    except OSError as error:
        written = given.weights_file or given.packed_weights
        raise UserError(f"{written}: cannot be written: {error.strerror}") from error
    stage.write(given.output, assembly)


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_target_cpu(arguments)
    stage.add_opt_level(arguments)
    arguments.add_argument(
        "--weights",
        type=stage.path,
        metavar="SAFETENSORS",
        help="the program's weights, which the assembler will copy from a file of this name",
    )
    arguments.add_argument(
        "--packed-weights",
        type=stage.path,
        metavar="SAFETENSORS",
        help="a file to write: the weights that kernels read in an order of their own, which the "
        "assembler will copy from a file of this name",
    )
    arguments.add_argument(
        "--weights-file",
        type=stage.path,
        metavar="SAFETENSORS",
        help="a file to write: the weights of a program that maps them, for its users",
    )
    arguments.add_argument(
        "--gpu-image",
        type=stage.path,
        metavar="FILE",
        help="the program's kernels for a GPU, PTX or a fatbin, which the assembler will copy from "
        "a file of this name",
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
        warm_up=lambda: llvm_ir_to_asm(_SAMPLE, target_cpu="baseline"),
    )
