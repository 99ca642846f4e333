import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from plumbline.errors import UserError
from plumbline.llvm_to_asm.weights import include_weights, pack_weights

_LLVM_IR = """
@table = external constant [4 x i8]
@f.weight.a.b = external constant [8 x i8], align 4
@"f.weight.a/c" = external constant [4 x i8]
"""


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    file = tmp_path / "x.safetensors"
    weights = {"a/c": np.array([1.0], np.float32), "a.b": np.array([2.0, 3.0], np.float32)}
    file.write_bytes(safetensors.numpy.save(weights))
    return file


def test_each_weight_is_defined_by_bytes_of_the_archive(archive: Path) -> None:
    assembly = include_weights(_LLVM_IR, archive, None)
    assert assembly.count(".incbin") == 2
    assert '"f.weight.a.b":' in assembly
    assert '"f.weight.a/c":' in assembly
    assert "table" not in assembly
    content = archive.read_bytes()
    for line in assembly.splitlines():
        if ".incbin" in line:
            name, offset, size = line.split("\t")[2].split(", ")
            assert name == f'"{archive.name}"'
            begin = int(offset)
            assert np.frombuffer(content[begin : begin + int(size)], np.float32)[0] in (1.0, 2.0)


def test_a_program_without_weights_needs_no_archive() -> None:
    assert include_weights("define void @f() { ret void }", None, None) == ""


def test_a_missing_archive_is_asked_for() -> None:
    with pytest.raises(UserError, match=r"such as a\.b: give their file with --weights"):
        include_weights(_LLVM_IR, None, None)


def test_weights_that_the_archive_lacks_are_named(archive: Path) -> None:
    with pytest.raises(UserError, match=r"lacks the weights a\.d"):
        include_weights("@f.weight.a.d = external constant [4 x i8]", archive, None)


_PACKED_IR = """
@f.perm_0_pos_0_tile_4.weight.a.b = external constant [1 x [4 x float]]
@f.weight.a.b = external constant [2 x float]
"""


def test_packed_weights_are_bytes_of_a_file_of_their_own(archive: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.safetensors"
    packed.write_bytes(pack_weights(_PACKED_IR, archive))
    ((name, elements),) = safetensors.numpy.load(packed.read_bytes()).items()
    assert name == "f.perm_0_pos_0_tile_4.weight.a.b"
    np.testing.assert_array_equal(elements.view(np.float32), [[2, 3, 0, 0]])
    lines = include_weights(_PACKED_IR, archive, packed).splitlines()
    included = [line.split("\t")[2] for line in lines if ".incbin" in line]
    assert [line.split(", ")[::2] for line in included] == [
        [f'"{packed.name}"', "16"],
        [f'"{archive.name}"', "8"],
    ]
    offset = int(included[0].split(", ")[1])
    assert packed.read_bytes()[offset:] == elements.tobytes()


def test_a_place_for_packed_weights_is_asked_for(archive: Path) -> None:
    with pytest.raises(UserError, match=r"packed weights, such as a\.b: say with --packed-weights"):
        include_weights(_PACKED_IR, archive, None)


def test_a_layout_for_another_rank_is_refused(archive: Path) -> None:
    ir = "@f.perm_0_1_pos_0_tile_4.weight.a.b = external constant [8 x i8]"
    with pytest.raises(
        UserError, match=r"a\.b of shape \[\d+\] cannot lie as perm_0_1_pos_0_tile_4"
    ):
        pack_weights(ir, archive)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
