"""Inputs that fit what a model says of its arguments."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from onnx import TensorShapeProto, ValueInfoProto

from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.values import torch_dtype

_SIZES = (3, 5, 7, 11, 13)
"""Of dynamic dimensions, in the order in which a model names them; then on by twos."""


@dataclass(frozen=True)
class ExampleInputs:
    """What a program is tried on."""

    inputs: tuple[torch.Tensor, ...]
    dynamic_shapes: tuple[dict[int, Any], ...] | None
    """As torch.export takes it; None where all sizes are fixed."""


def example_inputs(file: str, arguments: Sequence[ValueInfoProto]) -> ExampleInputs:
    """Inputs for the `arguments` of the model in `file`, drawn at random.

    Floats are drawn from the normal distribution, and integers are 0 and 1, which an index may
    be. Dimensions of one name are of one size.

    Raises:
      UserError: an argument is no tensor, or its rank is not said.
    """
    generator = torch.Generator().manual_seed(0)
    dims: dict[str, Any] = {}
    inputs, shapes = [], []
    for argument in arguments:
        if argument.type.WhichOneof("value") != "tensor_type":
            raise UserError(f"{file}: argument {argument.name} is no tensor")
        type_ = argument.type.tensor_type
        if not type_.HasField("shape"):
            raise UserError(f"{file}: of argument {argument.name} no rank is said")
        try:
            dtype = torch_dtype(type_.elem_type)
        except Unsupported as reason:
            raise UserError(f"{file}: argument {argument.name}: {reason}") from reason
        sizes, dynamic = [], {}
        for axis, dim in enumerate(type_.shape.dim):
            if dim.HasField("dim_value"):
                sizes.append(dim.dim_value)
                continue
            name = _name(argument.name, axis, dim)
            if name not in dims:
                number = len(dims)
                size = _SIZES[number] if number < len(_SIZES) else 2 * number + 5
                dims[name] = torch.export.Dim(name), size
            dynamic[axis], size = dims[name]
            sizes.append(size)
        inputs.append(_random(sizes, dtype, generator))
        shapes.append(dynamic)
    return ExampleInputs(tuple(inputs), tuple(shapes) if dims else None)


def _name(argument: str, axis: int, dim: TensorShapeProto.Dimension) -> str:
    """What a dynamic dimension is called; one that has no name is of no other's size."""
    name = dim.dim_param if dim.HasField("dim_param") else ""
    plain = re.sub(r"\W", "_", name or f"{argument}_dim{axis}")
    return plain if plain.isidentifier() else f"dim_{plain}"


def _random(sizes: Sequence[int], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(*sizes, generator=generator).to(dtype)
    return torch.randint(0, 2, tuple(sizes), generator=generator).to(dtype)
