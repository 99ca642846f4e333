"""The stand-in driver in this process: programs for a GPU then run here, on the CPU."""

import ctypes
import functools
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import llvmlite.binding as llvm

from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.target.cpu import cpu_target
from tools.gpu.emulated_kernels import CALLED, PREFIX, emulated_kernels

_ROOT = Path(__file__).parents[3]
_SOURCE = _ROOT / "tools" / "gpu" / "stand_in_driver.cpp"
_BUILT = _SOURCE.with_name("libcuda.so.1")
"""What Bazel has built of it for all tests: to compile it takes three seconds."""


@functools.cache
def driver() -> ctypes.CDLL:
    """The stand-in. As it has the driver's name, whoever opens that one later is given this."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        library = _BUILT if _BUILT.exists() else _compiled(Path(folder))
        loaded = ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    for counter in ("allocated", "launches", "left", "replays", "uploads", "waits"):
        getattr(loaded, f"plumbline_stand_in_{counter}").restype = ctypes.c_int64
    loaded.plumbline_stand_in_device_of.argtypes = [ctypes.c_uint64]
    loaded.plumbline_stand_in_most_bytes.argtypes = [ctypes.c_size_t]
    return loaded


def _compiled(folder: Path) -> Path:
    """The same where there is no Bazel, as its rule says to compile it."""
    library = folder / _BUILT.name
    command = ["c++", "-std=c++17", "-O1", "-fPIC", "-shared", f"-I{_ROOT}", str(_SOURCE)]
    named = [f"-Wl,-soname,{library.name}", "-o", str(library), "-ldl"]
    subprocess.run([*command, *named], check=True)
    return library


class _Stages(Protocol):
    """A program that has the text of each of its stages."""

    def stage(self, name: str) -> str:
        """The text of one."""


@dataclass(frozen=True)
class GpuStage:
    """The gpu stage of a library, which is text, in the place of a program that has stages."""

    text: str

    def stage(self, name: str) -> str:
        """The text, of that stage alone."""
        assert name == "gpu"
        return self.text


class Kernels:
    """What the kernels of a program do, for as long as this lives."""

    def __init__(self, program: _Stages) -> None:
        stand_in = driver()
        llvm_ir, names = emulated_kernels(program.stage("gpu"))
        self._jit = llvm.create_lljit_compiler(use_jit_link=True)
        # To optimise it takes several times what it saves where each kernel runs a few times.
        machine_code = emit_object(llvm_ir, cpu_target("native"), optimisation_level=0)
        library = llvm.JITLibraryBuilder().add_object_img(machine_code).add_current_process()
        for name in CALLED:
            symbol = PREFIX + name
            address = ctypes.cast(getattr(stand_in, symbol), ctypes.c_void_p).value
            library.import_symbol(symbol, address)
        for name in names:
            library.export_symbol(PREFIX + name)
        self._library = library.link(self._jit, f"kernels_{id(self)}")
        for name in names:
            entry = ctypes.c_void_p(self._library[PREFIX + name])
            stand_in.plumbline_stand_in_register(name.encode(), entry)
