"""How long everything took, as --mlir-timing of mlir-opt reports it.

MLIR times what a pass manager runs, and prints that to the process's standard error itself when the
manager is deleted; of reading and writing, which happen here, it knows nothing. So its reports are
caught, and one is made of all.
"""

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from plumbline.bindings.pipeline import NESTED

_ROW = re.compile(r"^ +(?P<seconds>\d+\.\d+) \( *[\d.]+%\)  (?P<indent> *)(?P<name>\S.*)$")
_TITLE = re.compile(r"^ +\.\.\. Execution time report \.\.\.$", re.MULTILINE)
_ADAPTOR = re.compile(rf"{NESTED}<(.*)>")
_RULE = f"==={'-' * 73}==="


@dataclass
class Row:
    """What took time, and the parts of it."""

    name: str
    seconds: float = 0.0
    parts: list["Row"] = field(default_factory=list)


class Timing:
    """Times the parts of one run of the program, from when it is made."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._parser = Row("Parser")
        self._passes: list[Row] = []
        self._output = Row("Output")

    @contextmanager
    def parser(self) -> Iterator[None]:
        """What happens in the meantime is parsing."""
        with _timed(self._parser):
            yield

    @contextmanager
    def output(self) -> Iterator[None]:
        """What happens in the meantime is output."""
        with _timed(self._output):
            yield

    def add_passes(self, delete_manager: Callable[[], None]) -> None:
        """Adds what a pass manager measured, to what earlier ones of the same pipeline did."""
        printed = _printed_meanwhile(delete_manager)
        reports = iter(_TITLE.split(printed)[1:])
        _merge(self._passes, list(_rows(reports)))

    def report(self, display: str) -> str:
        """The report, as a "tree" of what is part of what or as a "list" by time."""
        rows = [self._parser, *self._passes, self._output]
        total = time.perf_counter() - self._begin
        rest = Row("Rest", total - sum(row.seconds for row in rows))
        if display == "list":
            flat = sorted(_flat(rows), key=lambda row: -row.seconds)
            lines = [(row, 0) for row in (Row("root", total), *flat)]
        else:
            lines = list(_indented(rows, 0))
        return "\n".join(
            (
                _RULE,
                f"{'... Execution time report ...':^79}".rstrip(),
                _RULE,
                f"  Total Execution Time: {total:.4f} seconds\n",
                "  ----Wall Time----  ----Name----",
                *(
                    f"  {row.seconds:8.4f} ({100 * row.seconds / total:5.1f}%)  "
                    f"{'  ' * depth}{row.name}"
                    for row, depth in (*lines, (rest, 0), (Row("Total", total), 0))
                ),
            )
        )


@contextmanager
def _timed(row: Row) -> Iterator[None]:
    begin = time.perf_counter()
    try:
        yield
    finally:
        row.seconds += time.perf_counter() - begin


def _printed_meanwhile(action: Callable[[], None]) -> str:
    """What is printed to the process's standard error, by C++ too, while `action` runs."""
    sys.stderr.flush()
    kept = os.dup(sys.stderr.fileno())
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), sys.stderr.fileno())
        try:
            action()
        finally:
            os.dup2(kept, sys.stderr.fileno())
            os.close(kept)
        file.seek(0)
        return file.read().decode(errors="replace")


def _rows(reports: Iterator[str]) -> Iterator[Row]:
    """The rows of the next report, with those of the managers nested in it in their places."""
    open_rows: list[Row] = []
    for line in next(reports, "").splitlines():
        found = _ROW.match(line)
        if found is None or found["name"] in ("Rest", "Total"):
            continue
        row = Row(found["name"], float(found["seconds"]))
        depth = len(found["indent"]) // 2
        if adaptor := _ADAPTOR.fullmatch(row.name):
            row = Row(f"'{adaptor[1]}' Pipeline", row.seconds, list(_rows(reports)))
        del open_rows[depth:]
        if open_rows:
            open_rows[-1].parts.append(row)
        else:
            yield row
        open_rows.append(row)


def _merge(rows: list[Row], others: list[Row]) -> None:
    for row, other in zip(rows, others, strict=False):
        row.seconds += other.seconds
        _merge(row.parts, other.parts)
    rows += others[len(rows) :]


def _flat(rows: list[Row]) -> Iterator[Row]:
    for row in rows:
        yield row
        yield from _flat(row.parts)


def _indented(rows: list[Row], depth: int) -> Iterator[tuple[Row, int]]:
    for row in rows:
        yield row, depth
        yield from _indented(row.parts, depth + 1)
