"""What a compiled library says of itself: JSON, in a file beside it and in a section of its own.

    {"format": 3, "name": "foo", "abi": "pointers", "target_cpu": "x86-64-v3",
     "gpu_arch": null, "origin": "examples.lib.foo_loader",
     "symbols": [{"name": "n", "min": 1, "max": null}],
     "inputs": [{"name": "x", "type": "f32", "shape": ["n", 3]},
                {"name": "cache", "type": "f32", "shape": [64, 3], "inout": true},
                {"name": "temperature", "type": "f64", "shape": [], "scalar": true}],
     "outputs": [{"name": "out0", "type": "f32", "shape": [["*", "n", 3]]},
                 {"name": "out1", "type": "i64", "shape": ["n"],
                  "unbacked": [{"axis": 0, "name": "out1_size0"}]}],
     "workspace": {"bytes": 128, "sum": 192, "lower_bound": 128},
     "loads_weights": false, "on_device": false, "has_stream": false}

A tensor that is `inout` is written by calls; one that is `scalar` is a number to callers. A size is
a number, the name of a symbol, or an operation and its two operands. One that is `unbacked` depends
on values: the shape has the most that it may be, or null where nothing bounds it, and a call writes
what it is to the parameter of that name. Without a workspace that is null: temporaries come from
the heap. With `on_device`, tensors and the workspace are in the memory
of a GPU; with `has_stream`, calls are queued on a stream of their callers'.
"""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plumbline.errors import UserError
from plumbline.signature import element_type
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.c_names import CNames
from plumbline.signature.signature import Signature, TensorSpec, Workspace
from plumbline.signature.size_expressions import OPERATORS, Operation, Size, Symbol, SymbolUse
from plumbline.signature.unbacked_size import UnbackedSize, without_unbacked

SECTION = ".plumbline.signature"
"""The section of object files that has the texts, each with a null byte at its end."""

COFF_SECTION = ".plumb"
"""The same of those for Windows."""

_FORMAT = 3


@dataclass(frozen=True)
class LibraryDescription:
    """One program of a library."""

    signature: Signature
    target_cpu: str
    """As it was asked for."""
    origin: str
    """The program that it was compiled from, in the user's own words."""
    abi: str = "pointers"
    """How it is called, one of `choices.LIBRARY_ABIS`."""
    gpu_arch: str | None = None
    """What GPUs its kernels are for, as it was asked for; None of a program for the CPU."""

    @property
    def made_for(self) -> str:
        """What its code is for, in words."""
        if self.gpu_arch is None:
            return self.target_cpu
        return f"GPUs from {self.gpu_arch} on, and {self.target_cpu}"

    def to_json(self) -> str:
        """The text, which `from_json` undoes."""
        signature, names = self.signature, self.signature.names
        symbols = [
            {"name": name, "min": symbol.min, "max": symbol.max}
            for name, symbol in zip(names.symbols, signature.shapes.symbols, strict=True)
        ]
        inputs = _tensors(names, names.inputs, signature.inputs, signature.shapes.shapes)
        for number in signature.inout:
            inputs[number]["inout"] = True
        outputs = _tensors(names, names.outputs, signature.outputs, signature.result_shapes)
        for size, name in zip(signature.unbacked, names.unbacked, strict=True):
            entries = outputs[size.output].setdefault("unbacked", [])
            entries.append({"axis": size.axis, "name": name})
        content = {
            "format": _FORMAT,
            "name": signature.name,
            "abi": self.abi,
            "target_cpu": self.target_cpu,
            "gpu_arch": self.gpu_arch,
            "origin": self.origin,
            "symbols": symbols,
            "inputs": inputs,
            "outputs": outputs,
            "workspace": _workspace(signature.workspace, names.symbols),
            "loads_weights": signature.loads_weights,
            "on_device": signature.on_device,
            "has_stream": signature.has_stream,
        }
        return json.dumps(content, indent=2) + "\n"

    @classmethod
    def from_json(cls, what: str, text: str) -> "LibraryDescription":
        """Reads a description, which messages call `what`.

        Raises:
          UserError: it is none, or one of another version of Plumbline.
        """
        try:
            content = json.loads(text)
            if content["format"] != _FORMAT:
                raise UserError(
                    f"{what}: its signature is of format {content['format']}, where this version "
                    f"of Plumbline reads {_FORMAT}: compile it anew, or load it with its own"
                )
            return cls._read(content)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"{what}: its signature is not one of Plumbline's: {error}") from error

    @classmethod
    def _read(cls, content: dict[str, Any]) -> "LibraryDescription":
        symbols = tuple(
            Symbol(symbol["name"], symbol["min"], symbol["max"]) for symbol in content["symbols"]
        )
        places = {symbol.name: index for index, symbol in enumerate(symbols)}
        inputs, outputs = content["inputs"], content["outputs"]
        shapes = [[_size(size, places) for size in tensor["shape"]] for tensor in inputs]
        results = [[_size_or_none(size, places) for size in tensor["shape"]] for tensor in outputs]
        names = CNames(
            tuple(tensor["name"] for tensor in inputs),
            tuple(tensor["name"] for tensor in outputs),
            tuple(places),
            tuple(size["name"] for output in outputs for size in output.get("unbacked", ())),
        )
        unbacked = tuple(
            UnbackedSize(number, size["axis"])
            for number, output in enumerate(outputs)
            for size in output.get("unbacked", ())
        )
        signature = Signature(
            content["name"],
            names,
            tuple(map(_spec, inputs, shapes)),
            tuple(
                dataclasses.replace(spec, sizes=without_unbacked(number, spec.sizes, unbacked))
                for number, spec in enumerate(map(_spec, outputs, results))
            ),
            ArgumentShapes(symbols, tuple(map(tuple, shapes))),
            tuple(map(tuple, results)),
            _read_workspace(content["workspace"], places),
            tuple(number for number, tensor in enumerate(inputs) if tensor.get("inout", False)),
            bool(content["loads_weights"]),
            bool(content["on_device"]),
            bool(content["has_stream"]),
            unbacked,
        )
        return cls(
            signature,
            content["target_cpu"],
            content["origin"],
            content["abi"],
            content["gpu_arch"],
        )


def _tensors(
    names: CNames,
    own: Sequence[str],
    specs: Sequence[TensorSpec],
    shapes: Sequence[Sequence[Size | None]],
) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "type": spec.element_type.name,
            "shape": [written_size(size, names.symbols) for size in shape],
            **({"scalar": True} if spec.is_scalar else {}),
        }
        for name, spec, shape in zip(own, specs, shapes, strict=True)
    ]


def written_size(size: Size | None, symbols: Sequence[str]) -> Any:
    """A size as a description has it, with these names of symbols."""
    match size:
        case SymbolUse(index):
            return symbols[index]
        case Operation(operator, left, right):
            return [operator, written_size(left, symbols), written_size(right, symbols)]
        case _:
            return size


def _workspace(workspace: Workspace | None, symbols: Sequence[str]) -> dict[str, Any] | None:
    if workspace is None:
        return None
    return {
        field.name: written_size(getattr(workspace, field.name), symbols)
        for field in dataclasses.fields(workspace)
    }


def _read_workspace(written: dict[str, Any] | None, symbols: dict[str, int]) -> Workspace | None:
    if written is None:
        return None
    return Workspace(**{name: _size(size, symbols) for name, size in written.items()})


def _size_or_none(written: Any, symbols: dict[str, int]) -> Size | None:
    return None if written is None else _size(written, symbols)


def _size(written: Any, symbols: dict[str, int]) -> Size:
    if isinstance(written, str):
        return SymbolUse(symbols[written])
    if isinstance(written, list):
        operator, left, right = written
        if operator not in OPERATORS:
            raise ValueError(f"{operator!r} is no operation on sizes")
        return Operation(operator, _size(left, symbols), _size(right, symbols))
    return written if isinstance(written, float) else int(written)


def _spec(tensor: dict[str, Any], shape: Sequence[Size | None]) -> TensorSpec:
    sizes = tuple(size if isinstance(size, int) else None for size in shape)
    return TensorSpec(element_type.from_name(tensor["type"]), sizes, tensor.get("scalar", False))
