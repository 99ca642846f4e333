"""Where an operation comes from, as people write it."""

import re

from torch_mlir import ir

# MLIR's bindings give a location's text only, for example
#   loc("model.py":12:4)   loc("add"("model.py":12:4))   loc(fused["a.py":1:2, "b.py":3:4])
_FILE_LINE_COLUMN = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')


def describe(location: ir.Location) -> str:
    """The innermost source position of `location` as `file:line:column`.

    A position in Python has no column (PyTorch records lines only, MLIR then prints 0):
    it is left out. A location without any file gives `"<unknown location>"`.
    """
    match = _FILE_LINE_COLUMN.search(str(location))
    if match is None:
        return "<unknown location>"
    file, line, column = match.groups()
    return f"{file}:{line}" if column == "0" else f"{file}:{line}:{column}"
