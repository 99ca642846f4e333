"""Diagnostics: printed as mlir-opt prints them, or held against comments that expect them."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.tcp.assembly.diagnostic import render

_FILE_LOCATION = re.compile(r'"(?P<file>(?:[^"\\]|\\.)*)":(?P<line>\d+):(?P<column>\d+)')
_RENDERED = re.compile(
    r"^(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): "
    r"(?P<severity>error|warning|note|remark): (?P<message>.*)$",
    re.MULTILINE,
)
_EXPECTED = re.compile(
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}$",
)
_SHOWN_OPERATION = "see current operation:"
_SEVERITIES = {
    ir.DiagnosticSeverity.ERROR: "error",
    ir.DiagnosticSeverity.WARNING: "warning",
    ir.DiagnosticSeverity.NOTE: "note",
    ir.DiagnosticSeverity.REMARK: "remark",
}


@dataclass(frozen=True)
class Diagnostic:
    """One diagnostic; line and column count from 1, and are 0 where nothing is known."""

    severity: str
    message: str
    file: str = "<unknown>"
    line: int = 0
    column: int = 0

    @property
    def shows_operation(self) -> bool:
        """Whether it is the note that MLIR adds about the operation as it is."""
        return self.message.startswith(_SHOWN_OPERATION)

    def render(self, filename: str, text: str) -> str:
        """The diagnostic as mlir-opt prints it, with the line that it is about."""
        lines = text.split("\n")
        if self.file != filename or not 0 < self.line <= len(lines):
            place = f"{self.file}:{self.line}"
            place += f":{self.column}" if self.file != Diagnostic.file else ""
            return f"{place}: {self.severity}: {self.message}"
        offset = sum(len(line) + 1 for line in lines[: self.line - 1])
        offset += min(max(self.column - 1, 0), len(lines[self.line - 1]))
        return render(text, filename, offset, self.severity, self.message)


def from_mlir(diagnostic: ir.Diagnostic, form: Callable[[str], str]) -> Iterator[Diagnostic]:
    """A diagnostic of MLIR's and its notes; `form` spells IR within messages."""
    message = diagnostic.message
    if message.startswith(_SHOWN_OPERATION):
        message = form(message)
    severity = _SEVERITIES[diagnostic.severity]
    yield Diagnostic(severity, message, *place_of(diagnostic.location))
    for note in diagnostic.notes:
        yield from from_mlir(note, form)


def place_of(location: ir.Location) -> tuple[str, int, int]:
    """The file, line and column of a location, as in `Diagnostic`."""
    found = _FILE_LOCATION.search(str(location))
    if found is None:
        return Diagnostic.file, Diagnostic.line, Diagnostic.column
    file = found["file"].replace('\\"', '"').replace("\\\\", "\\")
    return file, int(found["line"]), int(found["column"])


def from_rendered(text: str) -> Iterator[Diagnostic]:
    """The diagnostics in the message of a parser's error."""
    for found in _RENDERED.finditer(text):
        yield Diagnostic(
            found["severity"],
            found["message"],
            found["file"],
            int(found["line"]),
            int(found["column"]),
        )


@dataclass
class _Expectation:
    severity: str
    text: str
    pattern: re.Pattern[str]
    line: int
    """The line that the diagnostic must be about; 0 for one about nothing."""
    at: tuple[int, int]
    """Line and column of the comment."""
    met: bool = False

    def admits(self, diagnostic: Diagnostic, filename: str) -> bool:
        line = diagnostic.line if diagnostic.file == filename else 0
        return (self.severity, self.line) == (diagnostic.severity, line) and self.pattern.search(
            diagnostic.message
        ) is not None


def verify(
    diagnostics: Sequence[Diagnostic], text: str, filename: str, *, only_expected: bool
) -> list[str]:
    """What is wrong with `diagnostics`, held against the comments in `text`.

    The comments are those of mlir-opt: `expected-error@+1 {{part of the message}}`, and with
    `expected-error-re` a message in which `{{...}}` stand for regular expressions.
    """
    expectations = list(_expectations(text))
    problems = []
    for diagnostic in diagnostics:
        meant = [one for one in expectations if one.admits(diagnostic, filename)]
        if meant:
            next((one for one in meant if not one.met), meant[0]).met = True
        elif not only_expected:
            unexpected = Diagnostic(
                "error",
                f"unexpected {diagnostic.severity}: {diagnostic.message}",
                diagnostic.file,
                diagnostic.line,
                diagnostic.column,
            )
            problems.append(unexpected.render(filename, text))
    for one in expectations:
        if not one.met:
            missing = Diagnostic(
                "error",
                f'expected {one.severity} "{one.text}" was not produced',
                filename,
                *one.at,
            )
            problems.append(missing.render(filename, text))
    return problems


def _expectations(text: str) -> Iterator[_Expectation]:
    lines = text.split("\n")
    found = [_EXPECTED.search(line.rstrip()) for line in lines]
    for index, match in enumerate(found):
        if match is None:
            continue
        place = match["place"]
        if place == "unknown":
            line = 0
        elif place in ("above", "below"):
            step = -1 if place == "above" else 1
            other = index + step
            while 0 <= other < len(lines) and found[other] is not None:
                other += step
            line = other + 1
        else:
            line = index + 1 + int(place or 0)
        yield _Expectation(
            match["severity"],
            match["text"],
            _pattern(match["text"], bool(match["regex"])),
            line,
            (index + 1, match.start() + 1),
        )


def _pattern(text: str, has_regexes: bool) -> re.Pattern[str]:
    if not has_regexes:
        return re.compile(re.escape(text))
    # Outside of {{...}} the text is literal.
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return re.compile(
        "".join(part if index % 2 else re.escape(part) for index, part in enumerate(parts))
    )


def print_to_stderr(message: str) -> None:
    """Prints a message, and what was printed before it by MLIR first."""
    print(message, file=sys.stderr, flush=True)
