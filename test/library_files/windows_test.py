"""Compiles programs to DLLs of Windows, and calls them under wine."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import plumbline
from plumbline.errors import UserError
from plumbline.library import sections
from plumbline.library.load import describe
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

_CPU = "x86-64-v3-windows"
_WINE = ["wine"]
_GCC, _OBJDUMP = "x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-objdump"

_MISSING = [command for command in (_GCC, *_WINE) if shutil.which(command) is None]

run_there = pytest.mark.skipif(
    bool(_MISSING), reason=f"there is no {_MISSING} (Debian's gcc-mingw-w64-x86-64 and wine)"
)


@pytest.fixture(autouse=True, scope="session")
def _own_windows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What wine keeps of Windows is not in the home folder of who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WINEPREFIX", str(tmp_path_factory.mktemp("wine")))
        patch.setenv("WINEDEBUG", "-all")
        yield


def _build(folder: Path, **options: Any) -> LibraryBuild:
    program = TorchProgram("it", "it", classifier_loader, recorded=False)
    return LibraryBuild(program, LibraryOptions("it", **options), folder)


def test_its_code(tmp_path: Path) -> None:
    build = _build(tmp_path, target_cpu=_CPU)
    assembly = build.file("asm").read_text()
    # Its arguments come in the registers of Windows, and data is addressed where it lies.
    assert "\ttestq\t%rcx, %rcx\n" in assembly
    assert "\ttestq\t%rdi, %rdi\n" not in assembly
    assert ".refptr" not in assembly
    called = set(re.findall(r"^\tcallq\t(\w+)", assembly, re.MULTILINE))
    assert {"plumbline_aligned_alloc", "plumbline_free"} < called
    assert not called & {"aligned_alloc", "free", "dprintf", "snprintf", "expf", "erff"}
    # Debuggers find callers of all functions that have something on the stack.
    functions = assembly.split("\t.def\t")[1:]
    assert [each for each in functions if "\tvfmadd" in each and "\tpushq\t" in each]
    for function in functions:
        if re.search(r"^\t(?:pushq\t|subq\t\$\d+, %rsp$)", function, re.MULTILINE):
            assert f"\n.seh_proc {function.partition(';')[0]}\n" in function
    # The kernels are those of Linux, to the letter.
    kernels = build.file("kernels").read_text()
    other = tmp_path / "linux"
    other.mkdir()
    assert kernels == _build(other, target_cpu="x86-64-v3").file("kernels").read_text()


@pytest.mark.parametrize(
    ("target_cpu", "kind", "target"),
    [
        (_CPU, "shared-object", "windows"),
        (_CPU, "pkg-config", "windows"),
        ("baseline", "dll", "host"),
        ("baseline", "import-library", "host"),
    ],
)
def test_files_of_other_targets(target_cpu: str, kind: str, target: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"there is no {kind} file of it for the target {target}$"):
        _build(tmp_path, target_cpu=target_cpu).file(kind)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"abi": "memref"}, "goes with abi='pointers', as it is called so alone; it is 'memref'$"),
        ({"weights": "file"}, "goes with weights='embedded' or weights='arguments', as it maps no"),
        ({"target": "nvptx"}, "goes with target='host'"),
        (
            {"target_cpu": "cortex-a76-windows"},
            "for x86-64 alone, and that is of aarch64; use",
        ),
        ({"target_cpu": "wasm32-windows"}, "for x86-64 alone, and that is of wasm32; use"),
        ({"target_cpu": "cortex-m4-windows"}, "for x86-64 alone, and that is of thumb; use"),
        ({"target_cpu": "nonsense-windows"}, "'nonsense': LLVM knows no such CPU"),
    ],
)
def test_what_there_is_not(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        _build(tmp_path, **{"target_cpu": _CPU, **options}).file("asm")


def test_there_has_to_be_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    message = r"^there is no C compiler for Windows, .*\(looked for x86_64-w64-mingw32-gcc\)"
    with pytest.raises(UserError, match=message):
        cached(tmp_path, _CPU)


def test_this_process_does_not_call_it() -> None:
    with pytest.raises(UserError, match="is of x86_64 under Windows, and this machine of x86_64"):
        plumbline.compile(Classifier().eval(), (torch.randn(3, 20),), target_cpu=_CPU)


@run_there
def test_it_agrees_with_pytorch(tmp_path: Path) -> None:
    file = classifier(tmp_path, _CPU)
    assert file == tmp_path / "it.dll"
    names = {"it.h", "it.o", "libit.a", "it.dll", "it.lib", "it.json", "itConfig.cmake"}
    assert {each.name for each in tmp_path.iterdir()} == names
    check_classifier(load_under(file, _WINE))
    with pytest.raises(UserError, match=r"so for machines of x86_64-windows, .*--run-under wine"):
        plumbline.load(file)


@run_there
def test_what_is_written_and_what_fails(tmp_path: Path) -> None:
    check_cached(load_under(cached(tmp_path, _CPU), _WINE))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@run_there
def test_half_precision(dtype: torch.dtype, tmp_path: Path) -> None:
    x, y = torch.randn(9, 17).to(dtype), torch.randn(17, 12).to(dtype)
    library = load_under(halves(tmp_path, _CPU, (x, y)), _WINE)
    torch.testing.assert_close(library(x, y), Halves()(x, y))


class _Wide(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x @ x.T, -1)


def _wide(folder: Path) -> tuple[Path, torch.Tensor]:
    """A library of enough work for two threads, and its input."""
    folder.mkdir(exist_ok=True)
    x = torch.randn(500, 300)
    return plumbline.aot(_Wide(), x, name="wide", out=folder, target_cpu=_CPU, threads=2), x


@run_there
@pytest.mark.parametrize("threads", ["1", "2", "7", "none"])
def test_several_threads(threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_THREADS", threads)
    file, x = _wide(tmp_path)
    assert b"GOMP_parallel" in (tmp_path / "wide.o").read_bytes()
    torch.testing.assert_close(load_under(file, _WINE)(x)[0], _Wide()(x))


@run_there
def test_what_a_dll_consists_of(tmp_path: Path) -> None:
    file, _ = _wide(tmp_path / "here")
    (description,) = describe(file)
    assert description.to_json() == (tmp_path / "here" / "wide.json").read_text()
    assert sections.read_architecture(file) == "x86_64-windows"
    assert sections.section_sizes(file)[".text"] > 100
    said = subprocess.run(
        [_OBJDUMP, "-p", str(file)], capture_output=True, text=True, check=True
    ).stdout
    # Every Windows has these.
    assert set(re.findall(r"DLL Name: (\S+)", said)) == {"KERNEL32.dll", "msvcrt.dll"}
    suffixes = ("", "_error", "_output_shape", "_packed", "_unchecked")
    assert set(re.findall(r"\[ +\d+\] (\w+)$", said, re.MULTILINE)) == {
        f"wide{suffix}" for suffix in suffixes
    }
    # Nothing says where or when it was made.
    other, _ = _wide(tmp_path / "there")
    for name in ("wide.dll", "wide.lib", "wide.o", "libwide.a"):
        assert file.with_name(name).read_bytes() == other.with_name(name).read_bytes(), name


def _image(count: int = 1, signature: bytes = b"PE\0\0", machine: int = 0x8664) -> bytes:
    """An image with sections of four bytes each, but not their content."""
    head = b"MZ".ljust(60, b"\0") + (64).to_bytes(4, "little")
    words = machine.to_bytes(2, "little") + count.to_bytes(2, "little")
    table = b".text\0\0\0" + b"".join(
        word.to_bytes(4, "little") for word in (4, 0, 512, 1 << 31, 0, 0, 0, 0)
    )
    return head + signature + words + bytes(16) + table


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"MZ", "it is cut off"),
        (_image()[:80], "it is cut off"),
        (_image(2), "it is cut off"),
        (_image(signature=b"NE\0\0"), "it is a program of DOS"),
        (_image(), "it says nothing of its programs"),
    ],
)
def test_what_is_no_dll(content: bytes, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "it.dll"
    file.write_bytes(content)
    with pytest.raises(UserError, match=problem):
        describe(file)


def test_a_dll_of_another_machine(tmp_path: Path) -> None:
    file = tmp_path / "it.dll"
    file.write_bytes(_image(machine=0xAA64))
    assert sections.read_architecture(file) == "PE's number 0xaa64"


_CALLER = """
#include "it.h"
int puts(const char*);
int main(void) {
  float x[20] = {0}, scores[10], sum = 0;
  int code = it(x, scores, 1);
  if (code) return puts(it_error(code)), 1;
  for (int i = 0; i < 10; ++i) sum += scores[i];
  if (it(0, scores, 1)) puts(it_error(it(0, scores, 1)));
  puts(sum > 0.999f && sum < 1.001f ? "one" : "another");
  return 0;
}
"""


def _run(program: Path, command: Sequence[str]) -> None:
    subprocess.run(command, check=True)
    said = subprocess.run(
        [*_WINE, str(program)], capture_output=True, text=True, check=True, cwd=program.parent
    )
    assert said.stdout.splitlines() == ["x is null", "one"]


@run_there
@pytest.mark.parametrize("library", ["it.lib", "libit.a"])
def test_calls_from_c(library: str, tmp_path: Path) -> None:
    classifier(tmp_path, _CPU)
    source, program = tmp_path / "caller.c", tmp_path / "caller.exe"
    source.write_text(_CALLER)
    parts = [str(source), str(tmp_path / library)]
    _run(program, [_GCC, "-Wall", "-Werror", *parts, "-o", str(program)])


_NO_LIBRARY = """
#include "it.h"
__declspec(dllimport) void* GetStdHandle(unsigned long);
__declspec(dllimport) int WriteFile(void*, const void*, unsigned long, unsigned long*, void*);
int _fltused;
int puts(const char* text) {
  unsigned long length = 0, written;
  while (text[length]) ++length;
  void* out = GetStdHandle(-11);
  WriteFile(out, text, length, &written, 0);
  return WriteFile(out, "\\n", 1, &written, 0);
}
"""


@run_there
@pytest.mark.skipif(
    shutil.which("clang") is None or shutil.which("lld-link") is None,
    reason="there is no clang or lld-link (Debian's clang and lld)",
)
def test_calls_from_a_program_of_the_other_compiler(tmp_path: Path) -> None:
    """Code as MSVC makes it, with no C library, and linked as its linker does."""
    classifier(tmp_path, _CPU)
    source, object_file = tmp_path / "caller.c", tmp_path / "caller.obj"
    source.write_text(_NO_LIBRARY + _CALLER)
    clang = ["clang", "--target=x86_64-pc-windows-msvc", "-ffreestanding", "-fno-stack-protector"]
    subprocess.run([*clang, "-O1", "-c", str(source), "-o", str(object_file)], check=True)
    program = tmp_path / "caller.exe"
    kernel32 = "/usr/x86_64-w64-mingw32/lib/libkernel32.a"
    link = ["lld-link", "/entry:main", "/subsystem:console", f"/out:{program}"]
    _run(program, [*link, str(object_file), str(tmp_path / "it.lib"), kernel32])


class _Turned(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 1j, y.conj()


@pytest.mark.skipif(shutil.which("clang") is None, reason="there is no clang (Debian's clang)")
def test_complex_numbers_in_the_c_of_the_other_compiler(tmp_path: Path) -> None:
    def load() -> TorchLoaderOutput:
        inputs = (torch.ones(2, dtype=torch.complex64), torch.ones(2, dtype=torch.complex128))
        return TorchLoaderOutput(model=_Turned(), inputs=inputs, func_name="it")

    program = TorchProgram("it", "it", load, recorded=False)
    options = LibraryOptions("it", target_cpu=_CPU)
    header = LibraryBuild(program, options, tmp_path).file("header")
    (tmp_path / "complex.h").write_text(
        "typedef struct { float parts[2]; } _Fcomplex;\n"
        "typedef struct { double parts[2]; } _Dcomplex;\n"
    )
    source = tmp_path / "caller.c"
    source.write_text(
        f"#include <{header.name}>\n"
        "int call(_Fcomplex* x, _Dcomplex* y, _Fcomplex* u, _Dcomplex* v) "
        "{ return it(x, y, u, v); }\n"
    )
    clang = ["clang", "--target=x86_64-pc-windows-msvc", "-ffreestanding", "-Werror"]
    subprocess.run([*clang, f"-I{tmp_path}", "-fsyntax-only", str(source)], check=True)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
