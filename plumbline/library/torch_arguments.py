"""How PyTorch's tensors are handed to machine code, and results are made such."""

import torch

from plumbline.archives.reference_archive import Tensor
from plumbline.library.tensor_arguments import Kind, Parameter, Reading, read_array
from plumbline.loader_to_torch.loader import check_tensor
from plumbline.loader_to_torch.references import to_numpy, to_torch
from plumbline.signature import element_type
from plumbline.signature.signature import TensorSpec

_ELEMENT_TYPES = {getattr(torch, known.torch_name): known for known in element_type.ELEMENT_TYPES}
_PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})


def _read(tensor: torch.Tensor, parameter: Parameter) -> Reading:
    if (
        type(tensor) in _PLAIN
        and tensor.is_cpu
        and tensor.layout is torch.strided
        and _ELEMENT_TYPES.get(tensor.dtype) is parameter.spec.element_type
        and tensor.is_contiguous()
        and not tensor.is_neg()
        and not tensor.is_conj()
    ):
        return tensor.data_ptr(), tensor.shape, tensor
    check_tensor(parameter.name, tensor)
    return read_array(to_numpy(tensor), parameter)


def give(array: Tensor, spec: TensorSpec) -> torch.Tensor:
    """A tensor of the same memory."""
    return to_torch(array)


TENSOR = Kind(_read, give)
