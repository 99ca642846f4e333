"""Inputs that fit what a model says of its arguments."""

import ast
import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from onnx import TensorShapeProto, ValueInfoProto

from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.values import torch_dtype

_SIZES = (3, 5, 7, 11, 13)
"""Of dynamic dimensions, in the order in which a model names them; then on by twos."""

_SIZES_OF_IMAGES = (64, 96)
"""Of those that are an image's: what halves them a few times leaves some of them."""


@dataclass(frozen=True)
class ExampleInputs:
    """What a program is tried on."""

    inputs: tuple[torch.Tensor, ...]
    dynamic_shapes: tuple[dict[int, Any], ...] | None
    """As torch.export takes it; None where all sizes are fixed."""


def example_inputs(
    who: str, arguments: Sequence[ValueInfoProto], sizes: Mapping[str, int]
) -> ExampleInputs:
    """Inputs for the `arguments` of the model that messages call `who`, drawn at random.

    Floats are drawn from the normal distribution, and integers are 0 and 1, which an index may be.
    Dimensions of one name are of one size, which is fixed if it is among `sizes`. One that is
    called by a formula of others, "past + 1", has the size that it gives.

    Raises:
      UserError: an argument is no tensor, or its rank is not said, or a formula gives no size; or
        no dimension is called as one of `sizes` is.
    """
    dims = list(_dims(who, arguments))
    names = [name for _, _, name in dims if name is not None and _names_in(name) == [name]]
    _check_names(who, sizes, names)
    chosen = dict(sizes)
    for argument, axis, name in dims:
        if name in names and name not in chosen:
            chosen[name] = _size(argument, axis, len(chosen) - len(sizes))
    dynamic = {name: torch.export.Dim(name) for name in dict.fromkeys(names) if name not in sizes}
    generator = torch.Generator().manual_seed(0)
    inputs, shapes = [], []
    for argument in arguments:
        type_ = argument.type.tensor_type
        own = [name for each, _, name in dims if each is argument]
        shape: list[int] = []
        entry: dict[int, Any] = {}
        for axis, (name, dim) in enumerate(zip(own, type_.shape.dim, strict=True)):
            if name is None:
                shape.append(dim.dim_value)
                continue
            shape.append(_evaluated(who, argument, name, chosen))
            if name in dynamic:
                entry[axis] = dynamic[name]
            elif not set(_names_in(name)) <= sizes.keys():
                # PyTorch finds by itself what it is of the others.
                entry[axis] = torch.export.Dim.AUTO
        inputs.append(_random(shape, _dtype(who, argument), generator))
        shapes.append(entry)
    return ExampleInputs(tuple(inputs), tuple(shapes) if any(shapes) else None)


def _dims(
    who: str, arguments: Sequence[ValueInfoProto]
) -> Iterator[tuple[ValueInfoProto, int, str | None]]:
    """Each dimension: whose it is, and what it is called if it is dynamic."""
    plain = {
        dim.dim_param
        for argument in arguments
        for dim in argument.type.tensor_type.shape.dim
        if dim.HasField("dim_param") and dim.dim_param.isidentifier()
    }
    for argument in arguments:
        if argument.type.WhichOneof("value") != "tensor_type":
            raise UserError(f"{who}: argument {argument.name} is no tensor")
        if not argument.type.tensor_type.HasField("shape"):
            raise UserError(f"{who}: of argument {argument.name} no rank is said")
        for axis, dim in enumerate(argument.type.tensor_type.shape.dim):
            known = dim.HasField("dim_value")
            yield argument, axis, None if known else _name(argument.name, axis, dim, plain)


def _name(
    argument: str, axis: int, dim: TensorShapeProto.Dimension, others: Collection[str]
) -> str:
    """What a dynamic dimension is called: a name, or a formula of `others`.

    One that has no name is of no other's size.
    """
    given = dim.dim_param if dim.HasField("dim_param") else ""
    names = _names_in(given)
    if names and names != [given] and set(names) <= set(others):
        return given
    plain = re.sub(r"\W", "_", given or f"{argument}_dim{axis}")
    return plain if plain.isidentifier() else f"dim_{plain}"


_OPERATORS: Mapping[type[ast.operator], Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
}


def _names_in(text: str) -> list[str]:
    """The names that a formula is of; none if it is no formula that has a meaning here."""
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except SyntaxError:
        return []
    known = (ast.Expression, ast.BinOp, ast.Name, ast.Constant, ast.Load, *_OPERATORS)
    if not all(isinstance(node, known) for node in nodes):
        return []
    return [node.id for node in nodes if isinstance(node, ast.Name)]


def _evaluated(who: str, argument: ValueInfoProto, text: str, sizes: Mapping[str, int]) -> int:
    def value(node: ast.expr) -> int:
        match node:
            case ast.Name(id=name):
                return sizes[name]
            case ast.Constant(value=int(number)):
                return number
            case ast.BinOp(left=left, op=op, right=right):
                return _OPERATORS[type(op)](value(left), value(right))  # type: ignore[no-any-return]
        raise ValueError

    try:
        size = value(ast.parse(text, mode="eval").body)
    except (KeyError, ValueError, ZeroDivisionError):
        size = -1
    if size < 0:
        raise UserError(
            f"{who}: a dimension of argument {argument.name} is called {text!r}: that gives no size"
        )
    return size


def _check_names(who: str, sizes: Mapping[str, int], names: Sequence[str]) -> None:
    for name, size in sizes.items():
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            known = ", ".join(dict.fromkeys(names)) or "none"
            hint = f"did you mean {close[0]}?" if close else f"it has {known}"
            raise UserError(f"{who}: no dimension is called {name}; {hint}")
        if size < 0:
            raise UserError(f"{who}: {name} is to be {size}; a size is at least 0")


def _size(argument: ValueInfoProto, axis: int, number: int) -> int:
    """An example's, for the dimension that is the model's `number`th."""
    inner = argument.type.tensor_type.shape.dim[2:]
    is_image = len(inner) > 1 and not any(dim.HasField("dim_value") for dim in inner)
    if is_image and axis >= 2:
        return _SIZES_OF_IMAGES[axis % 2]
    return _SIZES[number] if number < len(_SIZES) else 2 * number + 5


def _dtype(who: str, argument: ValueInfoProto) -> torch.dtype:
    try:
        return torch_dtype(argument.type.tensor_type.elem_type)
    except Unsupported as reason:
        raise UserError(f"{who}: argument {argument.name}: {reason}") from reason


def _random(sizes: Sequence[int], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(tuple(sizes), generator=generator).to(dtype)
    return torch.randint(0, 2, tuple(sizes), generator=generator).to(dtype)
