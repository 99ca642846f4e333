"""Stage program: makes assembly for the host of the kernels in a .mlir file of the gpu stage.

The stand-in driver runs it in tests, in place of the PTX.
"""

import argparse

from plumbline.archives import text_file
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


def emulate(text: str, target_cpu: str) -> str:
    """The stage, from text to text."""
    llvm_ir, _ = emulated_kernels(text)
    return emit_assembly(llvm_ir, cpu_target(target_cpu))


def _write(given: argparse.Namespace) -> None:
    stage.write(given.output, emulate(text_file.read(given.input), given.target_cpu))


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_target_cpu(arguments)
    stage.run(arguments, _write, warm_up=lambda: emulate(_SAMPLE, "baseline"))
