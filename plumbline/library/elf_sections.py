"""Reads ELF files (64 bits, little-endian; System V gABI, chapters 4 and 5)."""

import struct
from collections.abc import Iterator
from typing import Any

MAGIC = b"\x7fELF\x02\x01"

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")

_MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64"}
"""What `e_machine` says, as `platform.machine` has it: EM_X86_64, EM_AARCH64 and EM_RISCV."""


HEADER_BYTES = _HEADER.size
"""How long what each file begins with is."""


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
    try:
        table, size, count, names = header[6], header[11], header[12], header[13]
        sections = [_SECTION.unpack_from(content, table + size * index) for index in range(count)]
        strings = sections[names][4] if sections else 0
        for section in sections:
            start = strings + section[0]
            name = content[start : content.index(b"\0", start)].decode(errors="replace")
            yield name, slice(section[4], section[4] + section[5])
    except (struct.error, IndexError) as error:
        raise ValueError("it is cut off") from error


def _header(content: bytes) -> tuple[Any, ...]:
    if len(content) < _HEADER.size:
        raise ValueError("it is cut off")
    return _HEADER.unpack_from(content)
