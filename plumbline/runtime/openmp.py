"""The runtime library of OpenMP's that programs on several threads are linked with.

It is GCC's libgomp, under the name of its ABI's version 1. A process has one copy of it: PyTorch
brings one under the same name, so that programs share its threads, rather than having some of their
own that wait for work by turning in circles.
"""

import ctypes

from plumbline.errors import UserError

NAME = "libgomp.so.1"

PARALLEL = "GOMP_parallel"
"""void (void (*worker)(void*), void* context, unsigned threads, unsigned flags)"""

THREAD_NUMBER = "omp_get_thread_num"
"""int (void): of the calling thread among those that run a worker, from 0."""


def addresses(who: str) -> dict[str, int]:
    """Loads the library into this process; gives where the functions are.

    Raises:
      UserError: there is no such library. The message says what `who` can do.
    """
    try:
        library = ctypes.CDLL(NAME)
    except OSError as error:
        raise UserError(
            f"{who}: to run on several threads it needs {NAME}, which cannot be loaded ({error}): "
            "install GCC's runtime library (Debian's package libgomp1), or compile for threads=1"
        ) from None
    return {
        name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
        for name in (PARALLEL, THREAD_NUMBER)
    }
