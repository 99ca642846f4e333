"""Stage program: makes assembly for the host of the kernels in a .mlir file of the gpu stage.

The stand-in driver runs it in tests, in place of the PTX.
"""

from plumbline.llvm_to_asm.assembly import emit_assembly
from plumbline.target.cpu import cpu_target
from tools.aot import stage
from tools.gpu.emulated_kernels import emulated_kernels

_SAMPLE = """
gpu.module @kernels {
  gpu.func @sample(%x: memref<2xf32>) kernel {
    %t = gpu.thread_id x
    %0 = memref.load %x[%t] : memref<2xf32>
    memref.store %0, %x[%t] : memref<2xf32>
    gpu.return
  }
}
"""


def emulate(text: str, _filename: str) -> str:
    """The stage, from text to text."""
    llvm_ir, _ = emulated_kernels(text)
    return emit_assembly(llvm_ir, cpu_target("baseline"))


if __name__ == "__main__":
    stage.run_text_stage(__doc__, emulate, warm_up=lambda: emulate(_SAMPLE, "sample"))
