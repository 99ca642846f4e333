"""The passes that come with the MLIR bindings, which cannot be asked for a list of them."""

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from torch_mlir import ir
from torch_mlir._mlir_libs import get_lib_dirs
from torch_mlir.passmanager import PassManager

_LIBRARY = "libTorchMLIRAggregateCAPI.so"
_CANDIDATE = re.compile(rb"[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?=\0)")


def is_upstream_pass(name: str, context: ir.Context) -> bool:
    """Whether MLIR knows a pass or pipeline of that name."""
    return parsed(name, context) is not None


def parsed(text: str, context: ir.Context) -> str | None:
    """A step of a pipeline as MLIR prints it, with its options; None if there is no such pass."""
    try:
        with context:
            printed = str(PassManager.parse(f"any({text})"))
    except ValueError:
        return None
    # `any(canonicalize{top-down=true})`
    return printed.removeprefix("any(").removesuffix(")")


def upstream_passes(context: ir.Context) -> Iterator[tuple[str, str]]:
    """Names of MLIR's passes and pipelines, with what each is short for or its options' defaults.

    The names are found among the literals of the library that holds the passes: MLIR is asked of
    each whether it is one.
    """
    for name in sorted(set(_candidates())):
        printed = parsed(name, context)
        if printed is not None:
            yield name, " ".join(printed.removeprefix(name).split())


def _candidates() -> Iterator[str]:
    for literal in set(_CANDIDATE.findall(_literals())):
        name = literal.decode()
        yield name
        # Linkers keep a literal that is the end of another one as a part of that one only.
        while "-" in name:
            name = name.partition("-")[2]
            yield name


def _literals() -> bytes:
    """The constant data of the library: the section .rodata of the ELF file."""
    with Path(get_lib_dirs()[0], _LIBRARY).open("rb") as file:
        # ELF-64, "Tool Interface Standard: Executable and Linking Format", and its 64-bit
        # supplement: e_shoff at 40; e_shentsize, e_shnum, e_shstrndx at 58.
        header = file.read(64)
        (sections_at,) = struct.unpack_from("<Q", header, 40)
        size, count, names_index = struct.unpack_from("<HHH", header, 58)
        file.seek(sections_at)
        table = file.read(size * count)
        # sh_name, sh_type, sh_flags, sh_addr, sh_offset, sh_size
        sections = [struct.unpack_from("<IIQQQQ", table, size * index) for index in range(count)]

        def content(index: int) -> bytes:
            file.seek(sections[index][4], os.SEEK_SET)
            return file.read(sections[index][5])

        names = content(names_index)
        for index, section in enumerate(sections):
            if names[section[0] :].startswith(b".rodata\0"):
                return content(index)
    return b""
