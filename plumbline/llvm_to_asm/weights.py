"""Puts weights into assembly as bytes of a file, which the assembler copies without reading."""

import re
from collections.abc import Iterator

from plumbline.errors import UserError
from plumbline.weight_arguments import weight_of
from plumbline.weights_archive import read_layout

# How LLVM IR declares the memory of a weight; a name is quoted where it has to be.
_DECLARATION = re.compile(r'^@(?:"([^"]+)"|([\w.$-]+)) = external constant', re.MULTILINE)

_ALIGNMENT = 64
"""In bytes: a cache line, and the widest vector of AVX-512."""


def include_weights(llvm_ir: str, archive: str | None) -> str:
    """Assembly that defines the weights which `llvm_ir` declares, from the safetensors `archive`.

    The assembler looks for `archive` under just that name.

    Raises:
      UserError: weights are declared, but there is no archive, or they are not in it.
    """
    symbols = list(_weight_symbols(llvm_ir))
    if not symbols:
        return ""
    if archive is None:
        raise UserError(f"it has weights, such as {symbols[0][1]}: give their file with --weights")
    layout = read_layout(archive)
    missing = [weight for _, weight in symbols if weight not in layout]
    if missing:
        raise UserError(f"{archive} lacks the weights {', '.join(missing)}")
    file = archive.replace("\\", "\\\\").replace('"', '\\"')
    lines = ["\t.section\t.rodata"]
    for symbol, weight in symbols:
        stored = layout[weight]
        lines += [
            f"\t.balign\t{_ALIGNMENT}",
            f'"{symbol}":',
            f'\t.incbin\t"{file}", {stored.offset}, {stored.size}',
        ]
    return "\n".join(lines) + "\n"


def _weight_symbols(llvm_ir: str) -> Iterator[tuple[str, str]]:
    for match in _DECLARATION.finditer(llvm_ir):
        name = match[1] or match[2]
        if weight := weight_of(name):
            yield name, weight
