"""A program of StableHLO, of whatever has one.

JAX and TensorFlow are not imported: their objects are known by what they have.
"""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from plumbline.archives import atomic_file
from plumbline.archives.reference_archive import Tensor
from plumbline.errors import UserError
from plumbline.loader_to_stablehlo import bytecode
from plumbline.loader_to_stablehlo.nested_arguments import NestedArguments
from plumbline.loader_to_stablehlo.nested_tensors import NestedTensors
from plumbline.loader_to_stablehlo.reading import Read, read_stablehlo, written_stablehlo
from plumbline.loader_to_stablehlo.tensorflow_functions import tensorflow_program
from plumbline.loader_to_stablehlo.weights import GivenArguments

_DEVICE = "cpu"
"""The platform that exports are for, as JAX calls it: what it leaves to libraries differs."""


_MOST_AS_TEXT = 1 << 20
"""Bytes of a program that are read as text without further ado: it is twice as long then."""


@dataclass(frozen=True)
class StablehloProgram:
    """A module of StableHLO, of which `plumbline.compile` and `plumbline.aot` take one."""

    dialect: ClassVar[str] = "StableHLO"
    text: str
    who: str
    """What messages call it: a file, or "program classify"."""
    origin: str
    """What a header calls it, in the user's own words."""
    nested: NestedArguments | NestedTensors | None = None
    """How its arguments are nested in those of the function that it is made of, if they are."""
    weights: Mapping[str, Tensor] = field(default_factory=dict)
    """What of it is not in the text, as the reference archive stores it, by the names that leading
    arguments of its function have there."""
    has_inputs: bool = False
    """Whether it is made for samples of its arguments, if there are any."""

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes it, with its weights, as bytecode, which `load_stablehlo` and all others read.

        Raises:
          UserError: it is no program that can be read, or the file cannot be written.
        """
        content = written_stablehlo(Read(self.text, self.weights), self.who)
        try:
            atomic_file.write_bytes(Path(file), content)
        except OSError as error:
            raise UserError(f"{os.fspath(file)}: cannot be written: {error.strerror}") from error

    @staticmethod
    def read(
        content: str | bytes,
        who: str,
        origin: str,
        nested: NestedArguments | NestedTensors | None = None,
        given: GivenArguments | None = None,
        *,
        has_inputs: bool = False,
    ) -> "StablehloProgram":
        """That of text or bytecode, with what is known of the arguments of its function.

        Raises:
          UserError: it is bytecode that cannot be read, or has weights and cannot be.
        """
        read = read_stablehlo(content, who, given)
        return StablehloProgram(read.text, who, origin, nested, read.weights, has_inputs)


class Exported(Protocol):
    """What `jax.export.export(jax.jit(f))(...)` gives, as far as it is looked at first."""

    def mlir_module(self) -> str:
        """The text of its module."""


class Lowered(Protocol):
    """What `jax.jit(f).lower(...)` gives, likewise."""

    def compiler_ir(self, dialect: str) -> Any:
        """A module of JAX's own MLIR bindings."""


class Function(Protocol):
    """What `tf.function` gives, likewise; it holds a program of what it is called with."""

    @property
    def get_concrete_function(self) -> Callable[..., Any]:
        """Gives one of its concrete functions."""


class ConcreteFunction(Protocol):
    """What that gives."""

    @property
    def structured_input_signature(self) -> Any:
        """A tuple of its arguments and a dict of those by keyword."""


class KerasModel(Protocol):
    """What `keras.Model` is, likewise."""

    @property
    def name(self) -> Any:
        """What it is called."""

    @property
    def inputs(self) -> Any:
        """What tensors it takes, if that is known."""


HoldsStablehlo = StablehloProgram | Exported | Lowered | Function | ConcreteFunction | KerasModel


def load_stablehlo(program: Any, *inputs: Any) -> StablehloProgram:
    """The program of StableHLO that something holds, for `plumbline.compile` and `plumbline.aot`.

    These also take what JAX has for a program as it is; this function is for files and text.

    Args:
      program: what `jax.export.export(jax.jit(f))(...)` gives; or `jax.jit(f).lower(...)`; a module
        of another library's MLIR bindings; the path of a file, of text or bytecode; or its content:
        bytes, or a string that has a brace. Or a function of TensorFlow's or a model of Keras, as
        for `plumbline.compile`.
      *inputs: samples of the arguments of such a function.

    Raises:
      UserError: it is none of these, cannot be read, or is exported for what Plumbline is not.
    """
    if isinstance(program, StablehloProgram):
        return program
    if isinstance(program, bytes | bytearray):
        content = bytecode.text_or_bytecode(bytes(program), "bytes")
        return StablehloProgram.read(content, "bytes", "StableHLO")
    if isinstance(program, str) and "{" in program:
        return StablehloProgram.read(program, "text", "StableHLO")
    if isinstance(program, str | os.PathLike):
        return stablehlo_of_file(Path(program))
    found = stablehlo_of(program, inputs or None)
    if found is None:
        raise UserError(
            f"plumbline.load_stablehlo: {type(program).__name__} holds no program of StableHLO; "
            "these do: what jax.export.export(jax.jit(f))(...) gives, jax.jit(f).lower(...), what "
            "tf.function gives, a model of Keras, a path, text, or bytes"
        )
    return found


def stablehlo_of_file(file: Path) -> StablehloProgram:
    """The program of a file, of text or bytecode.

    Raises:
      UserError: it cannot be read, or is neither.
    """
    return stablehlo_of_text(bytecode.text_or_bytecode(bytecode.read(file), str(file)), file)


def stablehlo_of_text(text: str | bytes, file: Path) -> StablehloProgram:
    """The program of a file that has been read, text or bytecode.

    Raises:
      UserError: as `StablehloProgram.read` does.
    """
    return StablehloProgram.read(text, str(file), file.as_posix())


def stablehlo_of(program: Any, inputs: Sequence[Any] | None = None) -> StablehloProgram | None:
    """The program that an object of Python's holds, if it is known for holding one.

    `inputs` are samples of its arguments, or specifications of TensorFlow's, where there are any.

    Raises:
      UserError: it is of JAX's, and has no program yet, or has one for what Plumbline is not; or of
        TensorFlow's, and none can be made.
    """
    if isinstance(program, StablehloProgram):
        return program
    if isinstance(program, str | bytes | bytearray | os.PathLike):
        raise UserError(
            f"{program!r:.60} is a {type(program).__name__}: plumbline.load_stablehlo makes a "
            "program of a file or text of StableHLO, and plumbline.load_onnx of a model of ONNX"
        )
    # Classes have these attributes, too, and no program.
    if isinstance(program, type):
        return None
    if hasattr(program, "mlir_module") and hasattr(program, "module_kept_var_idx"):
        return _of_exported(program)
    if hasattr(program, "as_text") and hasattr(program, "compiler_ir"):
        return _of_lowered(program)
    if hasattr(getattr(program, "operation", None), "get_asm"):
        text = str(program.operation.get_asm(enable_debug_info=True))
        return StablehloProgram.read(text, "module", "StableHLO")
    if found := tensorflow_program(program, inputs):
        return StablehloProgram.read(
            found.text, found.who, found.name, found.nested, found.given, has_inputs=True
        )
    if hasattr(program, "lower") and callable(program) and hasattr(program, "trace"):
        raise UserError(
            f"{_name_of(program)} is a function of JAX's, of no sizes: hand over "
            "jax.export.export(f)(...), with an array or a jax.ShapeDtypeStruct for each argument"
        )
    if hasattr(program, "lower") and hasattr(program, "jaxpr"):
        raise UserError(f"{_name_of(program)} is traced by JAX; hand over what its lower() gives")
    if hasattr(program, "runtime_executable"):
        raise UserError(
            f"{_name_of(program)} is compiled by XLA; hand over what it was compiled from, "
            "jax.jit(f).lower(...)"
        )
    return None


def _of_exported(program: Any) -> StablehloProgram:
    """That of a `jax.export.Exported`."""
    name = _name_of(program)
    who = f"program {name}"
    platforms = tuple(getattr(program, "platforms", (_DEVICE,)))
    if len(platforms) > 1:
        raise UserError(
            f"{who}: it is exported for several platforms ({', '.join(platforms)}); export it for "
            f'one: jax.export.export(jax.jit(f), platforms=["{_DEVICE}"])(...)'
        )
    if getattr(program, "nr_devices", 1) > 1:
        raise UserError(f"{who}: it is exported for {program.nr_devices} devices; export it for 1")
    nested = NestedArguments(program.in_tree, program.module_kept_var_idx)
    bytecode_of_it = getattr(program, "mlir_module_serialized", b"")
    if len(bytecode_of_it) > _MOST_AS_TEXT:
        # It may be of dialects that are read as text alone (`sdy`).
        with contextlib.suppress(UserError):
            return StablehloProgram.read(bytecode_of_it, who, name, nested)
    return StablehloProgram.read(program.mlir_module(), who, name, nested)


def _of_lowered(program: Any) -> StablehloProgram:
    """That of a `jax.stages.Lowered`, which does not say what it leaves out."""
    module = program.compiler_ir("stablehlo")
    nested = NestedArguments(program.in_tree, None)
    module_name = str(module.operation.attributes["sym_name"]).strip('"')
    name = module_name.removeprefix("jit_")
    text = str(module.operation.get_asm(enable_debug_info=True))
    return StablehloProgram.read(text, f"program {name}", name, nested)


def _name_of(program: Any) -> str:
    for attribute in ("fun_name", "__name__"):
        name = getattr(program, attribute, None)
        if isinstance(name, str):
            return name
    return type(program).__name__


def refuse_beside(
    caller: str,
    program: StablehloProgram,
    *,
    dynamic_shapes: Any,
    mutation: str,
    mutable: Sequence[str],
    **inputs: bool,
) -> None:
    """Refuses what `caller` is given beside a program, which is said of PyTorch's alone.

    `inputs` is whether there are any, by what the caller calls them.

    Raises:
      UserError: something is given.
    """
    beside = {
        **inputs,
        "dynamic_shapes": dynamic_shapes is not None,
        "mutation": mutation != "refuse",
        "mutable": bool(mutable),
    }
    if program.has_inputs:
        beside = {name: is_given for name, is_given in beside.items() if name not in inputs}
    if given := [name for name, is_given in beside.items() if is_given]:
        raise UserError(
            f"{caller}: {program.who} is of StableHLO, which says itself what its arguments are; "
            f"leave out {', '.join(given)}"
        )
