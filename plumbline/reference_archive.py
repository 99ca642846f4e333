"""The reference tensors' file: what a program was given, and what PyTorch answered."""

import dataclasses
import io
import math
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plumbline import atomic_file, element_type
from plumbline.errors import UserError
from plumbline.function_name import check_function_name

_TENSOR_MEMBER = re.compile(r"(Input|Output)(0|[1-9][0-9]*)")

# The earliest time that a zip file can hold. Equal contents must give equal bytes: Bazel's cache
# compares them.
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)

# What zipfile and numpy's format module raise for content that is not what it claims to be.
_MALFORMED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    MemoryError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
)

Tensor = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class ReferenceArchive:
    """Inputs and expected outputs of one compiled function.

    On disk it is an .npz file: tensors `Input0`, `Input1`, ... and `Output0`, `Output1`, ...,
    their dtypes those of `element_type.ELEMENT_TYPES`; `func_name`, a rank-0 unicode string;
    `rtol` and `atol`, float64 vectors with one tolerance for each output.

    Raises:
      UserError: the parts are not those of a reference archive; the message says which.
    """

    func_name: str
    """The name of the C function, and of the MLIR function that it comes from."""
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    rtol: tuple[float, ...]
    """One for each output, as in |actual - expected| <= atol + rtol |expected|."""
    atol: tuple[float, ...]
    """One for each output."""

    def __post_init__(self) -> None:
        check_function_name(self.func_name)
        if not self.outputs:
            raise UserError("there is no output: a compiled function returns at least one tensor")
        for prefix, tensors in (("Input", self.inputs), ("Output", self.outputs)):
            for index, tensor in enumerate(tensors):
                try:
                    element_type.from_numpy_dtype(tensor.dtype)
                except UserError as error:
                    raise UserError(f"{prefix}{index}: {error}") from error
        for name, tolerances in (("rtol", self.rtol), ("atol", self.atol)):
            if len(tolerances) != len(self.outputs):
                raise UserError(
                    f"{name} has {len(tolerances)} values for {len(self.outputs)} outputs; "
                    "it needs one for each"
                )
            for tolerance in tolerances:
                if not (math.isfinite(tolerance) and tolerance >= 0):
                    raise UserError(f"{name} has {tolerance}; a tolerance is finite and >= 0")

    def with_leading_inputs(self, inputs: Iterable[Tensor]) -> "ReferenceArchive":
        """The archive of the function that takes `inputs` before its own."""
        return dataclasses.replace(self, inputs=(*inputs, *self.inputs))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the archive to `path`; equal archives give equal bytes.

        Raises:
          OSError: `path` cannot be written.
        """
        members: dict[str, Tensor] = {
            **{f"Input{index}": tensor for index, tensor in enumerate(self.inputs)},
            **{f"Output{index}": tensor for index, tensor in enumerate(self.outputs)},
            "func_name": np.array(self.func_name),
            "rtol": np.array(self.rtol, np.float64),
            "atol": np.array(self.atol, np.float64),
        }
        content = io.BytesIO()
        # np.savez leaves the timestamps to the zipfile module of the day.
        with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
            for name, tensor in members.items():
                info = zipfile.ZipInfo(f"{name}.npy", _TIMESTAMP)
                with archive.open(info, "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, tensor, allow_pickle=False)
        atomic_file.write_bytes(path, content.getvalue())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "ReferenceArchive":
        """Reads and checks the archive at `path`.

        Raises:
          UserError: there is no such file, or it is not a whole and sound reference archive;
            the message names the file and the problem.
        """
        try:
            members = _read_members(path)
            unknown = [
                name
                for name in members
                if not _TENSOR_MEMBER.fullmatch(name) and name not in ("func_name", "rtol", "atol")
            ]
            if unknown:
                raise UserError(f"members that do not belong here: {', '.join(unknown)}")
            return cls(
                func_name=_string(members, "func_name"),
                inputs=_tensors(members, "Input"),
                outputs=_tensors(members, "Output"),
                rtol=_vector(members, "rtol"),
                atol=_vector(members, "atol"),
            )
        except OSError as error:
            raise UserError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
        except UserError as error:
            raise UserError(f"{os.fspath(path)}: not a reference archive: {error}") from error


def _read_members(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    try:
        archive = zipfile.ZipFile(path)
    except _MALFORMED as error:
        raise UserError(f"not an .npz file: {error}") from error
    members: dict[str, Tensor] = {}
    with archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name in members:
                raise UserError(f"{name} occurs more than once")
            try:
                with archive.open(info) as member:
                    members[name] = np.lib.format.read_array(member, allow_pickle=False)
                    # Reading to the end is what makes zipfile compare the checksum.
                    if member.read():
                        raise UserError(f"{name} is longer than its header says")
            except _MALFORMED as error:
                raise UserError(f"{name} is malformed: {error}") from error
    return members


def _member(members: dict[str, Tensor], name: str) -> Tensor:
    if name not in members:
        raise UserError(f"{name} is missing")
    return members[name]


def _string(members: dict[str, Tensor], name: str) -> str:
    array = _member(members, name)
    if array.shape != () or array.dtype.kind != "U":
        raise UserError(
            f"{name} has dtype {array.dtype} and shape {array.shape}; "
            "it is a unicode string of rank 0"
        )
    return str(array[()])


def _vector(members: dict[str, Tensor], name: str) -> tuple[float, ...]:
    array = _member(members, name)
    if array.ndim != 1 or array.dtype != np.float64:
        raise UserError(
            f"{name} has dtype {array.dtype} and shape {array.shape}; it is a float64 vector"
        )
    return tuple(float(value) for value in array)


def _tensors(members: dict[str, Tensor], prefix: str) -> tuple[Tensor, ...]:
    count = sum(name.startswith(prefix) for name in members)
    names: Sequence[str] = [f"{prefix}{index}" for index in range(count)]
    # With a gap in the numbering, one of the first `count` names is not there.
    return tuple(_member(members, name) for name in names)
