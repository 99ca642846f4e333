"""The sizes of what recurrent layers give, for any length of a sequence."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensor

from plumbline.loader_to_torch.decompositions import recurrent

_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd


@contextlib.contextmanager
def sizes_of_recurrent_layers() -> Iterator[None]:
    """Has what is exported meanwhile not go through each step to learn the sizes of results.

    PyTorch would, and take the length of the example's sequence to be that of all.
    """
    with contextlib.ExitStack() as patches:
        for op in recurrent.OF_SEQUENCES:
            own = op.py_kernels.get(_COMPOSITE, functools.partial(op._op_dk, _COMPOSITE))
            kernels = {_COMPOSITE: functools.partial(_results, own)}
            patches.enter_context(mock.patch.dict(op.py_kernels, kernels))
            op._dispatch_cache.clear()
            patches.callback(op._dispatch_cache.clear)
        yield


def _results(
    own: Callable[..., Any],
    operand: torch.Tensor,
    before: torch.Tensor | Sequence[torch.Tensor],
    weights: Sequence[torch.Tensor],
    *options: Any,
) -> Any:
    states = [before] if isinstance(before, torch.Tensor) else before
    has_slopes = any(tensor.requires_grad for tensor in (operand, *states, *weights))
    if not isinstance(operand, FakeTensor) or (has_slopes and torch.is_grad_enabled()):
        # PyTorch's rule, of which gradients may be taken.
        return own(operand, before, weights, *options)
    *_, bidirectional, _batch_first = options
    size = states[0].shape[-1] * (2 if bidirectional else 1)
    return operand.new_empty((*operand.shape[:2], size)), *map(torch.empty_like, states)
