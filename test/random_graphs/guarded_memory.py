"""Memory that ends the process when what lies before it or behind it is touched."""

import ctypes
import mmap

import numpy as np

from plumbline.archives.reference_archive import Tensor

_PAGE = mmap.PAGESIZE
_NONE = 0

_libc = ctypes.CDLL(None, use_errno=True)


def guarded_bytes(count: int, *, behind: bool) -> Tensor:
    """So many bytes of 0xFF, which are no number as floats, with a page that nobody may touch.

    That is directly behind them, or else before them; on their other side there is one within
    the size of a page. What a multiple of 64 bytes is, is aligned to that.
    """
    used = -(-max(count, 1) // _PAGE) * _PAGE
    mapping = mmap.mmap(-1, used + 2 * _PAGE)
    memory = np.frombuffer(mapping, np.uint8)
    memory[:] = 0xFF
    for page in (memory[:_PAGE], memory[-_PAGE:]):
        _protect(page, _NONE)
    own = memory[_PAGE:-_PAGE]
    return own[used - count :] if behind else own[:count]


def guarded_copy(array: Tensor, *, behind: bool, writable: bool) -> Tensor:
    """A copy of an array in such memory, row-major, which may be for reading only."""
    bytes_ = guarded_bytes(array.nbytes, behind=behind)
    copy = bytes_.view(array.dtype).reshape(array.shape)
    copy[...] = array
    if not writable and array.nbytes > 0:
        start = copy.ctypes.data // _PAGE * _PAGE
        _mprotect(start, copy.ctypes.data + array.nbytes - start, mmap.PROT_READ)
    return copy


def _protect(pages: Tensor, protection: int) -> None:
    _mprotect(pages.ctypes.data, pages.nbytes, protection)


def _mprotect(start: int, bytes_: int, protection: int) -> None:
    if _libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(bytes_), protection) != 0:
        raise OSError(ctypes.get_errno(), "mprotect")
