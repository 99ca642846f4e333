"""Stage program: writes what callers of a program need to know, from its kernels, as JSON."""

import argparse

from plumbline.archives import text_file
from plumbline.context import prepare_context
from plumbline.kernels_to_llvm.description import describe
from plumbline.target.choices import LIBRARY_ABIS
from tools.aot import stage

_SAMPLE = """
func.func @sample(%x: memref<2xf32>) -> memref<2xf32> {
  %0 = memref.alloc() : memref<2xf32>
  return %0 : memref<2xf32>
}
"""


def _write(given: argparse.Namespace) -> None:
    text = text_file.read(given.input)
    description = describe(
        text,
        str(given.input),
        given.target_cpu,
        given.origin,
        given.memory,
        given.abi,
        given.weights_are,
        given.queue,
        given.gpu_arch,
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
    stage.add_queue(arguments)
    arguments.add_argument("--gpu-arch", help="what GPUs its kernels are for, if it is for such")
    arguments.add_argument(
        "--abi",
        choices=LIBRARY_ABIS,
        default="pointers",
        help="how the library is called (default: pointers)",
    )
    stage.run(arguments, _write, warm_up=_warm_up)
