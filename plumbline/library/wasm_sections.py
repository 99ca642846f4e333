"""Reads modules of WebAssembly (Core Specification 2.0, "Binary Format", Modules)."""

from collections.abc import Iterator

MAGIC = b"\0asm\1\0\0\0"

_CUSTOM, _CODE, _DATA = 0, 10, 11
_NAMES = {_CODE: ".text", _DATA: ".rodata"}
"""What ELF files call the sections that have code, and data that is there from the beginning."""


def sections(content: bytes) -> Iterator[tuple[str, slice]]:
    """The name of each section that has one, and where its content lies.

    Raises:
      ValueError: it is not a whole module.
    """
    place = len(MAGIC)
    while place < len(content):
        kind = content[place]
        size, begin = _number(content, place + 1)
        place = begin + size
        if place > len(content):
            raise ValueError("it is cut off")
        if kind == _CUSTOM:
            length, name = _number(content, begin)
            begin = name + length
            if begin > place:
                raise ValueError("a name of it is cut off")
            yield content[name:begin].decode(errors="replace"), slice(begin, place)
        elif kind in _NAMES:
            yield _NAMES[kind], slice(begin, place)


def _number(content: bytes, place: int) -> tuple[int, int]:
    """The number of 32 bits that is written at a place (LEB128), and where it ends."""
    value = 0
    for index, byte in enumerate(content[place : place + 5]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, place + index + 1
    raise ValueError("it is cut off, or has a number of more than 32 bits")
