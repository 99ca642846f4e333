"""Runs programs on several threads: how many these are, several callers, and what is refused."""

import ctypes
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

import plumbline
from plumbline.errors import UserError
from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.runtime import openmp
from plumbline.target.cpu import cpu_target

_COUNTING = """
import ctypes, os, sys
from pathlib import Path
import llvmlite.binding as llvm
from plumbline.runtime import openmp

def threads():
    return len(os.listdir("/proc/self/task"))

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
builder = (
    llvm.JITLibraryBuilder()
    .add_object_img(Path(sys.argv[1]).read_bytes())
    .add_current_process()
    .export_symbol("func_main")
)
for name, address in openmp.addresses("func_main").items():
    builder.import_symbol(name, address)
library = builder.link(llvm.create_lljit_compiler(use_jit_link=True), "func_main")
function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(library["func_main"])
numbers, results = ((ctypes.c_float * (999 * 999))() for _ in range(2))
before = threads()
for _ in range(2):
    assert function(ctypes.addressof(numbers), ctypes.addressof(results)) == 0
print(threads() - before)
"""


@pytest.fixture(scope="module")
def object_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program on three threads."""
    program = plumbline.compile(torch.nn.Softmax(-1), (torch.randn(999, 999),), threads=3)
    file = tmp_path_factory.mktemp("program") / "program.o"
    file.write_bytes(emit_object(program.stage("llvm_ir"), cpu_target("native")))
    return file


@pytest.mark.parametrize(
    ("environment", "more", "message"),
    [
        ({}, 2, ""),
        ({"PLUMBLINE_THREADS": "1"}, 0, ""),
        ({"PLUMBLINE_THREADS": "5"}, 4, ""),
        *(
            (
                {"PLUMBLINE_THREADS": text},
                2,
                f"PLUMBLINE_THREADS is '{text}', which is no number from 1 to 1024: the program "
                "runs on as many threads as it was compiled for\n",
            )
            for text in ("0", "-1", "1025", "2 threads", "")
        ),
    ],
)
def test_the_environment_says_how_many_threads(
    object_file: Path, environment: dict[str, str], more: int, message: str
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _COUNTING, str(object_file)],
        env={"PYTHONPATH": ":".join(sys.path), **environment},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (ran.stdout, ran.stderr) == (f"{more}\n", message)


def test_callers_on_several_threads_do_not_disturb_each_other() -> None:
    program = plumbline.compile(torch.nn.Softmax(-1), (torch.randn(500, 999),), threads=2)
    inputs = [torch.randn(500, 999) for _ in range(4)]
    expected = [program(x)[0] for x in inputs]
    start = threading.Barrier(len(inputs))

    def calls(number: int) -> bool:
        start.wait()
        return all(torch.equal(program(inputs[number])[0], expected[number]) for _ in range(10))

    with ThreadPoolExecutor(len(inputs)) as pool:
        assert all(pool.map(calls, range(len(inputs))))


def test_all_is_done_where_there_are_fewer_threads_than_asked_for() -> None:
    program = plumbline.compile(torch.nn.Softmax(-1), (torch.randn(500, 999),), threads=4)
    x = torch.randn(500, 999)
    expected = program(x)[0]
    results: list[torch.Tensor] = []

    def in_a_parallel_region(context: int | None) -> None:
        # Both threads of the region call: each has no further ones.
        results.append(program(x)[0])

    parallel = ctypes.CDLL(openmp.NAME)[openmp.PARALLEL]
    worker = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(in_a_parallel_region)
    parallel(worker, None, 2, 0)
    assert len(results) == 2
    assert all(torch.equal(result, expected) for result in results)


class _Gather(torch.nn.Module):
    def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x)[index].exp()


def test_a_requirement_that_does_not_hold_is_told() -> None:
    inputs = (torch.randn(10, 900), torch.zeros(1000, dtype=torch.int64))
    program = plumbline.compile(_Gather(), inputs, threads=2)
    index = inputs[1].clone()
    index[370] = 11
    with pytest.raises(UserError, match="index 11 is out of range for dimension 0 of size 10"):
        program(inputs[0], index)


def test_a_missing_runtime_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmp, "NAME", "libgomp_that_is_not_there.so.1")
    x = torch.randn(500, 999)
    plumbline.compile(torch.nn.Softmax(-1), (x,))
    with pytest.raises(UserError) as caught:
        plumbline.compile(torch.nn.Softmax(-1), (x,), threads=2)
    assert str(caught.value).startswith(
        "func_main: to run on several threads it needs libgomp_that_is_not_there.so.1, which "
        "cannot be loaded ("
    )
    assert "libgomp1" in str(caught.value)


@pytest.mark.parametrize("threads", [0, -1, 1025, True, "2", None])
def test_what_is_no_number_of_threads_is_refused(threads: object) -> None:
    with pytest.raises(UserError) as caught:
        plumbline.compile(torch.nn.Softmax(-1), (torch.randn(3, 3),), threads=threads)  # type: ignore[arg-type]
    assert str(caught.value) == (
        f"plumbline.compile: threads is {threads!r}; it is a number from 1 to 1024"
    )


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
