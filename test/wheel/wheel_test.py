"""Builds the wheel, installs it, and uses it as one does who has nothing else of Plumbline."""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tools.lint import repository

_LIBRARY = Path(
    os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], "test/AotLibrary/libmlp.so"
)

# Where numpy is, and all else that compiling needs.
_PACKAGES = Path(np.__file__).parents[1]

_TWICE = """
func.func @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tcp.add %x, %x : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""


def _run(
    *words: str | Path, folder: Path, modules: Sequence[Path]
) -> subprocess.CompletedProcess[str]:
    """Runs Python, which finds `modules` and its own alone."""
    environment = {
        "PATH": os.environ["PATH"],
        # As tools/pytest/run_pytest.py.
        "PLUMBLINE_CACHE_DIR": "",
        "PYTHONPATH": ":".join(map(str, modules)),
        "PYTHONSAFEPATH": "1",
    }
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    for file in repository.files("plumbline", "pyproject.toml", "README.md", "requirements"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(repository.ROOT / file, folder / file)
    # As the page says, but with the packages that are there.
    words = ["-m", "pip", "wheel", "--no-deps", "--wheel-dir=dist", "."]
    built = _run(*words, "--no-build-isolation", "--no-index", folder=folder, modules=[_PACKAGES])
    assert built.returncode == 0, built.stderr
    (found,) = (folder / "dist").iterdir()
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    words = ["-m", "pip", "install", "--no-deps", "--no-index", "--target", str(folder)]
    result = _run(*words, wheel, folder=folder, modules=[])
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture(scope="module")
def numpy_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that modules are imported from, with numpy and nothing else."""
    folder = tmp_path_factory.mktemp("packages")
    for name in ("numpy", "numpy.libs"):
        if (_PACKAGES / name).exists():
            (folder / name).symlink_to(_PACKAGES / name)
    return folder


def test_the_wheel_has_all_files(wheel: Path) -> None:
    sources = [file for file in repository.files("plumbline") if Path(file).name != "BUILD"]
    names = zipfile.ZipFile(wheel).namelist()
    assert sorted(name for name in names if ".dist-info/" not in name) == sorted(sources)


def test_the_wheel_asks_for_numpy_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = archive.read(name).decode().splitlines()
    required = [line for line in metadata if line.startswith("Requires-Dist: ")]
    assert [line for line in required if "extra ==" not in line] == ["Requires-Dist: numpy"]
    assert 'Requires-Dist: torch==2.13.0; extra == "compile"' in required


def test_a_library_is_used_without_torch_and_mlir(installed: Path, numpy_alone: Path) -> None:
    # -S: without the packages of this Python, too.
    modules = [installed, numpy_alone]
    command = installed / "bin" / "plumbline"
    for words in (["--version"], ["show", str(_LIBRARY)], ["completion", "bash"]):
        ran = _run("-S", command, *words, folder=installed, modules=modules)
        assert ran.returncode == 0, ran.stderr
    np.savez(installed / "in.npz", x=np.ones((2, 6), np.float32))
    words = ["run", str(_LIBRARY), "--inputs", "in.npz", "--outputs", "out.npz", "--time"]
    ran = _run("-S", command, *words, folder=installed, modules=modules)
    assert ran.returncode == 0, ran.stderr
    code = f"""
import sys
import numpy as np
import plumbline
library = plumbline.load({str(_LIBRARY)!r})
with np.load("out.npz") as outputs:
    np.testing.assert_array_equal(library(np.ones((2, 6), np.float32))[0], outputs["out0"])
"""
    ran = _run("-S", "-c", code, folder=installed, modules=modules)
    assert ran.returncode == 0, ran.stderr


def test_compiling_without_torch_is_a_mistake_that_says_what_to_install(
    installed: Path, numpy_alone: Path
) -> None:
    (installed / "twice.mlir").write_text(_TWICE)
    command = installed / "bin" / "plumbline"
    words = ["compile", "twice.mlir", "--out", "out"]
    ran = _run("-S", command, *words, folder=installed, modules=[installed, numpy_alone])
    assert ran.returncode == 2
    assert "which is not installed: pip install 'plumbline[compile]'" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (installed / "out").exists()


def test_importing_plumbline_imports_neither_torch_nor_mlir(installed: Path) -> None:
    """And what compiles imports nothing that only programs for GPUs or of StableHLO need."""
    code = """
import sys
import plumbline
import plumbline.cli.main
heavy = {"torch", "torch_mlir", "llvmlite", "safetensors", "numpy"} & set(sys.modules)
assert not heavy, heavy
assert callable(plumbline.compile)
assert {"torch", "torch_mlir"} <= set(sys.modules)
of_others = {"plumbline.linalg_to_gpu", "plumbline.stablehlo_to_tcp"} & set(sys.modules)
assert not of_others, of_others
"""
    ran = _run("-c", code, folder=installed, modules=[installed, _PACKAGES])
    assert ran.returncode == 0, ran.stderr


def test_pytorch_knows_the_backend_by_name(installed: Path) -> None:
    # Dynamo takes sources, not what is handed over by -c.
    (installed / "doubled.py").write_text("""
import torch
double = torch.compile(lambda x: x + x, backend="plumbline", options={"threads": 1})
assert double(torch.ones(2)).tolist() == [2, 2]
""")
    ran = _run("doubled.py", folder=installed, modules=[installed, _PACKAGES])
    assert ran.returncode == 0, ran.stderr


def test_the_wheel_compiles(installed: Path) -> None:
    (installed / "twice.mlir").write_text(_TWICE)
    command = installed / "bin" / "plumbline"
    words = ["compile", "twice.mlir", "--out", "compiled"]
    ran = _run(command, *words, folder=installed, modules=[installed, _PACKAGES])
    assert ran.returncode == 0, ran.stderr
    assert (installed / "compiled" / "libtwice.so").is_file()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
