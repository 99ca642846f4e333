"""What the tensors of a function are called, and of what element types they are."""

from dataclasses import dataclass

from plumbline.element_type import ElementType


@dataclass(frozen=True)
class NamedTensor:
    """An argument or a result."""

    name: str
    element_type: ElementType


@dataclass(frozen=True)
class TensorNames:
    """Those of a function."""

    inputs: tuple[NamedTensor, ...]
    outputs: tuple[NamedTensor, ...]
