"""What numpy writes the library reads, and what the library writes numpy reads."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from test.third_party.cnpy import numpy_files

# In Bazel's runfiles; elsewhere, a program that was compiled by hand.
TOOL = os.environ.get("ARRAY_TOOL", "test/third_party/cnpy/array_tool")


STRUCTURED = "structured element types are not supported, only arrays of one type"


def run_tool(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)


def successful(*arguments: str | Path) -> str:
    result = run_tool(*arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def native(array: numpy_files.Array) -> numpy_files.Array:
    """Returns the array in this machine's byte order, as the library holds it."""
    return array.astype(array.dtype.newbyteorder("="))


def as_shown(name: str, array: numpy_files.Array) -> str:
    """Returns the line that `array_tool show` is to print."""
    array = native(array)
    is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    elements = array.tobytes("F" if is_fortran else "C")
    extents = "".join(f"{extent} " for extent in array.shape)
    descr = array.dtype.str
    fields = [name, descr, descr[1], str(array.dtype.itemsize), str(int(is_fortran)), extents]
    return "\t".join([*fields, elements.hex()])


def assert_same(actual: numpy_files.Array, expected: numpy_files.Array) -> None:
    assert actual.dtype.str == expected.dtype.str
    assert actual.shape == expected.shape
    assert actual.flags.f_contiguous == expected.flags.f_contiguous
    assert actual.tobytes() == expected.tobytes()


def test_reads_npy_files_of_numpy(tmp_path: Path) -> None:
    expected = numpy_files.write_npy_files(tmp_path)
    assert len(expected) > 40
    for name, array in expected.items():
        shown = successful("show", tmp_path / f"{name}.npy")
        assert shown == as_shown("", array) + "\n", name


def test_numpy_reads_npy_files_of_the_library(tmp_path: Path) -> None:
    for name, array in numpy_files.write_npy_files(tmp_path).items():
        copy = tmp_path / "copy.npy"
        successful("copy", tmp_path / f"{name}.npy", copy)
        assert_same(np.load(copy), native(array))


def test_header_is_as_numpy_writes_it(tmp_path: Path) -> None:
    """Byte for byte, so that whatever reads numpy's files reads ours."""
    for array in (np.arange(3.0), np.arange(6).reshape(2, 3), np.array(1, dtype="<f4")):
        np.save(tmp_path / "in.npy", array)
        successful("copy", tmp_path / "in.npy", tmp_path / "out.npy")
        assert (tmp_path / "in.npy").read_bytes() == (tmp_path / "out.npy").read_bytes()


def test_reads_npz_files_of_numpy_and_zipfile(tmp_path: Path) -> None:
    expected = numpy_files.write_npz_files(tmp_path)
    assert len(expected) > 10
    for file_name, arrays in expected.items():
        shown = successful("show", tmp_path / f"{file_name}.npz")
        lines = [as_shown(name, array) for name, array in arrays.items()]
        # The library's order is that of a map of UTF-8 strings.
        lines.sort(key=lambda line: line.split("\t")[0].encode())
        assert shown.splitlines() == lines, file_name


@pytest.mark.parametrize("command", ["copy", "append", "copy64"])
def test_numpy_reads_npz_files_of_the_library(tmp_path: Path, command: str) -> None:
    for file_name, arrays in numpy_files.write_npz_files(tmp_path).items():
        if command == "copy64" and not arrays:
            continue  # numpy knows an archive by its first bytes, and does not know these.
        copy = tmp_path / f"{file_name}_copy.npz"
        successful(command, tmp_path / f"{file_name}.npz", copy)
        with zipfile.ZipFile(copy) as archive:
            assert archive.testzip() is None
        with np.load(copy) as loaded:
            assert sorted(loaded.files) == sorted(arrays)
            for name, array in arrays.items():
                # copy64 decodes nothing.
                assert_same(loaded[name], array if command == "copy64" else native(array))


def test_reads_its_own_zip64_records(tmp_path: Path) -> None:
    expected = numpy_files.write_npz_files(tmp_path)["stored"]
    successful("copy64", tmp_path / "stored.npz", tmp_path / "copy.npz")
    # As zipfile's own do, it has the two records that end an archive of 64 bits.
    for name in ("copy.npz", "all_in_64_bits.npz"):
        content = (tmp_path / name).read_bytes()
        assert b"PK\x06\x06" in content, name
        assert b"PK\x06\x07" in content, name
    shown = successful("show", tmp_path / "copy.npz")
    assert set(shown.splitlines()) == {as_shown(name, array) for name, array in expected.items()}


def test_appending_keeps_members_compressed_and_comment(tmp_path: Path) -> None:
    numpy_files.write_npz_files(tmp_path)
    np.savez_compressed(tmp_path / "more.npz", extra=np.arange(3))
    for file_name in ("level_9", "streamed_deflated", "commented"):
        path = tmp_path / f"{file_name}.npz"
        with zipfile.ZipFile(path) as archive:
            before = [(m.filename, m.compress_type, m.date_time) for m in archive.infolist()]
            comment = archive.comment
        successful("append", tmp_path / "more.npz", path)
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            after = [(m.filename, m.compress_type, m.date_time) for m in archive.infolist()]
            assert after[:-1] == before
            assert after[-1][0] == "extra.npy"
            # Sizes are in the headers now: there is nothing to follow the data.
            assert not any(member.flag_bits & 8 for member in archive.infolist())
            assert archive.comment == comment
        with np.load(path) as loaded:
            assert_same(loaded["Input0"], np.arange(6.0).reshape(2, 3))
            assert_same(loaded["extra"], np.arange(3))


def test_more_members_than_16_bits_count(tmp_path: Path) -> None:
    path = tmp_path / "crowded.npz"
    expected = numpy_files.write_crowded_npz(path)
    assert len(successful("show", path).splitlines()) == len(expected)
    successful("copy", path, tmp_path / "copy.npz")
    assert len(successful("show", tmp_path / "copy.npz").splitlines()) == len(expected)
    with np.load(tmp_path / "copy.npz") as loaded:
        assert len(loaded.files) == len(expected)
        assert loaded["65535"] == 65535


def test_bool_bytes_are_0_or_1(tmp_path: Path) -> None:
    path = tmp_path / "odd_bools.npy"
    np.save(path, np.array([0, 1, 2, 255], dtype="u1").view(np.bool_))
    assert successful("show", path).split("\t")[-1] == "00010101\n"


def test_a_record_of_one_byte_is_a_byte(tmp_path: Path) -> None:
    content = np.arange(6, dtype=np.uint8).reshape(2, 3)
    np.save(tmp_path / "record.npy", content.view([("float8_e5m2", "u1")]))
    expected = as_shown("", content.view("V1"))
    assert successful("show", tmp_path / "record.npy") == expected + "\n"


@pytest.mark.parametrize(
    ("dtype", "problem"),
    [
        ([("x", "<f4"), ("y", "<i4")], STRUCTURED),
        ([("größe", "<f4")], STRUCTURED),
        ("O", "element type '|O' is Python objects, which only Python can read"),
    ],
)
def test_refuses_what_is_not_of_one_fixed_size_type(
    tmp_path: Path, dtype: object, problem: str
) -> None:
    array = np.zeros(2, dtype=dtype)  # type: ignore[call-overload]
    np.save(tmp_path / "refused.npy", array)
    np.savez(tmp_path / "refused.npz", refused=array)
    for suffix, where in (("npy", ""), ("npz", ", member 'refused.npy'")):
        path = tmp_path / f"refused.{suffix}"
        result = run_tool("show", path)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == f"{path}{where}: {problem}\n"


@pytest.mark.parametrize(
    ("compression", "problem"),
    [(zipfile.ZIP_BZIP2, "compression method 12"), (zipfile.ZIP_LZMA, "compression method 14")],
)
def test_refuses_other_compression(tmp_path: Path, compression: int, problem: str) -> None:
    path = tmp_path / "refused.npz"
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("a.npy", numpy_files.npy_bytes(np.arange(3)))
    result = run_tool("show", path)
    assert result.returncode == 1
    assert f"{path}, member 'a.npy': {problem} is not supported" in result.stderr


def test_refuses_members_that_are_no_arrays(tmp_path: Path) -> None:
    path = tmp_path / "refused.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    result = run_tool("show", path)
    assert result.returncode == 1
    assert "member 'readme.txt': is not an array" in result.stderr


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
