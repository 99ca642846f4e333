"""What all stage programs share: their command line, and what a user sees when one refuses."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from plumbline import atomic_file
from plumbline.errors import UserError


def parser(description: str | None) -> argparse.ArgumentParser:
    """An argument parser with the conventions of the stage programs."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def path(text: str) -> Path:
    """A path from the command line; under `bazel run`, relative to where the user stands."""
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ""), text)


def text_stage_parser(description: str | None) -> argparse.ArgumentParser:
    """The command line of a stage that turns one file into another."""
    arguments = parser(description)
    arguments.add_argument("input", type=path, help="the file of the stage before")
    arguments.add_argument("-o", "--output", type=path, required=True, help="the file to write")
    return arguments


def add_target_cpu(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say what CPU code is made for."""
    arguments.add_argument(
        "--target-cpu",
        default="baseline",
        help='"baseline" (the default: fixed, widely available), "native", or a name of LLVM\'s',
    )


def add_torch_loader_path(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say which program there is to load."""
    arguments.add_argument(
        "--torch-loader-path",
        required=True,
        metavar="PACKAGE.MODULE.FUNCTION",
        help="the loader function: test.AotCompile.model_loader_lib.foo_loader",
    )


def run_text_stage(description: str | None, transform: Callable[[str, str], str]) -> None:
    """The whole program of a stage that turns one text into another.

    `transform` takes the text of the input file and its name for messages, and returns the text
    of the output file.
    """
    run(
        text_stage_parser(description),
        lambda given: write(given.output, transform(read(given.input), str(given.input))),
    )


def run(arguments: argparse.ArgumentParser, program: Callable[[argparse.Namespace], None]) -> None:
    """Runs `program` on the parsed command line; a mistake of the user's ends it with a message."""
    arguments.add_argument("--label", help="the Bazel target to name in messages")
    given = arguments.parse_args()
    try:
        program(given)
    except UserError as error:
        sys.exit(f"error: {given.label}: {error}" if given.label else f"error: {error}")


def read(file: Path) -> str:
    """The text of `file`.

    Raises:
      UserError: it cannot be read, or is not UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not a text file: {error}") from error


def write(file: Path, content: str) -> None:
    """Writes `content` to `file`, whole or not at all.

    Raises:
      UserError: it cannot be written.
    """
    write_bytes(file, content.encode())


def write_bytes(file: Path, content: bytes) -> None:
    """The same for content that is not text."""
    try:
        atomic_file.write_bytes(file, content)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
