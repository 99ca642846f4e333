"""Associative scans along a dimension of a dynamic size, as scans one element after the other.

PyTorch combines neighbours, then what that gives, and so on, as often as the size has bits: a
program would be for sizes of as many bits as that of the example.
"""

import importlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from unittest import mock

import torch
from torch._higher_order_ops import scan

# The package has a function by the name of the module.
_MODULE = importlib.import_module("torch._higher_order_ops.associative_scan")

_by_halves = _MODULE.generic_associative_scan

_Tensors = Sequence[torch.Tensor]


def associative_scans_of_any_length() -> AbstractContextManager[object]:
    """Has associative scans that are traced meanwhile be for any length, where it is dynamic."""
    return mock.patch.object(_MODULE, _by_halves.__name__, _scan)


def _scan(
    combine: Callable[..., _Tensors],
    elements: _Tensors,
    dim: int = 0,
    additional_inputs: _Tensors = (),
) -> _Tensors:
    """The combinations of all elements along `dim` up to each.

    Elements are in several tensors, of which `combine` takes some, then as many others, and then
    the additional inputs.
    """
    if dim or isinstance(elements[0].shape[0], int):
        result: _Tensors = _by_halves(combine, elements, dim, additional_inputs)
        return result

    def step(carried: _Tensors, following: _Tensors) -> tuple[_Tensors, _Tensors]:
        given = [each.unsqueeze(0) for each in (*carried, *following)]
        combined = [each.squeeze(0) for each in combine(*given, *additional_inputs)]
        return combined, [each.clone() for each in combined]

    first = [each[0].clone() for each in elements]
    _, others = scan(step, first, [each[1:] for each in elements])
    return [torch.cat([one[None], rest]) for one, rest in zip(first, others, strict=True)]
