"""Links a program with a library by what its pkg-config file says, statically and not."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from plumbline.library_files.build import TcpProgram, write_files
from plumbline.library_files.kinds import shipped
from plumbline.library_files.options import LibraryOptions
from test.library_files.programs import ROOTS

_MAIN = """
#include <roots.h>
#include <stdio.h>

static float x[4096 * 256], out0[4096 * 256];

int main(void) {
  for (int i = 0; i < 4096 * 256; ++i) x[i] = 1e6f;
  const int code = roots(x, out0);
  puts(roots_error(code));
  printf("%g %g\\n", (double)out0[0], (double)out0[4096 * 256 - 1]);
  return code;
}
"""


def _run(*command: str | Path, folder: Path) -> str:
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _told(folder: Path, *options: str) -> list[str]:
    words = ["pkg-config", *options, f"--with-path={folder}", "--cflags", "--libs", "roots"]
    return shlex.split(_run(*words, folder=folder))


# Where it lies, a compiler is not to take for two words.
@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "roots.mlir").write_text(ROOTS)
    (folder / "main.c").write_text(_MAIN)
    options = LibraryOptions("roots", threads=request.param)
    write_files(TcpProgram(folder / "roots.mlir"), options, shipped("host"), folder)
    return folder


@pytest.mark.parametrize("static", [(), ("-static",)], ids=["shared", "static"])
def test_a_program_links_and_runs(folder: Path, static: Sequence[str]) -> None:
    asked = ["--static"] if static else []
    linked = [*_told(folder, *asked), f"-Wl,-rpath,{folder}"]
    _run("gcc", *static, "main.c", *linked, "-o", "main", folder=folder)
    assert _run(folder / "main", folder=folder).splitlines() == ["success", "1 1"]
    dynamic = _run("readelf", "-d", "main", folder=folder)
    assert ("libroots.so" in dynamic) == (not static)


def test_the_runtime_of_openmp_goes_with_threads_alone(folder: Path) -> None:
    undefined = _run("nm", "--undefined-only", "roots.o", folder=folder)
    assert ("-lgomp" in _told(folder, "--static")) == ("GOMP_parallel" in undefined)
    assert "-lgomp" not in _told(folder)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
