"""Compiles a library that is called by memrefs, and calls it from C, C++ and Python."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import plumbline
from plumbline.errors import UserError
from plumbline.library_files.build import TcpProgram, write_files
from plumbline.library_files.kinds import shipped
from plumbline.library_files.options import LibraryOptions

# Rows of a matrix by their numbers, which may be out of range; and a number of rank 0.
_SOURCE = """
func.func @pick(%x: tensor<?x3xf32>, %rows: tensor<2x1xi64>, %bias: tensor<f64>)
    -> (tensor<2x3xf32>, tensor<f64>) {
  %n = tcp.symbolic_int "n" {min_val = 1, max_val = 100} : i64
  tcp.bind_symbolic_shape %x, [%n], affine_map<()[s0] -> (s0, 3)> : tensor<?x3xf32>
  %picked = tcp.gather_nd %x, %rows : tensor<?x3xf32>, tensor<2x1xi64> -> tensor<2x3xf32>
  %twice = tcp.add %bias, %bias : tensor<f64>, tensor<f64> -> tensor<f64>
  return %picked, %twice : tensor<2x3xf32>, tensor<f64>
}
"""

_MAIN = """
#include "pick.h"

#include <stdio.h>
#include <stdlib.h>

static const float x[] = {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32};
static const double bias = 1.5;

static int call(pick_results *results, const float *elements, int64_t n, int64_t stride,
                int64_t second) {
  int64_t rows[2] = {2, 0};
  rows[1] = second;
  return pick(results, elements, elements, 0, n, 3, stride, 1,
              rows, rows, 0, 2, 1, 1, 1,
              &bias, &bias, 0);
}

static void tell(int code) { printf("%d: %s\\n", code != 0, pick_error(code)); }

int main(void) {
  pick_results results;
  int64_t rows[2] = {3, 1};
  tell(call(&results, x, 4, 3, 1));
  printf("%ld %ld, %g %g %g, %g\\n", (long)results.out0.sizes[0], (long)results.out0.strides[0],
         (double)results.out0.aligned[results.out0.offset],
         (double)results.out0.aligned[results.out0.offset + 1],
         (double)results.out0.aligned[results.out0.offset + 3],
         *results.out1.aligned);
  free(results.out0.allocated);
  free(results.out1.allocated);
  tell(call(&results, x, 101, 3, 1));
  tell(call(&results, x, 4, 4, 1));
  tell(call(&results, x, 4, 3, 4));
  tell(call(&results, NULL, 4, 3, 1));
  tell(call(&results, (const float *)(const void *)((const char *)x + 1), 3, 3, 1));
  tell(call(NULL, x, 4, 3, 1));
  pick_unchecked(&results, x, x, 0, 4, 3, 3, 1, rows, rows, 0, 2, 1, 1, 1, &bias, &bias, 0);
  printf("%g\\n", (double)results.out0.aligned[results.out0.offset]);
  free(results.out0.allocated);
  free(results.out1.allocated);
  return 0;
}
"""

_EXPECTED = """\
0: success
2 3, 20 21 10, 3
1: argument 0 has size ... in dimension 0, which is n; n must be at least 1 and at most 100
1: the strides or the offset of argument 0 are not those of row-major memory without gaps; copy it \
into such memory
1: INDEX
1: argument 0 is null
1: argument 0 is not aligned to 4 bytes
1: results is null
30
"""

_COMPILERS = [("gcc", "c11"), ("clang", "c11"), ("g++", "c++17"), ("clang++", "c++17")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    (folder / "pick.mlir").write_text(_SOURCE)
    program = TcpProgram(folder / "pick.mlir")
    write_files(program, LibraryOptions("pick", abi="memref"), shipped("host"), folder)
    (folder / "main.c").write_text(_MAIN)
    return folder


@pytest.mark.parametrize(("compiler", "standard"), _COMPILERS)
def test_the_entry_reports_what_is_wrong(
    folder: Path, tmp_path: Path, compiler: str, standard: str
) -> None:
    language = "c++" if "++" in compiler else "c"
    command = [compiler, f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    command += ["-x", language, "main.c", "-x", "none", "-fsanitize=address", "libpick.a", "-lm"]
    built = subprocess.run(
        [*command, "-o", tmp_path / "main"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (built.returncode, built.stderr) == (0, "")
    # With the sanitizer: what is not given back is a leak, and what is twice an error.
    ran = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert "out of range" in lines[4]
    lines[4] = "1: INDEX"
    assert lines == _EXPECTED.splitlines()


def test_python_calls_it_as_one_that_is_called_by_pointers(folder: Path) -> None:
    pick = plumbline.load(folder / "libpick.so")
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    bias = np.array(1.5)
    picked, twice = pick(x, np.array([[2], [0]]), bias)
    assert picked.tolist() == [[6, 7, 8], [0, 1, 2]]
    assert (twice.shape, float(twice)) == ((), 3)
    # Results are memory that the program has allocated, which the arrays keep.
    assert not picked.flags.owndata
    assert not np.shares_memory(picked, x)
    out = np.zeros((2, 3), np.float32), np.zeros(())
    assert pick(x[::-1], np.array([[2], [0]]), bias, out=out)[0] is out[0]
    assert out[0].tolist() == [[3, 4, 5], [9, 10, 11]]
    assert float(out[1]) == 3
    with pytest.raises(UserError, match=r"index .* out of range"):
        pick(x, np.array([[2], [4]]), bias)
    with pytest.raises(UserError, match=r"^pick: .* n must be at least 1 and at most 100"):
        pick(np.zeros((101, 3), np.float32), np.array([[2], [0]]), bias)
    with pytest.raises(UserError, match=r"argument 0 is f64\[4, 3\]"):
        pick(x.astype(np.float64), np.array([[2], [0]]), bias)
    with pytest.raises(UserError, match="out 0 shares memory with an argument"):
        pick(x, np.array([[2], [0]]), bias, out=(x[:2], out[1]))


def test_results_are_given_back_once(folder: Path) -> None:
    # What is freed twice ends the process, and what is not freed fills its memory.
    code = f"""
import resource
import numpy as np
import plumbline
pick = plumbline.load({str(folder / "libpick.so")!r})
x, rows, bias = np.ones((100, 3), np.float32), np.array([[2], [0]]), np.array(1.5)
def repeat(times):
    for _ in range(times):
        picked, twice = pick(x, rows, bias)
        assert twice == 3
repeat(1000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
repeat(100_000)
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2000
"""
    environment = {"PYTHONPATH": ":".join(sys.path), "MALLOC_CHECK_": "3"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


class _Steps(torch.nn.Module):
    """All kinds of arguments and results."""

    def forward(
        self, x: torch.Tensor, scale: float, waves: torch.Tensor, total: torch.Tensor
    ) -> tuple[torch.Tensor, float, torch.Tensor, torch.Tensor, torch.Tensor]:
        total.add_(x.sum())
        y = x * scale
        return y, scale * 2, waves.conj() * 2, y, x[:, :0]


@pytest.mark.parametrize("abi", ["pointers", "memref"])
def test_all_kinds_of_arguments_and_results(abi: str, tmp_path: Path) -> None:
    waves = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex64)
    file = plumbline.aot(
        _Steps(),
        torch.ones(2, 3),
        0.5,
        waves,
        torch.zeros(()),
        name="steps",
        out=tmp_path,
        abi=abi,
        mutable=["total"],
        dynamic_shapes={
            "x": {0: torch.export.Dim("n")},
            "scale": torch.export.Dim.DYNAMIC,
            "waves": None,
            "total": None,
        },
    )
    steps = plumbline.load(file)
    for n in (1, 5, 0):
        x, total = np.ones((n, 3), np.float32), np.zeros((), np.float32)
        y, doubled, turned, again, empty = steps(x, 1.5, waves.numpy(), total)
        assert y.tolist() == again.tolist() == [[1.5] * 3] * n
        assert not n or not np.shares_memory(y, again)
        assert doubled == 3.0
        assert turned.tolist() == [2 - 4j, 6 + 8j]
        assert float(total) == 3 * n
        assert empty.shape == (n, 0)
    tensors = steps(torch.ones(2, 3), -1.5, waves, torch.zeros(()))
    assert isinstance(tensors[0], torch.Tensor)
    assert torch.equal(tensors[2], waves.conj().resolve_conj() * 2)


def test_what_goes_with_pointers_alone() -> None:
    with pytest.raises(UserError, match=r'^memory "pool" goes with abi "pointers"'):
        LibraryOptions("pick", abi="memref", memory="pool")
    with pytest.raises(UserError, match=r'^weights "file" goes with abi "pointers"'):
        LibraryOptions("pick", abi="memref", weights="file")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
