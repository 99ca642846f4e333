"""Conversions of modules in a program, `self.layer.to(x.device)`, which change nothing.

PyTorch puts a new tensor in the place of each parameter even so, where those that are traced have
none to put.
"""

import contextlib
from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import _disable_current_modes


def conversions_that_change_something() -> contextlib.AbstractContextManager[object]:
    """Has modules meanwhile stay as they are where they are of the type, on the device, asked for.

    Others are left to PyTorch, which refuses them in what is traced.
    """
    converted = torch.nn.Module._apply

    def applied(
        module: torch.nn.Module, function: Callable[..., Any], recurse: bool = True
    ) -> torch.nn.Module:
        tensors = [*module.parameters(recurse), *module.buffers(recurse)]
        kinds = {(tensor.dtype, tensor.device) for tensor in tensors}
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            others = [torch.empty(1, dtype=dtype, device=device) for dtype, device in kinds]
            if all(function(other) is other for other in others):
                return module
        given = (module, function, recurse)
        result: torch.nn.Module = converted(*given)  # type: ignore[no-untyped-call]
        return result

    return mock.patch.object(torch.nn.Module, "_apply", applied)
