"""What this machine can do at most: fused multiply-adds, copying and reading memory.

The kernels are LLVM IR, compiled for a target as programs are. Each repeats its work as often as
it is told, so that a run of it takes milliseconds whatever the size.
"""

import ctypes
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import llvmlite.binding as llvm
import numpy as np

from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.target.cpu import cpu_target
from plumbline.target.probe import vector_unit_of
from plumbline.target.target import Target
from test.benchmark.timing import clock_for

# Enough for two multiply-adds a cycle that each take four, and few enough for 16 registers.
_ACCUMULATORS = 12

_UNROLLED = 8

_SECONDS = 0.005


def _multiply_add(vector: str) -> str:
    """A function (repeats, bytes, source, target): `_ACCUMULATORS` multiply-adds a turn."""
    chains = range(_ACCUMULATORS)
    phis = "\n".join(f"  %a{i} = phi {vector} [%x, %entry], [%b{i}, %loop]" for i in chains)
    adds = "\n".join(
        f"  %b{i} = call {vector} @llvm.fma({vector} %x, {vector} %y, {vector} %a{i})"
        for i in chains
    )
    sums = "\n".join(
        f"  %s{i + 1} = fadd {vector} %s{i}, %b{i + 1}" for i in range(_ACCUMULATORS - 1)
    )
    return f"""
declare {vector} @llvm.fma({vector}, {vector}, {vector})
define void @kernel(i64 %repeats, i64 %bytes, ptr %source, ptr %target) {{
entry:
  %x = load {vector}, ptr %source, align 4
  %y = load {vector}, ptr %target, align 4
  br label %loop
loop:
  %n = phi i64 [0, %entry], [%next, %loop]
{phis}
{adds}
  %next = add i64 %n, 1
  %more = icmp ult i64 %next, %repeats
  br i1 %more, label %loop, label %end
end:
  %s0 = fadd {vector} %b0, %b0
{sums}
  store {vector} %s{_ACCUMULATORS - 1}, ptr %target, align 4
  ret void
}}
"""


def _over_memory(vector: str, size: int, *, write: bool) -> str:
    """A function of the same type that copies, or reads, `bytes` a turn."""
    turn = range(_UNROLLED)
    step = size * _UNROLLED
    loads = "\n".join(
        f"  %o{i} = add i64 %offset, {i * size}\n"
        f"  %p{i} = getelementptr i8, ptr %source, i64 %o{i}\n"
        f"  %v{i} = load {vector}, ptr %p{i}, align 4"
        for i in turn
    )
    stores = "\n".join(
        f"  %q{i} = getelementptr i8, ptr %target, i64 %o{i}\n"
        f"  store {vector} %v{i}, ptr %q{i}, align 4"
        for i in turn
    )
    if write:
        outer = phis = ends = ""
    else:
        outer = "\n".join(
            f"  %r{i} = phi {vector} [zeroinitializer, %entry], [%a{i}, %after]" for i in turn
        )
        phis = "\n".join(f"  %b{i} = phi {vector} [%r{i}, %again], [%a{i}, %loop]" for i in turn)
        stores = "\n".join(f"  %a{i} = fadd {vector} %b{i}, %v{i}" for i in turn)
        sums = "\n".join(
            f"  %s{i + 1} = fadd {vector} %s{i}, %a{i + 1}" for i in range(_UNROLLED - 1)
        )
        ends = (
            f"  %s0 = fadd {vector} %a0, %a0\n{sums}\n"
            f"  store {vector} %s{_UNROLLED - 1}, ptr %target, align 4"
        )
    return f"""
define void @kernel(i64 %repeats, i64 %bytes, ptr %source, ptr %target) {{
entry:
  br label %again
again:
  %n = phi i64 [0, %entry], [%next, %after]
{outer}
  br label %loop
loop:
  %offset = phi i64 [0, %again], [%onward, %loop]
{phis}
{loads}
{stores}
  %onward = add i64 %offset, {step}
  %inside = icmp ult i64 %onward, %bytes
  br i1 %inside, label %loop, label %after
after:
  %next = add i64 %n, 1
  %more = icmp ult i64 %next, %repeats
  br i1 %more, label %again, label %end
end:
{ends}
  ret void
}}
"""


_Run = Callable[[int, int, int, int], None]
"""Takes how often, how many bytes, where from, and where to."""


class _Kernel:
    """A compiled function, called outside of Python's lock."""

    def __init__(self, llvm_ir: str, target: Target) -> None:
        # At level 1 no loop becomes a call of memcpy where pointers may be the same.
        code = emit_object(llvm_ir, target, 1)
        self._jit = llvm.create_lljit_compiler(use_jit_link=True)
        library = llvm.JITLibraryBuilder().add_object_img(code).export_symbol("kernel")
        self._library = library.link(self._jit, "kernel")
        prototype = ctypes.CFUNCTYPE(
            None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p
        )
        self._function = prototype(self._library["kernel"])

    def __call__(self, repeats: int, count: int, source: int, target: int) -> None:
        self._function(repeats, count, source, target)


@dataclass(frozen=True)
class Rates:
    """What was measured: operations a second, and bytes a second, those read and written added."""

    flops: float
    copied: float
    read: float


class Ceilings:
    """Measures the machine with a number of threads, over as much memory as a program touches."""

    def __init__(self, target_cpu: str, threads: int, footprint: float) -> None:
        target = cpu_target(target_cpu)
        self.lanes = vector_unit_of(target).lanes(32)
        vector, size = f"<{self.lanes} x float>", self.lanes * 4
        self._threads = threads
        self._clock = clock_for(threads)
        self._pool = ThreadPoolExecutor(threads)
        step = size * _UNROLLED
        # Each thread has a part of its own: half to copy from, half to copy to.
        self._half = max(step, int(min(footprint, 2**30) / 2 / threads) // step * step)
        # Written, as all of what was not is one page of zeros, which a cache holds.
        self._memory = [np.ones(2 * self._half + 4096, np.uint8) for _ in range(threads)]
        self._kernels: dict[str, _Run] = {
            "flops": _Kernel(_multiply_add(vector), target),
            "copied": _Kernel(_over_memory(vector, size, write=True), target),
            "read": _Kernel(_over_memory(vector, size, write=False), target),
            "moved": _move,
        }
        work = {"flops": _ACCUMULATORS * self.lanes * 2.0, "read": float(self._half)}
        self._work = {name: work.get(name, 2.0 * self._half) for name in self._kernels}
        self._repeats = {name: self._calibrated(name) for name in self._kernels}
        self._best = dict.fromkeys(self._kernels, 0.0)

    def _calibrated(self, name: str) -> int:
        repeats = 1
        # The least of some, as memory is fresh at the first, and other programs run.
        while (seconds := min(self._seconds(name, repeats) for _ in range(3))) < _SECONDS:
            repeats = max(2 * repeats, int(repeats * _SECONDS / seconds / 2))
        return repeats

    def _seconds(self, name: str, repeats: int) -> float:
        kernel = self._kernels[name]
        begin = self._clock()
        list(self._pool.map(lambda part: kernel(repeats, self._half, *part), self._parts()))
        return self._clock() - begin

    def _parts(self) -> Iterator[tuple[int, int]]:
        for memory in self._memory:
            # On a cache line, source and target not the same distance from a page's begin.
            source = (memory.ctypes.data + 63) // 64 * 64
            yield source, source + self._half + 2048

    def measure(self) -> None:
        """One turn of each kernel."""
        for name, repeats in self._repeats.items():
            rate = self._threads * self._work[name] * repeats / self._seconds(name, repeats)
            self._best[name] = max(self._best[name], rate)

    def rates(self) -> Rates:
        """The best so far. Large copies are fastest as the C library makes them."""
        best = self._best
        return Rates(best["flops"], max(best["copied"], best["moved"]), best["read"])


def _move(repeats: int, count: int, source: int, target: int) -> None:
    for _ in range(repeats):
        ctypes.memmove(target, source, count)


def least_seconds(rates: Rates, flops: float, read: float, written: float) -> float:
    """The least time in which so many operations and bytes can be done, of the higher bound.

    What is both read and written passes at the rate of a copy, and the rest at the rate of reading.
    """
    copied = min(read, written)
    rest = max(read, written) - copied
    return max(flops / rates.flops, 2 * copied / rates.copied + rest / rates.read)
