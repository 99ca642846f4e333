"""`plumbline compile`: from a program to the files of a library."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from plumbline.cli.exit_status import SUCCESS
from plumbline.cli.program import add_program, with_program
from plumbline.cli.word_list import WordList
from plumbline.errors import UserError
from plumbline.library_files.kinds import KINDS, shipped
from plumbline.target.target import MICROCONTROLLER, WEBASSEMBLY, WINDOWS

if TYPE_CHECKING:
    from plumbline.library_files.build import Program
    from plumbline.library_files.options import LibraryOptions

_LIBRARY = "library"

_KINDS = "\n".join(
    f"  {kind:16} {each.pattern.format('NAME'):42} {each.about}" for kind, each in KINDS.items()
)

_EPILOG = f"""\
kinds of files:
  {_LIBRARY:16} all of {", ".join(shipped("host"))};
  {"":16} for Windows {", ".join(shipped(WINDOWS))};
  {"":16} with --target-cpu wasm32 {", ".join(shipped(WEBASSEMBLY))};
  {"":16} with a Cortex-M {", ".join(shipped(MICROCONTROLLER))}
{_KINDS}

The files are those of the targets of aot_library, byte for byte. Nothing is written unless all can
be made.

examples:
  plumbline compile models/blur.py:blur_loader --out out
  plumbline compile models/blur.py:blur_loader --emit tcp,asm --target-cpu native
  plumbline compile model.onnx --out out
  plumbline compile model.mlir --name model --memory pool --out out
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to a command line."""
    arguments = commands.add_parser(
        "compile",
        help="from a program to a library",
        description="Compiles a program to a library with a C header, and shows any stage of it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program(arguments)
    arguments.add_argument(
        "--out",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where to write; it is made where there is none (default: here)",
    )
    arguments.add_argument(
        "--emit",
        type=WordList((_LIBRARY, *KINDS)),
        default=[_LIBRARY],
        metavar="KIND,...",
        help=f"which files to write (default: {_LIBRARY}); no stage runs that they do not need",
    )
    arguments.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    given.progress.begin("loading the compiler")
    if given.out.exists() and not given.out.is_dir():
        raise UserError(f"{given.out}: it is no folder, where the files could be written")

    def write(program: "Program", options: "LibraryOptions") -> int:
        # Imports MLIR.
        from plumbline.library_files.build import write_files

        kinds: dict[str, None] = {}
        for word in given.emit:
            made = options.kinds if word == _LIBRARY else [word]
            kinds.update(dict.fromkeys(made))
        files = write_files(program, options, kinds, given.out, when_begun=given.progress.begin)
        given.progress.end(*(f"{file}  {file.stat().st_size} bytes" for file in files))
        return SUCCESS

    return with_program(given, write)
