"""Stage program: writes what callers of a program need to know, from its kernels, as JSON."""

import argparse

from plumbline.c_signature import functions_with_bodies
from plumbline.context import make_context, prepare_context
from plumbline.errors import UserError
from plumbline.kernels_to_llvm.program_signature import program_signature
from plumbline.library_description import LibraryDescription
from plumbline.tcp.assembly.module import parse_module
from tools.aot import stage

_SAMPLE = """
func.func @sample(%x: memref<2xf32>) -> memref<2xf32> {
  %0 = memref.alloc() : memref<2xf32>
  return %0 : memref<2xf32>
}
"""


def describe(
    text: str,
    filename: str,
    target_cpu: str,
    origin: str,
    memory: str = "malloc",
    weights_are: str = "embedded",
) -> str:
    """The stage, from text to text."""
    module = parse_module(text, make_context(torch=True), filename)
    functions = functions_with_bodies(module, "func.func", public=True)
    if len(functions) != 1:
        names = ", ".join(function.sym_name.value for function in functions)
        raise UserError(f"{filename}: a library has one program; the public functions are: {names}")
    signature = program_signature(module, functions[0].sym_name.value, memory, weights_are)
    return LibraryDescription(signature, target_cpu, origin).to_json()


def _write(given: argparse.Namespace) -> None:
    text = stage.read(given.input)
    description = describe(
        text, str(given.input), given.target_cpu, given.origin, given.memory, given.weights_are
    )
    stage.write(given.output, description)


def _warm_up() -> None:
    describe(_SAMPLE, "sample", "baseline", "sample")
    prepare_context(torch=True)


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_target_cpu(arguments)
    arguments.add_argument(
        "--origin", required=True, help="what the program was compiled from, for its header"
    )
    stage.add_memory(arguments)
    stage.add_weights(arguments)
    stage.run(arguments, _write, warm_up=_warm_up)
