"""What becomes of a call on a GPU when the driver refuses something, or there is none."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import plumbline
from plumbline.errors import UserError
from test.runtime.cuda.stand_in import Kernels, driver

_Program = tuple[plumbline.CompiledProgram, Kernels]


def _compiled() -> _Program:
    driver()
    linear = torch.nn.Linear(3, 2).eval()
    compiled = plumbline.compile(linear, (torch.randn(4, 3),), target="nvptx")
    return compiled, Kernels(compiled)


@pytest.fixture(scope="module")
def program() -> _Program:
    return _compiled()


@pytest.mark.parametrize(
    ("function", "after", "error", "message"),
    [
        ("cuCtxPushCurrent_v2", 0, 201, "gives no GPU that can be used: CUDA error 201"),
        ("cuMemAlloc_v2", 0, 2, "there is no device memory: CUDA error 2 for 24 bytes"),
        ("cuMemAlloc_v2", 3, 2, "there is no device memory: CUDA error 2 for "),
        ("cuMemcpyHtoD_v2", 1, 700, "a copy to or from device memory failed"),
        ("cuModuleGetFunction", 0, 500, "a kernel could not be launched: CUDA error 500"),
        ("cuLaunchKernel", 1, 701, "a kernel could not be launched: CUDA error 701"),
        ("cuMemcpyDtoH_v2", 0, 700, "or a kernel before it: CUDA error 700, 32 bytes"),
        ("cuMemFree_v2", 0, 700, "or a kernel before it: CUDA error 700"),
    ],
)
def test_an_error_of_the_driver(
    program: _Program, function: str, after: int, error: int, message: str
) -> None:
    _refuse(program, function, after, error, message)


def test_a_module_that_is_refused_is_tried_again() -> None:
    message = "does not take the kernels of this program: CUDA error 218"
    _refuse(_compiled(), "cuModuleLoadData", 0, 218, message)


def _refuse(program: _Program, function: str, after: int, error: int, message: str) -> None:
    """It is told, all memory is given back, and the next call succeeds."""
    compiled, _ = program
    before = driver().plumbline_stand_in_allocated()
    x = torch.randn(4, 3)
    driver().plumbline_stand_in_fail(function.encode(), after, error)
    with pytest.raises(UserError, match=re.escape(message)):
        compiled(x)
    # What the driver itself does not give back is there still.
    left = driver().plumbline_stand_in_allocated()
    assert (left > before) == (function == "cuMemFree_v2")
    assert driver().plumbline_stand_in_current() == 0
    assert compiled(x)[0].shape == (4, 2)
    assert driver().plumbline_stand_in_allocated() == left


def test_several_threads_call_at_once(program: _Program) -> None:
    compiled, _ = program
    inputs = [torch.randn(4, 3) for _ in range(40)]
    expected = [compiled(x)[0] for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda x: compiled(x)[0], inputs))
    assert all(map(torch.equal, results, expected))


_WITHOUT = """
import sys
sys.path[:] = sys.argv[1:]
import torch, plumbline
from plumbline.errors import UserError

program = plumbline.compile(torch.nn.ReLU(), (torch.randn(4),), target="nvptx")
try:
    program(torch.randn(4))
except UserError as error:
    print(error)
"""


def test_no_driver() -> None:
    """It compiles and loads where there is no GPU, and says so when it is called."""
    # A process of its own, which has no stand-in; nor is one found where libraries lie.
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, *sys.path],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    if "no NVIDIA driver" not in done.stdout:
        assert "gives no GPU" in done.stdout or not done.stdout
        pytest.skip("this machine has an NVIDIA driver")
    assert "there is no library libcuda.so.1 that can be loaded here" in done.stdout


def test_a_target_that_there_is_not() -> None:
    with pytest.raises(UserError, match="target is 'gpu'; it is one of 'host', 'nvptx'"):
        plumbline.compile(torch.nn.ReLU(), (torch.randn(4),), target="gpu")


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
