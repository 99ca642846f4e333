"""Stage program: lowers a .mlir file of kernels of a GPU to NVVM, and launches to LLVM dialect."""

import argparse

from plumbline.archives import text_file
from plumbline.context import prepare_context
from plumbline.gpu_to_nvvm.stage import gpu_to_nvvm
from tools.aot import stage

_SAMPLE = """
module attributes {gpu.container_module} {
  func.func @sample(%x: memref<2xf32>) -> memref<2xf32> {
    %c1 = arith.constant 1 : index
    %d = gpu.alloc () : memref<2xf32>
    gpu.memcpy %d, %x : memref<2xf32>, memref<2xf32> {plumbline.to_device}
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%d : memref<2xf32>)
    %y = memref.alloc() : memref<2xf32>
    gpu.memcpy %y, %d : memref<2xf32>, memref<2xf32>
    gpu.dealloc %d : memref<2xf32>
    return %y : memref<2xf32>
  }
  gpu.module @kernels {
    gpu.func @k(%x: memref<2xf32>) kernel {
      %t = gpu.thread_id x
      %0 = memref.load %x[%t] : memref<2xf32>
      memref.store %0, %x[%t] : memref<2xf32>
      gpu.return
    }
  }
}
"""


def _warm_up() -> None:
    gpu_to_nvvm(_SAMPLE, "sample")
    prepare_context(torch=True)


def _lower(given: argparse.Namespace) -> None:
    text, choices = text_file.read(given.input), (given.memory, given.weights_are, given.queue)
    stage.write(given.output, gpu_to_nvvm(text, str(given.input), given.abi, *choices))


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_abi(arguments)
    stage.add_memory(arguments)
    stage.add_weights(arguments)
    stage.add_queue(arguments)
    stage.run(arguments, _lower, warm_up=_warm_up)
