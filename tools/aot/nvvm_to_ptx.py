"""Stage program: makes PTX of the kernels in a .mlir file of NVVM."""

import argparse

from plumbline.context import make_context, prepare_context
from plumbline.llvm_to_asm.llvm_ir import translate_kernels_to_llvm_ir
from plumbline.llvm_to_asm.ptx import DEFAULT_ARCH, emit_ptx, gpu_target
from plumbline.tcp.assembly.module import parse_module
from tools.aot import stage

_SAMPLE = """
gpu.module @kernels {
  llvm.func @sample() attributes {nvvm.kernel} {
    llvm.return
  }
}
"""


def nvvm_to_ptx(text: str, filename: str, *, gpu_arch: str, opt_level: int = 2) -> str:
    """The stage, from text to text."""
    target = gpu_target(gpu_arch)
    module = parse_module(text, make_context(), filename)
    return emit_ptx(translate_kernels_to_llvm_ir(module), target, opt_level)


def _compile(given: argparse.Namespace) -> None:
    ptx = nvvm_to_ptx(
        stage.read(given.input),
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
