"""Reads ELF files (of 64 or 32 bits, little-endian; System V gABI, chapters 4 and 5)."""

import struct
from collections.abc import Iterator
from typing import Any

from plumbline.target.target import THUMB

_LONG, _SHORT = b"\x7fELF\x02\x01", b"\x7fELF\x01\x01"

MAGIC = (_LONG, _SHORT)
"""What files begin with, of 64 and of 32 bits."""

_HEADERS = {_LONG: struct.Struct("<16sHHIQQQIHHHHHH"), _SHORT: struct.Struct("<16sHHIIIIIHHHHHH")}
_SECTIONS = {_LONG: struct.Struct("<IIQQQQIIQQ"), _SHORT: struct.Struct("<IIIIIIIIII")}

_MACHINES = {40: THUMB, 62: "x86_64", 183: "aarch64", 243: "riscv64"}
"""What `e_machine` says, as `platform.machine` has it: EM_X86_64, EM_AARCH64 and EM_RISCV; and
EM_ARM, which libraries for microcontrollers alone have."""


HEADER_BYTES = max(header.size for header in _HEADERS.values())
"""How long what each file begins with is, at most."""


def architecture(content: bytes) -> str:
    """What machines a file that begins so has code for, such as "x86_64".

    Raises:
      ValueError: it is not a whole ELF file.
    """
    machine = _header(content)[2]
    return _MACHINES.get(machine, f"ELF's number {machine}")


def sections(content: bytes) -> Iterator[tuple[str, slice]]:
    """The name of each section, and where it lies in the file.

    Raises:
      ValueError: it is not a whole ELF file.
    """
    header = _header(content)
    section_header = _SECTIONS[_magic(content)]
    try:
        table, size, count, names = header[6], header[11], header[12], header[13]
        sections = [
            section_header.unpack_from(content, table + size * index) for index in range(count)
        ]
        strings = sections[names][4] if sections else 0
        for section in sections:
            start = strings + section[0]
            name = content[start : content.index(b"\0", start)].decode(errors="replace")
            yield name, slice(section[4], section[4] + section[5])
    except (struct.error, IndexError) as error:
        raise ValueError("it is cut off") from error


def _header(content: bytes) -> tuple[Any, ...]:
    header = _HEADERS[_magic(content)]
    if len(content) < header.size:
        raise ValueError("it is cut off")
    return header.unpack_from(content)


def _magic(content: bytes) -> bytes:
    return content[: len(_LONG)]
