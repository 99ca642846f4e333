"""Stage program: writes what tells a build system of a library, from what describe_library says."""

import argparse

from plumbline.archives import text_file
from plumbline.library_files.cmake_config import cmake_config
from plumbline.library_files.pkg_config import pkg_config
from plumbline.signature.library_description import LibraryDescription
from tools.aot import stage

_TEXTS = {"cmake": cmake_config, "pkg-config": pkg_config}


def _write(given: argparse.Namespace) -> None:
    text = text_file.read(given.input)
    description = LibraryDescription.from_json(str(given.input), text)
    stage.write(given.output, _TEXTS[given.build_system](description, given.library, given.threads))


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument("--library", required=True, help="foo of libfoo.a and libfoo.so")
    arguments.add_argument(
        "--build-system", choices=sorted(_TEXTS), required=True, help="what reads it"
    )
    stage.add_threads(arguments)
    stage.run(arguments, _write)
