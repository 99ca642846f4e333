"""Uses the files of a library as one does who has nothing else of Plumbline."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plumbline
from plumbline.errors import UserError

_FILES = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], "test/AotLibrary")

_MAIN = """
#include <mlp.h>
#include <stdio.h>

int main(void) {
  const float x[6] = {1, 2, 3, 4, 5, 6};
  float out0[6];
  int i, code = mlp(x, out0, 1);
  if (code != 0) {
    fprintf(stderr, "%s\\n", mlp_error(code));
    return 1;
  }
  for (i = 0; i < 6; ++i) printf("%.9g\\n", (double)out0[i]);
  return 0;
}
"""


def _run(folder: Path, *command: str | Path) -> str:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture
def expected() -> list[float]:
    (result,) = plumbline.load(_FILES / "libmlp.so")(np.arange(1, 7, dtype=np.float32)[None])
    return [float(value) for value in result[0]]


@pytest.mark.parametrize("library", ["mlp.o", "libmlp.a", "libmlp.so", "mlp.so"])
def test_each_form_of_the_library_links(
    library: str, expected: list[float], tmp_path: Path
) -> None:
    (tmp_path / "main.c").write_text(_MAIN)
    options = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{_FILES}"]
    linked = [str(_FILES / library), "-lm", f"-Wl,-rpath,{_FILES}"]
    _run(tmp_path, "gcc", *options, "-o", "main", "main.c", *linked)
    assert [np.float32(line) for line in _run(tmp_path, "./main").split()] == expected


def test_pkg_config_tells_where_it_is() -> None:
    lines = (_FILES / "mlp.pc").read_text().splitlines()
    assert "Libs: -L${prefix} -lmlp" in lines
    assert "Cflags: -I${prefix}" in lines


def test_the_shared_object_has_its_name_and_shows_its_entries_alone() -> None:
    dynamic = _run(_FILES, "readelf", "-d", "libmlp.so")
    assert "Library soname: [libmlp.so]" in dynamic
    shown = _run(_FILES, "nm", "-D", "--defined-only", "libmlp.so").split()[2::3]
    entries = ["mlp", "mlp_error", "mlp_output_shape", "mlp_packed", "mlp_unchecked"]
    assert sorted(shown) == entries


def test_the_shared_object_needs_the_c_library_alone() -> None:
    dynamic = _run(_FILES, "readelf", "-dW", "libmlp.so")
    assert re.findall(r"NEEDED.*\[(.*)\]", dynamic) == ["libc.so.6"]
    undefined = _run(_FILES, "nm", "-D", "--undefined-only", "libmlp.so").splitlines()
    # What is weak, linkers add themselves.
    others = [line for line in undefined if " w " not in line and "@GLIBC_" not in line]
    assert not others


def test_it_tells_its_signature_itself() -> None:
    library = plumbline.load(_FILES / "libmlp.so")
    assert library.description.origin == "test.AotCompile.model_loader_lib.mlp_loader"
    assert library.description.to_json() == (_FILES / "mlp.json").read_text()
    with pytest.raises(UserError, match=r"argument 0 is f32\[1, 5\], .* takes f32\[\?, 6\]"):
        library(np.zeros((1, 5), np.float32))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
