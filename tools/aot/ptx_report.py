"""Stage program: assembles a .ptx file with ptxas, and tells what its kernels take of a GPU."""

import argparse

from plumbline.archives import text_file
from plumbline.llvm_to_asm.ptxas import assemble, report
from tools.aot import stage


def _report(given: argparse.Namespace) -> None:
    kernels = assemble(text_file.read(given.input), given.gpu_arch)
    stage.write(given.output, report(kernels, given.gpu_arch))


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_gpu_arch(arguments)
    stage.run(arguments, _report)
