"""The command line: finds the command, runs it, and says what went wrong."""

import argparse
import importlib.metadata
import sys
from collections.abc import Sequence

from plumbline.cli import compile as compile_command
from plumbline.cli import completion, explore, profile, run, show
from plumbline.cli import test as test_command
from plumbline.cli.exit_status import DIFFERS, EXPLANATION, FAULT, SUCCESS
from plumbline.cli.mistakes import status_of
from plumbline.cli.progress import Progress
from plumbline.errors.watched_process import Death, run_watched
from plumbline.garbage import collecting_seldom

_DESCRIPTION = """\
Compiles PyTorch programs ahead of time to libraries that C, C++ and Python programs call without
PyTorch, and holds what they compute against PyTorch.
"""

_EPILOG = f"""\
examples:
  plumbline compile models/blur.py:blur_loader --out out     blur.h, blur.so, libblur.a, ...
  plumbline show out/blur.so                                 what it takes, returns and needs
  plumbline run out/blur.so --inputs in.npz --outputs out.npz
  plumbline test models/blur.py:blur_loader                  against PyTorch, on the loader's inputs
  plumbline explore models/blur.py:blur_loader --output blur.html
  plumbline profile models/blur.py:blur_loader               how long each of its kernels takes

`plumbline COMMAND --help` tells more of each.

{EXPLANATION}"""

_COMMANDS = (compile_command, run, show, test_command, explore, profile, completion)


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    whole = argparse.ArgumentParser(
        prog="plumbline",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action="version", version=f"plumbline {_version()}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_to(commands)
    return whole


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command line `words`, else this process's; returns the exit status."""
    given = parser().parse_args(words)
    given.whole_parser = parser
    given.progress = Progress()
    # A program of the user's may end its process, and so may a fault of LLVM's or MLIR's.
    with collecting_seldom():
        ending = run_watched(
            lambda: sys.exit(status_of(given.command, lambda: given.run(given))),
            keep_back_errors=True,
        )
    if ending not in (SUCCESS, DIFFERS):
        given.progress.end()
    if not isinstance(ending, Death):
        return ending
    last_words = " ".join(ending.printed.split("\n", 3)[:3]).strip()
    said = f", saying: {last_words}" if last_words else ""
    print(
        f"error: plumbline {given.command} was ended by {ending.cause}{said}\n"
        "  The program did that itself, or it is a fault of Plumbline's, LLVM's or MLIR's; nothing "
        "was written.",
        file=sys.stderr,
    )
    return FAULT


def _version() -> str:
    try:
        return importlib.metadata.version("plumbline")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"
