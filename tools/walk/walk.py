"""Writes into the pages that show stages what these make of the programs there.

`./bazelw run //tools/walk` does, where a stage makes something else than a page shows.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from plumbline.archives import atomic_file

# Bazel runs this file through a chain of links that ends in the checkout.
ROOT = Path(__file__).resolve().parents[2]
PAGES = (Path("tools/aot/README.md"), Path("docs/gpu.md"))

_WIDTH = 136
"""From where on lines of the page end in dots."""
_INDENT = "    "
# Commands that show a file of a stage, and its path from the workspace on.
_SHOWN = re.compile(r'^ {4}\$ (?:cat |python3 .*numpy\.load\(")bazel-bin/([^"\s]+)')

Lines = Sequence[str]


def walked(page: str, generated: Path) -> str:
    """The page with what it shows of files taken from the files.

    Args:
      page: the Markdown, where a block of a command and what it prints is indented.
      generated: the folder in which the files have their paths from the workspace on.

    Raises:
      OSError: there is no file that the page shows.
    """
    lines = page.split("\n")
    written: list[str] = []
    while lines:
        line = lines.pop(0)
        written.append(line)
        shown = _SHOWN.match(line)
        if shown is None:
            continue
        while lines and (not lines[0] or lines[0].startswith(_INDENT)):
            if lines[0].startswith(f"{_INDENT}$ "):
                break
            lines.pop(0)
        written += (_line(text) for text in _excerpt(generated / shown[1]))
        written.append("")
    return "\n".join(written)


def _line(text: str) -> str:
    text = text.replace("\t", _INDENT).rstrip()
    if len(text) > _WIDTH:
        text = text[: _WIDTH - 4].rstrip() + " ..."
    return f"{_INDENT}{text}" if text else ""


def _excerpt(file: Path) -> Iterator[str]:
    """What the page shows of a file."""
    if file.suffix == ".npz":
        with np.load(file) as members:
            for member in members.items():
                yield from str(member).splitlines()
        return
    lines = file.read_text(encoding="utf-8").strip("\n").split("\n")
    for ending, part in _PARTS.items():
        if file.name.endswith(ending):
            lines = part(lines)
    yield from lines


def _of_llvm_dialect(lines: Lines) -> list[str]:
    """The head of the function, and the kernel that it calls."""
    head = _first(lines, "llvm.sret")
    kernel = _first(lines, "llvm.fadd")
    while "llvm.func" not in lines[kernel]:
        kernel -= 1
    parts = [
        (head, [lines[head], "    ..."]),
        (kernel, [*lines[kernel : _first(lines, "llvm.return", kernel) + 1], "    ..."]),
    ]
    return [lines[0], "  ...", *(line for _, part in sorted(parts) for line in part)]


def _of_llvm_ir(lines: Lines) -> list[str]:
    """The function, and the body of the loop."""
    head = _first(lines, "define void @")
    block = _first(lines, "fadd")
    while lines[block]:
        block -= 1
    return [
        *lines[head : lines.index("}", head) + 1],
        "...",
        *lines[block + 1 : lines.index("", block + 1)],
        "...",
    ]


def _of_assembly(lines: Lines) -> list[str]:
    """The loop over whole vectors."""
    begin = _first(lines, "vaddps")
    while not lines[begin].startswith(".LBB"):
        begin -= 1
    return ["...", *lines[begin : _first(lines, "\tj", begin) + 1], "..."]


_PARTS: dict[str, Callable[[Lines], list[str]]] = {
    "_llvm.mlir": _of_llvm_dialect,
    ".ll": _of_llvm_ir,
    ".S": _of_assembly,
}


def _first(lines: Lines, part: str, begin: int = 0) -> int:
    return next(index for index in range(begin, len(lines)) if part in lines[index])


if __name__ == "__main__":
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        # Bazel starts programs where their data is.
        atomic_file.write_bytes(ROOT / page, walked(text, Path.cwd()).encode())
