"""What programs share that take a model's file: the options that say which, and its reading."""

import argparse
from collections.abc import Callable
from pathlib import Path

from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.model_files import add_size, load_model


def add_options(arguments: argparse.ArgumentParser, path: Callable[[str], Path]) -> None:
    """Lets the command line say how to take a model; `path` finds files that it names."""
    arguments.add_argument(
        "--func-name", required=True, metavar="NAME", help="the name of the C function"
    )
    add_size(arguments)
    arguments.add_argument(
        "--expected", type=path, metavar="NPZ", help="what the model is to answer, and to what"
    )


def load(
    given: argparse.Namespace, model: Path
) -> tuple[TorchLoaderOutput, ReferenceArchive | None]:
    """The program of a model, and what it is to answer, if that is said.

    Raises:
      UserError: as `load_model` and `ReferenceArchive.read` do.
    """
    expected = None
    if given.expected:
        expected = ReferenceArchive.read(given.expected, func_name=given.func_name)
    sizes = dict(given.size)
    program = load_model(model, func_name=given.func_name, sizes=sizes, expected=expected)
    return program, expected
