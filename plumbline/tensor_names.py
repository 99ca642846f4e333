"""What the tensors of a function are called, and of what element types they are."""

from dataclasses import dataclass

from plumbline.element_type import ElementType


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
