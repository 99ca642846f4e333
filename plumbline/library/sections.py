"""Reads what shared objects, object files, modules of WebAssembly and DLLs consist of."""

from collections.abc import Iterator
from pathlib import Path

from plumbline.library import elf_sections, pe_sections, wasm_sections
from plumbline.target.target import WEBASSEMBLY


def read_architecture(path: Path) -> str:
    """What machines a file has code for, such as "x86_64".

    Raises:
      OSError: the file cannot be read.
      ValueError: it is not a whole file of such a kind.
    """
    # Weights may be in it, of gigabytes.
    with path.open("rb") as file:
        head = file.read(max(elf_sections.HEADER_BYTES, pe_sections.HEADER_BYTES))
    if head.startswith(wasm_sections.MAGIC):
        return WEBASSEMBLY
    if head.startswith(pe_sections.MAGIC):
        return pe_sections.architecture(head)
    _check_is_elf(head)
    return elf_sections.architecture(head)


def read_section(path: Path, name: str) -> bytes | None:
    """The bytes of the first section of that name, or None where there is none.

    Raises:
      OSError: the file cannot be read.
      ValueError: it is not a whole file of such a kind.
    """
    content = path.read_bytes()
    for has_name, place in _sections(content):
        if has_name == name:
            return content[place]
    return None


def section_sizes(path: Path) -> dict[str, int]:
    """The bytes of each section, by its name in ELF files.

    Raises:
      OSError: the file cannot be read.
      ValueError: it is not a whole file of such a kind.
    """
    return {name: place.stop - place.start for name, place in _sections(path.read_bytes())}


def _sections(content: bytes) -> Iterator[tuple[str, slice]]:
    if content.startswith(wasm_sections.MAGIC):
        return wasm_sections.sections(content)
    if content.startswith(pe_sections.MAGIC):
        return pe_sections.sections(content)
    _check_is_elf(content)
    return elf_sections.sections(content)


def _check_is_elf(content: bytes) -> None:
    if not content.startswith(elf_sections.MAGIC):
        raise ValueError("it is no ELF file, nor a module of WebAssembly, nor a DLL")
