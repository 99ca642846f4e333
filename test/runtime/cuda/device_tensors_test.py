"""Programs whose callers have tensors on a GPU: conventions, streams, graphs, and other libraries.

The stand-in does what is queued on a stream when somebody waits for it, and no sooner.
"""

import ctypes
import gc
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional

import plumbline
from plumbline.errors import UserError
from plumbline.library.device import DeviceTensor, open_driver
from test.runtime.cuda.stand_in import Kernels, driver

_Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _stand_in() -> None:
    driver()


class _Function(nn.Module):
    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *operands: torch.Tensor) -> object:
        return self._function(*operands)


class _Program:
    """A program on the device, with what its kernels do."""

    def __init__(
        self, module: nn.Module, *inputs: Any, stream: bool = False, **options: Any
    ) -> None:
        self.module = module
        self.compiled = plumbline.compile(
            module, inputs, target="nvptx", on_gpu_tensors=True, stream=stream, **options
        )
        self._kernels = Kernels(self.compiled)

    def check(self, *operands: torch.Tensor) -> None:
        """Holds a call against PyTorch."""
        expected = self.module(*operands)
        actual = self.compiled(*map(_on_device, operands))
        if not isinstance(expected, tuple):
            expected = (expected,)
        for one, other in zip(actual, expected, strict=True):
            torch.testing.assert_close(torch.from_numpy(one.numpy()), other.detach())
        assert driver().plumbline_stand_in_current() == 0


def _on_device(tensor: torch.Tensor) -> DeviceTensor:
    return plumbline.device.copy_from(tensor.numpy())


class _OnStream:
    """A tensor of a library that says on which stream it is."""

    def __init__(self, tensor: DeviceTensor, stream: int) -> None:
        self._tensor, self._stream = tensor, stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self._tensor.__cuda_array_interface__, "stream": self._stream}


class _Lent:
    """A tensor of a library that has DLPack alone."""

    def __init__(self, array: _Array) -> None:
        self._array = array
        self.streams: list[int] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __dlpack__(self, stream: int) -> Any:
        self.streams.append(stream)
        return self._array.__dlpack__()


def _visible(tensor: DeviceTensor) -> _Array:
    """The stand-in's device memory as an array, which a card's could not be."""
    count = tensor.nbytes // 4
    flat = np.ctypeslib.as_array((ctypes.c_float * count).from_address(tensor.address))
    return flat.reshape(tensor.shape)


@contextmanager
def _stream() -> Iterator[int]:
    """A stream of the first device, which waits for no other."""
    handle = ctypes.c_void_p()
    with open_driver().current(0):
        open_driver().call("cuStreamCreate", ctypes.byref(handle), 1)
    assert handle.value is not None
    yield handle.value
    with open_driver().current(0):
        open_driver().call("cuStreamDestroy_v2", handle)


_LAYERS = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.LayerNorm(32)).eval()

_STATIC: dict[str, tuple[Callable[..., object], tuple[tuple[int, ...], ...]]] = {
    "layers": (_LAYERS, ((5, 64),)),
    "several": (lambda x: (x.sum(1), x.amax(1), x * 2), ((9, 70),)),
    # The same twice, an argument, and a part of one: memory of its own for each.
    "aliases": (lambda x: ((y := x.exp()), y, x, x[1:2]), ((3, 5),)),
    "concatenated": (lambda x, y: torch.cat((x, y)) * 2, ((5, 7), (6, 7))),
    "scan": (lambda x: x.cumsum(1), ((4, 9),)),
    "attention": (functional.scaled_dot_product_attention, ((2, 5, 8), (2, 7, 8), (2, 7, 8))),
}


def test_sizes_that_depend_on_values() -> None:
    """The host waits for them, and tells them; what is before the end of a result is its tensor."""
    program = _Program(_Function(lambda x: (x[x > 0], x.nonzero())), torch.randn(7, 9))
    for x in (torch.randn(7, 9), torch.ones(7, 9), -torch.ones(7, 9)):
        program.check(x)


def test_misaligned_tensors_are_refused() -> None:
    """Kernels read 16 bytes at once: a view that begins at another element has to be copied."""

    class _View:
        def __init__(self, tensor: DeviceTensor, first: int, count: int) -> None:
            described = dict(tensor.__cuda_array_interface__)
            described["shape"] = (count,)
            described["data"] = (tensor.address + 4 * first, False)
            self.__cuda_array_interface__ = described

    module = _Function(lambda x: x * 2)
    program = _Program(module, torch.ones(8))
    whole = _on_device(torch.arange(16, dtype=torch.float32))
    (doubled,) = program.compiled(_View(whole, 4, 8))
    assert doubled.numpy().tolist() == [2.0 * number for number in range(4, 12)]
    with pytest.raises(UserError, match="is not aligned to 16 bytes"):
        program.compiled(_View(whole, 1, 8))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", _STATIC)
def test_tensors_on_the_device(name: str, stream: bool) -> None:
    """Nothing of a call's is left; with a stream, what is repeated is a graph from then on."""
    function, shapes = _STATIC[name]
    operands = [torch.randn(shape) for shape in shapes]
    module = function if isinstance(function, nn.Module) else _Function(function)
    program = _Program(module, *operands, stream=stream)
    program.check(*operands)
    before = driver().plumbline_stand_in_allocated()
    for _ in range(3):
        program.check(*operands)
    assert driver().plumbline_stand_in_allocated() == before
    assert "plumbline.to_device" not in program.compiled.stage("gpu").replace(
        "plumbline.resident", ""
    ) or isinstance(function, nn.Module)


@pytest.mark.parametrize("stream", [False, True])
def test_sizes_that_are_not_known(stream: bool) -> None:
    module = _Function(lambda x: functional.layer_norm(x.softmax(-1), x.shape[-1:]))
    n = Dim("n", min=2)
    program = _Program(
        module,
        torch.randn(4, 9),
        stream=stream,
        dynamic_shapes={"operands": ({0: Dim("m"), 1: n},)},
    )
    for shape in ((4, 9), (7, 300), (4, 9), (1, 2)):
        program.check(torch.randn(shape))


def test_results_lie_where_they_are_wanted() -> None:
    program = _Program(_LAYERS, torch.randn(5, 64))
    x = torch.randn(5, 64)
    out = DeviceTensor((5, 32), plumbline.device.copy_from(np.ones(1, np.float32)).element_type, 0)
    (given,) = program.compiled(_on_device(x), out=out)
    assert given is out
    torch.testing.assert_close(torch.from_numpy(out.numpy()), _LAYERS(x).detach())
    with pytest.raises(UserError, match=r"out 0 is f32\[5, 64\], where .* f32\[5, 32\]"):
        program.compiled(_on_device(x), out=_on_device(x))


def test_a_call_returns_when_it_is_queued() -> None:
    """On the stream that an argument says; after the first call nothing is waited for."""
    program = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    out = plumbline.device.copy_from(np.zeros((5, 32), np.float32))
    with _stream() as stream:
        for _ in range(4):
            x = torch.randn(5, 64)
            argument = _on_device(x)
            _visible(out)[:] = 7
            waits = driver().plumbline_stand_in_waits()
            program.compiled(_OnStream(argument, stream), out=_OnStream(out, stream))
            is_first = _ == 0
            assert (driver().plumbline_stand_in_waits() > waits) == is_first
            assert (_visible(out) == 7).all()
            plumbline.device.synchronize()
            expected = _LAYERS(x).detach()
            torch.testing.assert_close(torch.from_numpy(_visible(out).copy()), expected)


def _launches_and_replays() -> tuple[int, int]:
    return driver().plumbline_stand_in_launches(), driver().plumbline_stand_in_replays()


def test_a_call_that_is_repeated_is_a_graph() -> None:
    """From the second call on with the same pointers, and not with others."""
    program = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    x, out = plumbline.device.copy_from(np.zeros((5, 64), np.float32)), torch.zeros(5, 32)
    result = _on_device(out)
    for launches, replays in ((2, 0), (2, 1), (0, 1), (0, 1)):
        values = torch.randn(5, 64)
        _visible(x)[:] = values.numpy()
        before = _launches_and_replays()
        program.compiled(x, out=result)
        after = _launches_and_replays()
        assert (after[0] - before[0], after[1] - before[1]) == (launches, replays)
        expected = _LAYERS(values).detach()
        torch.testing.assert_close(torch.from_numpy(result.numpy()), expected)
    before = _launches_and_replays()
    program.check(torch.randn(5, 64))
    assert _launches_and_replays() == (before[0] + 2, before[1])


def test_without_a_stream_a_call_waits() -> None:
    """For what is queued on the stream of an argument, and for what it does itself."""
    first = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    second = _Program(_Function(lambda x: x * 2), torch.randn(5, 32))
    x, out = torch.randn(5, 64), _on_device(torch.zeros(5, 32))
    # Whose memory is given back is waited for.
    argument = _on_device(x)
    with _stream() as stream:
        (between,) = first.compiled(_OnStream(argument, stream))
        second.compiled(between, out=out)
        torch.testing.assert_close(torch.from_numpy(_visible(out)), 2 * _LAYERS(x).detach())


def test_copies_and_streams_wait_for_one_another() -> None:
    program = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    x = torch.randn(5, 64)
    expected = _LAYERS(x).detach()
    # Whose memory is given back is waited for.
    kept: list[object] = []
    with _stream() as stream:
        # Weights and a workspace are there then.
        kept += program.compiled(_OnStream(_on_device(x), stream))
        argument = _on_device(x)
        (result,) = program.compiled(_OnStream(argument, stream))
        open_driver().wait_for(stream, 0)
        torch.testing.assert_close(torch.from_numpy(_visible(result)), expected)
        (other,) = program.compiled(_OnStream(argument, stream))
        torch.testing.assert_close(torch.from_numpy(other.numpy()), expected)


def test_results_say_what_they_wait_for() -> None:
    """Who reads them on their stream need not wait, and on another one does."""
    first = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    second = _Program(_Function(lambda x, y: x * y), *torch.randn(2, 5, 32), stream=True)
    x, y = torch.randn(5, 64), torch.randn(5, 32)
    expected = _LAYERS(x).detach() * y
    factor, argument = _on_device(y), _on_device(x)
    # Whose memory is given back is waited for.
    kept: list[object] = []
    with _stream() as stream, _stream() as other:
        for is_new in (True, False):
            waits = driver().plumbline_stand_in_waits()
            (between,) = first.compiled(_OnStream(argument, stream))
            assert isinstance(between, DeviceTensor)
            assert between.__cuda_array_interface__["stream"] == stream
            (result,) = second.compiled(between, _OnStream(factor, stream))
            assert (driver().plumbline_stand_in_waits() > waits) == is_new
            kept += [between, result]
            open_driver().wait_for(stream, 0)
            torch.testing.assert_close(torch.from_numpy(_visible(result)), expected)
        (between,) = first.compiled(_OnStream(argument, stream))
        (result,) = second.compiled(_OnStream(factor, other), between)
        open_driver().wait_for(other, 0)
        torch.testing.assert_close(torch.from_numpy(_visible(result)), expected)


def test_workspaces_of_streams_that_run_at_once() -> None:
    """What is queued on several is done in turns, so that temporaries of one would be another's."""
    module = nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(3))).eval()
    program = _Program(module, torch.randn(5, 64), stream=True)
    values = torch.randn(3, 5, 64)
    # Weights are there from then on.
    program.check(values[0])
    arguments = [_on_device(each) for each in values]
    with _stream() as first, _stream() as second:
        outs = [
            program.compiled(_OnStream(argument, stream))[0]
            for argument, stream in zip(arguments, (first, second, 1), strict=True)
        ]
        plumbline.device.synchronize()
        for one, x in zip(outs, values, strict=True):
            torch.testing.assert_close(torch.from_numpy(_visible(one)), module(x).detach())


def test_a_graph_is_of_one_device_and_its_results() -> None:
    """The same argument with other results is another call; each device has graphs of its own."""
    program = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    x = torch.randn(5, 64)
    expected = _LAYERS(x).detach()
    for number in (0, 1):
        argument = plumbline.device.copy_from(x.numpy(), number)
        outs = [plumbline.device.copy_from(np.zeros((5, 32), np.float32), number) for _ in range(2)]
        for _ in range(3):
            for out in outs:
                _visible(out)[:] = 7
                program.compiled(argument, out=out)
                torch.testing.assert_close(torch.from_numpy(out.numpy()), expected)
        before = _launches_and_replays()
        for out in outs:
            _visible(out)[:] = 7
            program.compiled(argument, out=out)
        assert _launches_and_replays() == (before[0], before[1] + 2)
        plumbline.device.synchronize()
        for out in outs:
            torch.testing.assert_close(torch.from_numpy(_visible(out)), expected)


def test_a_graph_is_replayed_on_the_stream() -> None:
    """Of the caller's, without waiting; where that fails the call is made without a graph."""
    program = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    x, out = torch.randn(5, 64), _on_device(torch.zeros(5, 32))
    argument, expected = _on_device(x), _LAYERS(x).detach()
    with _stream() as stream:
        operand, result = _OnStream(argument, stream), _OnStream(out, stream)
        for _ in range(2):
            program.compiled(operand, out=result)
        open_driver().wait_for(stream, 0)
        for fails in (False, True):
            _visible(out)[:] = 7
            if fails:
                driver().plumbline_stand_in_fail(b"cuGraphLaunch", 0, 700)
            before = _launches_and_replays()
            program.compiled(operand, out=result)
            after = _launches_and_replays()
            assert (after[0] - before[0], after[1] - before[1]) == (2 * fails, 1)
            if not fails:
                assert (_visible(out) == 7).all()
                open_driver().wait_for(stream, 0)
            torch.testing.assert_close(torch.from_numpy(_visible(out)), expected)


def test_programs_give_back_what_they_have_on_devices() -> None:
    """Modules, weights and graphs, on each device that they have run on."""
    gc.collect()
    counts = driver().plumbline_stand_in_allocated(), driver().plumbline_stand_in_left()
    program = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    for number in (0, 1):
        x = plumbline.device.copy_from(np.ones((5, 64), np.float32), number)
        out = plumbline.device.copy_from(np.ones((5, 32), np.float32), number)
        for _ in range(3):
            program.compiled(x, out=out)
    # A module and a graph on each device.
    assert driver().plumbline_stand_in_left() == counts[1] + 4
    del program, x, out
    gc.collect()
    assert driver().plumbline_stand_in_allocated() == counts[0]
    assert driver().plumbline_stand_in_left() == counts[1]


def test_several_threads_queue_at_once() -> None:
    """On streams of their own and on the default one: a workspace is one call's at a time."""
    program = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    values = [torch.randn(5, 64) for _ in range(12)]
    arguments = [_on_device(each) for each in values]
    with _stream() as first, _stream() as second, ThreadPoolExecutor(4) as pool:
        streams = (first, second, 1)

        def call(number: int) -> DeviceTensor:
            (result,) = program.compiled(_OnStream(arguments[number], streams[number % 3]))
            assert isinstance(result, DeviceTensor)
            return result

        driver().plumbline_stand_in_calls_take(2000)
        results = list(pool.map(call, range(12)))
        driver().plumbline_stand_in_calls_take(0)
        plumbline.device.synchronize()
        for each, result in zip(values, results, strict=True):
            expected = _LAYERS(each).detach()
            torch.testing.assert_close(torch.from_numpy(result.numpy()), expected)


def test_a_stream_that_the_caller_captures() -> None:
    """The launches become part of the caller's graph."""
    program = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    x, result = (
        plumbline.device.copy_from(np.zeros((5, 64), np.float32)),
        _on_device(torch.zeros(5, 32)),
    )
    program.compiled(x, out=result)
    graph, exec_ = ctypes.c_void_p(), ctypes.c_void_p()
    call = open_driver().call
    with _stream() as stream:
        operands = _OnStream(x, stream), _OnStream(result, stream)
        before = _launches_and_replays()
        for _ in range(3):
            program.compiled(operands[0], out=operands[1])
        # The program has a graph of its own by now, which another cannot have in it.
        assert _launches_and_replays()[1] > before[1]
        with open_driver().current(0):
            call("cuStreamBeginCapture_v2", ctypes.c_void_p(stream), 1)
        program.compiled(operands[0], out=operands[1])
        values = torch.randn(5, 64)
        with open_driver().current(0):
            call("cuStreamEndCapture", ctypes.c_void_p(stream), ctypes.byref(graph))
            call("cuGraphInstantiateWithFlags", ctypes.byref(exec_), graph, 0)
            _visible(x)[:] = values.numpy()
            call("cuGraphLaunch", exec_, ctypes.c_void_p(stream))
            call("cuGraphExecDestroy", exec_)
            call("cuGraphDestroy", graph)
        expected = _LAYERS(values).detach()
        torch.testing.assert_close(torch.from_numpy(result.numpy()), expected)


def test_calls_that_callers_capture_leave_room_for_graphs() -> None:
    """However often: a program keeps a few graphs of its own, each for other pointers."""
    program = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    x, result, other = (_on_device(torch.zeros(shape)) for shape in ((5, 64), (5, 32), (5, 32)))
    for out in (result, other):
        program.compiled(x, out=out)
    call = open_driver().call
    with _stream() as stream:
        # Of a stream, the first call allocates the workspace.
        program.compiled(_OnStream(x, stream), out=_OnStream(result, stream))
        for _ in range(20):
            graph = ctypes.c_void_p()
            with open_driver().current(0):
                call("cuStreamBeginCapture_v2", ctypes.c_void_p(stream), 1)
            program.compiled(_OnStream(x, stream), out=_OnStream(result, stream))
            with open_driver().current(0):
                call("cuStreamEndCapture", ctypes.c_void_p(stream), ctypes.byref(graph))
                call("cuGraphDestroy", graph)
    before = _launches_and_replays()
    for _ in range(2):
        program.compiled(x, out=other)
    # It is known from before, so that the next call is captured.
    assert _launches_and_replays() == (before[0] + 2, before[1] + 2)


@pytest.mark.parametrize(
    "function",
    [
        "cuStreamIsCapturing",
        "cuStreamCreate",
        "cuStreamBeginCapture_v2",
        "cuStreamEndCapture",
        "cuGraphInstantiateWithFlags",
        "cuGraphLaunch",
        "cuLaunchKernel",
    ],
)
def test_an_error_as_a_graph_is_made(function: str) -> None:
    """It is told, nothing is left over, and later calls succeed."""
    program = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    values = torch.randn(5, 64)
    x, result = _on_device(values), _on_device(torch.zeros(5, 32))
    program.compiled(x, out=result)
    left = driver().plumbline_stand_in_left()
    driver().plumbline_stand_in_fail(function.encode(), 0, 700)
    with pytest.raises(UserError, match=rf"{function}: CUDA_ERROR_ILLEGAL_ADDRESS \(700\)"):
        program.compiled(x, out=result)
    assert driver().plumbline_stand_in_left() == left
    assert driver().plumbline_stand_in_current() == 0
    for _ in range(3):
        program.compiled(x, out=result)
    torch.testing.assert_close(torch.from_numpy(result.numpy()), _LAYERS(values).detach())


def test_other_devices_and_tensors_of_two() -> None:
    """A program runs where its tensors are, with weights there."""
    program = _Program(_LAYERS, torch.randn(5, 64))
    program.check(torch.randn(5, 64))
    x = torch.randn(5, 64)
    (result,) = program.compiled(plumbline.device.copy_from(x.numpy(), 1))
    assert driver().plumbline_stand_in_device_of(result.address) == 1
    torch.testing.assert_close(torch.from_numpy(result.numpy()), _LAYERS(x).detach())
    with pytest.raises(UserError, match="out0 is on device 0, and what is before it on device 1"):
        program.compiled(
            plumbline.device.copy_from(x.numpy(), 1), out=_on_device(torch.zeros(5, 32))
        )


def test_dlpack() -> None:
    program = _Program(_LAYERS, torch.randn(5, 64), stream=True)
    x = torch.randn(5, 64)
    kept = _on_device(x)
    lent = _Lent(_visible(kept))
    (result,) = program.compiled(lent)
    # As DLPack calls the default stream.
    assert lent.streams == [1]
    torch.testing.assert_close(torch.from_numpy(result.numpy()), _LAYERS(x).detach())
    with _stream() as stream:
        out = _OnStream(result, stream)
        lent = _Lent(_visible(kept))
        (given,) = program.compiled(lent, out=out)
        assert given is out
        # Results say nothing of that.
        assert lent.streams == [1]
        other = _OnStream(_on_device(x), stream)
        pair = _Program(_Function(lambda x, y: x + y), x, x, stream=True)
        pair.compiled(other, lent)
        assert lent.streams == [1, stream]


def test_misplaced_pointers() -> None:
    """The machine code asks the driver where each is; Python takes what an interface says."""
    program = _Program(_LAYERS, torch.randn(5, 64))
    x = np.zeros((5, 64), np.float32)
    with pytest.raises(UserError, match="input is in memory of the host, where this program takes"):
        program.compiled(_Lent(x))


def _given_by(function: str, *sizes: int) -> int:
    """The address of memory that the driver allocates by a function."""
    address = ctypes.c_uint64()
    with open_driver().current(0):
        open_driver().call(function, ctypes.byref(address), ctypes.c_size_t(4 * 5 * 64), *sizes)
    return address.value


def test_memory_that_is_the_hosts_too() -> None:
    """What is managed may be anywhere; what is pinned is the host's."""
    x = torch.randn(5, 64)

    def lent(address: int) -> _Array:
        flat = np.ctypeslib.as_array((ctypes.c_float * x.numel()).from_address(address))
        flat[:] = x.numpy().ravel()
        return flat.reshape(5, 64)

    managed, pinned = _given_by("cuMemAllocManaged", 1), _given_by("cuMemAllocHost_v2")
    on_device = _Program(_LAYERS, torch.randn(5, 64))
    on_host = plumbline.compile(_LAYERS, (x,), target="nvptx")
    expected = _LAYERS(x).detach()
    (result,) = on_device.compiled(_Lent(lent(managed)))
    torch.testing.assert_close(torch.from_numpy(result.numpy()), expected)
    with pytest.raises(UserError, match="input is in memory of the host, where this program takes"):
        on_device.compiled(_Lent(lent(pinned)))
    for address in (managed, pinned):
        torch.testing.assert_close(on_host(torch.from_numpy(lent(address)))[0], expected)
        with open_driver().current(0):
            open_driver().call("cuMemFree_v2", ctypes.c_uint64(address))


def test_what_is_no_tensor_on_a_gpu_is_said() -> None:
    program = _Program(_LAYERS, torch.randn(5, 64))
    x = torch.randn(5, 64)
    for argument, message in (
        (x, "argument 0 is a Tensor: it is on the device 'cpu'"),
        (3, "argument 0 is a int: it is no tensor on a GPU"),
        (x.numpy(), "argument 0 is a ndarray: DLPack has its memory on a device of type 1"),
        (_on_device(x.double()), r"argument 0 is f64\[5, 64\], where .* takes f32\[5, 64\]"),
        (_on_device(x[:4]), r"argument 0 is f32\[4, 64\], where"),
    ):
        with pytest.raises(UserError, match=message):
            program.compiled(argument)


def test_written_in_place() -> None:
    class _Put(nn.Module):
        def forward(self, x: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
            cache[1] = x.sum()
            return cache * 2

    program = _Program(_Put(), torch.ones(3), torch.zeros(3), stream=True, mutable=("cache",))
    cache = _on_device(torch.zeros(3))
    for _ in range(3):
        (result,) = program.compiled(_on_device(torch.ones(3)), cache)
        assert result.numpy().tolist() == [0, 6, 0]
        assert cache.numpy().tolist() == [0, 3, 0]
    with pytest.raises(UserError, match="argument 1 shares memory with another argument"):
        program.compiled(cache, cache)


@pytest.mark.parametrize("stream", [False, True])
def test_numbers_are_on_the_host(stream: bool) -> None:
    module = _Function(lambda x, scale: x * scale)
    dynamic: dict[str, Any] = {"operands": ({}, Dim.DYNAMIC)}
    program = _Program(module, torch.ones(5), 2.0, stream=stream, dynamic_shapes=dynamic)
    for scale in (3.0, 5.0, 5.0, 5.0):
        (result,) = program.compiled(_on_device(torch.ones(5)), scale)
        assert result.numpy().tolist() == [scale] * 5


def test_numbers_are_queued_too() -> None:
    """Nobody waits for them, and calls on one stream do not take those of later ones."""
    module = _Function(lambda x, scale: x * scale)
    dynamic: dict[str, Any] = {"operands": ({}, Dim.DYNAMIC)}
    program = _Program(module, torch.ones(5), 2.0, stream=True, dynamic_shapes=dynamic)
    x = _on_device(torch.ones(5))
    outs = [_on_device(torch.zeros(5)) for _ in range(3)]
    program.compiled(x, 1.0, out=outs[0])
    with _stream() as stream:
        waits = driver().plumbline_stand_in_waits()
        for out, scale in zip(outs, (3.0, 5.0, 7.0), strict=True):
            program.compiled(_OnStream(x, stream), scale, out=_OnStream(out, stream))
            # The workspace of a new stream.
            waits += driver().plumbline_stand_in_waits() - waits if scale == 3.0 else 0
        assert driver().plumbline_stand_in_waits() == waits
        open_driver().wait_for(stream, 0)
        assert [_visible(out)[0] for out in outs] == [3.0, 5.0, 7.0]


def test_a_stream_does_not_wait_for_what_the_host_looks_at() -> None:
    table = nn.Embedding(10, 8).eval()
    index = torch.randint(0, 10, (4, 3))
    with pytest.raises(UserError, match="stream = True: the host looks at what the device comp"):
        _Program(table, index, stream=True)
    program = _Program(table, index, stream=True, runtime_checks="off")
    program.check(index)
    # Without a stream there is such a check.
    checked = _Program(table, index)
    checked.check(index)
    with pytest.raises(UserError, match="index 10 is out of range"):
        checked.compiled(_on_device(torch.full((4, 3), 10)))


def test_conventions_that_do_not_go_together() -> None:
    relu, x = nn.ReLU(), torch.randn(4)
    with pytest.raises(UserError, match="stream goes with on_gpu_tensors"):
        plumbline.compile(relu, (x,), target="nvptx", stream=True)
    with pytest.raises(UserError, match="on_gpu_tensors goes with target=\"nvptx\", not 'host'"):
        plumbline.compile(relu, (x,), on_gpu_tensors=True)
    with pytest.raises(UserError, match=r'plumbline.compile: threads=2 goes with target="host"'):
        plumbline.compile(relu, (x,), target="nvptx", threads=2)
    with pytest.raises(UserError, match="stream is 7; it is True or False"):
        plumbline.compile(relu, (x,), stream=7)  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
