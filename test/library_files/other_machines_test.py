"""Compiles programs for other machines than this one, and calls them under an emulator."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError
from plumbline.library_files.build import LibraryBuild, TorchProgram
from plumbline.library_files.called_under import load_under
from plumbline.library_files.options import LibraryOptions
from plumbline.loader_to_torch.loader import TorchLoaderOutput

_SYSROOT = "/usr/aarch64-linux-gnu"
_EMULATOR = ["qemu-aarch64-static", "-L", _SYSROOT]

_HERE = ["env"]
"""It runs programs for this machine."""

emulated = pytest.mark.skipif(
    None in map(shutil.which, ("aarch64-linux-gnu-gcc", _EMULATOR[0])),
    reason="there is no compiler for AArch64, or no emulator (Debian's gcc-aarch64-linux-gnu, "
    "libc6-dev-arm64-cross, qemu-user-static)",
)


class _Classifier(torch.nn.Module):
    """With weights as they are and packed ones, exponentials, and a sum over rows."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.hidden = torch.nn.Linear(20, 33)
        self.norm = torch.nn.LayerNorm(33)
        self.last = torch.nn.Linear(33, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.last(self.norm(torch.nn.functional.gelu(self.hidden(x))))
        return scores.softmax(-1)


def classifier_loader() -> TorchLoaderOutput:
    return TorchLoaderOutput(
        model=_Classifier().eval(),
        inputs=(torch.randn(7, 20),),
        dynamic_shapes={"x": {0: Dim("rows")}},
    )


class _Cached(torch.nn.Module):
    """It has an in-out argument, numbers, an index that may be wrong, and a size of its values."""

    def forward(
        self, cache: torch.Tensor, x: torch.Tensor, at: torch.Tensor, factor: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        cache[at] = x * factor
        return cache.sum(0), torch.nonzero(x)


def _cached(folder: Path, target_cpu: str) -> Path:
    return plumbline.aot(
        _Cached(),
        torch.zeros(4, 5),
        torch.ones(5),
        torch.tensor(2),
        0.5,
        name="cached",
        out=folder,
        dynamic_shapes=(None, None, None, Dim.DYNAMIC),
        mutable=["cache"],
        memory="pool",
        target_cpu=target_cpu,
    )


def _assembly(folder: Path, target_cpu: str) -> str:
    program = TorchProgram("it", "it", classifier_loader, recorded=False)
    build = LibraryBuild(program, LibraryOptions("it", target_cpu=target_cpu), folder)
    return build.file("asm").read_text()


def test_code_for_another_architecture(tmp_path: Path) -> None:
    assembly = _assembly(tmp_path, "cortex-a76")
    assert assembly.startswith("\t.arch\tarmv8")
    assert re.search(r"\tfmla\tv\d+\.4s, v\d+\.4s, v\d+\.s\[0\]", assembly)
    # Of what lies in one section the linker would make one entry of the global offset table.
    assert ":got:" not in assembly
    assert ":lo12:func_main.weight" in assembly


def _check_cached(library: plumbline.Library) -> None:
    cache = torch.zeros(4, 5)
    x = torch.tensor([1.0, 0.0, 2.0, 0.0, 3.0])
    total, places = library(cache, x, torch.tensor(1), 0.5)
    assert torch.equal(cache[1], x / 2)
    assert torch.equal(total, x / 2)
    assert torch.equal(places, torch.nonzero(x))
    with pytest.raises(UserError, match=r"cached: .*an index is out of range"):
        library(cache, x, torch.tensor(7), 0.5)
    out, places = torch.empty(5), torch.empty(5, 1, dtype=torch.int64)
    assert library(cache, x, torch.tensor(0), 2.0, out=[out, places])[0] is out
    assert torch.equal(out, x * 2.5)


def test_a_process_of_its_own(tmp_path: Path) -> None:
    _check_cached(load_under(_cached(tmp_path, "baseline"), _HERE))


def test_weights_of_a_file_in_a_process_of_its_own(tmp_path: Path) -> None:
    model, x = _Classifier().eval(), torch.randn(3, 20)
    file = plumbline.aot(model, x, name="it", out=tmp_path, weights="file")
    library = load_under(file, _HERE)
    with pytest.raises(UserError, match=r"no such.*: the file of weights cannot be opened"):
        library.load_weights(tmp_path / "no such")
    library.load_weights(tmp_path / "it.safetensors")
    torch.testing.assert_close(library(x)[0], model(x))


def _ending_of(command: Sequence[str], file: Path) -> str:
    library = load_under(file, command)
    with pytest.raises(UserError) as caught:
        library(torch.zeros(4, 5), torch.ones(5), torch.tensor(1), 0.5)
    return str(caught.value)


def test_a_process_that_ends(tmp_path: Path) -> None:
    file = _cached(tmp_path, "baseline")
    with pytest.raises(UserError, match=r"^no-such-emulator cannot be run: No such file"):
        load_under(file, ["no-such-emulator"])
    said = _ending_of(["sh", "-c", "echo 'no, thanks' >&2; exit 3"], file)
    assert said.endswith("it ended with exit status 3: no, thanks")
    assert _ending_of(["sh", "-c", "kill -9 $$"], file).endswith("it ended with signal 9")


@pytest.mark.parametrize("weights", ["embedded", "file"])
@emulated
def test_it_agrees_with_pytorch(weights: str, tmp_path: Path) -> None:
    program = classifier_loader()
    file = plumbline.aot(
        program.model,
        *program.inputs,
        name="it",
        out=tmp_path,
        dynamic_shapes=program.dynamic_shapes,
        target_cpu="cortex-a76",
        weights=weights,
    )
    library = load_under(file, _EMULATOR)
    if weights == "file":
        library.load_weights(tmp_path / "it.safetensors")
    for count in (0, 1, 7, 40):
        x = torch.randn(count, 20)
        torch.testing.assert_close(library(x)[0], program.model(x))


@emulated
def test_what_an_emulator_runs(tmp_path: Path) -> None:
    _check_cached(load_under(_cached(tmp_path, "aarch64"), _EMULATOR))


class _Halves(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        wide = (x @ y).softmax(-1)
        return wide, torch.exp(x) + 1


@pytest.mark.parametrize("target_cpu", ["aarch64", "neoverse-n1", "neoverse-n2"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@emulated
def test_half_precision(target_cpu: str, dtype: torch.dtype, tmp_path: Path) -> None:
    x, y = torch.randn(9, 17).to(dtype), torch.randn(17, 12).to(dtype)
    file = plumbline.aot(_Halves(), x, y, name="halves", out=tmp_path, target_cpu=target_cpu)
    library = load_under(file, ["qemu-aarch64-static", "-cpu", "max", "-L", _SYSROOT])
    torch.testing.assert_close(library(x, y), _Halves()(x, y))


class _Bytes(torch.nn.Module):
    w: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("w", torch.arange(-128, 128, dtype=torch.int8).reshape(16, 16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch._int_mm(x, self.w)


@pytest.mark.parametrize(("target_cpu", "has_sdot"), [("cortex-a72", False), ("cortex-a76", True)])
@emulated
def test_dot_products_of_bytes(target_cpu: str, has_sdot: bool, tmp_path: Path) -> None:
    x = torch.arange(-128, 144).to(torch.int8).reshape(17, 16)
    file = plumbline.aot(_Bytes(), x, name="bytes", out=tmp_path, target_cpu=target_cpu)
    disassembled = subprocess.run(
        ["aarch64-linux-gnu-objdump", "-d", file], capture_output=True, text=True, check=True
    ).stdout
    assert ("\tsdot\t" in disassembled) == has_sdot
    assert torch.equal(load_under(file, _EMULATOR)(x)[0], _Bytes()(x))


def _of_another_machine(folder: Path) -> Path:
    """A library that says of itself that it is for AArch64, as ELF's header has it."""
    file = plumbline.aot(_Classifier().eval(), torch.randn(3, 20), name="it", out=folder)
    content = bytearray(file.read_bytes())
    content[18:20] = (183).to_bytes(2, "little")
    file.write_bytes(content)
    return file


def test_a_library_of_another_machine_is_not_loaded(tmp_path: Path) -> None:
    message = "it is made for baseline, so for machines of aarch64, .*--run-under"
    with pytest.raises(UserError, match=message):
        plumbline.load(_of_another_machine(tmp_path))


def test_there_has_to_be_a_cross_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    message = re.escape(
        "there is no C compiler for aarch64, which assembles and links libraries (looked for "
        "aarch64-linux-gnu-gcc): install one (Debian's package gcc-aarch64-linux-gnu), or"
    )
    with pytest.raises(UserError, match=message):
        _cached(tmp_path, "neoverse-n1")


def test_what_this_process_is_to_call_is_for_this_machine() -> None:
    message = "target_cpu 'cortex-a76' is of aarch64, and this machine of x86_64"
    with pytest.raises(UserError, match=message):
        plumbline.compile(_Classifier().eval(), (torch.randn(3, 20),), target_cpu="cortex-a76")
    with pytest.raises(UserError, match=message):
        plumbline.Backend(target_cpu="cortex-a76")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
