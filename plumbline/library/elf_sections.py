"""Reads a section of an ELF file (64 bits, little-endian; System V gABI, chapters 4 and 5)."""

import struct
from collections.abc import Iterator
from pathlib import Path

_MAGIC = b"\x7fELF\x02\x01"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")


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
    if not content.startswith(_MAGIC):
        raise ValueError("it is no ELF file of 64 bits")
    try:
        header = _HEADER.unpack_from(content)
        table, size, count, names = header[6], header[11], header[12], header[13]
        sections = [_SECTION.unpack_from(content, table + size * index) for index in range(count)]
        strings = sections[names][4] if sections else 0
        for section in sections:
            start = strings + section[0]
            name = content[start : content.index(b"\0", start)].decode(errors="replace")
            yield name, slice(section[4], section[4] + section[5])
    except (struct.error, IndexError) as error:
        raise ValueError("it is cut off") from error
