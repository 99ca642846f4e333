"""Puts weights into assembly as bytes of a file, which the assembler copies without reading."""

import re
from collections.abc import Iterator
from pathlib import Path

import safetensors.numpy

from plumbline.archives.weights_archive import StoredWeight, read_layout
from plumbline.errors import UserError
from plumbline.llvm_to_asm.object_format import ELF, ObjectFormat
from plumbline.signature.weight_arguments import EmbeddedWeight

# How LLVM IR declares the memory of a weight; a name is quoted where it has to be.
_DECLARATION = re.compile(r'^@(?:"([^"]+)"|([\w.$-]+)) = external constant', re.MULTILINE)

_ALIGNMENT = 64
"""In bytes: a cache line, and the widest vector of AVX-512."""


def embedded_weights(llvm_ir: str) -> Iterator[tuple[str, EmbeddedWeight]]:
    """The symbols of the weights which `llvm_ir` declares, and what weights these are."""
    for match in _DECLARATION.finditer(llvm_ir):
        symbol = match[1] or match[2]
        if weight := EmbeddedWeight.of_symbol(symbol):
            yield symbol, weight


def pack_weights(llvm_ir: str, archive: Path | None) -> bytes:
    """The safetensors file of the weights which `llvm_ir` declares as packed.

    They come from the safetensors `archive`, go by their symbols, and are of unsigned integers as
    wide as the elements that these stand for.

    Raises:
      UserError: as `include_weights` does; or a weight is not what the layout is for.
    """
    packed = {}
    for symbol, weight, stored in found_weights(llvm_ir, archive):
        if weight.layout is None or archive is None:
            continue
        packed[symbol] = weight.layout.pack(stored.read(archive))
    return bytes(safetensors.numpy.save(packed))


def include_weights(
    llvm_ir: str, archive: Path | None, packed: Path | None, format_: ObjectFormat = ELF
) -> str:
    """Assembly, for object files of a format, that defines the weights which `llvm_ir` declares.

    They are bytes of the safetensors file `archive` or, those that are packed, of the file `packed`
    of what `pack_weights` gives. The assembler looks for both by their names alone, in the folder
    where it stands and in those of -I: the same program has the same text wherever it is compiled.

    Raises:
      UserError: weights are declared, but there is no such file, or they are not in it.
    """
    lines = []
    places = None
    for symbol, weight, stored in found_weights(llvm_ir, archive):
        file = archive
        if weight.layout is not None:
            if packed is None:
                raise UserError(
                    f"it has packed weights, such as {weight.name}: say with --packed-weights "
                    "where to write these"
                )
            if places is None:
                places = read_layout(packed)
            file, stored = packed, places[symbol]
        assert file is not None
        quoted = file.name.replace("\\", "\\\\").replace('"', '\\"')
        lines += [
            f"\t.balign\t{_ALIGNMENT}",
            f'"{symbol}":',
            f'\t.incbin\t"{quoted}", {stored.offset}, {stored.size}',
            *format_.of_symbol(symbol, stored.size),
        ]
    return "\n".join([format_.read_only, *lines]) + "\n" if lines else ""


def found_weights(
    llvm_ir: str, archive: Path | None
) -> Iterator[tuple[str, EmbeddedWeight, StoredWeight]]:
    """The declared weights, and where they lie in the archive.

    Raises:
      UserError: there is no such archive, or they are not in it, or one is not what its layout is
        for.
    """
    weights = list(embedded_weights(llvm_ir))
    if not weights:
        return
    if archive is None:
        name = weights[0][1].name
        raise UserError(f"it has weights, such as {name}: give their file with --weights")
    layout = read_layout(archive)
    missing = [weight.name for _, weight in weights if weight.name not in layout]
    if missing:
        raise UserError(f"{archive} lacks the weights {', '.join(missing)}")
    for symbol, weight in weights:
        stored = layout[weight.name]
        if weight.layout is not None and not weight.layout.takes(stored.shape):
            raise UserError(
                f"{archive}: the weight {weight.name} of shape {list(stored.shape)} cannot lie as "
                f"{weight.layout}"
            )
        yield symbol, weight, stored
