"""Compiles programs in C and C++ against the headers of libraries, and runs them."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.library_files.c_header import c_header
from plumbline.loader_to_torch.generator import PortableDraws
from plumbline.signature.element_type import ELEMENT_TYPES
from plumbline.signature.library_description import LibraryDescription

_COMPILERS = [
    ("gcc", "c11"),
    ("clang", "c11"),
    ("g++", "c++17"),
    ("clang++", "c++17"),
]
_STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


class _Rows(torch.nn.Module):
    """What fails by itself, too: an index may be out of range."""

    def forward(
        self, x: torch.Tensor, index: torch.Tensor, default: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return x[index] + default, torch.cat((x, x))


class _EveryType(torch.nn.Module):
    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(tensor.clone() for tensor in tensors)


class _Turned(torch.nn.Module):
    def forward(self, z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return z * 1j, z.sum(1).to(torch.complex128)


def _write(folder: Path, program: plumbline.CompiledProgram) -> None:
    name = program.signature.name
    description = LibraryDescription(program.signature, "native", f"test.{name}_loader")
    (folder / f"{name}.h").write_text(c_header(description))
    (folder / f"{name}.S").write_text(program.stage("asm"))


def _run(folder: Path, *command: str) -> str:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two programs, with kernels of the same names, and one that takes all element types."""
    folder = tmp_path_factory.mktemp("headers")
    n, m = Dim("n", min=2, max=9), Dim("register", min=1)
    inputs = (torch.ones(3, 2), torch.zeros(4, dtype=torch.int64), torch.zeros(2))
    shapes = {"x": {0: n}, "index": {0: m}, "default": {}}
    _write(folder, plumbline.compile(_Rows(), inputs, shapes, func_name="rows"))
    _write(folder, plumbline.compile(_Rows(), inputs, shapes, func_name="lines"))
    dtypes = [getattr(torch, known.torch_name) for known in ELEMENT_TYPES]
    every = tuple(torch.zeros(2, dtype=dtype) for dtype in dtypes)
    _write(folder, plumbline.compile(_EveryType(), every, func_name="every_type"))
    z = torch.zeros(2, 3, dtype=torch.complex64)
    _write(folder, plumbline.compile(_Turned(), (z,), {"z": {0: n}}, func_name="turned"))
    return folder


_MAIN = """
#include "rows.h"

#include <stdio.h>

#include "every_type.h"
#include "lines.h"

int main(void) {
  const float x[6] = {0, 1, 2, 3, 4, 5};
  const float add[2] = {10, 20};
  int64_t index[3] = {2, 0, 1};
  float picked[6], doubled[12];
  int64_t shape[2];
  int i, code;
  code = rows(x, index, add, picked, doubled, 3, 3);
  printf("%d %s:", code, rows_error(code));
  for (i = 0; i < 6; ++i) printf(" %g", (double)picked[i]);
  printf(" and %g\\n", (double)doubled[11]);
  rows_output_shape(0, 5, 7, shape);
  printf("%d %d, ", (int)shape[0], (int)shape[1]);
  lines_output_shape(1, 5, 7, shape);
  printf("%d %d\\n", (int)shape[0], (int)shape[1]);
  printf("%s\\n", rows_error(lines(NULL, index, add, picked, doubled, 3, 3)));
  printf("%s\\n", rows_error(rows(x, index, add, picked, NULL, 3, 3)));
  printf("%s\\n", rows_error(rows((const float *)((const char *)x + 2), index, add, picked, doubled, 2, 3)));
  printf("%s\\n", rows_error(rows(x, index, add, picked, doubled, 10, 3)));
  printf("%s\\n", rows_error(rows(x, index, add, picked, doubled, 3, 0)));
  index[1] = 3;
  printf("%s\\n", rows_error(rows(x, index, add, picked, doubled, 3, 3)));
  printf("%s\\n", rows_error(-1));
  lines_unchecked(x, index, add, picked, doubled, 3, 1);
  printf("%g\\n", (double)picked[1]);
  return 0;
}
"""  # noqa: E501


@pytest.mark.parametrize(("compiler", "standard"), _COMPILERS)
def test_headers_declare_what_the_libraries_have(
    folder: Path, compiler: str, standard: str
) -> None:
    language = "c++" if "++" in standard else "c"
    main = folder / f"main_{compiler}.{language.replace('c++', 'cpp')}"
    main.write_text(_MAIN)
    _run(folder, compiler, f"-std={standard}", *_STRICT, "-c", main.name, "-o", "main.o")
    # All into one binary: kernels and helpers are each program's own.
    objects = ["rows.S", "lines.S", "every_type.S"]
    _run(folder, "gcc", "-o", main.stem, "main.o", *objects, "-lm")
    out = _run(folder, f"./{main.stem}").splitlines()
    assert out[0] == "0 success: 14 25 10 21 12 23 and 5"
    assert out[1] == "7 2, 10 2"
    assert out[2:7] == [
        "x is null",
        "out1 is null",
        "x is not aligned to 4 bytes",
        "n is ...; it is at least 2 and at most 9",
        "register_ is ...; it is at least 1",
    ]
    assert out[7].endswith("index ... is out of range for dimension 0 of size ...")
    assert out[8:] == ["there is no such code", "25"]


def test_headers_say_what_each_argument_is(folder: Path) -> None:
    text = (folder / "rows.h").read_text()
    for line in (
        "// Generated by Plumbline from test.rows_loader. Do not edit.",
        "//   x          float32 [n, 2], 8*n bytes",
        "//   index      int64 [register_], 8*register_ bytes",
        "//   out0       float32 [register_, 2], 8*register_ bytes",
        "//   out1       float32 [2*n, 2], 16*n bytes",
        "//   n          at least 2 and at most 9",
        "int rows(",
        "    const float *x,",
        "    int64_t register_);",
    ):
        assert line in text.splitlines()
    assert max(map(len, text.splitlines())) <= 100
    every = (folder / "every_type.h").read_text()
    assert "#include <stdbool.h>" in every
    words = ("uint8_t", "uint16_t", "uint64_t", "int8_t", "int64_t")
    for type_ in ("double", *words, "bool", "plumbline_complex64"):
        assert f"const {type_} *" in every


_COMPLEX_MAIN = """
#include "turned.h"

#include <stdio.h>

int main(void) {
  // As an array of pairs, whatever the language.
  const float z[2][3][2] = {{{1, 2}, {3, 4}, {5, 6}}, {{0, 1}, {0, 1}, {0, 1}}};
  plumbline_complex64 turned_[6];
  plumbline_complex128 sums[2];
  int64_t shape[2] = {-1, -1};
  const float *t = (const float *)turned_;
  const double *s = (const double *)sums;
  int code = turned((const plumbline_complex64 *)z, turned_, sums, 2);
  turned_output_shape(1, 7, shape);
  printf("%d %g %g %g %g %d %d", code, (double)t[2], (double)t[3], s[0], s[3], (int)shape[0],
         (int)shape[1]);
  return 0;
}
"""


@pytest.mark.parametrize(("compiler", "standard"), _COMPILERS)
def test_c_and_cpp_share_complex_numbers(folder: Path, compiler: str, standard: str) -> None:
    language = "c++" if "++" in standard else "c"
    main = folder / f"complex_{compiler}.{language.replace('c++', 'cpp')}"
    main.write_text(_COMPLEX_MAIN)
    _run(folder, compiler, f"-std={standard}", *_STRICT, "-c", main.name, "-o", "complex.o")
    _run(folder, compiler, "-o", main.stem, "complex.o", "turned.S", "-lm")
    # (3 + 4i) i = -4 + 3i, and 1 + 3 + 5, and 1 + 1 + 1.
    assert _run(folder, f"./{main.stem}") == "0 -4 3 9 3 7 -1"
    text = (folder / "turned.h").read_text()
    assert "//   z     complex64 [n, 3], 24*n bytes" in text


class _Accumulate(torch.nn.Module):
    def forward(self, x: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
        total.add_(x)
        return total * 2


_ACCUMULATES = """
#include <stdio.h>

#include "accumulate.h"

int main(void) {
  const float x[2] = {1, 2};
  float total[2] = {0, 0}, out[2];
  int i;
  for (i = 0; i < 3; ++i) {
    if (accumulate(x, total, out) != 0) return 1;
  }
  printf("%g %g %g\\n", (double)total[0], (double)total[1], (double)out[1]);
  return 0;
}
"""


@pytest.mark.parametrize(("compiler", "standard"), _COMPILERS)
def test_in_out_arguments_are_pointers_that_are_not_const(
    tmp_path: Path, compiler: str, standard: str
) -> None:
    example = (torch.zeros(2), torch.zeros(2))
    _write(
        tmp_path,
        plumbline.compile(_Accumulate(), example, func_name="accumulate", mutable=["total"]),
    )
    lines = (tmp_path / "accumulate.h").read_text().splitlines()
    assert "//   total  in-out float32 [2], 8 bytes" in lines
    assert "int accumulate(const float *x, float *total, float *out0);" in lines
    assert "Those that are in-out have new values when it returns" in " ".join(lines)
    main = tmp_path / ("main.cpp" if "++" in standard else "main.c")
    main.write_text(_ACCUMULATES)
    _run(tmp_path, compiler, f"-std={standard}", *_STRICT, "-c", main.name, "-o", "main.o")
    _run(tmp_path, "gcc", "-o", "main", "main.o", "accumulate.S", "-lm")
    assert _run(tmp_path, "./main") == "3 6 12\n"


# As docs/programs.md has it.
_DRAWS = """
#include <stdio.h>
#include <string.h>

#include "noise.h"

static void manual_seed(uint8_t state[5056], uint64_t seed) {
  const int32_t one = 1;
  uint32_t word = (uint32_t)seed, i;
  memset(state, 0, 5056);
  memcpy(state, &seed, 8);
  memcpy(state + 8, &one, 4);
  memcpy(state + 12, &one, 4);
  for (i = 0; i < 624; ++i) {
    memcpy(state + 24 + 8 * i, &word, 4);
    word = 1812433253u * (word ^ (word >> 30)) + i + 1;
  }
}

int main(void) {
  uint8_t state[5056];
  float x[20], out[20];
  int call, i;
  for (i = 0; i < 20; ++i) x[i] = 3;
  manual_seed(state, 7);
  for (call = 0; call < 2; ++call) {
    if (noise(x, state, out) != 0) return 1;
    for (i = 0; i < 20; ++i) printf("%g ", (double)out[i]);
  }
  return 0;
}
"""


def test_a_state_of_random_numbers_that_c_makes(tmp_path: Path) -> None:
    dropout, x = torch.nn.Dropout(0.25), torch.full((20,), 3.0)
    mutable = ["torch.default_generator"]
    _write(tmp_path, plumbline.compile(dropout, (x,), func_name="noise", mutable=mutable))
    lines = (tmp_path / "noise.h").read_text().splitlines()
    assert "//   torch_default_generator  in-out uint8 [5056], 5056 bytes" in lines
    (tmp_path / "main.c").write_text(_DRAWS)
    _run(tmp_path, "gcc", "-std=c11", *_STRICT, "-o", "main", "main.c", "noise.S", "-lm")
    torch.manual_seed(7)
    with PortableDraws():
        expected = torch.cat([dropout(x), dropout(x)]).tolist()
    assert [float(number) for number in _run(tmp_path, "./main").split()] == expected


def test_a_shared_object_shows_its_entries_alone(folder: Path) -> None:
    _run(folder, "gcc", "-shared", "-o", "librows.so", "rows.S", "-lm")
    defined = _run(folder, "nm", "-D", "--defined-only", "librows.so").split()[2::3]
    entries = ["rows", "rows_error", "rows_output_shape", "rows_packed", "rows_unchecked"]
    assert sorted(defined) == entries
    undefined = _run(folder, "nm", "-D", "--undefined-only", "librows.so").split()
    libc = {"abort", "aligned_alloc", "dprintf", "free", "malloc", "memcpy", "memset", "snprintf"}
    needed = {name.partition("@")[0] for name in undefined if name not in ("U", "w")}
    assert {name for name in needed if not name.startswith("_")} <= libc


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
