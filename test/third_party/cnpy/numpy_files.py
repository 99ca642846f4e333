"""Files of all kinds that numpy and zipfile write, with the arrays that they hold."""

import io
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Names are those of the files, without suffix, or of the members.
Arrays = dict[str, Array]


class _Pipe(io.RawIOBase):
    """A file that cannot seek, which makes zipfile write data descriptors."""

    def __init__(self, target: io.BytesIO) -> None:
        super().__init__()
        self._target = target

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._target.write(data)


def arrays() -> Arrays:
    """Returns one array or more for every fixed-size element type, order and kind of shape."""
    generator = np.random.default_rng(20240917)
    result: Arrays = {}

    for descr in (
        *("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8"),
        *("<f2", "<f4", "<f8", "<f16", "<c8", "<c16", "<c32"),
        *(">i2", ">i4", ">i8", ">u2", ">u4", ">u8", ">f2", ">f4", ">f8", ">f16", ">c8", ">c16"),
        *("<M8[ns]", "<m8[25us]", ">M8[D]", "<m8"),
    ):
        dtype = np.dtype(descr)
        values = generator.integers(0, 120, size=(3, 5))
        # Not whole, so that every byte of a float has something in it.
        fractions = values / 7 if dtype.kind in "fc" else values
        array = fractions.astype(np.complex128) * (1 + 2j) if dtype.kind == "c" else fractions
        result["type_" + _file_name(descr)] = array.astype(dtype)

    texts = ["", "plumb", "lín\u00e9", "\U0001f9f1 wall"]
    result["text_native"] = np.array(texts, dtype="<U7")
    result["text_big_endian"] = np.array(texts, dtype=">U7")
    result["bytes_5"] = np.array([b"", b"ab", b"abcde"], dtype="S5")
    result["bfloat16_as_void"] = np.frombuffer(bytes(range(24)), dtype="V2").reshape(3, 4)
    result["void_5"] = np.frombuffer(bytes(range(15)), dtype="V5")

    result["special_floats"] = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324], dtype="<f8")
    result["rank_0"] = np.array(2.5, dtype="<f4")
    result["rank_0_bool"] = np.array(True)
    result["empty_rank_1"] = np.zeros((0,), dtype="<f4")
    result["empty_inner"] = np.zeros((4, 0, 3), dtype="<i8")
    result["rank_32"] = np.arange(4, dtype="<i2").reshape((1,) * 15 + (2, 2) + (1,) * 15)
    result["fortran_2"] = np.asfortranarray(np.arange(12, dtype="<i4").reshape(3, 4))
    result["fortran_3"] = np.asfortranarray(np.arange(24, dtype=">f8").reshape(2, 3, 4))
    result["fortran_1"] = np.arange(5, dtype="<i4")
    result["longer_than_a_buffer"] = generator.integers(0, 9, size=150_000, dtype="<i2")
    return result


def write_npy_files(folder: Path) -> Arrays:
    """Writes each of `arrays()` as a .npy file, and one array in each format version."""
    written = arrays()
    for name, array in written.items():
        np.save(folder / f"{name}.npy", array)
    for version in ((1, 0), (2, 0), (3, 0)):
        array = np.arange(6, dtype=">u2").reshape(2, 3)
        name = f"version_{version[0]}"
        with (folder / f"{name}.npy").open("wb") as file:
            np.lib.format.write_array(file, array, version=version)
        written[name] = array
    return written


def write_npz_files(folder: Path) -> dict[str, Arrays]:
    """Writes archives of all kinds; returns the arrays of each by the file's name."""
    every = arrays()
    names: Arrays = {name: np.array(name) for name in ("a/b", "two words", "größe", "漢字", "")}
    np.savez(folder / "stored.npz", **every)  # type: ignore[arg-type]
    np.savez_compressed(folder / "deflated.npz", **every)  # type: ignore[arg-type]
    np.savez(folder / "names.npz", **names)  # type: ignore[arg-type]
    np.savez(folder / "no_arrays.npz")
    written = {"stored": every, "deflated": every, "names": names, "no_arrays": {}}

    stored, deflated = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
    two: Arrays = {"Input0": np.arange(6.0).reshape(2, 3), "Output0": np.array([True, False])}
    options: dict[str, dict[str, Any]] = {
        "level_9": {"compression": deflated, "compresslevel": 9},
        "level_0": {"compression": deflated, "compresslevel": 0},
        "sizes_in_32_bits": {"compression": stored, "force_zip64": False},
        "sizes_in_64_bits": {"compression": stored, "force_zip64": True},
        "commented": {"compression": stored, "comment": b"weights of 1980"},
        "longest_comment": {"compression": stored, "comment": b"x" * 65535},
        "streamed": {"compression": stored, "streamed": True},
        "streamed_deflated": {"compression": deflated, "streamed": True},
        "streamed_64": {"compression": deflated, "streamed": True, "force_zip64": True},
    }
    for name, how in options.items():
        _write_zip(folder / f"{name}.npz", two, **how)
        written[name] = two
    # Else zipfile has these records in large archives only.
    with mock.patch.object(zipfile, "ZIP64_LIMIT", 0):
        path = folder / "all_in_64_bits.npz"
        _write_zip(path, two, compression=deflated, force_zip64=True)
        written["all_in_64_bits"] = two
    return written


def write_crowded_npz(path: Path) -> Arrays:
    """Writes more members than the 16-bit count can say; takes a second or two."""
    written: Arrays = {str(i): np.array([i], dtype="<i4") for i in range(65536)}
    _write_zip(path, written, compression=zipfile.ZIP_STORED)
    return written


def write_seeds(folder: Path) -> None:
    """Writes those of all the files that are small enough to start a fuzzer with."""
    folder.mkdir()
    write_npy_files(folder)
    write_npz_files(folder)
    for path in folder.iterdir():
        if path.stat().st_size > 4096:
            path.unlink()


def npy_bytes(array: Array) -> bytes:
    """Returns what `np.save` writes."""
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def _file_name(descr: str) -> str:
    for mark, word in (("<", "little_"), (">", "big_"), ("|", ""), ("[", "_"), ("]", "")):
        descr = descr.replace(mark, word)
    return descr


def _write_zip(
    path: Path,
    members: Arrays,
    *,
    compression: int,
    compresslevel: int | None = None,
    force_zip64: bool = False,
    comment: bytes = b"",
    streamed: bool = False,
) -> None:
    content = io.BytesIO()
    target: Any = _Pipe(content) if streamed else content
    with zipfile.ZipFile(target, "w", compression, compresslevel=compresslevel) as archive:
        archive.comment = comment
        for name, array in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=force_zip64) as member:
                member.write(npy_bytes(array))
    path.write_bytes(content.getvalue())
