"""Builds programs with libraries by what their files tell CMake."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plumbline.library_files.build import TcpProgram, write_files
from plumbline.library_files.options import LibraryOptions
from test.library_files.programs import ROOTS

_MAIN = """
#include <roots.h>

static float x[4096 * 256], out0[4096 * 256];

int main(void) {
  for (int i = 0; i < 4096 * 256; ++i) x[i] = 1e6f;
  const int code = roots(x, out0);
  return code ? code : out0[4096 * 256 - 1] == 1 ? 0 : 100;
}
"""

_PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(main C)
find_package(Roots CONFIG REQUIRED PATHS "${CMAKE_SOURCE_DIR}/a library")
find_package(Roots CONFIG REQUIRED PATHS "${CMAKE_SOURCE_DIR}/a library")
add_executable(main main.c)
target_link_libraries(main PRIVATE Roots::TARGET)
"""

_GCC_OF_WINDOWS = "x86_64-w64-mingw32-gcc"
_FOR_WINDOWS = ("-DCMAKE_SYSTEM_NAME=Windows", f"-DCMAKE_C_COMPILER={_GCC_OF_WINDOWS}")
_FOR_BOARDS = (
    "-DCMAKE_SYSTEM_NAME=Generic",
    "-DCMAKE_C_COMPILER=arm-none-eabi-gcc",
    "-DCMAKE_C_FLAGS=-mcpu=cortex-m55 -mthumb -mfloat-abi=hard --specs=rdimon.specs",
)

built = pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake (Debian's)")


def _run(*command: str | Path, folder: Path) -> str:
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def _build(folder: Path, target: str, options: LibraryOptions, *asked: str) -> Path:
    """The folder of a program with the library."""
    library = folder / "a library"
    library.mkdir()
    source = library / "roots.mlir"
    source.write_text(ROOTS)
    write_files(TcpProgram(source), options, options.kinds, library)
    (folder / "main.c").write_text(_MAIN)
    # Programs of C find the header by the name of the library.
    (library / "roots.h").write_text('#include "Roots.h"\n')
    (folder / "CMakeLists.txt").write_text(_PROJECT.replace("TARGET", target))
    _run("cmake", "-B", "out", *asked, folder=folder)
    _run("cmake", "--build", "out", folder=folder)
    return folder / "out"


@built
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("target", "is_shared"), [("Roots", True), ("static", False)])
def test_a_program_builds_and_runs(
    target: str, is_shared: bool, threads: int, tmp_path: Path
) -> None:
    out = _build(tmp_path, target, LibraryOptions("Roots", threads=threads))
    _run(out / "main", folder=out)
    assert ("libRoots.so" in _run("readelf", "-d", "main", folder=out)) == is_shared


@built
@pytest.mark.skipif(
    shutil.which(_GCC_OF_WINDOWS) is None,
    reason="there is no compiler for Windows (Debian's gcc-mingw-w64-x86-64)",
)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("target", "is_shared"), [("Roots", True), ("static", False)])
def test_a_program_of_windows(target: str, is_shared: bool, threads: int, tmp_path: Path) -> None:
    options = LibraryOptions("Roots", threads=threads, target_cpu="x86_64-windows")
    out = _build(tmp_path, target, options, *_FOR_WINDOWS)
    loaded = _run("x86_64-w64-mingw32-objdump", "-p", "main.exe", folder=out)
    assert ("DLL Name: Roots.dll" in loaded) == is_shared


@built
@pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None,
    reason="there is no compiler for boards (Debian's gcc-arm-none-eabi)",
)
@pytest.mark.parametrize("target", ["Roots", "static"])
def test_a_program_of_a_board(target: str, tmp_path: Path) -> None:
    options = LibraryOptions("Roots", target_cpu="cortex-m55")
    out = _build(tmp_path, target, options, *_FOR_BOARDS)
    assert " roots\n" in _run("nm", "main", folder=out)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
