"""Stage program: assembles a .ptx file with ptxas, and tells what its kernels take of a GPU.

How much they do it reads off the .mlir file of the gpu stage that the PTX was made of.
"""

import argparse

from plumbline.archives import text_file
from plumbline.context import make_context
from plumbline.gpu_to_nvvm.kernel_report import report
from plumbline.gpu_to_nvvm.kernel_work import kernel_work
from plumbline.llvm_to_asm.ptxas import assemble
from plumbline.tcp.assembly.module import parse_module
from tools.aot import stage


def _report(given: argparse.Namespace) -> None:
    kernels = assemble(text_file.read(given.input), given.gpu_arch)
    module = parse_module(text_file.read(given.gpu), make_context(torch=True), str(given.gpu))
    stage.write(given.output, report(kernels, kernel_work(module), given.gpu_arch))


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument(
        "--gpu", type=stage.path, required=True, help="the .mlir file of the gpu stage"
    )
    stage.add_gpu_arch(arguments)
    stage.run(arguments, _report)
