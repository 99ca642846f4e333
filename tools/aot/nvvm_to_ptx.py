"""Stage program: makes PTX of the kernels in a .mlir file of NVVM."""

import argparse

from plumbline.archives import text_file
from plumbline.context import prepare_context
from plumbline.llvm_to_asm.ptx_stage import nvvm_to_ptx
from plumbline.target.gpu_chip import DEFAULT_ARCH
from tools.aot import stage

_SAMPLE = """
gpu.module @kernels {
  llvm.func @sample() attributes {nvvm.kernel} {
    llvm.return
  }
}
"""


def _compile(given: argparse.Namespace) -> None:
    ptx = nvvm_to_ptx(
        text_file.read(given.input),
        str(given.input),
        gpu_arch=given.gpu_arch,
        opt_level=given.opt_level,
    )
    stage.write(given.output, ptx)


def _warm_up() -> None:
    nvvm_to_ptx(_SAMPLE, "sample", gpu_arch=DEFAULT_ARCH)
    prepare_context()


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_gpu_arch(arguments)
    stage.add_opt_level(arguments)
    stage.run(arguments, _compile, warm_up=_warm_up)
