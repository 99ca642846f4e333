"""The page: one file of HTML, which needs no other and no network."""

import html
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from plumbline.archives import atomic_file
from plumbline.errors import UserError
from plumbline.explorer.located_text import (
    Line,
    LocatedText,
    Origins,
    located_by_function,
    located_mlir,
)
from plumbline.explorer.source_files import excerpts

_TEMPLATE = Path(__file__).with_name("page.html")
_NAME, _DATA = "{{ name }}", "{{ data }}"

_WITHOUT_LOCATIONS = ("llvm", "nvvm", "ptx", "llvm-ir", "asm")
"""The stages whose lines are placed by the functions that they are in."""


def page(name: str, stages: Mapping[str, str], shares: Mapping[Line, float] | None = None) -> str:
    """The page of a program.

    Args:
      name: the program's.
      stages: the texts of its stages in order, by the names of `library_files.kinds.STAGES`. Those
        of MLIR have locations as far as kernels.
      shares: how much of the program's time each line of its source takes, from 0 to 1, if that is
        known.
    """
    located = {
        stage: located_mlir(text)
        for stage, text in stages.items()
        if stage not in _WITHOUT_LOCATIONS
    }
    of_functions: dict[str, Origins] = {}
    for text in located.values():
        of_functions |= text.of_functions
    for stage in stages:
        if stage in _WITHOUT_LOCATIONS:
            located[stage] = located_by_function(stages[stage], of_functions)
    numbers = _numbers(located, shares or ())
    data = {
        "sources": _sources(numbers),
        "shares": {numbers[line]: share for line, share in (shares or {}).items()},
        "stages": [_stage(stage, located[stage], numbers) for stage in stages],
    }
    # Within an element of HTML, no text of the program's may end it.
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    head, _, tail = _TEMPLATE.read_text(encoding="utf-8").partition(_DATA)
    return head.replace(_NAME, html.escape(name)) + content + tail


def write_page(
    file: str | os.PathLike[str],
    name: str,
    stages: Mapping[str, str],
    shares: Mapping[Line, float] | None = None,
) -> None:
    """Writes that page to a file.

    Raises:
      UserError: it cannot be written.
    """
    try:
        atomic_file.write_text(file, page(name, stages, shares))
    except OSError as error:
        raise UserError(f"{os.fspath(file)}: cannot be written: {error.strerror}") from error


def _numbers(located: Mapping[str, LocatedText], others: Iterable[Line]) -> dict[Line, int]:
    """All lines of the source, numbered."""
    lines = {line for text in located.values() for origins in text.origins for line in origins}
    lines.update(others)
    return {line: number for number, line in enumerate(sorted(lines))}


def _sources(numbers: Mapping[Line, int]) -> list[dict[str, object]]:
    files: dict[str, dict[int, int]] = {}
    for (file, line), number in numbers.items():
        files.setdefault(file, {})[line] = number
    return [
        {
            "file": file,
            "lines": [
                [line, text, *([lines[line]] if line in lines else [])]
                for line, text in excerpts(file, lines)
            ]
            or [[line, "", number] for line, number in lines.items()],
        }
        for file, lines in files.items()
    ]


def _stage(name: str, text: LocatedText, numbers: Mapping[Line, int]) -> dict[str, object]:
    return {
        "name": name,
        "lines": text.lines,
        "origins": [[numbers[line] for line in origins] for origins in text.origins],
    }
