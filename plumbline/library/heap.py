"""The heap of the C library that compiled programs are linked with.

A program gives its temporaries back as it returns, and glibc gives what is then free at the end of
the heap back to the system, if that is more than twice the largest block that it mapped apart: 256
KiB to begin with. Each call takes it anew, page by page. What a recurrent layer of dynamic sizes
does in 5.1 ms took 5.9 so, and transforms of dynamic sizes that take 1.2 ms took 3.5. After a block
of the largest size that counts 64 MiB are kept, as they are once a process has freed a large tensor
(mallopt(3), M_MMAP_THRESHOLD).
"""

import ctypes
import os
import sys

# On Windows there are several of these, each with a heap of its own; Python has another one.
_LIBRARY = ctypes.CDLL("msvcrt" if os.name == "nt" else None)

_LARGEST_BYTES = (32 << 20) - (1 << 17)
"""Of a block that counts: 32 MiB, with what is noted beside it, in whole pages of up to 64 KiB."""

free = _LIBRARY.free
"""What C calls so; it takes an address."""
free.argtypes = [ctypes.c_void_p]
free.restype = None


def _keep_what_is_freed() -> None:
    allocate = _LIBRARY.malloc
    allocate.argtypes = [ctypes.c_size_t]
    allocate.restype = ctypes.c_void_p
    # Nothing is written to it, so that it takes no memory.
    free(allocate(_LARGEST_BYTES))


if sys.platform == "linux":
    _keep_what_is_freed()
