"""The machine code of a program, and what a process needs to know to link and to call it."""

import dataclasses
from dataclasses import dataclass

from plumbline.cache.record import packed, unpacked
from plumbline.signature.library_description import LibraryDescription
from plumbline.signature.signature import Signature

_OBJECT_FILE = "object_file_"
"""What the parts of a record are called that are object files, before their numbers."""


@dataclass(frozen=True)
class MachineCode:
    """Of one program. It has no addresses and no weights of the process that has made it."""

    signature: Signature
    object_files: tuple[bytes, ...]
    """The first has the function that is called, the others what it calls."""
    weights: tuple[str, ...]
    """The symbols of weights that the object files leave open (`EmbeddedWeight`)."""
    kernels: str | None = None
    """Those for a GPU, as PTX, if they are for one."""

    def to_bytes(self) -> bytes:
        """What `from_bytes` undoes."""
        said = {
            "description": _description(self.signature).to_json(),
            # In C some are called otherwise.
            "symbols": [symbol.name for symbol in self.signature.shapes.symbols],
            "weights": self.weights,
        }
        parts = {_OBJECT_FILE + str(n): each for n, each in enumerate(self.object_files)}
        if self.kernels is not None:
            parts["kernels"] = self.kernels.encode()
        return packed(said, parts)

    @classmethod
    def from_bytes(cls, content: bytes) -> "MachineCode":
        """Reads what `to_bytes` gave in a process of the same version of Plumbline."""
        said, parts = unpacked(content)
        signature = LibraryDescription.from_json("the cache", said["description"]).signature
        shapes = signature.shapes
        symbols = tuple(
            dataclasses.replace(symbol, name=name)
            for symbol, name in zip(shapes.symbols, said["symbols"], strict=True)
        )
        kernels = parts.get("kernels")
        return cls(
            dataclasses.replace(signature, shapes=dataclasses.replace(shapes, symbols=symbols)),
            tuple(part for name, part in parts.items() if name.startswith(_OBJECT_FILE)),
            tuple(said["weights"]),
            None if kernels is None else kernels.decode(),
        )


def _description(signature: Signature) -> LibraryDescription:
    return LibraryDescription(signature, target_cpu="", origin="")
