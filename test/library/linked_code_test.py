"""Machine code that is linked into the process."""

import ctypes
import mmap
import struct
import sys
from typing import BinaryIO

import numpy as np
import pytest

from plumbline.library.linked_code import LinkedCode
from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.target.cpu import cpu_target
from test.forked import End, run_forked

_PAGE = mmap.PAGESIZE

# The number that a function adds lies in a section of its own, which has room in a page. The code,
# whose functions each begin a page, has not.
_LLVM_IR = "".join(
    f"define double @add_{name}(double %x) align {_PAGE} {{\n"
    f"  %1 = fadd double %x, {number}\n"
    "  ret double %1\n"
    "}\n"
    for name, number in {"half": 0.5, "two": 2.0, "three": 3.0}.items()
)


def test_code_and_its_constants_lie_together() -> None:
    object_file = emit_object(_LLVM_IR, cpu_target("native"))
    (end,) = run_forked([object_file], _link_where_little_is_free, time_limit=60)
    assert end == End(object_file, struct.pack("d", 1.5), "")


def _link_where_little_is_free(object_file: bytes, pipe: BinaryIO) -> None:
    """A page is free at the top of memory, and what else is free lies 3 GB further down.

    So it is in a process with gigabytes of weights. Code reaches what is at most 2 GB away.
    """
    taken = _take_all_single_pages()
    taken.append(_reserve(3 << 30))
    # It may end at a huge page, and have single ones free above it.
    taken += _take_all_single_pages()
    taken.pop(0).close()
    code = LinkedCode(object_file, "add_half")
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(code.address)
    pipe.write(struct.pack("d", function(1.0)))


def _reserve(size: int) -> mmap.mmap:
    # What may not be touched counts as no memory.
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)


def _take_all_single_pages() -> list[mmap.mmap]:
    """Reserves pages until each lies below the last, as they do where nothing is free above."""
    pages: list[mmap.mmap] = []
    last = in_a_row = 0
    while in_a_row < 1000:
        pages.append(_reserve(_PAGE))
        address = np.frombuffer(pages[-1], np.uint8).ctypes.data
        in_a_row = in_a_row + 1 if address == last - _PAGE else 0
        last = address
    return pages


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
