"""What the parameters of a program are called in C."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.function_name import is_taken
from plumbline.signature.tensor_names import TensorNames
from plumbline.signature.unbacked_size import UnbackedSize

STREAM = "stream"
"""The parameter for what calls on a GPU are queued on."""

WORKSPACE = "workspace"
"""The parameter for the memory of temporaries."""

_OWN = ("code", "output", "path", "shape", STREAM, WORKSPACE)
"""What parameters of the functions beside a program's are called."""


@dataclass(frozen=True)
class CNames:
    """The names of a program's parameters, all of them different."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    symbols: tuple[str, ...]
    unbacked: tuple[str, ...] = ()
    """Where the sizes of outputs go that each call tells."""


def c_names(
    tensors: TensorNames,
    shapes: ArgumentShapes,
    skipped: int = 0,
    unbacked: Sequence[UnbackedSize] = (),
) -> CNames:
    """The parameters of a program, whose first `skipped` arguments are none.

    They are called as the program calls them, as far as C and C++ can: what is in the way is an
    underscore, and one more at the end makes a name another.
    """
    taken = set(_OWN)

    def new(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(_new(name, taken) for name in names)

    inputs = new(tensor.name for tensor in tensors.inputs[skipped:])
    outputs = new(tensor.name for tensor in tensors.outputs)
    symbols = new(symbol.name for symbol in shapes.symbols)
    sizes = new(f"{outputs[size.output]}_size{size.axis}" for size in unbacked)
    return CNames(inputs, outputs, symbols, sizes)


def _new(name: str, taken: set[str]) -> str:
    name = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", name)).lstrip("_") or "x"
    if name[0].isdigit():
        name = f"x{name}"
    while name in taken or is_taken(name):
        name += "x" if name.endswith("_") else "_"
    taken.add(name)
    return name
