"""`plumbline profile`: finds what a program spends its time on."""  # noqa: A005 - as its command

import argparse
from typing import TYPE_CHECKING

from plumbline.cli.exit_status import SUCCESS
from plumbline.cli.program import add_program_alone, with_program
from plumbline.cli.progress import Progress
from plumbline.errors import UserError
from plumbline.target.choices import TARGETS

if TYPE_CHECKING:
    from plumbline.library_files.build import Program
    from plumbline.library_files.options import LibraryOptions
    from plumbline.profiling.kernel_time import Profile

_EPILOG = """\
The program runs on the inputs of its loader, as a whole, with timers around its kernels. Each row
is a kernel and the line that it computes: how long it takes in a call of the program, how often it
runs there, how many operations and bytes it does a second where sizes are fixed, and the module. A
product that is added to a sum is two operations; bytes are those of its tensors, each once.

examples:
  plumbline profile models/blur.py:blur_loader
  plumbline profile models/blur.py:blur_loader --target-cpu native --threads 2
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to a command line."""
    arguments = commands.add_parser(
        "profile",
        help="finds what a program spends its time on",
        description="Compiles a program, and tells how long each of its kernels takes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program_alone(arguments)
    arguments.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    given.progress.begin("loading the compiler")

    def measure(program: "Program", options: "LibraryOptions") -> int:
        profile = profile_of(program, options, given.progress)
        given.progress.end()
        print(profile)
        return SUCCESS

    return with_program(given, measure)


def profile_of(program: "Program", options: "LibraryOptions", progress: Progress) -> "Profile":
    """The profile of a program, compiled as `options` say, on the inputs of its loader.

    Raises:
      UserError: it has none, or is for a GPU; or it cannot be compiled, or fails.
    """
    # These import PyTorch and MLIR.
    from plumbline.library_files.build import TorchProgram
    from plumbline.profiling.of_loader import profile_loader

    if not isinstance(program, TorchProgram):
        raise UserError(
            f"{program.origin}: a file of {program.dialect} has no inputs to run on; give a "
            "loader, or call plumbline.profile in Python"
        )
    if options.target != TARGETS[0]:
        raise UserError(f"{program.who}: there are profiles of programs for a CPU alone")
    progress.begin("exporting from PyTorch")
    with program.watched(program.who):
        loaded = program.load()
    return profile_loader(
        loaded,
        target_cpu=options.target_cpu,
        threads=options.threads,
        opt_level=options.opt_level,
        runtime_checks=options.runtime_checks,
        when_begun=progress.begin,
    )
