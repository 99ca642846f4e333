"""Has each allocation of programs fail in turn, and looks at what they say and what they lose."""

import ctypes
import faulthandler
import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

import llvmlite.binding as llvm
import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (as everybody calls it)
from torch._higher_order_ops.scan import scan
from torch.export import Dim

import plumbline
from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.runtime import openmp
from plumbline.target.cpu import cpu_target
from test.entries import llvm_ir_of
from test.forked import run_forked

_LIBC = ctypes.CDLL(None)
_LIBC.free.argtypes = [ctypes.c_void_p]
_LIBC.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
_LIBC.aligned_alloc.restype = ctypes.c_void_p


class _Allocator:
    """An allocator that fails once, and that knows what it has been given back."""

    def __init__(self) -> None:
        self.calls = 0
        self.failing: int | None = None
        self.alive: set[int] = set()
        self._lock = threading.Lock()
        size = ctypes.c_size_t
        self.allocate = ctypes.CFUNCTYPE(ctypes.c_void_p, size, size)(self._allocate)
        self.free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._free)

    def _allocate(self, alignment: int, size: int) -> int | None:
        with self._lock:
            self.calls += 1
            if self.calls - 1 == self.failing:
                return None
            pointer: int = _LIBC.aligned_alloc(alignment, size)
            self.alive.add(pointer)
            return pointer

    def _free(self, pointer: int | None) -> None:
        if pointer is None:
            return
        with self._lock:
            assert pointer in self.alive, "freed twice, or never allocated"
            self.alive.remove(pointer)
            _LIBC.free(pointer)


class _Library:
    """The checked entry of a program, whose memory comes from an allocator of ours."""

    def __init__(self, program: plumbline.CompiledProgram, allocator: _Allocator) -> None:
        entry = f"{program.signature.name}_checked"
        machine_code = emit_object(llvm_ir_of(program, "memref"), cpu_target("native"), 1)
        self._jit = llvm.create_lljit_compiler(use_jit_link=True)
        builder = (
            llvm.JITLibraryBuilder()
            .add_object_img(machine_code)
            .import_symbol("aligned_alloc", _address(allocator.allocate))
            .import_symbol("free", _address(allocator.free))
            .add_current_process()
            .export_symbol(entry)
        )
        for name, address in openmp.addresses(entry).items():
            builder.import_symbol(name, address)
        self._library = builder.link(self._jit, entry)
        self._address = self._library[entry]
        self._ranks = [spec.rank for spec in program.signature.outputs]

    def __call__(self, *arrays: np.ndarray[Any, Any]) -> tuple[str, set[int]]:
        """The message, or nothing, and the buffers of the results."""
        words: list[int] = []
        for array in arrays:
            strides = [stride // array.itemsize for stride in array.strides]
            words += [array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides]
        sizes = [3 + 2 * rank for rank in self._ranks]
        results = (ctypes.c_int64 * sum(sizes))()
        types = [ctypes.c_void_p, *[ctypes.c_int64] * len(words)]
        function = ctypes.CFUNCTYPE(ctypes.c_void_p, *types)(self._address)
        message = function(ctypes.addressof(results), *words)
        if message:
            text = ctypes.string_at(message).decode()
            _LIBC.free(message)
            assert not any(results), "a failed call writes no results"
            return text, set()
        return "", {results[place] for place in itertools.accumulate([0, *sizes[:-1]])}


def _address(callback: Any) -> int:
    return ctypes.cast(callback, ctypes.c_void_p).value or 0


def _linear(x: torch.Tensor, weight: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    # Products that are packed, in kernels that allocate.
    hidden = torch.relu(F.linear(x.reshape(-1, 40), weight))
    return hidden.softmax(1) @ hidden.T


def _convolution(x: torch.Tensor, weight: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    return torch.tanh(F.conv2d(x.reshape(1, 3, 20, -1), kernel)).sum((0, 2, 3))


def _sorted(x: torch.Tensor, weight: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    values, places = x.reshape(-1).sort()
    return values[places % 7]


def _scattered(x: torch.Tensor, weight: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    flat = x.reshape(-1)
    index = (flat * 5).to(torch.int64).clamp(0, 9)
    return torch.zeros(10).scatter_add(0, index, flat).cumsum(0)


def _recurrent(x: torch.Tensor, weight: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    state = torch.zeros(30)
    for row in x.reshape(-1, 40)[:3]:
        state = torch.tanh(F.linear(row, weight) + state)
    return state


def _looped(x: torch.Tensor, weight: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    def turn(state: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        after = torch.tanh(F.linear(row, weight) + state.flip(0))
        return after, after.softmax(0)

    results: torch.Tensor
    _, results = scan(turn, torch.zeros(30), x.reshape(-1, 40))
    return results


class _Model(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor, weight: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
        return self._function(x, weight, kernel)


@pytest.mark.parametrize(
    ("function", "dynamic"),
    [
        (_linear, False),
        (_linear, True),
        (_convolution, False),
        (_sorted, False),
        (_sorted, True),
        (_scattered, True),
        (_recurrent, False),
        (_looped, False),
        (_looped, True),
    ],
)
def test_each_allocation_that_fails_is_told_and_loses_nothing(
    function: Callable[..., torch.Tensor], *, dynamic: bool
) -> None:
    inputs = (torch.randn(3, 20, 40), torch.randn(30, 40), torch.randn(8, 3, 3, 3))
    shapes: tuple[Any, ...] | None = ({0: Dim("n", min=1)}, {}, {}) if dynamic else None
    program = plumbline.compile(_Model(function), inputs, shapes)
    arrays = [tensor.numpy() for tensor in inputs]
    allocator = _Allocator()
    library = _Library(program, allocator)
    message, buffers = library(*arrays)
    assert message == ""
    count = allocator.calls
    assert allocator.alive == buffers
    for failing in range(count):
        allocator.calls, allocator.failing, allocator.alive = 0, failing, set()
        message, _ = library(*arrays)
        assert message.startswith("func_main: there is no memory for ")
        assert message.endswith(" bytes")
        assert allocator.calls == failing + 1, "nothing is allocated after a failure"
        assert not allocator.alive


@pytest.mark.parametrize("function", [_linear, _convolution])
def test_an_allocation_that_fails_in_a_thread_is_told_and_loses_nothing(
    function: Callable[..., torch.Tensor],
) -> None:
    inputs = (torch.randn(40, 60, 40), torch.randn(300, 40), torch.randn(200, 3, 3, 3))
    program = plumbline.compile(_Model(function), inputs, threads=3)
    arrays = [tensor.numpy() for tensor in inputs]
    allocator = _Allocator()
    library = _Library(program, allocator)
    message, buffers = library(*arrays)
    assert message == ""
    assert allocator.alive == buffers
    in_threads = allocator.calls - program.stage("kernels").count("memref.alloc(")
    assert in_threads > 0, "several chunks allocate"
    for failing in range(allocator.calls):
        allocator.calls, allocator.failing, allocator.alive = 0, failing, set()
        message, _ = library(*arrays)
        assert message.startswith("func_main: there is no memory for ")
        assert message.endswith(" bytes")
        assert not allocator.alive


class _Outer(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, None] * x[None, :]


class _EntryWithoutChecks:
    """A program's. Call it with a size of its argument; it gives the sizes of the result."""

    def __init__(self) -> None:
        program = plumbline.compile(_Outer(), (torch.ones(3),), ({0: Dim("n")},))
        machine_code = emit_object(llvm_ir_of(program, "memref"), cpu_target("native"), 1)
        self._jit = llvm.create_lljit_compiler(use_jit_link=True)
        builder = llvm.JITLibraryBuilder().add_object_img(machine_code).add_current_process()
        self._library = builder.export_symbol("func_main").link(self._jit, "func_main")
        types = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 3
        self._function = ctypes.CFUNCTYPE(None, *types)(self._library["func_main"])
        self._x = (ctypes.c_float * 3)()

    def __call__(self, size: int) -> list[int]:
        address = ctypes.addressof(self._x)
        results = (ctypes.c_int64 * 7)()
        self._function(ctypes.addressof(results), address, address, 0, size, 1)
        return list(results)[3:5]


@pytest.fixture(scope="module")
def entry_without_checks() -> _EntryWithoutChecks:
    """Compiled once, and called in forks."""
    return _EntryWithoutChecks()


_PLACE = "kernels.mlir:7:14: error: "


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (2**22, f"there is no memory for {4 * 2**44} bytes"),
        # The number of bytes is a multiple of 2^64.
        (2**31, f"{_PLACE}there is no memory for a tensor of the sizes {2**31}, {2**31}"),
        (2**62, f"{_PLACE}there is no memory for a tensor of the sizes {2**62}, {2**62}"),
    ],
)
def test_the_entry_without_checks_ends_the_process_with_a_message(
    size: int,
    message: str,
    entry_without_checks: _EntryWithoutChecks,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def task(size: int, pipe: BinaryIO) -> None:
        # pytest's report of the end would be no part of the message.
        faulthandler.disable()
        pipe.write(str(entry_without_checks(3)).encode())
        pipe.flush()
        entry_without_checks(size)

    (end,) = run_forked([size], task, time_limit=60)
    assert end.written == b"[3, 3]"
    assert capfd.readouterr().err == f"func_main: {message}\n"
    assert end.death == "SIGABRT"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
