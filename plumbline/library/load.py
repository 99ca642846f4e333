"""Loads a compiled library (.so), which tells its signature itself."""

import ctypes
import os
from pathlib import Path

from plumbline.errors import UserError
from plumbline.library.elf_sections import read_section
from plumbline.library.memref_entry import MemrefEntry
from plumbline.library.native_function import Entry, NativeFunction
from plumbline.library.packed_entry import PackedEntry
from plumbline.library.shared_object import open_library
from plumbline.signature.function_name import ERROR_SUFFIX, LOAD_WEIGHTS_SUFFIX, PACKED_SUFFIX
from plumbline.signature.library_description import SECTION, LibraryDescription


class Library(NativeFunction):
    """A program of a shared object: call it with the tensors that `signature` lists."""

    def __init__(self, path: Path, description: LibraryDescription) -> None:
        signature = description.signature
        entry: Entry
        try:
            library = open_library(path)
            if description.abi == "memref":
                entry = MemrefEntry(signature, library)
            else:
                packed = ctypes.cast(library[signature.name + PACKED_SUFFIX], ctypes.c_void_p)
                entry = PackedEntry(signature, packed.value or 0)
        except (OSError, AttributeError) as error:
            raise UserError(f"{path}: it cannot be loaded: {error}") from error
        super().__init__(signature, entry, library)
        self.description = description
        self._library = library

    def load_weights(self, path: str | os.PathLike[str]) -> None:
        """Maps the weights of a library that was compiled with `weights = "file"`.

        Raises:
          UserError: it was not, or the file is not that of its weights. The message says why.
        """
        name = self.signature.name
        if not self.signature.loads_weights:
            raise UserError(f"{name} has its weights; it loads none from {os.fspath(path)}")
        place = os.fsencode(path)
        if b"\0" in place:
            raise UserError(f"{os.fspath(path)!r} is no path: it has a null byte")
        code = self._library[name + LOAD_WEIGHTS_SUFFIX](place)
        if code != 0:
            error = self._library[name + ERROR_SUFFIX]
            error.restype = ctypes.c_char_p
            raise UserError(f"{os.fspath(path)}: {error(code).decode()}")


def load(path: str | os.PathLike[str], name: str | None = None) -> Library:
    """Loads the program of a shared object that aot_library made.

    Args:
      path: the .so file.
      name: which program, of a file with several.

    Raises:
      UserError: there is no such file or program, or it cannot be loaded. The message says why.
    """
    file = Path(path)
    found = {description.signature.name: description for description in describe(file)}
    if name is None and len(found) == 1:
        (name,) = found
    if name not in found:
        wanted = "say which" if name is None else f"not {name}"
        raise UserError(f"{file}: it has the programs {', '.join(found)}; {wanted}")
    return Library(file, found[name])


def describe(file: Path) -> list[LibraryDescription]:
    """What a library says of its programs; nothing of it is loaded or run.

    Raises:
      UserError: it says nothing, or there is no such file.
    """
    try:
        section = read_section(file, SECTION)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(f"{file}: it cannot be read: {reason}") from error
    texts = [text for text in (section or b"").split(b"\0") if text]
    if not texts:
        raise UserError(
            f"{file}: it says nothing of its programs: is it one that aot_library or plumbline "
            "compile made?"
        )
    return [
        LibraryDescription.from_json(str(file), text.decode(errors="replace")) for text in texts
    ]
