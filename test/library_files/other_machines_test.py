"""Compiles programs for other machines than this one, and calls them under an emulator."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

import plumbline
from plumbline.errors import UserError
from plumbline.library_files.build import LibraryBuild, TorchProgram
from plumbline.library_files.called_under import load_under
from plumbline.library_files.options import LibraryOptions
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from test.library_files.programs import (
    Classifier,
    Halves,
    cached,
    check_cached,
    check_classifier,
    classifier,
    classifier_loader,
    halves,
)


def _emulator(architecture: str, *options: str) -> list[str]:
    return [f"qemu-{architecture}-static", *options, "-L", f"/usr/{architecture}-linux-gnu"]


_AARCH64 = _emulator("aarch64")
_RISCV64 = _emulator("riscv64")
_RISCV64_WITH_VECTORS = _emulator("riscv64", "-cpu", "rv64,v=true,vlen=256,Zfh=true")

_HERE = ["env"]
"""It runs programs for this machine."""

_MISSING = [
    command
    for command in ("aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc", _AARCH64[0], _RISCV64[0])
    if shutil.which(command) is None
]

emulated = pytest.mark.skipif(
    bool(_MISSING),
    reason=f"there is no {_MISSING} (Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, "
    "gcc-riscv64-linux-gnu, libc6-dev-riscv64-cross, qemu-user-static)",
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


def _loop_of(assembly: str, instruction: str) -> str:
    """What lies between labels, of which the most is this instruction."""
    return max(
        re.split(r"^\S+:", assembly, flags=re.MULTILINE), key=lambda part: part.count(instruction)
    )


def test_code_for_riscv_without_vectors(tmp_path: Path) -> None:
    loop = _loop_of(_assembly(tmp_path, "riscv64"), "\tfmadd.s\t")
    assert loop.count("\tfmadd.s\t") >= 20
    # Sums stay in registers.
    assert "(sp)" not in loop


def test_code_for_riscv_with_vectors(tmp_path: Path) -> None:
    assembly = _assembly(tmp_path, "spacemit-x60")
    # What GNU's assembler does not know is not named, and LLVM uses none of it.
    assert re.search(r"^\t\.attribute\t5, \"rv64i2p1_.*_v1p0_\w*zba1p0", assembly, re.MULTILINE)
    assert "zicond" not in assembly
    assert "czero." not in assembly
    loop = _loop_of(assembly, "\tvfmacc.vf\t")
    assert loop.count("\tvfmacc.vf\t") >= 20
    assert "e32, m1, " in assembly, "a register holds eight floats"


class _MeanOfExponentials(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.exp().mean()


@pytest.mark.parametrize("target_cpu", ["neoverse-n2", "rva23u64"])
def test_llvm_has_nothing_to_say_of_scalable_vectors(
    target_cpu: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = TorchProgram("it", "it", mean_loader, recorded=False)
    LibraryBuild(program, LibraryOptions("it", target_cpu=target_cpu), tmp_path).file("asm")
    assert capfd.readouterr().err == ""


def mean_loader() -> TorchLoaderOutput:
    return TorchLoaderOutput(model=_MeanOfExponentials(), inputs=(torch.randn(9, 200),))


def test_a_process_of_its_own(tmp_path: Path) -> None:
    check_cached(load_under(cached(tmp_path, "baseline"), _HERE))


def test_weights_of_a_file_in_a_process_of_its_own(tmp_path: Path) -> None:
    model, x = Classifier().eval(), torch.randn(3, 20)
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
    file = cached(tmp_path, "baseline")
    with pytest.raises(UserError, match=r"^no-such-emulator cannot be run: No such file"):
        load_under(file, ["no-such-emulator"])
    said = _ending_of(["sh", "-c", "echo 'no, thanks' >&2; exit 3"], file)
    assert said.endswith("it ended with exit status 3: no, thanks")
    assert _ending_of(["sh", "-c", "kill -9 $$"], file).endswith("it ended with signal 9")


_EMULATED = [
    ("cortex-a76", _AARCH64),
    ("riscv64", _RISCV64),
    # As long as they are at least, and longer.
    ("rva23u64", _RISCV64_WITH_VECTORS),
    ("spacemit-x60", _RISCV64_WITH_VECTORS),
]


@pytest.mark.parametrize(
    ("target_cpu", "emulator", "weights"),
    [*((*machine, "embedded") for machine in _EMULATED), ("cortex-a76", _AARCH64, "file")],
)
@emulated
def test_it_agrees_with_pytorch(
    target_cpu: str, emulator: Sequence[str], weights: str, tmp_path: Path
) -> None:
    file = classifier(tmp_path, target_cpu, weights)
    library = load_under(file, emulator)
    if weights == "file":
        library.load_weights(tmp_path / "it.safetensors")
    check_classifier(library)


@pytest.mark.parametrize(("target_cpu", "emulator"), [("aarch64", _AARCH64), ("riscv64", _RISCV64)])
@emulated
def test_what_an_emulator_runs(target_cpu: str, emulator: Sequence[str], tmp_path: Path) -> None:
    check_cached(load_under(cached(tmp_path, target_cpu), emulator))


@pytest.mark.parametrize(
    ("target_cpu", "emulator"),
    [
        *(
            (cpu, _emulator("aarch64", "-cpu", "max"))
            for cpu in ("aarch64", "neoverse-n1", "neoverse-n2")
        ),
        ("spacemit-x60", _RISCV64_WITH_VECTORS),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@emulated
def test_half_precision(
    target_cpu: str, emulator: Sequence[str], dtype: torch.dtype, tmp_path: Path
) -> None:
    x, y = torch.randn(9, 17).to(dtype), torch.randn(17, 12).to(dtype)
    library = load_under(halves(tmp_path, target_cpu, (x, y)), emulator)
    torch.testing.assert_close(library(x, y), Halves()(x, y))


@emulated
def test_half_precision_that_the_compiler_cannot_link(tmp_path: Path) -> None:
    inputs = torch.randn(9, 17).half(), torch.randn(17, 12).half()
    message = "^float16 takes functions here that this C compiler's library does not have.*rva22u64"
    with pytest.raises(UserError, match=message):
        halves(tmp_path, "riscv64", inputs)


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
    assert torch.equal(load_under(file, _AARCH64)(x)[0], _Bytes()(x))


def _of_another_machine(folder: Path) -> Path:
    """A library that says of itself that it is for AArch64, as ELF's header has it."""
    file = plumbline.aot(Classifier().eval(), torch.randn(3, 20), name="it", out=folder)
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
        cached(tmp_path, "neoverse-n1")


def test_what_this_process_is_to_call_is_for_this_machine() -> None:
    message = "target_cpu 'cortex-a76' is of aarch64, and this machine of x86_64"
    with pytest.raises(UserError, match=message):
        plumbline.compile(Classifier().eval(), (torch.randn(3, 20),), target_cpu="cortex-a76")
    with pytest.raises(UserError, match=message):
        plumbline.Backend(target_cpu="cortex-a76")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
