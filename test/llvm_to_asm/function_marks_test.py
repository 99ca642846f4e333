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


def _object(folder: Path, program: str, function: str) -> Path:
    assembly = folder / f"{program}_functions.s"
    assembly.write_text(mark_functions(_LLVM_IR.replace("NAME", function)))
    subprocess.run(["gcc", "-c", assembly, "-o", assembly.with_suffix(".o")], check=True)
    return assembly.with_suffix(".o")


def test_only_what_others_can_call_is_marked() -> None:
    marks = [line for line in mark_functions(_LLVM_IR).splitlines() if line.endswith(":")]
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
    objects = _object(tmp_path, "one", first), _object(tmp_path, "two", second)
    command: list[str | Path] = [
        "gcc",
        f"-fuse-ld={linker}",
        main,
        *objects,
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
        assert "one_functions.o" in linking.stderr
        assert "two_functions.o" in linking.stderr
    else:
        # Without a word about an executable stack.
        assert (linking.returncode, linking.stderr) == (0, "")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
