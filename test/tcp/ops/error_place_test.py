"""What lit cannot say of refused texts: the whole message, and the column that the caret is at."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from test.tcp.checks import FILE, error_of

_SEPARATOR = "// -----\n"


def _texts() -> Iterator[Any]:
    for file in sorted(Path(__file__).parent.glob("*_invalid.mlir")):
        for text in file.read_text().split(_SEPARATOR):
            (name,) = re.findall(r"func\.func @(\w+)", text)
            yield pytest.param(text, id=name)


@pytest.mark.parametrize("text", list(_texts()))
def test_place(text: str) -> None:
    lines = text.splitlines()
    (above,) = (index for index, line in enumerate(lines) if "expected-error" in line)
    message, line = lines[above].partition("{{")[2].removesuffix("}}"), lines[above + 1]
    name = message.split("'")[1]
    op = re.search(rf'"?{re.escape(name)}\b', line)
    assert op
    place = f"{FILE}:{above + 2}:{op.start() + 1}"
    error = error_of(text)
    assert error.startswith(f"{place}: error: {message}\n{line}\n{' ' * op.start()}^"), error


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
