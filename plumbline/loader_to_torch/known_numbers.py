"""Numbers in tensors that are known, of which a program computes sizes and decides branches.

PyTorch itself knows them in a tensor of one element that the program makes, `torch.tensor(3)`.
Where a program writes one, it is known as far as to there.
"""

import contextlib
from collections.abc import Iterator
from unittest import mock

import torch
import torch.export._trace
from torch._export.utils import _fakify_params_buffers
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental import proxy_tensor

_MOST_ELEMENTS = 64


@contextlib.contextmanager
def known_numbers(*, in_buffers: bool) -> Iterator[None]:
    """Has what is exported meanwhile know the numbers in small tensors that it makes of numbers.

    Args:
      in_buffers: whether in small buffers too: convolutions of EnCodec keep their stride so, and
        pad by what they compute of it.
    """
    with contextlib.ExitStack() as changes:
        for module in (fake_tensor, proxy_tensor):
            changes.enter_context(mock.patch.object(module, "CONSTANT_NUMEL_LIMIT", _MOST_ELEMENTS))
        if in_buffers:
            changes.enter_context(
                mock.patch.object(torch.export._trace, "_fakify_params_buffers", _with_numbers)
            )
        yield


def _with_numbers(mode: FakeTensorMode, module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The tensors without data that stand for the parameters and buffers of a module, by name."""
    tensors = _fakify_params_buffers(mode, module)
    for name, buffer in module.named_buffers(remove_duplicate=False):
        tensor = tensors[name]
        is_small = buffer.layout == torch.strided and buffer.numel() <= _MOST_ELEMENTS
        # Known already is what is a buffer by two names.
        if is_small and isinstance(tensor, FakeTensor) and tensor.constant is None:
            # A copy, for what writes into the one is carried out on the other.
            tensor.constant = buffer.detach().clone()
            mode.fake_tensor_converter.add_constant_storage_mapping(tensor)
    return tensors
