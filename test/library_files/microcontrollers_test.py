"""Compiles programs to libraries for microcontrollers, and calls them on an emulated board."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

# It has the ops of models that are quantized.
import torch.ao.quantization.fx._decomposed

import plumbline
from plumbline.cli.main import main
from plumbline.errors import UserError
from plumbline.library import sections
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

_BOARD = ["qemu-system-arm", "-M", "mps3-an547"]

_MISSING = [
    command for command in ("arm-none-eabi-gcc", _BOARD[0]) if shutil.which(command) is None
]

emulated = pytest.mark.skipif(
    bool(_MISSING) or not Path("/usr/lib/arm-none-eabi/include/stdio.h").exists(),
    reason=f"there is no {_MISSING or 'newlib'} (Debian's gcc-arm-none-eabi, "
    "libnewlib-arm-none-eabi and qemu-system-arm)",
)

_OF_EACH_KIND = ["cortex-m0", "cortex-m4", "cortex-m7", "cortex-m55"]
"""Without floats, with those of 32 bits, with those of 64, and with vectors."""


def _build(folder: Path, target_cpu: str) -> LibraryBuild:
    program = TorchProgram("it", "it", classifier_loader, recorded=False)
    return LibraryBuild(program, LibraryOptions("it", target_cpu=target_cpu), folder)


@pytest.mark.parametrize(
    ("target_cpu", "product", "floats"),
    [
        ("cortex-m0", r"bl\t__aeabi_fmul", "soft"),
        ("cortex-m4", r"vmul\.f32\ts", "hard"),
        ("cortex-m55", r"vfma\.f32\tq", "hard"),
    ],
)
def test_its_code(target_cpu: str, product: str, floats: str, tmp_path: Path) -> None:
    assembly = _build(tmp_path, target_cpu).file("asm").read_text()
    assert re.search(f"\t{product}", assembly)
    # What numbers are passed in, of the attributes that linkers compare (Addenda to the Arm ABI,
    # Tag_ABI_VFP_args).
    assert ("\t.eabi_attribute\t28, 1\n" in assembly) == (floats == "hard")
    called = set(re.findall(r"\tbl\t(\w+)", assembly))
    assert "plumbline_aligned_alloc" in called
    assert not called & {"aligned_alloc", "expf", "erff", "fmaf", "tanhf"}
    # Tables of how exceptions leave functions need what walks them.
    assert ".fnstart" not in assembly
    # Nothing moves, so what it reads is found without a table.
    assert "GOT" not in assembly


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 2}, "threads=1, as it has one; it is 2"),
        ({"abi": "memref"}, "abi='pointers', as it is called so alone; it is 'memref'"),
        ({"target": "nvptx"}, "target='host', as its kernels are its own; it is 'nvptx'"),
        (
            {"weights": "file"},
            "weights='embedded' or weights='arguments', as it maps no files; it is 'file'",
        ),
    ],
)
@pytest.mark.parametrize("target_cpu", ["cortex-m4", "wasm32"])
def test_what_there_is_not(target_cpu: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(
        UserError, match=f"^target_cpu='{target_cpu}' goes with {re.escape(message)}"
    ):
        LibraryOptions("it", target_cpu=target_cpu, **options)


def test_files_of_other_targets(tmp_path: Path) -> None:
    message = "there is no shared-object file of it for the target microcontroller$"
    with pytest.raises(UserError, match=message):
        _build(tmp_path, "cortex-m4").file("shared-object")


def test_names_that_there_are_not(tmp_path: Path) -> None:
    message = "target_cpu 'cortex-m99': LLVM knows no such CPU; of microcontrollers use a name that"
    with pytest.raises(UserError, match=message):
        _build(tmp_path, "cortex-m99").file("kernels")


def test_there_has_to_be_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    message = r"for microcontrollers, .*looked for arm-none-eabi-gcc, clang\): .*libnewlib-arm"
    with pytest.raises(UserError, match=message):
        cached(tmp_path, "cortex-m4")


def test_this_process_does_not_call_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="target_cpu 'cortex-m4' is of thumb, and this machine of"):
        plumbline.compile(Classifier().eval(), (torch.randn(3, 20),), target_cpu="cortex-m4")
    # clang makes the object, if nothing else does.
    file = cached(tmp_path, "cortex-m4")
    assert {each.name for each in tmp_path.iterdir()} == {
        "cached.h",
        "cached.json",
        "cachedConfig.cmake",
        "cached.o",
        "libcached.a",
    }
    header = " ".join((tmp_path / "cached.h").read_text().split("\n// "))
    assert "takes all arguments on trust, and traps where" in header
    with pytest.raises(UserError, match=r"for machines of thumb, .*--run-under \"qemu-system-arm"):
        plumbline.load(file)


@pytest.mark.parametrize("target_cpu", ["cortex-m0", "cortex-m4", "cortex-m55"])
@emulated
def test_it_agrees_with_pytorch(target_cpu: str, tmp_path: Path) -> None:
    file = classifier(tmp_path, target_cpu)
    library = load_under(file, _BOARD)
    check_classifier(library)
    # It has 34 kB where kernels have 16 kB of sums, in place of 2.
    stack = library.stack_bytes()
    assert stack is not None
    assert 500 < stack < 12000


@emulated
def test_what_is_written_and_what_fails(tmp_path: Path) -> None:
    check_cached(load_under(cached(tmp_path, "cortex-m55"), _BOARD))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("target_cpu", ["cortex-m4", "cortex-m55"])
@emulated
def test_half_precision(target_cpu: str, dtype: torch.dtype, tmp_path: Path) -> None:
    x, y = torch.randn(9, 17).to(dtype), torch.randn(17, 12).to(dtype)
    library = load_under(halves(tmp_path, target_cpu, (x, y)), _BOARD)
    torch.testing.assert_close(library(x, y), Halves()(x, y))


class _Bytes(torch.nn.Module):
    """Products of bytes, which lie along rows or along columns, with those of a weight."""

    weight: torch.Tensor

    def __init__(self, summed: int) -> None:
        super().__init__()
        self.register_buffer("weight", _some_bytes(summed, 5))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch._int_mm(x, self.weight), torch._int_mm(self.weight.t(), y)


def _some_bytes(*shape: int) -> torch.Tensor:
    made = torch.Generator().manual_seed(sum(shape))
    return torch.randint(-128, 128, shape, dtype=torch.int8, generator=made)


@pytest.mark.parametrize(
    ("target_cpu", "instructions"),
    [
        ("cortex-m0", {}),
        ("cortex-m3", {}),
        ("cortex-m4", {32: r"smlad\t", 40: r"smlad\t", 20: r"smlad\t"}),
        ("cortex-m55", {32: r"vmlava\.s8\t", 40: r"vmlava\.s16\t", 20: r"vmlava\.u32\t"}),
    ],
)
@pytest.mark.parametrize("summed", [32, 40, 20, 18])
@emulated
def test_products_of_bytes(
    target_cpu: str, instructions: dict[int, str], summed: int, tmp_path: Path
) -> None:
    """As a register holds them, or a part of it; of 18 there is no part that goes with them."""
    model, x, y = _Bytes(summed), _some_bytes(7, summed), _some_bytes(summed, 9)
    program = TorchProgram(
        "it", "it", lambda: TorchLoaderOutput(model=model, inputs=(x, y)), recorded=False
    )
    build = LibraryBuild(program, LibraryOptions("it", target_cpu=target_cpu), tmp_path)
    found = re.findall(r"\t((?:smlad|vmlava\S+)\t)", build.file("asm").read_text())
    instruction = instructions.get(summed)
    assert bool(found) == (instruction is not None)
    assert all(re.match(str(instruction), each) for each in found)
    file = plumbline.aot(model, x, y, name="it", out=tmp_path, target_cpu=target_cpu)
    for ours, theirs in zip(load_under(file, _BOARD)(x, y), model(x, y), strict=True):
        assert torch.equal(ours, theirs)


class _Quantized(torch.nn.Module):
    """A convolution as PyTorch 2 Export (PT2E) has it, of bytes without a sign, and their mean."""

    weight: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", _some_bytes(24, 16, 3, 3))
        self.register_buffer("scales", torch.rand(24) / 100)
        self.register_buffer("zeros", torch.zeros(24, dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ops = torch.ops.quantized_decomposed
        by = 0.05, 100, 0, 255, torch.uint8
        x = ops.dequantize_per_tensor.default(ops.quantize_per_tensor.default(x, *by), *by)
        weight = ops.dequantize_per_channel.default(
            self.weight, self.scales, self.zeros, 0, -128, 127, torch.int8
        )
        y = torch.conv2d(x, weight, padding=1).relu()
        integers: torch.Tensor = ops.quantize_per_tensor.default(y, 0.1, -9, -128, 127, torch.int8)
        return integers


@pytest.mark.parametrize("target_cpu", ["cortex-m4", "cortex-m55"])
@emulated
def test_quantized_convolutions(target_cpu: str, tmp_path: Path) -> None:
    model, x = _Quantized(), torch.randn(1, 16, 9, 7)
    file = plumbline.aot(model, x, name="it", out=tmp_path, target_cpu=target_cpu, memory="pool")
    expected = model(x)
    (made,) = load_under(file, _BOARD)(x)
    # Products of floats are rounded, and what is next to a half may be either way then.
    assert int((made.int() - expected.int()).abs().max()) <= 1
    assert float((made != expected).float().mean()) < 0.01


@pytest.mark.parametrize("target_cpu", _OF_EACH_KIND)
def test_it_counts_in_its_registers(target_cpu: str, tmp_path: Path) -> None:
    """Of 64 bits counts take two of these each, and two instructions for what else is one."""
    program = TorchProgram("it", "it", rows_loader, recorded=False)
    build = LibraryBuild(program, LibraryOptions("it", target_cpu=target_cpu), tmp_path)
    kernels = build.file("kernels").read_text()
    loops = re.findall(r"scf\.for .*", kernels)
    assert loops
    assert all(re.search(r": i32 \{", loop) for loop in loops)
    # Nor does it ask for what it reads later: there is no cache where that would be.
    assert "memref.prefetch" not in kernels


class _Extrema(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.maximum(x, y), torch.minimum(x, y), torch.round(x), x.amax(1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("target_cpu", _OF_EACH_KIND)
@emulated
def test_functions_that_llvm_has_no_code_for(
    target_cpu: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    numbers = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -3.0, float("inf"), float("-inf"), float("nan")]
    # The last one with a fraction, and beyond.
    numbers += [8388607.5, -8388607.5, 8388609.0, 16777219.0]
    x, y = torch.meshgrid(*2 * [torch.tensor(numbers, dtype=dtype)], indexing="ij")
    x, y = x.contiguous(), y.contiguous()
    file = plumbline.aot(_Extrema(), x, y, name="it", out=tmp_path, target_cpu=target_cpu)
    for ours, theirs in zip(load_under(file, _BOARD)(x, y), _Extrema()(x, y), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0, equal_nan=True)
    # IEEE 754 takes -0 for less than 0, and PyTorch the first of the two.
    zeros = torch.zeros(4, 3, dtype=dtype)
    larger, smaller, *_ = load_under(file, _BOARD)(_like(x, zeros), _like(x, -zeros))
    assert not np.signbit(larger.numpy()).any()
    assert np.signbit(smaller.numpy()).all()


def test_numbers_are_rounded_in_registers_of_floats(tmp_path: Path) -> None:
    """By additions on a Cortex-M4, whose floats have no instruction for it."""
    for target_cpu, called in (("cortex-m0", True), ("cortex-m4", False), ("cortex-m7", False)):
        folder = tmp_path / target_cpu
        folder.mkdir()
        program = TorchProgram("it", "it", _rounding_loader, recorded=False)
        build = LibraryBuild(program, LibraryOptions("it", target_cpu=target_cpu), folder)
        assert ("\tbl\tnearbyintf" in build.file("asm").read_text()) == called


class _Rounding(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.round()


def _rounding_loader() -> TorchLoaderOutput:
    return TorchLoaderOutput(model=_Rounding(), inputs=(torch.randn(5),))


def _like(x: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return value[0, 0].expand(x.shape).contiguous()


@emulated
def test_a_fault_ends_the_program(tmp_path: Path) -> None:
    library = load_under(cached(tmp_path, "cortex-m4"), [*_BOARD, "-m", "none"])
    with pytest.raises(UserError, match=r"cached\.o, under qemu-system-arm .*: it ended with exit"):
        library(torch.zeros(4, 5), torch.ones(5), torch.tensor(1), 0.5)


def rows_loader() -> TorchLoaderOutput:
    return TorchLoaderOutput(model=torch.nn.Linear(4, 3), inputs=(torch.randn(2, 4),))


@emulated
def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loader = f"{__file__}:rows_loader"
    options = ["--target-cpu", "cortex-m4", "--run-under", " ".join(_BOARD)]
    assert main(["test", loader, *options, "--memory", "pool"]) == 0
    said = capfd.readouterr().out
    assert re.search(r"^stack: at most \d+ bytes\n.*: agrees with PyTorch$", said, re.MULTILINE)


@emulated
def test_what_a_program_does_not_call_is_left_out(tmp_path: Path) -> None:
    loaded = rows_loader()
    plumbline.aot(
        loaded.model,
        *loaded.inputs,
        name="it",
        out=tmp_path,
        target_cpu="cortex-m0",
        memory="pool",
    )
    source, program = tmp_path / "main.c", tmp_path / "main"
    source.write_text(
        """\
#include "it.h"
float x[8], y[6];
char workspace[4096] __attribute__((aligned(64)));
int main(void) { return it(x, y, workspace); }
"""
    )
    options = ["-mcpu=cortex-m0", "-mthumb", "-nostartfiles", "-Wl,-e,main,--gc-sections"]
    subprocess.run(
        [
            "arm-none-eabi-gcc",
            *options,
            source,
            f"-I{tmp_path}",
            tmp_path / "libit.a",
            "-o",
            program,
        ],
        check=True,
    )
    listed = subprocess.run(
        ["arm-none-eabi-nm", program], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[-1] for line in listed.splitlines()}
    assert "it" in names
    assert not names & {"it_packed", "it_error", "plumbline_snprintf", "malloc"}


def _elf(*parts: tuple[bytes, bytes]) -> bytes:
    """An ELF file of 32 bits with sections that have such names and contents."""
    names, contents = b"\0", b""
    headers = [bytes(40)]
    for name, content in (*parts, (b".names", b"")):
        content = content or names + name + b"\0"
        place = 52 + len(contents)
        fields = [len(names), 1, 0, 0, place, len(content), 0, 0, 1, 0]
        headers.append(b"".join(field.to_bytes(4, "little") for field in fields))
        names += name + b"\0"
        contents += content
    words = [(1, 2), (40, 2), (1, 4), (0, 4), (0, 4), (52 + len(contents), 4), (0, 4)]
    words += [(52, 2), (0, 2), (0, 2), (40, 2), (len(headers), 2), (len(headers) - 1, 2)]
    header = b"\x7fELF\1\1\1" + bytes(9)
    header += b"".join(value.to_bytes(size, "little") for value, size in words)
    return header + contents + b"".join(headers)


def test_sections_of_files_of_32_bits(tmp_path: Path) -> None:
    file = tmp_path / "it.o"
    content = _elf((b".text", b"code"), (b".rodata", b"constants"))
    file.write_bytes(content)
    assert sections.read_architecture(file) == "thumb"
    assert sections.read_section(file, ".rodata") == b"constants"
    assert sections.section_sizes(file)[".text"] == 4
    for length in range(len(content)):
        file.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"cut off|no ELF file"):
            sections.section_sizes(file)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
