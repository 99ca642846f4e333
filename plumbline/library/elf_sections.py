"""Reads ELF files (64 bits, little-endian; System V gABI, chapters 4 and 5)."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MAGIC = b"\x7fELF\x02\x01"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")

_MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64"}
"""What `e_machine` says, as `platform.machine` has it: EM_X86_64, EM_AARCH64 and EM_RISCV."""


def read_architecture(path: Path) -> str:
    """What machines it has code for, such as "x86_64".

    Raises:
      OSError: the file cannot be read.
      ValueError: it is not a whole ELF file.
    """
    with path.open("rb") as file:
        machine = _header(file.read(_HEADER.size))[2]
    return _MACHINES.get(machine, f"ELF's number {machine}")


def read_section(path: Path, name: str) -> bytes | None:
    """The bytes of the first section of that name, or None where there is none.

    Raises:
      OSError: the file cannot be read.
      ValueError: it is not a whole ELF file.
    """
    content = path.read_bytes()
    for has_name, place in _sections(content):
        if has_name == name:
            return content[place]
    return None


def section_sizes(path: Path) -> dict[str, int]:
    """The bytes of each section, by its name.

    Raises:
      OSError: the file cannot be read.
      ValueError: it is not a whole ELF file.
    """
    return {name: place.stop - place.start for name, place in _sections(path.read_bytes())}


def _sections(content: bytes) -> Iterator[tuple[str, slice]]:
    """The name of each section, and where it lies in the file."""
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
    if not content.startswith(_MAGIC):
        raise ValueError("it is no ELF file of 64 bits")
    if len(content) < _HEADER.size:
        raise ValueError("it is cut off")
    return _HEADER.unpack_from(content)
