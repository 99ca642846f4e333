"""Writes the file that a library maps its weights from, and has the assembler make room for it."""

import json
import math
import re
from pathlib import Path

from plumbline.archives.weights_archive import LENGTH_BYTES, StoredWeight
from plumbline.archives.weights_file import WeightsFileSymbols
from plumbline.llvm_to_asm.weights import found_weights
from plumbline.signature.weight_arguments import EmbeddedWeight

# How LLVM IR declares the region of a program's weights.
_REGION = re.compile(r'^@"?([\w.$-]+)"? = external global', re.MULTILINE)

_ALIGNMENT = 64
"""Of the first weight, in bytes: a cache line, and the widest vector of AVX-512. What fills such
lines comes first."""

_PAGE_BYTES = 1 << 16
"""What regions are aligned to: the largest pages of the CPUs that LLVM makes code for."""


_EMPTY_FILE = (2).to_bytes(LENGTH_BYTES, "little") + b"{}"
"""The file of a program without weights, which does not map it."""


def _mapped_symbols(llvm_ir: str) -> WeightsFileSymbols | None:
    """The symbols of the program in `llvm_ir` that maps its weights, if it does."""
    for match in _REGION.finditer(llvm_ir):
        if symbols := WeightsFileSymbols.of_region(match[1]):
            return symbols
    return None


def _fills_lines(weight: EmbeddedWeight, stored: StoredWeight) -> bool:
    """Whether what comes after a weight begins with a cache line if that does."""
    shape = stored.shape if weight.layout is None else weight.layout.shape(stored.shape)
    return math.prod(shape) * stored.element_bytes % _ALIGNMENT == 0


def map_weights(llvm_ir: str, archive: Path | None) -> tuple[bytes, str]:
    """The file of the weights that `llvm_ir` declares, from `archive`, and assembly for it.

    A packed weight is called `<name>:<layout>` in the file.

    Raises:
      UserError: they are not in it.
    """
    symbols = _mapped_symbols(llvm_ir)
    if symbols is None or archive is None:
        return _EMPTY_FILE, ""
    entries: dict[str, dict[str, object]] = {}
    contents: list[bytes] = []
    places: dict[str, int] = {}
    end = 0
    # Without gaps, as the format wants it: so after those that fill lines the widest elements.
    for symbol, weight, stored in sorted(
        found_weights(llvm_ir, archive),
        key=lambda found: (not _fills_lines(*found[1:]), -found[2].element_bytes, found[0]),
    ):
        name, shape, content = weight.name, stored.shape, stored.read(archive)
        if weight.layout is not None:
            packed = weight.layout.pack(content)
            name, shape, content = f"{name}:{weight.layout}", packed.shape, packed
        contents.append(content.tobytes())
        places[symbol], end = end, end + content.nbytes
        entries[name] = {
            "dtype": stored.dtype,
            "shape": list(shape),
            "data_offsets": [places[symbol], end],
        }
    text = json.dumps(entries, separators=(",", ":")).encode()
    # The format allows spaces at the end.
    text += b" " * (-(LENGTH_BYTES + len(text)) % _ALIGNMENT)
    header = len(text).to_bytes(LENGTH_BYTES, "little") + text
    lines = [
        # Never less than what is mapped, whole pages.
        f'\t.section\t.bss.{symbols.region},"aw",@nobits',
        f"\t.balign\t{_PAGE_BYTES}",
        f'"{symbols.region}":',
        f"\t.zero\t{-(-(len(header) + end) // _PAGE_BYTES) * _PAGE_BYTES}",
        *(
            f'\t.set\t"{symbol}", "{symbols.region}" + {len(header) + place}'
            for symbol, place in places.items()
        ),
        "\t.section\t.rodata",
        f'"{symbols.header}":',
        *(
            "\t.byte\t" + ",".join(map(str, header[start : start + 32]))
            for start in range(0, len(header), 32)
        ),
        "\t.balign\t8",
        f'"{symbols.sizes}":',
        f"\t.quad\t{len(header)}, {len(header) + end}",
    ]
    return b"".join((header, *contents)), "\n".join(lines) + "\n"
