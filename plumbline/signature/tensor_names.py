"""What the tensors of a function are called, and of what element types they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from plumbline.signature.element_type import ElementType


@dataclass(frozen=True)
class NamedTensor:
    """An argument or a result."""

    name: str
    element_type: ElementType
    is_scalar: bool = False
    """Whether callers give or get a number for it. It has rank 0 then."""


@dataclass(frozen=True)
class TensorNames:
    """Those of a function."""

    inputs: tuple[NamedTensor, ...]
    outputs: tuple[NamedTensor, ...]


_Size = TypeVar("_Size")


def shapes_of_elements(
    tensors: Sequence[NamedTensor], shapes: Sequence[Sequence[_Size]]
) -> tuple[tuple[_Size, ...], ...]:
    """The shapes of tensors as their callers count them.

    In `shapes`, which are those of MLIR's tensors, complex numbers have a last dimension of size 2.
    """
    return tuple(
        tuple(shape[:-1] if tensor.element_type.is_complex else shape)
        for tensor, shape in zip(tensors, shapes, strict=True)
    )
