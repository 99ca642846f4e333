"""Numbers that a module keeps in buffers, of which it computes sizes and decides branches."""

import contextlib
from unittest import mock

import torch
import torch.export._trace
from torch._export.utils import _fakify_params_buffers
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

_MOST_ELEMENTS = 64


def numbers_in_buffers() -> contextlib.AbstractContextManager[object]:
    """Has what is exported meanwhile know the numbers in small buffers.

    To PyTorch these may be any, also where nothing writes them: convolutions of EnCodec keep their
    stride so, and pad by what they compute of it. Where the program writes one, it is known as far
    as to there, as the numbers of `torch.tensor(3)` are.
    """
    return mock.patch.object(torch.export._trace, "_fakify_params_buffers", _with_numbers)


def _with_numbers(mode: FakeTensorMode, module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The tensors without data that stand for the parameters and buffers of a module, by name."""
    tensors = _fakify_params_buffers(mode, module)
    for name, buffer in module.named_buffers(remove_duplicate=False):
        tensor = tensors[name]
        is_small = buffer.numel() <= _MOST_ELEMENTS
        # Known already is what is a buffer by two names.
        if is_small and isinstance(tensor, FakeTensor) and tensor.constant is None:
            # A copy, for what writes into the one is carried out on the other.
            tensor.constant = buffer.detach().clone()
            mode.fake_tensor_converter.add_constant_storage_mapping(tensor)
    return tensors
