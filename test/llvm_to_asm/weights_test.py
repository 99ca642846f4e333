import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from plumbline.errors import UserError
from plumbline.llvm_to_asm.weights import include_weights

_LLVM_IR = """
@table = external constant [4 x i8]
@f.weight.a.b = external constant [8 x i8], align 4
@"f.weight.a/c" = external constant [4 x i8]
"""


@pytest.fixture
def archive(tmp_path: Path) -> str:
    file = tmp_path / "x.safetensors"
    weights = {"a/c": np.array([1.0], np.float32), "a.b": np.array([2.0, 3.0], np.float32)}
    file.write_bytes(safetensors.numpy.save(weights))
    return str(file)


def test_each_weight_is_defined_by_bytes_of_the_archive(archive: str) -> None:
    assembly = include_weights(_LLVM_IR, archive)
    assert assembly.count(".incbin") == 2
    assert '"f.weight.a.b":' in assembly
    assert '"f.weight.a/c":' in assembly
    assert "table" not in assembly
    content = Path(archive).read_bytes()
    for line in assembly.splitlines():
        if ".incbin" in line:
            name, offset, size = line.split("\t")[2].split(", ")
            assert name == f'"{archive}"'
            begin = int(offset)
            assert np.frombuffer(content[begin : begin + int(size)], np.float32)[0] in (1.0, 2.0)


def test_a_program_without_weights_needs_no_archive() -> None:
    assert include_weights("define void @f() { ret void }", None) == ""


def test_a_missing_archive_is_asked_for() -> None:
    with pytest.raises(UserError, match=r"such as a\.b: give their file with --weights"):
        include_weights(_LLVM_IR, None)


def test_weights_that_the_archive_lacks_are_named(archive: str) -> None:
    with pytest.raises(UserError, match=r"lacks the weights a\.d"):
        include_weights("@f.weight.a.d = external constant [4 x i8]", archive)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
