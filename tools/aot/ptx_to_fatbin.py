"""Stage program: makes a fatbin of a .ptx file, which has machine code for some GPUs as well."""

import argparse

from plumbline.archives import text_file
from plumbline.llvm_to_asm.fatbin import fatbin
from tools.aot import stage


def _make(given: argparse.Namespace) -> None:
    image = fatbin(text_file.read(given.input), given.gpu_arch, given.cubins.split(","))
    stage.write_bytes(given.output, image)


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_gpu_arch(arguments)
    arguments.add_argument(
        "--cubins",
        required=True,
        metavar="ARCH,...",
        help="the GPUs that there is machine code for, such as sm_80,sm_90a",
    )
    stage.run(arguments, _make)
