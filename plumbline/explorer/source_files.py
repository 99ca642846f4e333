"""The parts of source files that stages come from."""

import linecache
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

_AROUND = 6
"""So many lines are shown before and after each that matters."""


def find_source(file: str) -> Path | None:
    """The file that a stage names, below the folders that modules are imported from."""
    folders = (Path(folder or os.curdir) for folder in sys.path)
    return next((folder / file for folder in folders if (folder / file).is_file()), None)


def line_of(file: str, line: int) -> str:
    """What a line of a file says, without its indent; nothing where it is not to be found."""
    found = find_source(file)
    return linecache.getline(str(found), line).strip() if found else ""


def excerpts(file: str, numbers: Collection[int]) -> Iterator[tuple[int, str]]:
    """The lines of a file at and around these, by number; nothing where it is not to be found."""
    found = find_source(file)
    lines = linecache.getlines(str(found)) if found else []
    shown = {near for number in numbers for near in range(number - _AROUND, number + _AROUND + 1)}
    for number, line in enumerate(lines, 1):
        if number in shown:
            yield number, line.rstrip("\n")
