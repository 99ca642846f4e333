"""Has NVIDIA's assembler, ptxas, hold PTX against what a GPU has, and tell what kernels take."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from plumbline.errors import UserError
from plumbline.errors.temporary_folder import temporary_folder

_IN_PACKAGE = "nvidia/cu13/bin"
"""Where the package nvidia-cuda-nvcc has them."""

_KERNEL = re.compile(r"Compiling entry function '([^']+)'")
_MEMORY = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")
_MOST_THREADS = re.compile(r"\.entry\s+([\w$]+)\s*\([^)]*\)\s*\.maxntid\s+(\d+)")

_SERIALIZED = re.compile(r"wgmma\S* instructions are serialized .* in the function '([^']+)'")

_WARP = 32
_REGISTERS_OF_SM = 1 << 16
_REGISTERS_AT_ONCE = 256
"""A warp is given registers in such parts."""


@dataclass(frozen=True)
class _Multiprocessor:
    """What a multiprocessor of an architecture can run at once.

    From the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
    """

    threads: int
    blocks: int
    shared_bytes: int


_MULTIPROCESSORS = {
    "70": _Multiprocessor(2048, 32, 96 << 10),
    "75": _Multiprocessor(1024, 16, 64 << 10),
    "80": _Multiprocessor(2048, 32, 164 << 10),
    "86": _Multiprocessor(1536, 16, 100 << 10),
    "89": _Multiprocessor(1536, 24, 100 << 10),
    "90": _Multiprocessor(2048, 32, 228 << 10),
    "100": _Multiprocessor(2048, 32, 228 << 10),
}
_BLOCK_SHARED_BYTES = 1 << 10
"""Of shared memory, which the system takes for each block."""


@dataclass(frozen=True)
class KernelResources:
    """What a kernel takes of a multiprocessor."""

    name: str
    threads: int
    """Of a block."""
    registers: int
    """Of a thread."""
    shared_bytes: int
    """Of a block."""
    spill_bytes: int
    """Of a thread: what is written to memory as there is no register for it."""
    is_serialized: bool = False
    """Whether its products of warp groups wait for one another, as ptxas takes care of a register
    that something else writes meanwhile."""

    def occupancy(self, arch: str) -> float | None:
        """Which part of the threads that a multiprocessor can have it has; None if not known."""
        most = _MULTIPROCESSORS.get(arch.removeprefix("sm_").rstrip("af"))
        if most is None:
            return None
        warps = -(-self.threads // _WARP)
        of_warp = -(-self.registers * _WARP // _REGISTERS_AT_ONCE) * _REGISTERS_AT_ONCE
        blocks = min(
            most.blocks,
            most.threads // (warps * _WARP),
            _REGISTERS_OF_SM // max(of_warp * warps, 1),
            most.shared_bytes // (self.shared_bytes + _BLOCK_SHARED_BYTES),
        )
        return blocks * warps * _WARP / most.threads


def find_program(name: str) -> str:
    """A program of NVIDIA's: that of the package nvidia-cuda-nvcc, or else one on PATH.

    Raises:
      UserError: there is neither.
    """
    for folder in sys.path:
        if (program := Path(folder, _IN_PACKAGE, name)).is_file():
            return str(program)
    if found := shutil.which(name):
        return found
    raise UserError(
        f"there is no {name}: it is part of the Python package nvidia-cuda-nvcc, and of NVIDIA's "
        "CUDA toolkit"
    )


def run_program(command: Sequence[str], refusal: str) -> str:
    """Runs a program; gives what it says.

    Raises:
      UserError: it fails. The message begins with `refusal`.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"{refusal}:\n{done.stderr or done.stdout}")
    return done.stderr + done.stdout


def run_ptxas(source: Path, arch: str, cubin: Path) -> str:
    """Assembles a file of PTX for a GPU such as "sm_80"; gives what ptxas says of its kernels.

    Raises:
      UserError: there is no ptxas, or it refuses the module.
    """
    command = [find_program("ptxas"), "-v", f"-arch={arch}", str(source), "-o", str(cubin)]
    return run_program(command, f"ptxas refuses the kernels for {arch}")


def assemble(ptx: str, arch: str) -> list[KernelResources]:
    """Assembles a PTX module for a GPU such as "sm_80", and tells what its kernels take.

    Raises:
      UserError: there is no ptxas, or it refuses the module.
    """
    with temporary_folder() as folder:
        source = Path(folder, "kernels.ptx")
        source.write_text(ptx)
        said = run_ptxas(source, arch, Path(folder, "kernels.cubin"))
    threads = {name: int(count) for name, count in _MOST_THREADS.findall(ptx)}
    return list(_read(said, threads))


def _read(text: str, threads: dict[str, int]) -> Iterable[KernelResources]:
    serialized = frozenset(_SERIALIZED.findall(text))
    name, spilled = "", 0
    for line in text.splitlines():
        if match := _KERNEL.search(line):
            name = match[1]
        elif match := _MEMORY.search(line):
            spilled = int(match[2]) + int(match[3])
        elif match := _USED.search(line):
            registers, shared = int(match[1]), int(match[2] or 0)
            yield KernelResources(
                name, threads.get(name, 1), registers, shared, spilled, name in serialized
            )
