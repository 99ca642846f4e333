"""Stage program: compiles a .ll file of LLVM IR to assembly for the host."""

import argparse

from plumbline.llvm_to_asm.assembly import OPTIMISATION_LEVELS, Target, emit_assembly
from tools.aot import stage


def _compile(given: argparse.Namespace) -> None:
    target = Target.for_cpu(given.target_cpu)
    stage.write(given.output, emit_assembly(stage.read(given.input), target, given.opt_level))


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument(
        "--target-cpu",
        default="baseline",
        help='"baseline" (the default: fixed, widely available), "native", or a name of LLVM\'s',
    )
    arguments.add_argument(
        "--opt-level",
        type=int,
        choices=OPTIMISATION_LEVELS,
        default=2,
        help="how much LLVM optimises, as in clang -O (default: 2)",
    )
    stage.run(arguments, _compile)
