"""Diagnostics of the assembly's user: file, line, column, and the line itself, as MLIR has it."""

import re
from collections.abc import Iterator, Sequence

from torch_mlir import ir

from plumbline.tcp.assembly.reader import GenericText

_FILE_LOCATION = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')
_GENERIC_FORM_NOTE = "see current operation:"


def render(text: str, filename: str, offset: int, severity: str, message: str) -> str:
    """`message` about a place in a text, with the line it is on and a caret below the place."""
    line = text.count("\n", 0, offset)
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    shown = text[begin : end if end >= 0 else len(text)]
    # Tabs stay tabs, so that the caret stands below its place however wide a tab is.
    indent = "".join("\t" if character == "\t" else " " for character in text[begin:offset])
    place = f"{filename}:{line + 1}:{offset - begin + 1}"
    return f"{place}: {severity}: {message}\n{shown}\n{indent}^"


def render_all(
    diagnostics: Sequence[ir.DiagnosticInfo], output: GenericText, filename: str
) -> Iterator[str]:
    """Diagnostics of MLIR's parser about text in generic form, as ones about the source."""
    for diagnostic in diagnostics:
        yield _render_one(diagnostic, "error", output, filename)
        for note in diagnostic.notes:
            # It repeats the op in generic form; the line above shows it as the user wrote it.
            if not note.message.startswith(_GENERIC_FORM_NOTE):
                yield _render_one(note, "note", output, filename)


def _render_one(
    diagnostic: ir.DiagnosticInfo, severity: str, output: GenericText, filename: str
) -> str:
    found = _FILE_LOCATION.search(str(diagnostic.location))
    if found is None or _unescape(found[1]) != filename:
        # The op says that it comes from elsewhere: it carries a location of its own.
        place = f"{_unescape(found[1])}:{found[2]}:{found[3]}" if found else filename
        return f"{place}: {severity}: {diagnostic.message}"
    if found[2] == "0":
        # About the file as a whole.
        return f"{filename}:0:0: {severity}: {diagnostic.message}"
    offset = output.origin(int(found[2]), int(found[3]))
    return render(output.source.text, filename, offset, severity, diagnostic.message)


def _unescape(text: str) -> str:
    """The content of a string as MLIR prints it: a backslash doubled, other bytes as two digits."""
    content = re.sub(
        rb"\\(\\|[0-9A-F]{2})",
        lambda found: b"\\" if found[1] == b"\\" else bytes.fromhex(found[1].decode()),
        text.encode(),
    )
    return content.decode(errors="replace")
