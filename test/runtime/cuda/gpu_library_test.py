"""Libraries for a GPU: what C and Python programs do with them, with and without a driver."""

import ctypes
import ctypes.util
import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

import plumbline
from plumbline.cli.main import main
from plumbline.errors import UserError
from plumbline.library import device
from plumbline.library_files.build import LibraryBuild, TorchProgram
from plumbline.library_files.options import LibraryOptions
from test.runtime.cuda.stand_in import GpuStage, Kernels, driver

_LAYERS = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.LayerNorm(5)).eval()

_CONVENTIONS: dict[str, dict[str, Any]] = {
    "host": {},
    "pool": {"on_gpu_tensors": True, "memory": "pool"},
    "device": {"on_gpu_tensors": True},
    "stream": {"on_gpu_tensors": True, "stream": True},
}


_Made = Callable[..., Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> _Made:
    """Gives the folder of all files of a library `layers`, which are made once."""

    @functools.cache
    def folder_of(convention: str, dynamic: bool = False) -> Path:
        return _make(convention, tmp_path_factory.mktemp(convention), dynamic)

    return folder_of


def _make(convention: str, folder: Path, dynamic: bool) -> Path:
    program = plumbline.TorchLoaderOutput(
        _LAYERS,
        (torch.randn(4, 6),),
        {"input": {0: Dim("n")}} if dynamic else None,
        func_name="layers",
    )
    options = LibraryOptions("layers", target="nvptx", **_CONVENTIONS[convention])
    source = TorchProgram("layers", "layers", lambda: program, recorded=False)
    build = LibraryBuild(source, options, folder)
    for kind in ("gpu", "ptx", "header", "archive", "shared-object", "pkg-config"):
        build.file(kind)
    return folder


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("convention", _CONVENTIONS)
def test_from_python(convention: str, dynamic: bool, made: _Made) -> None:
    driver()
    folder = made(convention, dynamic)
    library = plumbline.load(folder / "liblayers.so")
    kernels = Kernels(GpuStage((folder / "_internal_layers_gpu.mlir").read_text()))
    for rows in (4, 9, 4) if dynamic else (4, 4, 4):
        x = torch.randn(rows, 6)
        given = x if convention == "host" else device.copy_from(x.numpy())
        (result,) = library(given)
        actual = result if convention == "host" else torch.from_numpy(result.numpy())
        torch.testing.assert_close(actual, _LAYERS(x).detach())
    del kernels


_MAIN = """
#include "layers.h"
#include <stdio.h>

int main(void) {
  static _Alignas(64) float x[4 * 6], y[4 * 5];
  const int code = layers(%s);
  printf("%%d: %%s\\n", code, layers_error(code));
  return 0;
}
"""

_HAS_DRIVER = ctypes.util.find_library("cuda") is not None

_ARGUMENTS = {
    "host": "x, y",
    "pool": "x, y, x",
    "device": "x, y",
    "stream": "x, y, x, 0",
}


@pytest.mark.parametrize("convention", _CONVENTIONS)
@pytest.mark.parametrize("library", ["liblayers.a", "liblayers.so"])
def test_from_c_without_a_driver(
    convention: str, library: str, made: _Made, tmp_path: Path
) -> None:
    """It links and loads where there is no driver, and a call says so by a status."""
    folder = made(convention)
    source = tmp_path / "main.c"
    source.write_text(_MAIN % _ARGUMENTS[convention])
    program = tmp_path / "main"
    flags = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{folder}"]
    links = ["-lm", "-ldl", "-lpthread", f"-Wl,-rpath,{folder}"]
    command = ["cc", *flags, str(source), str(folder / library), *links, "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True, env={})
    if _HAS_DRIVER:
        pytest.skip("this machine has an NVIDIA driver")
    assert re.fullmatch(
        r"[1-9]\d*: no NVIDIA driver was found: there is no library libcuda.so.1 that can be "
        "loaded here\n",
        done.stdout,
    )


def test_a_library_shows_its_entries_alone(made: _Made) -> None:
    """Nothing of the runtime, of which another library may have another version."""
    folder = made("stream")
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(folder / "liblayers.so")],
        capture_output=True,
        text=True,
        check=True,
    )
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    suffixes = ("", "_error", "_output_shape", "_packed", "_unchecked", "_workspace_size")
    assert names == {f"layers{suffix}" for suffix in suffixes}
    assert "-ldl -lpthread" in (folder / "layers.pc").read_text()


def test_what_is_closed_gives_all_back(made: _Made, tmp_path: Path) -> None:
    """The library's module, and its weights on the device."""
    driver()
    folder = made("host")
    kernels = Kernels(GpuStage((folder / "_internal_layers_gpu.mlir").read_text()))
    counts = (
        driver().plumbline_stand_in_allocated(),
        driver().plumbline_stand_in_left(),
    )
    # A file of its own, which nobody else has open.
    library = ctypes.CDLL(str(shutil.copy(folder / "liblayers.so", tmp_path)))
    x, y = np.zeros((4, 6), np.float32), np.zeros((4, 5), np.float32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, y)]
    assert library.layers(*pointers) == 0
    assert driver().plumbline_stand_in_allocated() > counts[0]
    ctypes.CDLL(None).dlclose(ctypes.c_void_p(library._handle))
    assert driver().plumbline_stand_in_allocated() == counts[0]
    assert driver().plumbline_stand_in_left() == counts[1]
    del kernels


def test_the_header_says_where_tensors_are(made: _Made) -> None:
    text = " ".join((made("stream") / "layers.h").read_text().replace("//", "").split())
    assert "compiled for GPUs from sm_80 on, and baseline." in text
    assert "All tensors are memory of one GPU's" in text
    assert "The workspace is memory of the GPU's for temporaries" in text
    assert "void *workspace, void *stream);" in text
    assert "Calls on the same pointers become a CUDA graph" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stream": True}, "stream goes with on_gpu_tensors"),
        ({"on_gpu_tensors": True, "abi": "memref"}, 'on_gpu_tensors goes with abi="pointers"'),
        ({"memory": "pool"}, 'memory="pool" goes with on_gpu_tensors'),
        ({"threads": 2}, 'threads=2 goes with target="host"'),
        ({"target": "gpu"}, "target is 'gpu'; it is one of 'host', 'nvptx'"),
        ({"target": "host", "on_gpu_tensors": True}, 'on_gpu_tensors goes with target="nvptx"'),
    ],
)
def test_choices_that_do_not_go_together(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        LibraryOptions("layers", **{"target": "nvptx", **options})


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "scaled.mlir"
    source.write_text(
        "func.func @scaled(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
        "  %y = tcp.tanh %x : tensor<3xf32> -> tensor<3xf32>\n"
        "  return %y : tensor<3xf32>\n"
        "}\n"
    )
    words = ["compile", str(source), "--out", str(tmp_path)]
    gpu = ["--target", "nvptx", "--gpu-arch", "sm_90"]
    assert main([*words, *gpu, "--on-gpu-tensors", "--emit", "library,ptx"]) == 0
    assert ".target sm_90" in (tmp_path / "_internal_scaled.ptx").read_text()
    assert main(["show", str(tmp_path / "libscaled.so")]) == 0
    assert "GPUs from sm_90 on" in capfd.readouterr().out
    for wrong, message in (
        ([*gpu, "--emit", "kernels"], "there is no kernels file of it for the target nvptx"),
        (["--emit", "ptx"], "there is no ptx file of it for the target host"),
        (["--gpu-arch", "sm_90"], "--gpu-arch goes with --target nvptx"),
        (["--cubins", "sm_90"], 'cubins goes with target="nvptx"'),
        ([*gpu, "--emit", "fatbin"], "there is no fatbin of it without cubins"),
        (["--target", "nvptx", "--gpu-arch", "sm_1"], "gpu_arch 'sm_1': it is a name such as"),
        (["--target", "nvptx", "--gpu-arch", "sm_99"], "LLVM knows no such GPU"),
    ):
        assert main([*words, *wrong]) != 0
        assert message in capfd.readouterr().err


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
