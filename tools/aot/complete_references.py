"""Stage program: completes an archive of reference tensors that a user wrote.

What it leaves out, such as tolerances, is as for the references that PyTorch gives.
"""

import argparse

from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.errors import UserError
from tools.aot import stage


def _complete(given: argparse.Namespace) -> None:
    archive = ReferenceArchive.read(given.input, func_name=given.func_name)
    try:
        archive.write(given.output)
    except OSError as error:
        raise UserError(f"{given.output}: cannot be written: {error.strerror}") from error


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument(
        "--func-name", required=True, metavar="NAME", help="the C function's, if it has none"
    )
    stage.run(arguments, _complete)
