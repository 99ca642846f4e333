"""Source file names that are the same on every machine."""

import os
import sys


def relative_to_import_path(file: str) -> str:
    """`file` relative to the folder of `sys.path` that it is imported from.

    Bazel runs an exporter from a folder that differs from run to run; what its outputs say of
    source files must not. A file below none of those folders keeps its name.
    """
    folders = [os.path.join(folder, "") for folder in sys.path if folder]
    containing = [folder for folder in folders if file.startswith(folder)]
    return file.removeprefix(max(containing, key=len)) if containing else file
