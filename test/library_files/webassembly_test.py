"""Compiles programs to modules of WebAssembly, and calls them from JavaScript."""

import json
import re
import shutil
import subprocess
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
from plumbline.loader_to_torch.loader import TorchLoaderOutput, checked
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

_NODE = ["node"]

_MISSING = [
    command for command in ("clang", "wasm-ld", "llvm-ar", "node") if shutil.which(command) is None
]

linked = pytest.mark.skipif(
    bool(_MISSING) or not Path("/usr/lib/wasm32-wasi/libc.a").exists(),
    reason=f"there is no {_MISSING or 'wasi-libc'} (Debian's clang, lld, llvm, wasi-libc, "
    "libclang-rt-14-dev-wasm32 and nodejs)",
)


def _assembly(folder: Path) -> str:
    program = TorchProgram("it", "it", classifier_loader, recorded=False)
    build = LibraryBuild(program, LibraryOptions("it", target_cpu="wasm32"), folder)
    return build.file("asm").read_text()


def test_its_code(tmp_path: Path) -> None:
    assembly = _assembly(tmp_path)
    assert "\tf32x4.mul\n\tf32x4.add\n" in re.sub(r" +$", "", assembly, flags=re.MULTILINE)
    # Calls are held against types of functions: malloc takes 32 bits there.
    assert "\t.functype\tplumbline_aligned_alloc (i64, i64) -> (i32)" in assembly
    assert "\t.functype\taligned_alloc" not in assembly
    # No loop of a kernel calls a function of the C library's for each element.
    called = set(re.findall(r"^\tcall\t(\w+)", assembly, re.MULTILINE))
    assert not called & {"expf", "erff", "fmaf", "tanhf"}
    # Nothing moves.
    assert "__memory_base" not in assembly


@pytest.mark.parametrize(
    ("target_cpu", "kind", "target"),
    [
        ("wasm32", "shared-object", "wasm32"),
        ("wasm32", "pkg-config", "wasm32"),
        ("baseline", "module", "host"),
        ("baseline", "javascript", "host"),
    ],
)
def test_files_of_other_targets(target_cpu: str, kind: str, target: str, tmp_path: Path) -> None:
    program = TorchProgram("it", "it", classifier_loader, recorded=False)
    build = LibraryBuild(program, LibraryOptions("it", target_cpu=target_cpu), tmp_path)
    with pytest.raises(UserError, match=f"there is no {kind} file of it for the target {target}$"):
        build.file(kind)


def test_there_has_to_be_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    message = r"^there is no C compiler for WebAssembly, .*\(looked for clang\): .*wasi-libc"
    with pytest.raises(UserError, match=message):
        cached(tmp_path, "wasm32")


def test_what_a_compiler_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.raises(UserError, match="failed:"):
        cached(tmp_path, "wasm32")


def test_this_process_does_not_call_it() -> None:
    with pytest.raises(UserError, match="target_cpu 'wasm32' is of wasm32, and this machine of"):
        plumbline.compile(Classifier().eval(), (torch.randn(3, 20),), target_cpu="wasm32")


@linked
def test_it_agrees_with_pytorch(tmp_path: Path) -> None:
    file = classifier(tmp_path, "wasm32")
    assert file == tmp_path / "it.wasm"
    names = {"it.h", "it.o", "libit.a", "it.wasm", "it.mjs", "it.d.mts", "it.json"}
    assert {each.name for each in tmp_path.iterdir()} == {*names, "itConfig.cmake"}
    library = load_under(file, _NODE)
    check_classifier(library)
    with pytest.raises(UserError, match="--run-under node"):
        plumbline.load(file)


@linked
def test_what_is_written_and_what_fails(tmp_path: Path) -> None:
    check_cached(load_under(cached(tmp_path, "wasm32"), _NODE))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@linked
def test_half_precision(dtype: torch.dtype, tmp_path: Path) -> None:
    x, y = torch.randn(9, 17).to(dtype), torch.randn(17, 12).to(dtype)
    library = load_under(halves(tmp_path, "wasm32", (x, y)), _NODE)
    torch.testing.assert_close(library(x, y), Halves()(x, y))


def _run(folder: Path, script: str) -> Any:
    """What a script writes as JSON that begins with `const run`, the program of `it.mjs`."""
    file = folder / "script.mjs"
    file.write_text(f'import {{ load }} from "./it.mjs";\nconst run = await load();\n{script}')
    result = subprocess.run(
        ["node", str(file)], capture_output=True, text=True, check=True, cwd=folder
    )
    return json.loads(result.stdout)


_SAYS = """
const said = [];
for (const inputs of given) {
  try {
    run(inputs);
    said.push("nothing");
  } catch (error) {
    said.push(`${error.name}: ${error.message}`);
  }
}
console.log(JSON.stringify(said));
"""


_CACHED = """
const cache = { data: new Float32Array(20), shape: [4, 5] };
const x = { data: Float32Array.of(1, 0, 2, 0, 3), shape: [5] };
const at = (row) => ({ data: BigInt64Array.of(row), shape: [] });
const results = Object.values(run({ cache, x, at: at(1n), factor: 0.5 }));
const [sum, places] = results.map(({ data, shape }) => ({ data: Array.from(data, (each) =>
  typeof each === "bigint" ? String(each) : each), shape }));
let said = "";
try {
  run({ cache, x, at: at(7n), factor: 0.5 });
} catch (error) {
  said = error.message;
}
console.log(JSON.stringify({ cache: Array.from(cache.data), sum, places, said }));
"""


@linked
def test_calls_from_javascript(tmp_path: Path) -> None:
    cached(tmp_path, "wasm32").rename(tmp_path / "it.wasm")
    code = (tmp_path / "cached.mjs").read_text()
    assert '"module": "cached.wasm"' in code
    (tmp_path / "it.mjs").write_text(code.replace("cached.wasm", "it.wasm"))
    found = _run(tmp_path, _CACHED)
    assert found["cache"] == [0.0] * 5 + [0.5, 0, 1, 0, 1.5] + [0.0] * 10
    assert found["sum"] == {"data": [0.5, 0, 1, 0, 1.5], "shape": [5]}
    assert found["places"] == {"data": ["0", "2", "4"], "shape": [3, 1]}
    assert re.fullmatch(r"cached: .*an index is out of range.*", found["said"])


def _rows(folder: Path) -> None:
    class _Rows(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.cat([x, y]) * 2

    rows, more = torch.export.Dim("rows"), torch.export.Dim("more")
    plumbline.aot(
        _Rows(),
        torch.ones(3, 2, dtype=torch.complex64),
        torch.ones(4, 2, dtype=torch.complex64),
        name="it",
        out=folder,
        dynamic_shapes={"x": {0: rows}, "y": {0: more}},
        target_cpu="wasm32",
    )


@linked
def test_arguments_that_do_not_fit(tmp_path: Path) -> None:
    _rows(tmp_path)
    said = _run(
        tmp_path,
        """
const tensor = (...shape) => ({
  data: new Float32Array(2 * shape.reduce((product, size) => product * size, 1)),
  shape,
});
const x = tensor(3, 2);
const given = [
  { x, y: x },
  { x },
  { x, y: x, z: x },
  { x, y: [1, 2] },
  { x, y: { data: new Float64Array(12), shape: [3, 2] } },
  { x, y: { data: x.data, shape: [3, 2, 1] } },
  { x, y: { data: x.data, shape: [4, 2] } },
  { x, y: { data: x.data, shape: [-3, -2] } },
  { x, y: tensor(2, 3) },
  undefined,
];"""
        + _SAYS,
    )
    assert said == [
        "nothing",
        "TypeError: it: the argument y is missing",
        "TypeError: it: there is no argument z; there are x, y",
        "TypeError: it: y is to be { data, shape }, with data in a Float32Array",
        "TypeError: it: y is to be { data, shape }, with data in a Float32Array",
        "RangeError: it: y has the shape [3,2,1], and is to have 2 sizes",
        "RangeError: it: y has 12 numbers; of its shape it would have 16",
        "RangeError: it: y has the shape [-3,-2], and is to have 2 sizes",
        "RangeError: it: argument 1 has size 3 in dimension 1, not 2",
        "TypeError: it: the argument x is missing",
    ]


@linked
def test_calls_give_their_memory_back(tmp_path: Path) -> None:
    _rows(tmp_path)
    script = """
const x = { data: new Float32Array(2 << 20).fill(1), shape: [1 << 19, 2] };
let last;
for (let call = 0; call < 100; ++call) last = run({ x, y: x });
console.log(JSON.stringify([last[Object.keys(last)[0]].shape, last.out0.data[5]]));
"""
    # 100 calls of 48 MB come to more than a module can have.
    assert _run(tmp_path, script) == [[1 << 20, 2], 2]


class _Wide(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x[:, None, None] * x[:, None] * x).cumsum(0).sum((0, 1))


@linked
def test_more_memory_than_there_is(tmp_path: Path) -> None:
    x = torch.ones(8)
    file = plumbline.aot(
        _Wide(),
        x,
        name="it",
        out=tmp_path,
        dynamic_shapes=({0: torch.export.Dim.DYNAMIC},),
        target_cpu="wasm32",
    )
    library = load_under(file, _NODE)
    torch.testing.assert_close(library(x)[0], _Wide()(x))
    with pytest.raises(UserError, match=r"^it: there is no memory for 32000000000 bytes$"):
        library(torch.ones(2000))
    # It goes on.
    torch.testing.assert_close(library(x)[0], _Wide()(x))


@linked
def test_what_a_module_says_of_itself(tmp_path: Path) -> None:
    file = plumbline.aot(
        torch.nn.Tanh(), torch.ones(2), name="it", out=tmp_path, target_cpu="wasm32"
    )
    (description,) = describe(file)
    assert description.target_cpu == "wasm32"
    assert description.to_json() == (tmp_path / "it.json").read_text()
    assert sections.read_architecture(file) == "wasm32"
    sizes = sections.section_sizes(file)
    assert sizes[".text"] > 100
    script = (
        "WebAssembly.Module.imports(new WebAssembly.Module(require('fs').readFileSync('it.wasm')))"
    )
    result = subprocess.run(
        ["node", "-p", f"{script}.length"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert result.stdout == "0\n"


_ARRAYS = {
    "float32": "Float32Array",
    "float64": "Float64Array",
    "float16": "Uint16Array",
    "bfloat16": "Uint16Array",
    "int64": "BigInt64Array",
    "uint8": "Uint8Array",
    "int16": "Int16Array",
    "uint32": "Uint32Array",
    "bool": "Uint8Array",
    "complex64": "Float32Array",
    "complex128": "Float64Array",
    "float8_e4m3fn": "Uint8Array",
}
"""What JavaScript has the elements of a type in."""


class _Scaled(torch.nn.Module):
    def forward(self, numbers: dict[str, torch.Tensor], factor: float, count: int) -> torch.Tensor:
        return numbers["float32"] * factor + count


def test_types_of_arguments(tmp_path: Path) -> None:
    def load() -> TorchLoaderOutput:
        numbers = {name: torch.ones(2, dtype=getattr(torch, name)) for name in _ARRAYS}
        dynamic = torch.export.Dim.DYNAMIC
        program = TorchLoaderOutput(
            model=_Scaled(),
            inputs=(numbers, 1.5, 2),
            dynamic_shapes=(None, dynamic, dynamic),
        )
        return checked("it", program)

    program = TorchProgram("it", "it", load, recorded=False)
    build = LibraryBuild(program, LibraryOptions("it", target_cpu="wasm32"), tmp_path)
    declared = re.findall(r"^  (\w+): (.*);$", build.file("types").read_text(), re.MULTILINE)
    types = [type_ for _, type_ in declared]
    assert types[:2] == ["Data", "number[]"]
    assert types[2:-3] == [f"Tensor<{array}>" for array in _ARRAYS.values()]
    assert types[-3:] == [
        "number | boolean",
        "bigint | number",
        "Tensor<Float32Array>",
    ]


_MAIN = """
#include <stdio.h>
#include "it.h"

__attribute__((constructor)) static void begin(void) { printf("begun\\n"); }

int main(void) {
  float x[2] = {0, 1}, y[2];
  printf("%d", it(x, y));
  printf(" %.4f\\n", (double)y[1]);
  printf("%s", it_error(it(NULL, y)));
  return 0;
}
"""

_RUN = """
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";
const wasi = new WASI({ version: "preview1" });
const module = await WebAssembly.compile(readFileSync("main.wasm"));
wasi.start(await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport }));
"""


@linked
def test_a_program_in_c_has_it(tmp_path: Path) -> None:
    plumbline.aot(torch.nn.Tanh(), torch.ones(2), name="it", out=tmp_path, target_cpu="wasm32")
    (tmp_path / "main.c").write_text(_MAIN)
    (tmp_path / "run.mjs").write_text(_RUN)
    compiler = ["clang", "--target=wasm32-wasi", "main.c", "libit.a", "-o", "main.wasm"]
    subprocess.run(compiler, check=True, cwd=tmp_path)
    result = subprocess.run(
        ["node", "run.mjs"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    # It begins and ends as a program does, though a library is in it.
    assert result.stdout == "begun\n0 0.7616\ninput is null"


def _module(*parts: tuple[int, bytes]) -> bytes:
    return b"\0asm\1\0\0\0" + b"".join(
        bytes([kind, len(content)]) + content for kind, content in parts
    )


def test_sections_of_a_module(tmp_path: Path) -> None:
    file = tmp_path / "it.wasm"
    content = _module((0, b"\4name!!"), (10, b"code."), (1, b"types"), (11, b"data"))
    file.write_bytes(content)
    assert sections.section_sizes(file) == {"name": 2, ".text": 5, ".rodata": 4}
    assert sections.read_section(file, "name") == b"!!"
    whole = {8, 17, 24, 31}
    for length in range(len(content)):
        file.write_bytes(content[:length])
        if length in whole:
            sections.section_sizes(file)
        else:
            with pytest.raises(ValueError, match=r"cut off|no ELF file, nor a module"):
                sections.section_sizes(file)


@pytest.mark.parametrize(
    "content", [b"\0\2\5ab", b"\0\xff\xff\xff\xff\xff", b"\0\xff\xff\xff\xff\x0f"]
)
def test_sections_of_a_broken_module(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "it.wasm"
    file.write_bytes(b"\0asm\1\0\0\0" + content)
    with pytest.raises(ValueError, match="cut off"):
        sections.section_sizes(file)
    with pytest.raises(UserError, match=r"it\.wasm: it cannot be read: .*cut off"):
        describe(file)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
