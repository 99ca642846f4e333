"""Where the lines of stages come from, and the page that says so."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from plumbline.explorer.located_text import LocatedText, located_by_function, located_mlir
from plumbline.explorer.page import page
from plumbline.explorer.source_files import excerpts, line_of

_KERNELS = """\
#loc1 = loc("torch/nn/linear.py":7:0)
#loc2 = loc("model.py":3:0)
#loc3 = loc("up"(callsite(#loc1 at #loc2)))
#loc4 = loc("model.py":4:0)
module {
  func.func @f(%x: memref<3xf32>) {
    scf.for %i = %c0 to %c3 step %c1 {
      func.call @twice(%x) : (memref<3xf32>) -> () loc(#loc4)
    } loc(#loc3)
    call @twice(%x) : (memref<3xf32>) -> () loc(#loc5)
    return loc(#loc2)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc5 = loc(fused[#loc3, #loc4])
"""

_LLVM = """\
module {
  llvm.func @malloc(i64) -> !llvm.ptr
  llvm.func internal @twice(%arg0: !llvm.ptr {llvm.noalias}) attributes {no_inline} {
    llvm.return
  }
}
"""

_LLVM_IR = """\
declare void @free(ptr)

define internal void @twice(ptr noalias %0) #0 {
  ret void
}
"""

_PTX = """\
.visible .entry twice(
\t.param .u64 twice_param_0
)
{
\tret;
}
"""

_ASSEMBLY = """\
f:
\tcallq\ttwice
twice:
\tretq
\t.size\ttwice, .-twice
\t.section .rodata
"""

_UP, _DOWN = ("model.py", 3), ("model.py", 4)


def _from(text: LocatedText, *places: tuple[str, int]) -> list[str]:
    """The lines that come from these places, without their indents."""
    return [
        line.strip()
        for line, origins in zip(text.lines, text.origins, strict=True)
        if origins == places
    ]


def test_lines_of_mlir_come_from_where_their_ops_do() -> None:
    text = located_mlir(_KERNELS)
    assert len(text.lines) == 9
    assert not re.search("loc", "\n".join(text.lines))
    # An op with a region is told at its end where it is from.
    assert _from(text, _UP) == ["scf.for %i = %c0 to %c3 step %c1 {", "}", "return"]
    assert _from(text, _DOWN) == ["func.call @twice(%x) : (memref<3xf32>) -> ()"]
    assert _from(text, _UP, _DOWN) == ["call @twice(%x) : (memref<3xf32>) -> ()"]


def test_functions_are_for_those_who_call_them() -> None:
    text = located_mlir(_KERNELS)
    assert text.of_functions == {"twice": (_DOWN, _UP)}
    launch = 'gpu.launch_func @kernels::@twice blocks in (%c1) loc(#loc1)\n#loc1 = loc("a.py":1:0)'
    assert located_mlir(launch).of_functions == {"twice": (("a.py", 1),)}


@pytest.mark.parametrize(
    ("stage", "lines"),
    [(_LLVM, (2, 5)), (_LLVM_IR, (2, 5)), (_PTX, (0, 6)), (_ASSEMBLY, (2, 5))],
)
def test_later_stages_are_placed_by_function(stage: str, lines: tuple[int, int]) -> None:
    text = located_by_function(stage, {"twice": (_DOWN,)})
    assert "\n".join(text.lines) + "\n" == stage
    placed = [number for number, origins in enumerate(text.origins) if origins == (_DOWN,)]
    assert placed == list(range(*lines))
    assert not any(origins for origins in text.origins if origins != (_DOWN,))


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    text = "\n".join([*(f"# {number}" for number in range(1, 31)), "  last = 31"])
    (tmp_path / "lib.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "lib.py"


def test_excerpts(source: str) -> None:
    numbers = [number for number, _ in excerpts(source, [3, 30])]
    assert numbers == [*range(1, 10), *range(24, 32)]
    assert dict(excerpts(source, [3]))[2] == "# 2"
    assert line_of(source, 31) == "last = 31"
    assert list(excerpts("nowhere.py", [1])) == []
    assert line_of("nowhere.py", 1) == ""


def _data(text: str) -> Any:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*)</script>', text)
    return json.loads(found)


def test_a_page_has_all_stages_and_the_source_of_their_lines(source: str) -> None:
    kernels = _KERNELS.replace("model.py", source)
    text = page("f", {"kernels": kernels, "llvm-ir": _LLVM_IR, "asm": _ASSEMBLY})
    assert "<title>f: every stage</title>" in text
    data = _data(text)
    assert [stage["name"] for stage in data["stages"]] == ["kernels", "llvm-ir", "asm"]
    assert data["stages"][0]["lines"][0] == "module {"
    assert data["stages"][0]["origins"][2:4] == [[0], [1]]
    assert data["stages"][1]["origins"][2] == [1, 0]
    (shown,) = data["sources"]
    assert shown["file"] == source
    assert shown["lines"][2:4] == [[3, "# 3", 0], [4, "# 4", 1]]
    assert shown["lines"][4] == [5, "# 5"]


def test_lines_have_the_shares_of_time_that_are_known() -> None:
    stages = {"kernels": _KERNELS}
    assert _data(page("f", stages))["shares"] == {}
    data = _data(page("f", stages, {_DOWN: 0.75, ("other.py", 1): 0.25}))
    assert data["shares"] == {"1": 0.75, "2": 0.25}
    assert data["sources"][1] == {"file": "other.py", "lines": [[1, "", 2]]}


def test_a_source_that_is_not_there_has_its_numbers() -> None:
    data = _data(page("f", {"kernels": _KERNELS}))
    assert data["sources"] == [{"file": "model.py", "lines": [[3, "", 0], [4, "", 1]]}]


def test_no_text_of_a_program_ends_the_page_or_is_run() -> None:
    hostile = "</script><script>alert(1)</script>{{ data }}{{ name }}"
    text = page(hostile, {"kernels": f'module attributes {{a = "{hostile}"}} {{\n}}\n'})
    assert text.count("<script") == 2
    assert "alert(1)</script>" not in text
    assert hostile in _data(text)["stages"][0]["lines"][0]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
