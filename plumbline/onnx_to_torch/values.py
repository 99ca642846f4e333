"""What the edges of a graph of ONNX hold while PyTorch follows it."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from onnx import helper

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.decompositions.integer_products import SIGN


@dataclass(frozen=True, eq=False)
class Numbers:
    """A small tensor of which each element is known as the program is exported, or is a size of it.

    ONNX computes shapes by ops on tensors, which PyTorch wants as numbers of Python's: these ops
    are evaluated on them (`shapes.py`), and tensors made of them only where an op asks for one.
    """

    elements: np.ndarray[Any, np.dtype[np.object_]]
    """Of the tensor's shape; an int, a float, a bool or one of PyTorch's symbolic numbers each."""
    dtype: torch.dtype
    constant: torch.Tensor | None = None
    """The tensor of the model that they come from, if they are as it has them."""

    @property
    def is_known(self) -> bool:
        """Whether no element is a dynamic size, or computed from one."""
        return all(isinstance(element, int | float) for element in self.elements.flat)

    def held_by(self, constant: torch.Tensor) -> "Numbers":
        """The same, as the elements of a tensor of the model."""
        return dataclasses.replace(self, constant=constant)


@dataclass(frozen=True, eq=False)
class Dequantized:
    """What integers of 8 bits stand for; a product of two such needs no more than these."""

    numbers: torch.Tensor
    integers: torch.Tensor
    zero_point: torch.Tensor | int
    """Of int32, in a shape that goes with theirs; or a number that is known."""
    scale: torch.Tensor
    """In a shape that goes with theirs, too."""
    keeps_order: bool = False
    """Whether all have one scale, which is known to be above 0: the largest are those that the
    largest integers stand for."""

    @property
    def transposed(self) -> "Dequantized":
        """A matrix, turned about."""
        zero_point, scale = (_transposed(each) for each in (self.zero_point, self.scale))
        return Dequantized(self.numbers.T, self.integers.T, zero_point, scale)


@dataclass(frozen=True, eq=False)
class Unsigned:
    """Integers of uint8 that are computed as such of int8, 128 less, which products take."""

    integers: torch.Tensor
    signed: torch.Tensor

    @classmethod
    def of(cls, signed: torch.Tensor) -> "Unsigned":
        """Those that are 128 more."""
        return cls((signed.to(torch.int16) + SIGN).to(torch.uint8), signed)


def _transposed(by: Any) -> Any:
    """What goes with the shape of a matrix, so that it goes with that of the transposed one."""
    if not isinstance(by, torch.Tensor) or by.ndim == 0:
        return by
    # A row becomes a column, and a column a vector, which is a row, too.
    return by[:, None] if by.ndim == 1 else by.reshape(-1)


Value: TypeAlias = torch.Tensor | Numbers | Dequantized | Unsigned | list["Value"] | None
"""None: an input that is left out. A list is a sequence of ONNX's."""


def numbers(elements: Any, dtype: torch.dtype) -> Numbers:
    """`elements`, nested as in `np.array`, as a tensor of `dtype`."""
    if not isinstance(elements, np.ndarray) or elements.dtype != object:
        elements = _array_of_objects(elements)
    return Numbers(elements, dtype)


_MOST_KNOWN = 64
"""The largest tensor of a model that is looked at as numbers: more are no shape."""

_MOST_OF_BYTES = 8192
"""The longest vector of integers of 8 bits: there is a zero point for each channel."""


def numbers_of(constant: torch.Tensor) -> Numbers | None:
    """A tensor as numbers, if it is as small as a shape is, and of numbers that Python has."""
    is_bytes = constant.dtype in (torch.int8, torch.uint8) and constant.ndim == 1
    most = _MOST_OF_BYTES if is_bytes else _MOST_KNOWN
    if constant.numel() > most or constant.ndim > 2 or constant.is_complex():
        return None
    if constant.dtype.is_floating_point and constant.dtype.itemsize == 1:
        return None
    elements = _array_of_objects(constant.reshape(-1).tolist())
    return Numbers(elements.reshape(tuple(constant.shape)), constant.dtype)


def _array_of_objects(elements: Any) -> np.ndarray[Any, np.dtype[np.object_]]:
    if isinstance(elements, list | tuple):
        array = np.empty(len(elements), object)
        array[:] = elements
        return array
    array = np.empty((), object)
    array[()] = elements
    return array


def sym_max(one: Any, other: Any) -> Any:
    """The larger of two numbers, which may be symbolic."""
    return torch.sym_max(one, other)  # type: ignore[no-untyped-call]


def sym_min(one: Any, other: Any) -> Any:
    """The smaller of two numbers, which may be symbolic."""
    return torch.sym_min(one, other)  # type: ignore[no-untyped-call]


def tensor(value: Value) -> torch.Tensor:
    """`value` as a tensor.

    Raises:
      Unsupported: it is a sequence, or is left out.
    """
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, Dequantized):
        return value.numbers
    if isinstance(value, Unsigned):
        return value.integers
    if not isinstance(value, Numbers):
        raise Unsupported("a tensor is to be there" if value is None else "a sequence is no tensor")
    if value.constant is not None:
        return value.constant
    flat = value.elements.ravel().tolist()
    if value.is_known:
        made = torch.tensor(flat, dtype=value.dtype)
    else:
        made = torch.stack([torch.scalar_tensor(each, dtype=value.dtype) for each in flat])
    return made.reshape(value.elements.shape)


def tensors(values: Iterable[Value]) -> list[torch.Tensor]:
    """Each of `values` as a tensor.

    Raises:
      Unsupported: as `tensor` does.
    """
    return [tensor(value) for value in values]


def integers(value: Value) -> list[Any]:
    """The elements of a vector of integers, or the one of a tensor of rank 0, as Python's numbers.

    Those of a tensor that is computed from the program's arguments are sizes that depend on values.

    Raises:
      Unsupported: as `tensor` does, or there are more than a shape may have.
    """
    if isinstance(value, Numbers):
        return value.elements.ravel().tolist()
    computed = tensor(value).reshape(-1)
    if not isinstance(computed.shape[0], int):
        raise Unsupported("how many numbers it is given depends on a dynamic size")
    return [element.item() for element in computed.unbind()]


def integer(value: Value) -> Any:
    """The one element of a tensor of integers.

    Raises:
      Unsupported: as `integers` does, or there are others.
    """
    elements = integers(value)
    if len(elements) != 1:
        raise Unsupported(f"{len(elements)} numbers are given where there is to be one")
    return elements[0]


def floats(value: Value) -> list[float]:
    """The elements of a tensor that is known as the program is exported.

    Raises:
      Unsupported: it is not known.
    """
    if isinstance(value, Numbers) and value.is_known:
        return [float(element) for element in value.elements.flat]
    raise Unsupported("it is given numbers that are not known as the program is exported")


def only(value: Value) -> Any:
    """The one element of a tensor, if it is known as the program is exported; else None."""
    if not isinstance(value, Numbers) or not value.is_known or value.elements.size != 1:
        return None
    return value.elements.item()


def shape_of(value: Value) -> Sequence[Any]:
    """The sizes of a tensor.

    Raises:
      Unsupported: as `tensor` does.
    """
    return value.elements.shape if isinstance(value, Numbers) else tensor(value).shape


def dtype_of(value: Value) -> torch.dtype:
    """The dtype of a tensor.

    Raises:
      Unsupported: as `tensor` does.
    """
    return value.dtype if isinstance(value, Numbers) else tensor(value).dtype


def torch_dtype(data_type: int) -> torch.dtype:
    """The dtype of PyTorch's for a `TensorProto.DataType`.

    Raises:
      Unsupported: PyTorch computes with none.
    """
    try:
        name = helper.tensor_dtype_to_np_dtype(data_type).name
    except KeyError:
        name = ""
    # Called alike by PyTorch, NumPy and ml_dtypes.
    dtype = getattr(torch, name, None)
    # PyTorch has names for integers of less than 8 bits, and no more than these.
    if not isinstance(dtype, torch.dtype) or name in ("int4", "uint4", "int2", "uint2"):
        raise Unsupported(f"PyTorch has no tensors of {helper.tensor_dtype_to_string(data_type)}")
    return dtype
