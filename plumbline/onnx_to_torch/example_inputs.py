"""Inputs that fit what a model says of its arguments."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from onnx import ValueInfoProto
from torch._subclasses.fake_tensor import FakeTensorMode

from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.model_nodes import silent
from plumbline.onnx_to_torch.argument_sizes import ArgumentSizes, OtherSize, names_in
from plumbline.onnx_to_torch.values import torch_dtype

_SIZES = (3, 5, 7, 11, 13)
"""Of dynamic dimensions, in the order in which a model names them; then on by twos."""

_SIZES_OF_IMAGES = (64, 96)
"""Of those that are an image's: what halves them a few times leaves some of them."""

_GROWTHS = (1, 4, 16, 64, 256)
"""How much larger sizes are tried to be, beside that of a batch: windows of sound are long."""

Takes = Callable[[Sequence[torch.Tensor]], bool]
"""Whether a model can be computed of inputs; raises `OtherSize` where an op knows what is wrong."""


@dataclass(frozen=True)
class ExampleInputs:
    """What a program is tried on."""

    inputs: tuple[torch.Tensor, ...]
    dynamic_shapes: tuple[dict[int, Any], ...] | None
    """As torch.export takes it; None where all sizes are fixed."""
    names_of_sizes: tuple[dict[int, str], ...]
    """What the model calls those that are dynamic, and are not formulas of others."""


def example_inputs(
    who: str,
    arguments: Sequence[ValueInfoProto],
    argument_sizes: ArgumentSizes,
    sizes: Mapping[str, int],
    takes: Takes,
) -> ExampleInputs:
    """Inputs for the `arguments` of the model that messages call `who`, drawn at random.

    Floats are drawn from the normal distribution, and integers are 0 and 1, which an index may be.
    Dimensions of one name are of one size, which is fixed if it is among `sizes`, or if an op needs
    it. The others are the smallest that the model `takes`, of those that are
    tried.

    Raises:
      UserError: PyTorch has no tensors of an argument's type, or a formula gives no size, or no
        dimension is called as one of `sizes` is.
    """
    argument_sizes.check_names(sizes)
    dtypes = [_dtype(who, argument) for argument in arguments]
    sizes = _with_needed(who, arguments, argument_sizes, sizes, dtypes, takes)
    shapes = _shapes(who, arguments, argument_sizes, sizes, 1)
    dynamic = [
        {axis: text for axis, text in texts.items() if not set(names_in(text)) <= sizes.keys()}
        for texts in argument_sizes.texts
    ]
    if any(dynamic):
        tried = (_shapes(who, arguments, argument_sizes, sizes, growth) for growth in _GROWTHS)
        shapes = next((each for each in tried if _are_taken(takes, each, dtypes)), shapes)
    generator = torch.Generator().manual_seed(0)
    inputs = []
    for argument, shape, dtype in zip(arguments, shapes, dtypes, strict=True):
        try:
            inputs.append(_random(shape, dtype, generator))
        except RuntimeError as error:
            raise UserError(
                f"{who}: argument {argument.name} has the sizes {shape}, for which there is not "
                "enough memory"
            ) from error
    names = [
        {axis: text for axis, text in axes.items() if text in argument_sizes.names}
        for axes in dynamic
    ]
    differing = tuple(dict.fromkeys(axes, torch.export.Dim.AUTO) for axes in dynamic)
    return ExampleInputs(tuple(inputs), differing if any(differing) else None, tuple(names))


def _shapes(
    who: str,
    arguments: Sequence[ValueInfoProto],
    argument_sizes: ArgumentSizes,
    sizes: Mapping[str, int],
    growth: int,
) -> list[list[int]]:
    """An example's, of each argument: what is no batch is `growth` times the least."""
    chosen = dict(sizes)
    for argument, texts in zip(arguments, argument_sizes.texts, strict=True):
        rank = len(argument.type.tensor_type.shape.dim)
        for axis, text in texts.items():
            if text in argument_sizes.names and text not in chosen:
                is_batch = axis == 0 and rank > 1
                least = _size(argument, axis, len(chosen) - len(sizes))
                chosen[text] = least if is_batch else least * growth
    shapes = []
    for argument, texts in zip(arguments, argument_sizes.texts, strict=True):
        shape = [
            argument_sizes.evaluate(texts[axis], chosen) if axis in texts else dim.dim_value
            for axis, dim in enumerate(argument.type.tensor_type.shape.dim)
        ]
        if min(shape, default=0) < 0:
            raise UserError(f"{who}: argument {argument.name} has the sizes {shape}")
        shapes.append(shape)
    return shapes


def _with_needed(
    who: str,
    arguments: Sequence[ValueInfoProto],
    argument_sizes: ArgumentSizes,
    sizes: Mapping[str, int],
    dtypes: Sequence[torch.dtype],
    takes: Takes,
) -> Mapping[str, int]:
    """`sizes`, with those that ops of the model need, such as that of a head in a cache."""
    known = dict(sizes)
    for _ in argument_sizes.names:
        shapes = _shapes(who, arguments, argument_sizes, known, 1)
        with _without_memory(shapes, dtypes) as inputs:
            try:
                takes(inputs)
            except OtherSize as needed:
                name = argument_sizes.name_of(needed, inputs)
                if name is not None and name not in known:
                    known[name] = needed.size
                    continue
        break
    return known


def _are_taken(
    takes: Takes, shapes: Sequence[Sequence[int]], dtypes: Sequence[torch.dtype]
) -> bool:
    """Whether a model takes inputs of these shapes."""
    with _without_memory(shapes, dtypes) as inputs:
        try:
            return takes(inputs)
        except OtherSize:
            return False


@contextlib.contextmanager
def _without_memory(
    shapes: Sequence[Sequence[int]], dtypes: Sequence[torch.dtype]
) -> Iterator[Sequence[torch.Tensor]]:
    """Inputs of these shapes that have no elements; ops of them find shapes alone."""
    with silent(), FakeTensorMode(allow_non_fake_inputs=True):
        pairs = zip(shapes, dtypes, strict=True)
        yield [torch.empty(shape, dtype=dtype) for shape, dtype in pairs]


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
