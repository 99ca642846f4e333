"""Lays out the files of a loader library like runfiles, for a program that has none of them.

The exporter serves all programs of a workspace, so that one process can stay for them; the loader
of each is an input of the action. In a folder of its own, and in the exporter's runfiles, a loader
finds what it may find in the runfiles of foo_torch_exporter, and nothing else.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plumbline.errors import UserError


@dataclass(frozen=True)
class LoaderFiles:
    """What loader_files.bzl writes of a library."""

    imports: tuple[str, ...]
    """The folders that modules are imported from, relative to the runfiles; not all have files."""
    files: dict[str, str]
    """Where each file lies: of its path among the runfiles, the path from where one stands."""

    @staticmethod
    def read(file: Path) -> "LoaderFiles":
        """Reads what the rule wrote.

        Raises:
          UserError: it cannot be read, or is something else.
        """
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            return LoaderFiles(tuple(content["imports"]), dict(content["files"]))
        except OSError as error:
            raise UserError(f"{file}: cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{file}: not a list of a loader's files") from error

    @contextlib.contextmanager
    def laid_out(self) -> Iterator[list[str]]:
        """Has the files lie in a folder of their own; gives the folders to import from."""
        with tempfile.TemporaryDirectory(prefix="plumbline-loader-") as folder:
            for runfile, file in self.files.items():
                link = os.path.join(folder, runfile)
                os.makedirs(os.path.dirname(link), exist_ok=True)
                os.symlink(os.path.abspath(file), link)
            imports = (os.path.join(folder, each) for each in self.imports)
            yield [each for each in imports if os.path.isdir(each)]
