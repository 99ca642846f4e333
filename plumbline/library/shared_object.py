"""Loads shared objects: what lies at a path now, not what this process has loaded from there.

The dynamic linker knows a library by the path that it was loaded from, and gives that one again
when another file has taken its place since: a program that was compiled anew, say.
"""

import ctypes
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from plumbline.errors import UserError


@dataclass(frozen=True)
class _Loaded:
    library: ctypes.CDLL
    changed: int
    """When the file was written last, in ns."""


_loaded: dict[tuple[int, int], _Loaded] = {}
"""By device and inode, which no other file has for as long as the library is mapped."""
_paths: set[str] = set()
_lock = threading.Lock()


def open_library(path: Path) -> ctypes.CDLL:
    """The library of a file, which stays loaded until the process ends.

    Raises:
      OSError: it cannot be loaded.
      UserError: the file that has been loaded from there has been written to since.
    """
    # With a folder, or the system would look for it among its own.
    name = str(path.absolute())
    if os.name == "nt":
        # Windows keeps the file of a library that is loaded from being written or replaced.
        return ctypes.CDLL(name)
    file = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
    keep = False
    try:
        with _lock:
            status = os.fstat(file)
            key = status.st_dev, status.st_ino
            if (known := _loaded.get(key)) is not None:
                if known.changed != status.st_mtime_ns:
                    raise UserError(
                        f"{path}: this process has loaded it, and it has been written to since; "
                        "put a new file in its place, or start anew"
                    )
                return known.library
            keep = name in _paths
            # A path that the dynamic linker has not met: the file stays open, so that it is taken.
            library = ctypes.CDLL(f"/proc/self/fd/{file}" if keep else name)
            _paths.add(name)
            _loaded[key] = _Loaded(library, status.st_mtime_ns)
            return library
    finally:
        if not keep:
            os.close(file)
