"""Libraries as C programs call them: on a stream, with a driver that fails, and by wrong pointers.

Whatever function of the driver fails, the caller is told, and nothing is left behind. Each is made
to fail the first time that a library calls it. Copies of a library have a runtime each, so that
every one begins from nothing: without a context, a module, or weights on the device.
"""

import ctypes
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

import plumbline
from plumbline.library import device
from plumbline.library_files.build import LibraryBuild, TcpProgram, TorchProgram
from plumbline.library_files.options import LibraryOptions
from plumbline.runtime.cuda.source import SOURCE
from test.runtime.cuda.stand_in import GpuStage, Kernels, driver

_ERROR = 700
_CALLS = 4
"""Of one library with the same tensors: the second is captured, and the others are replayed."""

_FUNCTIONS = set(
    re.findall(r"^  F\((cu\w+),", SOURCE.with_name("driver.h").read_text(), re.MULTILINE)
) - {"cuGetErrorName"}
"""All but the one that is called where another has failed."""

_GIVES_BACK = frozenset(
    {
        "cuCtxPopCurrent_v2",
        "cuDevicePrimaryCtxRelease_v2",
        "cuGraphDestroy",
        "cuGraphExecDestroy",
        "cuModuleUnload",
        "cuStreamDestroy_v2",
    }
)
"""The call is over by then, and there is nothing that a caller could do about it."""

_UNTOLD = _GIVES_BACK | {"cuPointerGetAttributes"}
"""A pointer that nobody can tell the place of is taken for right."""


class _Layers(nn.Module):
    """Two launches, weights, results of which one is a copy, and a graph where calls repeat."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.LayerNorm(32)).eval()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        result = self.layers(x)
        return result, result


class _Product(nn.Module):
    """On tensors of the host; its kernel takes more shared memory than it may declare."""

    def forward(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, weight)


_NUMBERS = """
func.func @numbers(%x: tensor<7xf64>, %scale: tensor<f64>, %flag: tensor<i1>) -> tensor<7xf64>
    attributes {plumbline.signature = {
        inputs = [{name = "x", type = "f64"}, {name = "scale", scalar, type = "f64"},
                  {name = "flag", scalar, type = "i1"}],
        outputs = [{name = "out0", type = "f64"}]}} {
  %place = tensor.empty() : tensor<7xf64>
  %result = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>,
                     affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%x, %scale, %flag : tensor<7xf64>, tensor<f64>, tensor<i1>)
    outs(%place : tensor<7xf64>) {
  ^bb0(%one: f64, %by: f64, %less: i1, %_: f64):
    %scaled = arith.mulf %one, %by : f64
    %number = arith.uitofp %less : i1 to f64
    %moved = arith.subf %scaled, %number : f64
    linalg.yield %moved : f64
  } -> tensor<7xf64>
  return %result : tensor<7xf64>
}
"""
"""Numbers by value, of more than a word and of less."""


@dataclass(frozen=True)
class _Program:
    """What a library is made of, and what one call takes and gives."""

    source: nn.Module | str
    inputs: tuple[Any, ...]
    expected: tuple[torch.Tensor, ...]
    shapes: Any = None
    on_stream: bool = True

    @classmethod
    def of(cls, module: nn.Module, *inputs: torch.Tensor, **options: Any) -> "_Program":
        with torch.no_grad():
            result = module(*inputs)
        return cls(module, inputs, result if isinstance(result, tuple) else (result,), **options)


_X = torch.randn(7, dtype=torch.float64)

_PROGRAMS = {
    "layers": _Program.of(_Layers(), torch.randn(5, 64)),
    "numbers": _Program(_NUMBERS, (_X, 2.5, True), (_X * 2.5 - 1,)),
    "product": _Program.of(
        _Product(),
        torch.randn(40, 160).half(),
        torch.randn(30, 160).half(),
        shapes={"x": {0: Dim("rows")}, "weight": {0: Dim("columns")}},
        on_stream=False,
    ),
}


@dataclass(frozen=True)
class _Made:
    """The library of a program, and what its kernels do."""

    name: str
    file: Path
    kernels: Kernels


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Sequence[_Made]:
    driver()
    return [_make(name, tmp_path_factory.mktemp(name)) for name in _PROGRAMS]


def _make(name: str, folder: Path) -> _Made:
    program = _PROGRAMS[name]
    source: TcpProgram | TorchProgram
    if isinstance(program.source, str):
        file = folder / f"{name}.mlir"
        file.write_text(program.source)
        source = TcpProgram(file)
    else:
        loaded = plumbline.TorchLoaderOutput(
            program.source, program.inputs, program.shapes, func_name=name
        )
        source = TorchProgram(name, name, lambda: loaded, recorded=False)
    on_stream = program.on_stream
    options = LibraryOptions(name, target="nvptx", on_gpu_tensors=on_stream, stream=on_stream)
    build = LibraryBuild(source, options, folder)
    build.file("shared-object")
    text = build.file("gpu").read_text()
    return _Made(name, folder / f"lib{name}.so", Kernels(GpuStage(text)))


@pytest.fixture
def stream() -> Iterator[int]:
    """A stream of the first device that waits for no other."""
    driver()
    handle, of_driver = ctypes.c_void_p(), device.open_driver()
    with of_driver.current(0):
        of_driver.call("cuStreamCreate", ctypes.byref(handle), 1)
    assert handle.value is not None
    yield handle.value
    with of_driver.current(0):
        of_driver.call("cuStreamDestroy_v2", handle)


class _Caller:
    """A C program that calls a library again and again with the same tensors, on a stream."""

    def __init__(self, program: _Program, name: str, file: Path, stream: int) -> None:
        self._library = ctypes.CDLL(str(file))
        self._entry, self._error = self._library[name], self._library[f"{name}_error"]
        self._error.restype = ctypes.c_char_p
        self._expected = program.expected
        self._keep: list[Any] = []
        self._results: list[Any] = []
        words: list[Any] = [
            self._place(value.numpy(), program) if isinstance(value, torch.Tensor) else value
            for value in map(_c_value, program.inputs)
        ]
        for each in program.expected:
            words.append(self._place(np.zeros(each.shape, each.numpy().dtype), program))
            self._results.append(self._keep[-1])
        if program.on_stream:
            bytes_ = int(self._library[f"{name}_workspace_size"]())
            # No byte more.
            words.append(self._place(np.zeros(bytes_, np.uint8), program))
            words.append(ctypes.c_void_p(stream))
        else:
            words += [ctypes.c_int64(len(each)) for each in program.inputs]
        self._words = words

    def _place(self, array: "np.ndarray[Any, Any]", program: _Program) -> ctypes.c_void_p:
        self._keep.append(device.copy_from(array) if program.on_stream else array)
        kept = self._keep[-1]
        return ctypes.c_void_p(kept.address if program.on_stream else kept.ctypes.data)

    def call(self) -> str:
        """What went wrong; nothing: all is well."""
        code = self._entry(*self._words)
        text: bytes = self._error(code)
        return text.decode() if code != 0 else ""

    def check(self) -> None:
        """Holds the results of calls so far against PyTorch."""
        for one, other in zip(self._results, self._expected, strict=True):
            actual = one if isinstance(one, np.ndarray) else one.numpy()
            torch.testing.assert_close(torch.from_numpy(actual), other, rtol=1e-2, atol=1e-2)

    def close(self) -> None:
        """Unloads the library."""
        ctypes.CDLL(None).dlclose(ctypes.c_void_p(self._library._handle))

    def misplaced(self, number: int, pointer: ctypes.c_void_p | None) -> str:
        """What is said of another pointer in the place of an argument."""
        words = list(self._words)
        words[number] = pointer
        code = self._entry(*words)
        text: bytes = self._error(code)
        return text.decode() if code != 0 else ""

    def multiply(self, number: float, out: device.DeviceTensor) -> None:
        """Calls with another number, and for another result."""
        x, _, flag, _, *others = self._words
        words = [x, ctypes.c_double(number), flag, ctypes.c_void_p(out.address), *others]
        assert self._entry(*words) == 0


def _c_value(value: Any) -> Any:
    """A number as C's; tensors as they are."""
    if isinstance(value, float):
        return ctypes.c_double(value)
    return ctypes.c_bool(value) if isinstance(value, bool) else value


def _counts() -> tuple[int, ...]:
    """What is on the devices, and how often they are held."""
    stand_in = driver()
    return (
        stand_in.plumbline_stand_in_allocated(),
        stand_in.plumbline_stand_in_left(),
        stand_in.plumbline_stand_in_retained(0),
        stand_in.plumbline_stand_in_retained(1),
    )


@pytest.mark.parametrize("function", sorted(_FUNCTIONS))
def test_a_function_of_the_driver_fails(
    function: str, made: Sequence[_Made], stream: int, tmp_path: Path
) -> None:
    """The call says so, the next ones are right, and an unloaded library leaves nothing."""
    stand_in = driver()
    is_met = False
    for one in made:
        before = _counts()
        file = Path(shutil.copy(one.file, tmp_path))
        caller = _Caller(_PROGRAMS[one.name], one.name, file, stream)
        stand_in.plumbline_stand_in_fail(function.encode(), 0, _ERROR)
        said = [caller.call() for _ in range(_CALLS)]
        is_told = not stand_in.plumbline_stand_in_is_to_fail() and function not in _UNTOLD
        caller.close()
        has_failed = not stand_in.plumbline_stand_in_is_to_fail()
        is_met |= has_failed
        stand_in.plumbline_stand_in_fail(b"", 0, 0)
        problems = [text for text in said if text]
        if not is_told:
            assert problems == []
        else:
            # A driver that does not begin is not asked again.
            assert len(problems) == (_CALLS if function == "cuInit" else 1)
            assert all(f"{function}: CUDA_ERROR_ILLEGAL_ADDRESS (700)" in text for text in problems)
        if function != "cuInit":
            caller.check()
        # What the driver does not give back is there still.
        if has_failed and function == "cuCtxPopCurrent_v2":
            device.open_driver().call(function, ctypes.byref(ctypes.c_void_p()))
        assert stand_in.plumbline_stand_in_current() == 0
        del caller
        if not (has_failed and function in _GIVES_BACK | {"cuMemFree_v2"}):
            assert _counts() == before
    assert is_met


def test_misplaced_pointers(made: Sequence[_Made], stream: int, tmp_path: Path) -> None:
    """Of tensors and of the workspace: the host's, another device's, null, and between elements."""
    one = made[list(_PROGRAMS).index("layers")]
    file = Path(shutil.copy(one.file, tmp_path))
    caller = _Caller(_PROGRAMS[one.name], one.name, file, stream)
    of_host = np.zeros(1 << 14, np.uint8)
    first_of_host = ctypes.c_void_p(-(-of_host.ctypes.data // 64) * 64)
    elsewhere = device.copy_from(of_host, 1)
    here = device.copy_from(of_host)
    before = _counts()
    for number, name, alignment in ((0, "x", 16), (1, "out0", 16), (3, "workspace", 64)):
        for pointer, said in (
            (first_of_host, "is in memory of the host, where this program takes device memory"),
            (None, "is null"),
            (
                ctypes.c_void_p(here.address + alignment // 2),
                f"is not aligned to {alignment} bytes",
            ),
        ):
            assert caller.misplaced(number, pointer).startswith(f"{name} {said}")
    for number, name in ((1, "out0"), (2, "out1"), (3, "workspace")):
        text = caller.misplaced(number, ctypes.c_void_p(elsewhere.address))
        assert text.startswith(f"{name} is on device")
    assert _counts() == before
    assert caller.call() == ""
    caller.check()
    caller.close()


def test_numbers_are_in_what_is_queued(made: Sequence[_Made], stream: int, tmp_path: Path) -> None:
    """In the order of the stream, which nobody waits for; in a graph of the caller's too."""
    one = made[list(_PROGRAMS).index("numbers")]
    file = Path(shutil.copy(one.file, tmp_path))
    caller = _Caller(_PROGRAMS[one.name], one.name, file, stream)
    outs = [device.copy_from(np.zeros(7)) for _ in range(3)]
    seen = [np.ctypeslib.as_array((ctypes.c_double * 7).from_address(out.address)) for out in outs]
    # Kernels are loaded then.
    caller.multiply(1.0, outs[0])
    device.synchronize()
    waits = driver().plumbline_stand_in_waits()
    queue, graph, exec_ = ctypes.c_void_p(stream), ctypes.c_void_p(), ctypes.c_void_p()
    call = device.open_driver().call
    caller.multiply(2.0, outs[0])
    caller.multiply(3.0, outs[1])
    with device.open_driver().current(0):
        call("cuStreamBeginCapture_v2", queue, 1)
        caller.multiply(4.0, outs[2])
        call("cuStreamEndCapture", queue, ctypes.byref(graph))
        call("cuGraphInstantiateWithFlags", ctypes.byref(exec_), graph, 0)
        call("cuGraphLaunch", exec_, queue)
    assert driver().plumbline_stand_in_waits() == waits
    assert not seen[1].any()
    assert not seen[2].any()
    device.synchronize()
    for number, result in zip((2.0, 3.0, 4.0), seen, strict=True):
        torch.testing.assert_close(torch.from_numpy(result), _X * number - 1)
    with device.open_driver().current(0):
        call("cuGraphExecDestroy", exec_)
        call("cuGraphDestroy", graph)
    caller.close()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
