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

from plumbline.archives import atomic_file
from plumbline.errors import UserError
from plumbline.signature import element_type
from plumbline.signature.function_name import check_function_name

_TENSOR_MEMBER = re.compile(r"(Case[1-9][0-9]*\.)?(Input|Output)(0|[1-9][0-9]*)")
_OTHER_MEMBERS = ("func_name", "rtol", "atol", "refused", "inout")

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
class Case:
    """Inputs of other sizes, and what PyTorch answers to them."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


@dataclass(frozen=True)
class RefusedSize:
    """A size that the function's checked entry must refuse, all others as in the inputs."""

    argument: int
    axis: int
    size: int


@dataclass(frozen=True, eq=False)
class ReferenceArchive:
    """Inputs and expected outputs of one compiled function.

    On disk it is an .npz file: tensors `Input0`, `Input1`, ... and `Output0`, `Output1`, ...,
    their dtypes those of `element_type.ELEMENT_TYPES`; `func_name`, a rank-0 unicode string;
    `rtol` and `atol`, float64 vectors with one tolerance for each output.

    Where sizes are dynamic there are further cases: `Case1.Input0`, ..., `Case1.Output0`, ...,
    `Case2.Input0`, and so on. An input that a case leaves out is that of the first (`Input0`).
    `refused`, an int64 vector, says which size the checked entry must refuse: argument, dimension
    and size. `inout`, an int64 matrix, has a row for each input that the function writes: its
    number, and that of the output that is its new value. These are the last outputs.

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
    further_cases: tuple[Case, ...] = ()
    """Of the same element types and ranks."""
    refused: RefusedSize | None = None
    inout: tuple[tuple[int, int], ...] = ()
    """Inputs that the function writes, each with the output that it then holds: the last ones."""

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
        for number, case in enumerate(self.further_cases, 1):
            _check_alike(f"Case{number}.Input", case.inputs, self.inputs)
            _check_alike(f"Case{number}.Output", case.outputs, self.outputs)
        if self.refused is not None:
            argument, axis = self.refused.argument, self.refused.axis
            if not (0 <= argument < len(self.inputs) and 0 <= axis < self.inputs[argument].ndim):
                raise UserError(f"refused names dimension {axis} of Input{argument}: there is none")
        _check_inout(self.inout, self.inputs, self.outputs)
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
        leading = tuple(inputs)
        refused = self.refused
        if refused is not None:
            refused = dataclasses.replace(refused, argument=refused.argument + len(leading))
        return dataclasses.replace(
            self,
            inputs=(*leading, *self.inputs),
            further_cases=tuple(
                Case((*leading, *case.inputs), case.outputs) for case in self.further_cases
            ),
            refused=refused,
            inout=tuple((len(leading) + argument, output) for argument, output in self.inout),
        )

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
        for number, case in enumerate(self.further_cases, 1):
            for index, tensor in enumerate(case.inputs):
                if not _identical(tensor, self.inputs[index]):
                    members[f"Case{number}.Input{index}"] = tensor
            for index, tensor in enumerate(case.outputs):
                members[f"Case{number}.Output{index}"] = tensor
        if self.refused is not None:
            members["refused"] = np.array(dataclasses.astuple(self.refused), np.int64)
        if self.inout:
            members["inout"] = np.array(self.inout, np.int64)
        content = io.BytesIO()
        # np.savez leaves the timestamps to the zipfile module of the day.
        with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
            for name, tensor in members.items():
                member = io.BytesIO()
                np.lib.format.write_array(member, tensor, version=(1, 0), allow_pickle=False)
                # All at once: of a member whose size it does not know before, one release of
                # Python writes other headers than the next.
                archive.writestr(_header(name), member.getbuffer())
        atomic_file.write_bytes(path, content.getvalue())

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], *, func_name: str | None = None
    ) -> "ReferenceArchive":
        """Reads and checks the archive at `path`.

        With a `func_name` it may be one that a user wrote, who need not say that, nor tolerances,
        which are those of the element types then.

        Raises:
          UserError: there is no such file, or it is not a whole and sound reference archive;
            the message names the file and the problem.
        """
        try:
            members = read_members(path)
            unknown = [
                name
                for name in members
                if not _TENSOR_MEMBER.fullmatch(name) and name not in _OTHER_MEMBERS
            ]
            if unknown:
                raise UserError(
                    f"members that do not belong here: {', '.join(unknown)}; tensors are called "
                    "Input0, Input1, ... and Output0, Output1, ..."
                )
            inputs, outputs = _tensors(members, "Input"), _tensors(members, "Output")
            if func_name is not None:
                members = {**_left_out(func_name, outputs), **members}
            return cls(
                func_name=_string(members, "func_name"),
                inputs=inputs,
                outputs=outputs,
                rtol=_vector(members, "rtol"),
                atol=_vector(members, "atol"),
                further_cases=_further_cases(members, inputs),
                refused=_refused(members),
                inout=_inout(members),
            )
        except OSError as error:
            raise UserError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
        except UserError as error:
            raise UserError(f"{os.fspath(path)}: not a reference archive: {error}") from error


def _left_out(func_name: str, outputs: Sequence[Tensor]) -> dict[str, Tensor]:
    """The members that users may leave out."""
    types = [element_type.from_numpy_dtype(output.dtype) for output in outputs]
    return {
        "func_name": np.array(func_name),
        "rtol": np.array([type_.rtol for type_ in types], np.float64),
        "atol": np.array([type_.atol for type_ in types], np.float64),
    }


def _header(name: str) -> zipfile.ZipInfo:
    """A member's header, with nothing in it that depends on the machine."""
    info = zipfile.ZipInfo(f"{name}.npy", _TIMESTAMP)
    info.create_system = 3  # Unix, also where it is not.
    info.external_attr = 0o600 << 16
    return info


def _check_alike(prefix: str, tensors: Sequence[Tensor], references: Sequence[Tensor]) -> None:
    """Refuses tensors that are not of the element types and ranks of others."""
    if len(tensors) != len(references):
        raise UserError(f"there are {len(tensors)} of {prefix}0, ..., not {len(references)}")
    for index, (tensor, reference) in enumerate(zip(tensors, references, strict=True)):
        if (tensor.dtype, tensor.ndim) != (reference.dtype, reference.ndim):
            raise UserError(
                f"{prefix}{index} has dtype {tensor.dtype} and rank {tensor.ndim}, where the first "
                f"case has {reference.dtype} and {reference.ndim}"
            )


def _check_inout(
    inout: Sequence[tuple[int, int]], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> None:
    """Refuses pairs of an input and an output that cannot be the same memory."""
    for number, output in inout:
        if not (0 <= number < len(inputs) and 0 <= output < len(outputs)):
            raise UserError(f"inout names Input{number} and Output{output}: there are none such")
        if _shape_and_type(inputs[number]) != _shape_and_type(outputs[output]):
            raise UserError(f"inout: Input{number} and Output{output} differ in shape or dtype")
    if len({number for number, _ in inout}) < len(inout):
        raise UserError("inout names an input more than once")
    last = range(len(outputs) - len(inout), len(outputs))
    if sorted(output for _, output in inout) != [*last]:
        raise UserError("the outputs that inout names are not the last ones, each once")


def _shape_and_type(tensor: Tensor) -> tuple[tuple[int, ...], np.dtype[Any]]:
    return tensor.shape, tensor.dtype


def _identical(left: Tensor, right: Tensor) -> bool:
    return left is right or (
        left.shape == right.shape
        and left.dtype == right.dtype
        # By bits: NaN is itself, and 0 is not -0.
        and left.tobytes() == right.tobytes()
    )


def read_members(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """The tensors of an .npz file, whatever they are, by their names.

    Raises:
      OSError: it cannot be read.
      UserError: it is not a whole .npz file; the message does not name it.
    """
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


def _refused(members: dict[str, Tensor]) -> RefusedSize | None:
    if "refused" not in members:
        return None
    array = members["refused"]
    if array.shape != (3,) or array.dtype != np.int64:
        raise UserError(
            f"refused has dtype {array.dtype} and shape {array.shape}; it is three int64 numbers"
        )
    return RefusedSize(*map(int, array))


def _inout(members: dict[str, Tensor]) -> tuple[tuple[int, int], ...]:
    if "inout" not in members:
        return ()
    array = members["inout"]
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype != np.int64:
        raise UserError(
            f"inout has dtype {array.dtype} and shape {array.shape}; it is an int64 matrix of two "
            "columns"
        )
    return tuple((int(number), int(output)) for number, output in array)


def _further_cases(members: dict[str, Tensor], inputs: Sequence[Tensor]) -> tuple[Case, ...]:
    numbers = {int(name[len("Case") :].split(".")[0]) for name in members if "." in name}
    cases = []
    for number in range(1, len(numbers) + 1):
        if number not in numbers:
            raise UserError(f"Case{number} is missing")
        prefix = f"Case{number}."
        own = {name: tensor for name, tensor in members.items() if name.startswith(prefix)}
        given = {name for name in own if name.startswith(f"{prefix}Input")}
        case_inputs = [
            own.get(f"{prefix}Input{index}", tensor) for index, tensor in enumerate(inputs)
        ]
        unknown = given - {f"{prefix}Input{index}" for index in range(len(inputs))}
        if unknown:
            raise UserError(f"{min(unknown)}: the first case has no such input")
        cases.append(Case(tuple(case_inputs), _tensors(own, f"{prefix}Output")))
    return tuple(cases)


def _tensors(members: dict[str, Tensor], prefix: str) -> tuple[Tensor, ...]:
    count = sum(name.startswith(prefix) for name in members)
    names: Sequence[str] = [f"{prefix}{index}" for index in range(count)]
    # With a gap in the numbering, one of the first `count` names is not there.
    return tuple(_member(members, name) for name in names)
