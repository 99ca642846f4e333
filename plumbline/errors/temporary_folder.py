"""Folders for what is needed for a while, which go however the program ends that is watched."""

import tempfile

_inside: str | None = None
"""The folder in which others are made, if not where the system has such."""


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A new folder, which is removed with all that is in it where its context ends."""
    return tempfile.TemporaryDirectory(prefix="plumbline-", dir=_inside)


def make_temporary_folders_in(folder: str) -> None:
    """Has this process make them in a folder, which whoever watches it removes."""
    global _inside
    _inside = folder
