"""Stage program: writes the pkg-config file of a library, from what describe_library says of it."""

import argparse

from plumbline.archives import text_file
from plumbline.library_files.pkg_config import pkg_config
from plumbline.signature.library_description import LibraryDescription
from tools.aot import stage


def _write(given: argparse.Namespace) -> None:
    text = text_file.read(given.input)
    description = LibraryDescription.from_json(str(given.input), text)
    stage.write(given.output, pkg_config(description, given.library, given.threads))


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument("--library", required=True, help="foo of libfoo.a and libfoo.so")
    stage.add_threads(arguments)
    stage.run(arguments, _write)
