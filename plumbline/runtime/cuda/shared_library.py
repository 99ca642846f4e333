"""The runtime as a shared library, for programs that are compiled and run in one process.

A library that Bazel builds has it linked in; this is for `plumbline.compile`.
"""

import ctypes
import functools
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plumbline.errors import UserError
from plumbline.errors.temporary_folder import temporary_folder
from plumbline.runtime.cuda.source import INCLUDES, SOURCE

if TYPE_CHECKING:
    import numpy as np

SYMBOLS = (
    "plumbline_cuda_allocate",
    "plumbline_cuda_begin",
    "plumbline_cuda_copy_on_device",
    "plumbline_cuda_copy_to_device",
    "plumbline_cuda_copy_to_host",
    "plumbline_cuda_device_of",
    "plumbline_cuda_end",
    "plumbline_cuda_failure",
    "plumbline_cuda_free",
    "plumbline_cuda_launch",
    "plumbline_cuda_put_on_device",
    "plumbline_cuda_replay",
    "plumbline_cuda_resident",
    "plumbline_cuda_submit",
    "plumbline_last_text",
)
"""What machine code calls."""


def addresses() -> dict[str, int]:
    """Where the functions lie that a program calls.

    Raises:
      UserError: there is no C compiler, or it fails.
    """
    library = _library()
    return {
        symbol: int(ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value or 0)
        for symbol in SYMBOLS
    }


def unload(state: "np.ndarray[Any, Any]") -> None:
    """Gives back what the program with that state has on devices."""
    _library().plumbline_cuda_unload(ctypes.c_void_p(state.ctypes.data))


@functools.cache
def _library() -> ctypes.CDLL:
    """The runtime, compiled once for each process, which takes 0.1 s."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise UserError(
            "plumbline.compile: a program for a GPU in this process needs a C compiler (cc), which "
            "is not on PATH"
        )
    with temporary_folder() as folder:
        library = Path(folder) / "libplumbline_cuda.so"
        command = [compiler, "-std=gnu11", "-O2", "-fPIC", "-shared", f"-I{INCLUDES}", str(SOURCE)]
        done = subprocess.run(
            [*command, "-o", str(library), "-ldl", "-lpthread"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise UserError(f"plumbline.compile: {compiler} failed:\n{done.stderr}")
        return ctypes.CDLL(str(library))
