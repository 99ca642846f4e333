"""Stage program: lowers a .mlir file of kernels on buffers to the LLVM dialect."""

import argparse

from plumbline.archives import text_file
from plumbline.context import prepare_context
from plumbline.kernels_to_llvm.stage import kernels_to_llvm
from tools.aot import stage

_SAMPLE = """
func.func @sample(%x: memref<2xf32>) -> memref<2xf32> {
  %0 = memref.alloc() : memref<2xf32>
  call @kernel(%x, %0) : (memref<2xf32>, memref<2xf32>) -> ()
  return %0 : memref<2xf32>
}
func.func private @kernel(%x: memref<2xf32> {llvm.noalias}, %y: memref<2xf32> {llvm.noalias}) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %0 = memref.load %x[%i] : memref<2xf32>
    %1 = math.tanh %0 : f32
    memref.store %1, %y[%i] : memref<2xf32>
  }
  return
}
"""  # noqa: E501


def _lower(given: argparse.Namespace) -> None:
    text = text_file.read(given.input)
    lowered = kernels_to_llvm(text, str(given.input), given.abi, given.memory, given.weights_are)
    stage.write(given.output, lowered)


def _warm_up() -> None:
    kernels_to_llvm(_SAMPLE, "sample")
    prepare_context(torch=True)


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_abi(arguments)
    stage.add_memory(arguments)
    stage.add_weights(arguments)
    stage.run(arguments, _lower, warm_up=_warm_up)
