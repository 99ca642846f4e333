"""The tensors that a model holds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from onnx import NodeProto, TensorProto, helper, numpy_helper

from plumbline.onnx_to_torch.values import torch_dtype


@dataclass(frozen=True)
class IntegerRange:
    """The integers of a type, and of which dtype tensors of them are."""

    dtype: torch.dtype
    least: int
    most: int

    @classmethod
    def of(cls, dtype: torch.dtype) -> "IntegerRange":
        """All of a dtype."""
        bounds = torch.iinfo(dtype)
        return cls(dtype, bounds.min, bounds.max)


LESS_THAN_8_BITS: Mapping[int, IntegerRange] = {
    TensorProto.INT2: IntegerRange(torch.int8, -2, 1),
    TensorProto.INT4: IntegerRange(torch.int8, -8, 7),
    TensorProto.UINT2: IntegerRange(torch.uint8, 0, 3),
    TensorProto.UINT4: IntegerRange(torch.uint8, 0, 15),
}
"""Integers that PyTorch has no tensors of; in a tensor of 8 bits are all of them."""

_OF_NUMBERS = {
    "value_float": torch.float32,
    "value_floats": torch.float32,
    "value_int": torch.int64,
    "value_ints": torch.int64,
}
"""Attributes that say what a constant is by numbers."""


def constant_tensor(proto: TensorProto, folder: str) -> torch.Tensor:
    """The tensor that `proto` holds, or names in a file that lies in `folder`.

    Integers of less than 8 bits come in a tensor of 8.

    Raises:
      Unsupported: PyTorch has no such tensors.
      ValueError: it is not what it claims to be.
      OSError: its file cannot be read.
    """
    array = np.array(numpy_helper.to_array(proto, folder), order="C")
    name = array.dtype.name
    if proto.data_type in LESS_THAN_8_BITS:
        return torch.from_numpy(array.astype(np.uint8 if name.startswith("u") else np.int8))
    dtype = torch_dtype(proto.data_type)
    if array.dtype.kind == "V" or name == "bfloat16" or name.startswith("float8"):
        return torch.from_numpy(array.view(f"u{array.dtype.itemsize}")).view(dtype)
    return torch.from_numpy(array)


def of_node(
    proto: NodeProto, constant: Callable[[TensorProto], torch.Tensor]
) -> torch.Tensor | None:
    """The output of a node that is a constant, of which `constant` makes a tensor; else None."""
    if proto.op_type != "Constant" or proto.domain not in ("", "ai.onnx"):
        return None
    for attribute in proto.attribute:
        value = helper.get_attribute_value(attribute)
        if attribute.name == "value":
            return constant(value)
        if dtype := _OF_NUMBERS.get(attribute.name):
            return torch.tensor(value, dtype=dtype)
    return None
