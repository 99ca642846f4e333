"""Calls with tensors of PyTorch's that are on a GPU.

They lie in the stand-in's memory, and say that they are there, as PyTorch here knows no GPU.
"""

import ctypes
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import plumbline
from plumbline.errors import UserError
from plumbline.library import torch_arguments
from plumbline.library.device import DeviceTensor, open_driver
from plumbline.signature.element_type import from_name
from test.runtime.cuda.stand_in import Kernels, driver

_MODEL = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.LayerNorm(32)).eval()


class _CudaTensor(torch.Tensor):
    """A tensor that says it is on the first GPU."""

    is_cuda = True
    device = torch.device("cuda", 0)
    memory: DeviceTensor

    def get_device(self) -> int:
        """The number of that."""
        return 0


def _on_device(values: torch.Tensor) -> torch.Tensor:
    memory = plumbline.device.copy_from(values.detach().numpy())
    return _seen(memory, values.dtype, tuple(values.shape))


def _seen(memory: DeviceTensor, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    bytes_ = (ctypes.c_uint8 * memory.nbytes).from_address(memory.address)
    tensor = torch.from_numpy(np.ctypeslib.as_array(bytes_)).view(dtype).reshape(shape)
    tensor = tensor.as_subclass(_CudaTensor)
    tensor.memory = memory
    return tensor


class _Allocator:
    """Gives memory that was there before, as PyTorch does within a capture."""

    def __init__(self) -> None:
        self._left = [DeviceTensor((1 << 16,), from_name("u8"), 0) for _ in range(40)]
        self._taken: list[DeviceTensor] = []
        self.given: list[torch.Tensor] = []

    def empty(self, shape: Any, *, dtype: torch.dtype, device: Any) -> torch.Tensor:
        """What `torch.empty` gives."""
        assert torch.device(device) == _CudaTensor.device
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        memory = self._left.pop()
        self._taken.append(memory)
        first = torch.Size(sizes).numel() * dtype.itemsize
        tensor = _seen(memory, torch.uint8, (memory.nbytes,))[:first].view(dtype).view(sizes)
        tensor.fill_(77)
        self.given.append(tensor)
        return tensor


@pytest.fixture(name="allocator")
def _allocator(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Allocator]:
    driver()
    allocator = _Allocator()
    monkeypatch.setattr(torch_arguments, "PLAIN_TYPES", frozenset([_CudaTensor]))
    monkeypatch.setattr(torch, "empty", allocator.empty)
    yield allocator
    plumbline.device.synchronize()


@pytest.fixture(name="stream")
def _stream(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    driver()
    handle = ctypes.c_void_p()
    with open_driver().current(0):
        open_driver().call("cuStreamCreate", ctypes.byref(handle), 1)
    current = SimpleNamespace(cuda_stream=handle.value)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: current)
    assert handle.value is not None
    yield handle.value
    with open_driver().current(0):
        open_driver().call("cuStreamDestroy_v2", handle)


@pytest.fixture(scope="module", name="program")
def _program() -> plumbline.CompiledProgram:
    driver()
    return plumbline.compile(
        _MODEL, (torch.randn(5, 64),), target="nvptx", on_gpu_tensors=True, stream=True
    )


def _check(result: torch.Tensor, values: torch.Tensor) -> None:
    plumbline.device.synchronize()
    torch.testing.assert_close(result.as_subclass(torch.Tensor), _MODEL(values).detach())


def test_results_and_workspace_are_of_pytorch(
    program: plumbline.CompiledProgram, allocator: _Allocator, stream: int
) -> None:
    kernels = Kernels(program)
    values = torch.randn(5, 64)
    x = _on_device(values)
    program(x)
    before = driver().plumbline_stand_in_allocated()
    waits = driver().plumbline_stand_in_waits()
    (result,) = program(x)
    assert driver().plumbline_stand_in_waits() == waits
    assert driver().plumbline_stand_in_allocated() == before
    assert result is allocator.given[2]
    assert len(allocator.given) == 4
    _check(result, values)
    del kernels


def test_a_stream_of_which_the_first_call_is_captured(
    program: plumbline.CompiledProgram, allocator: _Allocator, stream: int
) -> None:
    """As torch.cuda.graph captures a stream that nobody has used before."""
    kernels = Kernels(program)
    values = torch.randn(5, 64)
    x, out = _on_device(torch.zeros(5, 64)), _on_device(torch.zeros(5, 32))
    call = open_driver().call
    for given in ({}, {"out": out}):
        graph, exec_, queue = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(stream)
        x.zero_()
        with open_driver().current(0):
            call("cuStreamBeginCapture_v2", queue, 1)
        (result,) = program(x, **given)
        with open_driver().current(0):
            call("cuStreamEndCapture", queue, ctypes.byref(graph))
            call("cuGraphInstantiateWithFlags", ctypes.byref(exec_), graph, 0)
            x.copy_(values)
            call("cuGraphLaunch", exec_, queue)
            _check(result, values)
            call("cuGraphExecDestroy", exec_)
            call("cuGraphDestroy", graph)
    del kernels


def test_another_shape_is_refused(
    program: plumbline.CompiledProgram, allocator: _Allocator, stream: int
) -> None:
    with pytest.raises(UserError, match="5"):
        program(_on_device(torch.zeros(4, 64)))
    assert not allocator.given


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
