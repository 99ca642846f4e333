"""`plumbline explore`: a page of all stages of a program, beside its source."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from plumbline.cli.exit_status import SUCCESS
from plumbline.cli.profile import profile_of
from plumbline.cli.program import add_program, with_program
from plumbline.errors.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from plumbline.library_files.build import Program
    from plumbline.library_files.options import LibraryOptions

_EPILOG = """\
The page is one file, for any browser. A line of the source, of TCP, of a kernel or of its assembly
shows what it comes from and what becomes of it, in each of the stages.

examples:
  plumbline explore models/blur.py:blur_loader --output blur.html
  plumbline explore models/blur.py:blur_loader --output blur.html --target-cpu native --profile
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to a command line."""
    arguments = commands.add_parser(
        "explore",
        help="shows all stages of a program beside its source",
        description="Writes a page of all stages of a program, line by line beside its source.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program(arguments)
    arguments.add_argument(
        "--profile",
        action="store_true",
        help="run the program on the inputs of its loader, too, and tell how much of its time each "
        "line of the source takes",
    )
    arguments.add_argument(
        "--output", type=Path, required=True, metavar="HTML", help="the page to write"
    )
    arguments.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    given.progress.begin("loading the compiler")

    def write(program: "Program", options: "LibraryOptions") -> int:
        # These import MLIR.
        from plumbline.explorer.page import write_page
        from plumbline.library_files.build import LibraryBuild

        with temporary_folder() as folder:
            build = LibraryBuild(program, options, Path(folder), when_begun=given.progress.begin)
            stages = {kind: build.file(kind).read_text(encoding="utf-8") for kind in build.stages}
        shares = None
        if given.profile:
            shares = profile_of(program, options, given.progress).shares_of_lines()
        given.progress.begin("writing the page")
        write_page(given.output, options.name, stages, shares)
        given.progress.end(f"written: {given.output}")
        return SUCCESS

    return with_program(given, write)
