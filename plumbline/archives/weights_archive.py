"""The file that keeps a program's weights out of its texts: safetensors.

Layout (safetensors 0.8, "Format"): 8 bytes, little-endian, with the length of the header; the
header, JSON, that maps each name to its dtype, shape and `data_offsets` (begin and end, counted
from the end of the header); then the elements, row-major and little-endian, without gaps.
"""

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plumbline.errors import UserError

LENGTH_BYTES = 8
"""The bytes before the header, which have its length."""
# As the safetensors library limits it.
_LONGEST_HEADER = 100_000_000


@dataclass(frozen=True)
class StoredWeight:
    """Where the elements of one weight lie in the file."""

    offset: int
    """In bytes, from the beginning of the file."""
    size: int
    """In bytes."""
    shape: tuple[int, ...]
    dtype: str
    """As the file spells it: F32."""

    @property
    def element_bytes(self) -> int:
        """The size of an element; 1 where there is none."""
        return max(self.size // max(math.prod(self.shape), 1), 1)

    def read(self, path: str | os.PathLike[str]) -> NDArray[Any]:
        """The elements, as unsigned integers of their width."""
        dtype = np.dtype(f"u{self.element_bytes}")
        count = self.size // dtype.itemsize
        return np.fromfile(path, dtype, count, offset=self.offset).reshape(self.shape)


def read_layout(path: str | os.PathLike[str]) -> dict[str, StoredWeight]:
    """Finds all weights in the file at `path`, by name.

    Raises:
      UserError: it cannot be read, or is not a whole safetensors file.
    """
    try:
        with Path(path).open("rb") as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            if length > _LONGEST_HEADER:
                raise UserError(
                    f"{os.fspath(path)}: not a safetensors file: its header is too long"
                )
            header = file.read(length)
            total = file.seek(0, os.SEEK_END)
    except OSError as error:
        raise UserError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
    begin = LENGTH_BYTES + length
    try:
        entries = json.loads(header)
        return {
            name: _stored(entry["data_offsets"], entry["shape"], entry.get("dtype"), begin, total)
            for name, entry in entries.items()
            if name != "__metadata__"
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UserError(f"{os.fspath(path)}: not a safetensors file: {error}") from error


def _stored(offsets: Any, shape: Any, dtype: Any, begin: int, total: int) -> StoredWeight:
    first, last = offsets
    if not (isinstance(first, int) and isinstance(last, int)):
        raise TypeError(f"data_offsets {offsets} are not whole numbers")
    if not all(isinstance(size, int) and size >= 0 for size in shape):
        raise TypeError(f"shape {shape} is not of whole numbers")
    if not 0 <= first <= last <= total - begin:
        raise ValueError(f"data_offsets {offsets} lie outside the file of {total} bytes")
    if (last - first) % max(math.prod(shape), 1):
        raise ValueError(f"{last - first} bytes do not make elements of shape {shape}")
    if not isinstance(dtype, str):
        raise TypeError(f"dtype {dtype} is no name")
    return StoredWeight(begin + first, last - first, tuple(shape), dtype)
