"""Indices that are tensors of one integer, whose values no export knows.

PyTorch's export takes the number out of such a tensor only where something is read, of which no
gradient is taken, and by no other tensors beside it. Whether it counts from the end it does not
ask, without which nothing is written. And in `torch.func.vmap` there is no one number.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest import mock

import torch
from torch._export.non_strict_utils import _NonStrictTorchFunctionHandler
from torch._subclasses.fake_tensor import FakeTensor

_INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64)

_FUNCTIONS = (torch.Tensor.__getitem__, torch.Tensor.__setitem__)

_override: Callable[..., Any] = _NonStrictTorchFunctionHandler._override


def get_item(operand: torch.Tensor, index: Any) -> torch.Tensor:
    """What `operand[index]` is, of which numbers in tensors are counted from the start."""
    selected, rest = _by_numbers(operand, index)
    return selected[rest]


def set_item(operand: torch.Tensor, index: Any, value: Any) -> None:
    """Does `operand[index] = value` likewise."""
    selected, rest = _by_numbers(operand, index)
    selected[rest] = value


def indices_by_number() -> contextlib.AbstractContextManager[object]:
    """Has PyTorch's export do so too, before it looks at numbers itself."""
    return mock.patch.object(_NonStrictTorchFunctionHandler, "_override", _with_numbers)


def _with_numbers(
    self: _NonStrictTorchFunctionHandler, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    if func in _FUNCTIONS:
        operand, index, *value = args
        args = (*_by_numbers(operand, index), *value)
        if any(map(_is_number, _items(args[1]))):
            return func, args, kwargs
    return _override(self, func, args, kwargs)


def _by_numbers(operand: torch.Tensor, index: Any) -> tuple[torch.Tensor, Any]:
    """What numbers in tensors select, and the index of that by other items.

    Where there is a number for each of a batch, these stay what they are.
    """
    numbers = [_of_one_level(item) for item in _items(index) if _is_number(item)]
    if not numbers or any(map(torch._C._functorch.is_batchedtensor, numbers)):
        return operand, index
    rest: list[Any] = []
    dim = 0
    for place, item in enumerate(_items(index)):
        if item is Ellipsis:
            dim = operand.dim() - sum(map(_dimensions, _items(index)[place:]))
        if _is_number(item):
            operand = operand.select(dim, _counted(_of_one_level(item), operand.shape[dim]))
        else:
            rest.append(item)
            dim += _dimensions(item)
    return operand, tuple(rest)


def _items(index: Any) -> Sequence[Any]:
    return index if isinstance(index, tuple) else (index,)


def _counted(item: torch.Tensor, size: int) -> Any:
    """The number in a tensor, from the start of so many elements, among which it has to be."""
    if not isinstance(item, FakeTensor) or item.constant is not None:
        return item.item()
    is_there = (-size <= item) & (item < size)
    torch._assert_async(is_there, "an index is out of range")
    number = torch.where(item < 0, item + size, item).item()
    # Which, other than torch._check, is handed on by the trace of a gradient.
    torch.sym_constrain_range(number, min=0)
    return number


def _dimensions(item: Any) -> int:
    """Of how many dimensions of what is indexed an item of an index tells."""
    if isinstance(item, torch.Tensor) and item.dtype in (torch.bool, torch.uint8):
        return item.dim()
    return 0 if item is None or item is Ellipsis or isinstance(item, bool) else 1


def _is_number(item: Any) -> bool:
    return isinstance(item, torch.Tensor) and item.dim() == 0 and item.dtype in _INTEGERS


def _of_one_level(item: torch.Tensor) -> torch.Tensor:
    """What a tensor that gradients are taken of is a wrapper around; integers have none."""
    while torch._C._functorch.is_gradtrackingtensor(item):
        item = torch._C._functorch.get_unwrapped(item)
    return item
