"""Loads a compiled library (.so), which tells its signature itself."""

import ctypes
import os
import platform
from pathlib import Path
from typing import Protocol

from plumbline.errors import UserError
from plumbline.library import pe_sections
from plumbline.library.memref_entry import status_entry
from plumbline.library.native_function import Entry, NativeFunction
from plumbline.library.packed_entry import PackedEntry
from plumbline.library.sections import read_architecture, read_section
from plumbline.library.shared_object import open_library
from plumbline.signature.function_name import ERROR_SUFFIX, LOAD_WEIGHTS_SUFFIX, PACKED_SUFFIX
from plumbline.signature.library_description import SECTION, LibraryDescription
from plumbline.target.target import THUMB, WEBASSEMBLY

_RUNS = {
    THUMB: ' "qemu-system-arm -M mps3-an547"',
    WEBASSEMBLY: " node",
    pe_sections.ARCHITECTURE: " wine",
}
"""What runs code of some architectures, as messages say it."""


class Code(Protocol):
    """The code of a program, wherever it runs."""

    @property
    def entry(self) -> Entry:
        """What calls it."""

    def load_weights(self, path: bytes) -> str | None:
        """Has it map its weights from a file; gives what it says where it cannot."""


class _CodeHere:
    """That of a shared object, in this process."""

    def __init__(self, path: Path, description: LibraryDescription) -> None:
        """Loads it.

        Raises:
          UserError: it cannot be loaded, or is for another machine.
        """
        signature = description.signature
        self._name = signature.name
        self.entry: Entry
        try:
            _check_machine(path, description)
            self._library = open_library(path)
            if description.abi == "memref":
                self.entry = status_entry(signature, self._library)
            else:
                packed = self._library[signature.name + PACKED_SUFFIX]
                address = ctypes.cast(packed, ctypes.c_void_p).value
                self.entry = PackedEntry(signature, address or 0)
        except (OSError, ValueError, AttributeError) as error:
            raise UserError(f"{path}: it cannot be loaded: {error}") from error

    def load_weights(self, path: bytes) -> str | None:
        code = self._library[self._name + LOAD_WEIGHTS_SUFFIX](path)
        if code == 0:
            return None
        error = self._library[self._name + ERROR_SUFFIX]
        error.restype = ctypes.c_char_p
        message: bytes = error(code)
        return message.decode()


def _check_machine(path: Path, description: LibraryDescription) -> None:
    # Of another machine's the dynamic linker says that there is no such file.
    made_for, own = read_architecture(path), _own_architecture()
    if made_for != own:
        raise UserError(
            f"{path}: it is made for {description.made_for}, so for machines of {made_for}, and "
            f"this is one of {own}: load it there, or say what runs it here by --run-under"
            f"{_RUNS.get(made_for, '')}, which plumbline run and plumbline test have"
        )


def _own_architecture() -> str:
    """That of this process, as files say it."""
    machine = platform.machine()
    return pe_sections.ARCHITECTURE if os.name == "nt" and machine == "AMD64" else machine


class Library(NativeFunction):
    """A program of a shared object: call it with the tensors that `signature` lists."""

    def __init__(self, description: LibraryDescription, code: Code) -> None:
        super().__init__(description.signature, code.entry, code)
        self.description = description
        self._code = code

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
        if (problem := self._code.load_weights(place)) is not None:
            raise UserError(f"{os.fspath(path)}: {problem}")


def load(path: str | os.PathLike[str], name: str | None = None) -> Library:
    """Loads the program of a shared object that aot_library made.

    Args:
      path: the .so file; under Windows the .dll file.
      name: which program, of a file with several.

    Raises:
      UserError: there is no such file or program, or it cannot be loaded. The message says why.
    """
    file = Path(path)
    description = described(file, name)
    return Library(description, _CodeHere(file, description))


def described(file: Path, name: str | None = None) -> LibraryDescription:
    """What a library says of a program, which may be the only one that it has.

    Raises:
      UserError: it says nothing, has no such program, or there is no such file.
    """
    found = {description.signature.name: description for description in describe(file)}
    if name is None and len(found) == 1:
        (name,) = found
    if name not in found:
        wanted = "say which" if name is None else f"not {name}"
        raise UserError(f"{file}: it has the programs {', '.join(found)}; {wanted}")
    return found[name]


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
