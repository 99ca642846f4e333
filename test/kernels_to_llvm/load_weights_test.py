"""Libraries that map their weights from a file, and what they say of files that are not theirs."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch

import plumbline
from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.kernels_to_llvm.program_signature import program_signature
from plumbline.library.load import Library
from plumbline.library_files.c_header import c_header
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.llvm_to_asm.assembly import emit_assembly
from plumbline.llvm_to_asm.description_section import include_description
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.llvm_to_asm.mapped_weights import map_weights
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.weights import serialise
from plumbline.signature.library_description import LibraryDescription
from plumbline.target.cpu import cpu_target
from plumbline.tcp.assembly.module import parse_module
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp


@dataclass(frozen=True)
class _Built:
    """A library, the file of its weights, and what it computes."""

    folder: Path
    content: bytes
    model: torch.nn.Module

    def fresh(self, folder: Path) -> Library:
        """The library, as a process has it that has not loaded its weights."""
        # Of another file, as a process loads the same one only once.
        copy = folder / "libmlp.so"
        copy.write_bytes((self.folder / "libmlp.so").read_bytes())
        return plumbline.load(copy)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> _Built:
    folder = tmp_path_factory.mktemp("mlp")
    # Its weights are more than a page, and some of them are packed.
    layers = torch.nn.Linear(70, 128), torch.nn.Linear(128, 5), torch.nn.Linear(5, 16)
    model = torch.nn.Sequential(layers[0], torch.nn.ReLU(), *layers[1:])
    exported = export("it", TorchLoaderOutput(model, (torch.randn(9, 70),), func_name="mlp"))
    archive = folder / "weights.safetensors"
    archive.write_bytes(serialise(exported.weights))
    module = parse_module(exported.text, make_context(torch=True), "it")
    convert_torch_to_tcp(module)
    convert_tcp_to_linalg(module, "values")
    convert_linalg_to_kernels(module)
    signature = program_signature(module, "mlp", weights_are="file")
    convert_kernels_to_llvm(module, "pointers", weights="file")
    llvm_ir = translate_to_llvm_ir(module)
    content, assembly = map_weights(llvm_ir, archive)
    description = LibraryDescription(signature, "baseline", "here")
    (folder / "mlp.safetensors").write_bytes(content)
    (folder / "mlp.h").write_text(c_header(description))
    (folder / "mlp.S").write_text(
        emit_assembly(llvm_ir, cpu_target("baseline"))
        + assembly
        + include_description(description.to_json())
    )
    command = ["gcc", "-shared", "-undef", "-o", "libmlp.so", "mlp.S", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return _Built(folder, content, model)


def _expected(built: _Built, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        result: torch.Tensor = built.model(x)
    return result


def test_the_library_computes_with_what_it_has_loaded(built: _Built, tmp_path: Path) -> None:
    mlp, x = built.fresh(tmp_path), torch.randn(9, 70)
    assert mlp.signature.loads_weights
    with pytest.raises(UserError, match="the weights are not loaded: call mlp_load_weights first"):
        mlp(x)
    mlp.load_weights(built.folder / "mlp.safetensors")
    torch.testing.assert_close(mlp(x)[0], _expected(built, x))
    # Further calls change nothing, whatever file they name.
    mlp.load_weights("no such file")
    torch.testing.assert_close(mlp(x)[0], _expected(built, x))
    # The library itself has none of them.
    assert (tmp_path / "libmlp.so").stat().st_size < len(built.content)


def test_anybody_reads_the_file(built: _Built) -> None:
    tensors = safetensors.numpy.load(built.content)
    state = built.model.state_dict()
    np.testing.assert_array_equal(tensors["0.bias"], state["0.bias"].numpy())
    (packed,) = (name for name in tensors if name.startswith("0.weight:perm_"))
    assert tensors[packed].ndim == 3
    assert "0.weight" not in tensors


def test_weights_of_whole_cache_lines_begin_with_one(built: _Built) -> None:
    length = int.from_bytes(built.content[:8], "little")
    places = [
        [8 + length + at for at in entry["data_offsets"]]
        for entry in json.loads(built.content[8 : 8 + length]).values()
    ]
    whole = [begin for begin, end in places if (end - begin) % 64 == 0]
    assert len(whole) > 3
    assert not any(begin % 64 for begin in whole)
    # The others come after them.
    assert min(begin for begin, end in places if (end - begin) % 64 != 0) > max(whole)


def test_files_that_are_not_the_library_s_are_refused(built: _Built, tmp_path: Path) -> None:
    mlp, x = built.fresh(tmp_path), torch.randn(9, 70)
    content, file = built.content, tmp_path / "weights.safetensors"
    length = int.from_bytes(content[:8], "little")
    size = "is not of the size that the program was compiled for"
    other = "is not one of the weights that the program was compiled for"
    changed = bytearray(content)
    changed[content.index(b"F32")] += 1
    for given, message in (
        (b"", size),
        (content[:7], size),
        (content[: length // 2], size),
        (content[:-1], size),
        (content + b"\0", size),
        (bytes(len(content)), other),
        (b"\xff" * 8 + content[8:], other),
        (content[: 7 + length] + b"x" + content[8 + length :], other),
        (bytes(changed), other),
    ):
        file.write_bytes(given)
        with pytest.raises(UserError, match=f"weights.safetensors: the file of weights {message}"):
            mlp.load_weights(file)
    for path, message in ((tmp_path / "none", "cannot be opened"), (tmp_path, size)):
        with pytest.raises(UserError, match=f"the file of weights {message}"):
            mlp.load_weights(path)
    with pytest.raises(UserError, match="the weights are not loaded"):
        mlp(x)
    # After that it still loads the right one.
    file.write_bytes(content)
    mlp.load_weights(file)
    torch.testing.assert_close(mlp(x)[0], _expected(built, x))


def test_threads_may_load_at_once(built: _Built, tmp_path: Path) -> None:
    mlp, x = built.fresh(tmp_path), torch.randn(9, 70)

    def load_and_run(_: int) -> torch.Tensor:
        mlp.load_weights(built.folder / "mlp.safetensors")
        result: torch.Tensor = mlp(x)[0]
        return result

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(load_and_run, range(16)))
    for result in results:
        torch.testing.assert_close(result, _expected(built, x))


_MAIN = """
#include "mlp.h"

#include <stdio.h>

int main(int count, char **arguments) {
  static float x[9 * 70], out[9 * 5];
  printf("%s\\n", mlp_error(mlp_load_weights(NULL)));
  printf("%s\\n", mlp_error(mlp(x, out)));
  printf("%s\\n", mlp_error(mlp_load_weights(arguments[count - 1])));
  printf("%s\\n", mlp_error(mlp(x, out)));
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_header_declares_it(built: _Built, tmp_path: Path, compiler: str) -> None:
    (tmp_path / "main.c").write_text(_MAIN)
    strict = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{built.folder}"]
    command = [compiler, *strict, "main.c", str(built.folder / "mlp.S"), "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    weights = str(built.folder / "mlp.safetensors")
    ran = subprocess.run(
        ["./a.out", weights], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert ran.stdout.splitlines() == [
        "the path of the file of weights is null",
        "the weights are not loaded: call mlp_load_weights first",
        "success",
        "success",
    ]
    assert "int mlp_load_weights(const char *path);" in (built.folder / "mlp.h").read_text()


def test_a_library_with_its_weights_loads_none(built: _Built, tmp_path: Path) -> None:
    program = plumbline.compile(torch.nn.Tanh(), (torch.ones(2),), func_name="tanh_of")
    description = LibraryDescription(program.signature, "native", "here")
    (tmp_path / "tanh.S").write_text(
        program.stage("asm") + include_description(description.to_json())
    )
    command = ["gcc", "-shared", "-undef", "-o", "libtanh.so", "tanh.S", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    with pytest.raises(UserError, match="tanh_of has its weights; it loads none from"):
        plumbline.load(tmp_path / "libtanh.so").load_weights(built.folder / "mlp.safetensors")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
