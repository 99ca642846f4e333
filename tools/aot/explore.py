"""Writes a page of all stages of a program, line by line beside its source."""

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from plumbline.archives import text_file
from plumbline.explorer.page import page
from plumbline.library_files.kinds import STAGES
from tools.aot import stage
from tools.aot.loader_files import LoaderFiles


def _stage(text: str) -> tuple[str, Path]:
    kind, _, file = text.partition("=")
    if kind not in STAGES:
        raise argparse.ArgumentTypeError(f"{kind!r} is no stage; these are: {', '.join(STAGES)}")
    return kind, stage.path(file)


def _write(given: argparse.Namespace) -> None:
    stages = {kind: text_file.read(file) for kind, file in given.stage}
    files = LoaderFiles.read(given.loader_files).laid_out() if given.loader_files else nullcontext()
    with files as folders:
        # Where the modules lie whose files the stages name.
        sys.path[:0] = folders or [""]
        stage.write(given.output, page(given.name, stages))


if __name__ == "__main__":
    arguments = stage.parser(__doc__)
    arguments.add_argument("--name", required=True, help="the program's name")
    arguments.add_argument(
        "--stage",
        type=_stage,
        action="append",
        required=True,
        metavar="STAGE=FILE",
        help="the text of a stage; in order",
    )
    arguments.add_argument(
        "--loader-files",
        type=stage.path,
        metavar="JSON",
        help="a list of the files of the loader's library",
    )
    arguments.add_argument("-o", "--output", type=stage.path, required=True, help="the page")
    stage.run(arguments, _write)
