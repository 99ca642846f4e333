"""The sizes of what recurrent layers give, for any length of a sequence."""

import contextlib
import functools
from collections.abc import Iterator, Sequence
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
            kernels = {_COMPOSITE: functools.partial(_results, op)}
            patches.enter_context(mock.patch.dict(op.py_kernels, kernels))
            op._dispatch_cache.clear()
            patches.callback(op._dispatch_cache.clear)
        yield


def _results(
    op: Any, operand: torch.Tensor, before: torch.Tensor | Sequence[torch.Tensor], *options: Any
) -> Any:
    if not isinstance(operand, FakeTensor):
        return op._op_dk(_COMPOSITE, operand, before, *options)
    *_, bidirectional, _batch_first = options
    states = [before] if isinstance(before, torch.Tensor) else before
    size = states[0].shape[-1] * (2 if bidirectional else 1)
    return operand.new_empty((*operand.shape[:2], size)), *map(torch.empty_like, states)
