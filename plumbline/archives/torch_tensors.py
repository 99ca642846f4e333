"""Tensors of PyTorch's as archives and compiled functions have them, and back.

Who calls a compiled library needs PyTorch for it, and nothing that compiles.
"""

from typing import Any

import torch

from plumbline.archives.reference_archive import Tensor
from plumbline.errors import UserError
from plumbline.signature import element_type

_BYTES = {1: torch.uint8, 2: torch.uint16}
"""Integers that are as wide as so many bytes."""


def check_tensor(what: str, tensor: Any) -> None:
    """Refuses what cannot cross the boundary of a compiled function.

    Raises:
      UserError: `tensor` is not a dense tensor on the CPU of a supported dtype; the message
        begins with `what`.
    """
    if not isinstance(tensor, torch.Tensor):
        raise UserError(
            f"{what} is of type {type(tensor).__name__}, not a tensor; a compiled function takes "
            "and returns tensors and numbers only: keep other values in the module"
        )
    if tensor.is_nested:
        raise UserError(f"{what} is a nested tensor; it must be dense: pad it, say")
    if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.is_quantized:
        raise UserError(
            f"{what} is a tensor of layout {tensor.layout} on {tensor.device}; it must be dense "
            "and on the CPU"
        )
    try:
        element_type.from_torch_name(str(tensor.dtype))
    except UserError as error:
        raise UserError(f"{what}: {error}") from error


def to_numpy(tensor: torch.Tensor) -> Tensor:
    """`tensor` as the reference archive stores it: in bytes, what numpy has no dtype for."""
    return as_numpy(tensor.contiguous())


def as_numpy(tensor: torch.Tensor) -> Tensor:
    """The same without a copy, gaps and all, unless its elements are others than its memory says.

    Raises:
      RuntimeError: PyTorch does not lend its memory, or has none for a copy.
    """
    dtype = element_type.from_torch_name(str(tensor.dtype)).numpy_dtype
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if dtype.kind == "V":
        return tensor.view(_BYTES[dtype.itemsize]).numpy().view(dtype)
    array: Tensor = tensor.numpy()
    assert array.dtype == dtype
    return array


def to_torch(array: Tensor) -> torch.Tensor:
    """Undoes `to_numpy`."""
    if array.dtype.kind == "V":
        dtype = getattr(torch, element_type.from_numpy_dtype(array.dtype).torch_name)
        return torch.from_numpy(array.view(f"u{array.itemsize}")).view(dtype)
    return torch.from_numpy(array)
