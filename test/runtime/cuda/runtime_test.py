"""What becomes of a call on a GPU when the driver refuses something, or there is none."""

import ctypes
import gc
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import plumbline
from plumbline.errors import UserError
from plumbline.library import device
from test.runtime.cuda.stand_in import Kernels, driver

_Program = tuple[plumbline.CompiledProgram, Kernels]


class _Scaled(torch.nn.Module):
    """One kernel; of 4x3 numbers 48 bytes for the argument and the result each, 24 of weights."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(3))
        self.offset = torch.nn.Parameter(torch.randn(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale + self.offset


_MODULE = _Scaled().eval()


class _Product(torch.nn.Module):
    """One kernel, whose tiles take more shared memory than it may declare."""

    def forward(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, weight)


def _compiled() -> _Program:
    driver()
    compiled = plumbline.compile(_MODULE, (torch.randn(4, 3),), target="nvptx")
    return compiled, Kernels(compiled)


@pytest.fixture(scope="module")
def program() -> _Program:
    """One that has its weights on the device."""
    compiled, kernels = _compiled()
    compiled(torch.randn(4, 3))
    return compiled, kernels


@pytest.mark.parametrize(
    ("function", "after", "error", "message"),
    [
        ("cuCtxPushCurrent_v2", 0, 201, "CUDA_ERROR_INVALID_CONTEXT (201)"),
        ("cuMemAlloc_v2", 0, 2, "for 48 bytes: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2); calls"),
        ("cuMemAlloc_v2", 1, 2, "there is no device memory for 48 bytes"),
        ("cuMemcpyHtoD_v2", 0, 700, "cuMemcpyHtoD_v2: CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
        ("cuModuleGetFunction", 0, 500, "cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500)"),
        ("cuLaunchKernel", 0, 701, "a kernel could not be launched, or one before it failed: cuLa"),
        (
            "cuMemcpyDtoH_v2",
            0,
            719,
            "or a kernel before it: cuMemcpyDtoH_v2: an unknown error (719",
        ),
        ("cuMemFree_v2", 0, 700, "or a kernel before it: cuMemFree_v2: CUDA_ERROR_ILLEGAL_ADDRESS"),
    ],
)
def test_an_error_of_the_driver(
    program: _Program, function: str, after: int, error: int, message: str
) -> None:
    _refuse(program, function, after, error, message)


@pytest.mark.parametrize(
    ("function", "after", "error", "message"),
    [
        (
            "cuModuleLoadData",
            0,
            209,
            "does not take the kernels of this program, which are for GPUs from sm_80: "
            "cuModuleLoadData: CUDA_ERROR_NO_BINARY_FOR_GPU (209)",
        ),
        # The weights, which are uploaded by the first call.
        ("cuMemAlloc_v2", 0, 2, "there is no device memory for 12 bytes"),
        ("cuMemAlloc_v2", 1, 2, "for 12 bytes: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY"),
        ("cuMemcpyHtoD_v2", 1, 700, "cuMemcpyHtoD_v2: CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
        ("cuStreamSynchronize", 0, 700, "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
    ],
)
def test_what_fails_in_the_first_call_is_tried_again(
    function: str, after: int, error: int, message: str
) -> None:
    _refuse(_compiled(), function, after, error, message)


def test_shared_memory_that_a_launch_asks_for() -> None:
    """A kernel is given more than 48 KB once it is allowed to it, which a driver may refuse."""
    driver()
    shapes = {"x": {0: torch.export.Dim("rows")}, "weight": {0: torch.export.Dim("columns")}}
    operands = torch.randn(40, 160).half(), torch.randn(30, 160).half()
    compiled = plumbline.compile(_Product(), operands, shapes, target="nvptx")
    kernels = Kernels(compiled)
    driver().plumbline_stand_in_fail(b"cuFuncSetAttribute", 0, 1)
    with pytest.raises(UserError, match=r"cuFuncSetAttribute: CUDA_ERROR_INVALID_VALUE \(1\)"):
        compiled(*operands)
    torch.testing.assert_close(compiled(*operands)[0], _Product()(*operands), rtol=1e-2, atol=1e-2)
    del kernels


def test_weights_stay_on_the_device_and_are_given_back_with_the_program() -> None:
    compiled, kernels = _compiled()
    before, left = driver().plumbline_stand_in_allocated(), driver().plumbline_stand_in_left()
    x = torch.randn(4, 3)
    compiled(x)
    assert driver().plumbline_stand_in_allocated() == before + 24
    uploads = driver().plumbline_stand_in_uploads()
    compiled(x)
    # The argument alone.
    assert driver().plumbline_stand_in_uploads() == uploads + 1
    del compiled, kernels
    gc.collect()
    assert driver().plumbline_stand_in_allocated() == before
    assert driver().plumbline_stand_in_left() == left


def test_weights_are_uploaded_once_by_threads_that_begin_at_once() -> None:
    compiled, _kernels = _compiled()
    uploads = driver().plumbline_stand_in_uploads()
    driver().plumbline_stand_in_calls_take(20000)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: compiled(torch.ones(4, 3)), range(8)))
    driver().plumbline_stand_in_calls_take(0)
    assert driver().plumbline_stand_in_uploads() == uploads + 2 + 8


def test_too_little_device_memory(program: _Program) -> None:
    """It is said how much calls take, and weights."""
    compiled, _ = program
    x = torch.randn(4, 3)
    compiled(x)
    allocated = driver().plumbline_stand_in_allocated()
    driver().plumbline_stand_in_most_bytes(allocated + 60)
    try:
        with pytest.raises(
            UserError,
            match="calls take at least 96 bytes, and the program's weights have 24 so far",
        ):
            compiled(x)
    finally:
        driver().plumbline_stand_in_most_bytes(0)
    assert driver().plumbline_stand_in_allocated() == allocated


def test_a_tensor_of_the_host_is_not_taken_for_one_of_the_device(program: _Program) -> None:
    compiled, _ = program
    tensor = device.copy_from(np.zeros((4, 3), np.float32))
    # The stand-in's device memory can be looked at, a card's could not.
    array = np.ctypeslib.as_array((ctypes.c_float * 12).from_address(tensor.address)).reshape(4, 3)
    with pytest.raises(UserError, match="x is in device memory, where this program takes mem"):
        compiled(array)


def _refuse(program: _Program, function: str, after: int, error: int, message: str) -> None:
    """It is told, all memory is given back, and the next call succeeds."""
    compiled, _ = program
    before = driver().plumbline_stand_in_allocated()
    x = torch.randn(4, 3)
    driver().plumbline_stand_in_fail(function.encode(), after, error)
    with pytest.raises(UserError, match=re.escape(message)):
        compiled(x)
    # Weights that were uploaded before stay.
    left = driver().plumbline_stand_in_allocated() - before
    # What the driver itself does not give back is there still.
    assert left in ((48,) if function == "cuMemFree_v2" else (0, 12, 24))
    assert driver().plumbline_stand_in_current() == 0
    torch.testing.assert_close(compiled(x)[0], _MODULE(x).detach())
    assert driver().plumbline_stand_in_current() == 0


def test_several_threads_call_at_once(program: _Program) -> None:
    compiled, _ = program
    inputs = [torch.randn(4, 3) for _ in range(40)]
    expected = [compiled(x)[0] for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda x: compiled(x)[0], inputs))
    assert all(map(torch.equal, results, expected))


_PROCESS = """
import sys
sys.path[:] = sys.argv[1:]
import torch, plumbline
from plumbline.errors import UserError
{before}
program = plumbline.compile(torch.nn.ReLU(), (torch.randn(4),), target="nvptx")
{between}
try:
    print(program(torch.ones(4))[0])
except UserError as error:
    print(error)
"""

_STAND_IN = "from test.runtime.cuda.stand_in import Kernels, driver; driver()"


def _process(before: str = "", between: str = "", **environment: str) -> str:
    """What a process of its own says of a call there."""
    done = subprocess.run(
        [sys.executable, "-c", _PROCESS.format(before=before, between=between), *sys.path],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_device_is_visible() -> None:
    said = _process(_STAND_IN, CUDA_VISIBLE_DEVICES="")
    assert "gives no GPU that can be used: cuInit: CUDA_ERROR_NO_DEVICE (100)" in said


def test_the_first_visible_device_is_used() -> None:
    """The stand-in has two, and they are listed the other way round."""
    between = (
        "from plumbline import device; kernels = Kernels(program); program(torch.ones(4)); "
        "print('retained', *map(driver().plumbline_stand_in_retained, (0, 1))); "
        "tensors = [device.copy_from(torch.ones(4).numpy(), number) for number in (0, 1)]; "
        "print('on', *[driver().plumbline_stand_in_device_of(one.address) for one in tensors])"
    )
    said = _process(_STAND_IN, between, CUDA_VISIBLE_DEVICES="1,0")
    assert "retained 0 1" in said
    assert "on 1 0" in said
    assert "tensor([1., 1., 1., 1.])" in said


def test_no_driver() -> None:
    """It compiles and loads where there is no GPU, and says so when it is called."""
    # A process of its own, which has no stand-in; nor is one found where libraries lie.
    waiting = (
        "try:\n    plumbline.device.synchronize()\nexcept UserError as error:\n    print(error)"
    )
    said = _process(between=waiting)
    if "no NVIDIA driver" not in said:
        pytest.skip("this machine has an NVIDIA driver")
    assert said.count("there is no library libcuda.so.1 that can be loaded here") == 2


def test_a_target_that_there_is_not() -> None:
    with pytest.raises(UserError, match="target is 'gpu'; it is one of 'host', 'nvptx'"):
        plumbline.compile(torch.nn.ReLU(), (torch.randn(4),), target="gpu")


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
