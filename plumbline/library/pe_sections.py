"""Reads DLLs, and other images of Windows for 64 bits (Microsoft's PE Format)."""

import struct
from collections.abc import Iterator

from plumbline.signature.library_description import COFF_SECTION, SECTION

MAGIC = b"MZ"
"""What files begin with: a program of DOS's, which says that it is none."""

ARCHITECTURE = "x86_64-windows"
"""What libraries are for whose code is for x86-64."""

HEADER_BYTES = 4096
"""How far into a file its headers begin, at most: linkers put them behind 128 bytes."""

_PLACE = struct.Struct("<60xI")
"""Where the headers are."""
_HEADER = struct.Struct("<4sHH12xH2x")
"""A signature, the machine, how many sections there are, and the size of what follows."""
_SIGNATURE = b"PE\0\0"
_SECTION = struct.Struct("<8sI4xII16x")
"""Its name, how many bytes it has in memory and in the file, and where it is there."""

_MACHINES = {0x8664: ARCHITECTURE}
"""IMAGE_FILE_MACHINE_AMD64."""

_NAMES = {COFF_SECTION: SECTION, ".rdata": ".rodata"}
"""What ELF files call sections that have other names here."""


def architecture(content: bytes) -> str:
    """What machines a file that begins so has code for: "x86_64-windows".

    Raises:
      ValueError: it is not a whole image.
    """
    _, machine, _, _ = _header(content)
    return _MACHINES.get(machine, f"PE's number {machine:#x}")


def sections(content: bytes) -> Iterator[tuple[str, slice]]:
    """The name of each section, as ELF files have it, and where it lies in the file.

    Raises:
      ValueError: it is not a whole image.
    """
    place, _, count, optional = _header(content)
    table = place + _HEADER.size + optional
    for index in range(count):
        try:
            letters, size, in_file, start = _SECTION.unpack_from(
                content, table + _SECTION.size * index
            )
        except struct.error as error:
            raise ValueError("it is cut off") from error
        name = letters.rstrip(b"\0").decode(errors="replace")
        # In the file it is a number of whole sectors, in memory what is not there is zeros.
        yield _NAMES.get(name, name), slice(start, start + min(size, in_file))


def _header(content: bytes) -> tuple[int, int, int, int]:
    """Where it is, the machine, how many sections there are, and how long is what is optional."""
    try:
        (place,) = _PLACE.unpack_from(content)
        signature, machine, count, optional = _HEADER.unpack_from(content, place)
    except struct.error as error:
        raise ValueError("it is cut off") from error
    if signature != _SIGNATURE:
        raise ValueError("it is a program of DOS")
    return place, machine, count, optional
