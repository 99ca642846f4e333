"""Stage program: lowers a .mlir file of kernels of a GPU to NVVM, and launches to LLVM dialect."""

from plumbline.context import make_context, prepare_context
from plumbline.gpu_to_nvvm.conversion import convert_gpu_to_nvvm
from plumbline.tcp.assembly.module import parse_module, print_module
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


def gpu_to_nvvm(text: str, filename: str) -> str:
    """The stage, from text to text."""
    module = parse_module(text, make_context(torch=True), filename)
    convert_gpu_to_nvvm(module)
    return print_module(module)


def _warm_up() -> None:
    gpu_to_nvvm(_SAMPLE, "sample")
    prepare_context(torch=True)


if __name__ == "__main__":
    stage.run_text_stage(__doc__, gpu_to_nvvm, warm_up=_warm_up)
