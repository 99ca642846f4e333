"""The option that says what runs a library that is made for another machine."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from plumbline.errors import UserError

if TYPE_CHECKING:
    from plumbline.library.load import Library


def add_run_under(arguments: argparse.ArgumentParser) -> None:
    """Lets a command line say it."""
    arguments.add_argument(
        "--run-under",
        metavar="COMMAND",
        help="what runs a library for another machine here, in a process of its own: an emulator, "
        'such as "qemu-aarch64-static -L /usr/aarch64-linux-gnu", "node" for WebAssembly, or '
        '"qemu-system-arm -M mps3-an547" for microcontrollers',
    )


def load_as_told(given: argparse.Namespace, library: Path) -> "Library":
    """Loads a library: into this process, or into what the command line says.

    Raises:
      UserError: it cannot be loaded.
    """
    if given.run_under is None:
        # Imports numpy, as below.
        from plumbline.library.load import load

        return load(library)
    from plumbline.library_files.called_under import load_under

    try:
        command = shlex.split(given.run_under)
    except ValueError as error:
        raise UserError(f"--run-under {given.run_under!r}: {error}") from error
    if not command:
        raise UserError("--run-under has no command")
    return load_under(library, command)


def stack_bytes(library: "Library") -> int | None:
    """How much of its stack a microcontroller has used; None if a library runs elsewhere."""
    from plumbline.library_files.called_under import LibraryUnder

    return library.stack_bytes() if isinstance(library, LibraryUnder) else None
