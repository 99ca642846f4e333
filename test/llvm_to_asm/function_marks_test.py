import subprocess
import sys
from pathlib import Path

import pytest

from plumbline.llvm_to_asm.function_marks import mark_functions

_LLVM_IR = """
@table = constant [4 x i8] zeroinitializer
declare float @tanhf(float)
define internal void @NAME_body() {
  ret void
}
define void @NAME() {
  ret void
}
define ptr @NAME_checked(ptr %p) {
  ret ptr %p
}
"""


def _library(folder: Path, program: str, function: str) -> Path:
    """An archive of the object that the marks alone make."""
    assembly = folder / f"{program}.s"
    marks = mark_functions(_LLVM_IR.replace("NAME", function), f"//test:{program}")
    # As LLVM ends its own assembly; without it the stack of the binary would be executable.
    assembly.write_text(marks + '\t.section\t".note.GNU-stack","",%progbits\n')
    subprocess.run(["gcc", "-c", assembly, "-o", assembly.with_suffix(".o")], check=True)
    library = folder / f"lib{program}.a"
    subprocess.run(["ar", "rcs", library, assembly.with_suffix(".o")], check=True)
    return library


def test_only_what_others_can_call_is_marked() -> None:
    marks = [line for line in mark_functions(_LLVM_IR, None).splitlines() if line.endswith(":")]
    assert [mark.partition(",")[0] for mark in marks] == ['"NAME', '"NAME_checked']


@pytest.mark.parametrize(
    ("first", "second", "clash"),
    [
        ("foo", "foo", "foo"),
        # Beside foo, a library has its checked entry.
        ("foo", "foo_checked", "foo_checked"),
        ("foo", "bar", ""),
    ],
)
@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_programs_with_a_function_of_one_name_do_not_link(
    first: str, second: str, clash: str, linker: str, tmp_path: Path
) -> None:
    main = tmp_path / "main.c"
    main.write_text("int main(void) { return 0; }\n")
    libraries = _library(tmp_path, "one", first), _library(tmp_path, "two", second)
    command: list[str | Path] = [
        "gcc",
        f"-fuse-ld={linker}",
        main,
        *libraries,
        # What aot_compile has every binary be linked with that the libraries are part of.
        "-Wl,-u,//test:one",
        "-Wl,-u,//test:two",
        "-o",
        tmp_path / "binary",
    ]
    linking = subprocess.run(command, capture_output=True, text=True, check=False)
    if clash:
        assert linking.returncode != 0
        assert (
            f"{clash}, defined by two programs: give one of them another func_name"
            in linking.stderr
        )
        assert "libone.a" in linking.stderr
        assert "libtwo.a" in linking.stderr
    else:
        # Without a word about an executable stack.
        assert (linking.returncode, linking.stderr) == (0, "")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
