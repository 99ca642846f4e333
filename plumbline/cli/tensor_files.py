"""Files of tensors (.npz): the inputs of a program, its outputs, and what they should be."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plumbline.archives import atomic_file
from plumbline.archives.reference_archive import ReferenceArchive, Tensor, read_members
from plumbline.bisect.comparison import Tolerance
from plumbline.errors import UserError


@dataclass(frozen=True, eq=False)
class Expected:
    """What outputs are compared with."""

    tensors: tuple[Tensor, ...]
    tolerances: tuple[Tolerance, ...]
    """One for each."""


def read_inputs(file: Path, rows: Sequence[tuple[str, str]]) -> tuple[Tensor, ...]:
    """The inputs of a program, each under its name, or as Input0, Input1, or arr_0, arr_1.

    Args:
      file: the .npz file; what else is in it does not matter.
      rows: the name of each input, and what it is, for a message.

    Raises:
      UserError: it cannot be read, or lacks an input.
    """
    return _found(file, _members(file), "Input", rows)


def read_expected(file: Path, rows: Sequence[tuple[str, str]]) -> Expected:
    """The outputs that a program should have, named as its inputs are (Output0, Output1).

    The tolerances are those of the file, if it is one of references, and else the defaults of
    `torch.testing.assert_close`.

    Raises:
      UserError: as `read_inputs` does.
    """
    members = _members(file)
    if "func_name" in members:
        references = ReferenceArchive.read(file)
        if len(references.outputs) != len(rows):
            count = len(references.outputs)
            raise UserError(f"{file}: it has {count} outputs, where the library has {len(rows)}")
        tolerances = map(Tolerance, references.rtol, references.atol)
        return Expected(references.outputs, tuple(tolerances))
    tensors = _found(file, members, "Output", rows)
    return Expected(tensors, tuple(map(Tolerance.default, tensors)))


def write_outputs(file: Path, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
    """Writes the outputs of a program, each under its name.

    Raises:
      UserError: the file cannot be written.
    """
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **dict(zip(names, tensors, strict=True)))
    try:
        atomic_file.write_bytes(file, content.getvalue())
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error


def _members(file: Path) -> dict[str, Tensor]:
    try:
        return read_members(file)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except UserError as error:
        raise UserError(f"{file}: {error}") from error


def _found(
    file: Path, members: Mapping[str, Tensor], prefix: str, rows: Sequence[tuple[str, str]]
) -> tuple[Tensor, ...]:
    conventions = (
        [name for name, _ in rows],
        [f"{prefix}{index}" for index in range(len(rows))],
        # What numpy.savez calls tensors that it is given no names for.
        [f"arr_{index}" for index in range(len(rows))],
    )
    for names in conventions:
        if all(name in members for name in names):
            return tuple(members[name] for name in names)
    wanted = "\n".join(f"  {name}  {what}" for name, what in rows)
    raise UserError(
        f"{file}: it has {', '.join(members) or 'nothing'}, where it is to have, by these names or "
        f"as {prefix}0, {prefix}1, ...:\n{wanted}"
    )
