"""Indices whose values no export knows: integers, as numbers or in tensors of one, and truths.

PyTorch's export takes the number out of such a tensor only where something is read, of which no
gradient is taken, and by no other tensors beside it. Whether a number counts from the end it does
not ask, without which nothing is written, nor whether there is such a place. And in
`torch.func.vmap` there is no one number in a tensor. A truth value in a tensor, by which all is
chosen or nothing, it asks for.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest import mock

import torch
from torch._export.non_strict_utils import _NonStrictTorchFunctionHandler
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true

_INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64)

_FUNCTIONS = (torch.Tensor.__getitem__, torch.Tensor.__setitem__)

_SELECT = (torch.select, torch.Tensor.select)

_override: Callable[..., Any] = _NonStrictTorchFunctionHandler._override


def get_item(operand: torch.Tensor, index: Any) -> torch.Tensor:
    """What `operand[index]` is, of which numbers in tensors are counted from the start."""
    selected, rest = _by_numbers(operand, index)
    return selected[rest]


def set_item(operand: torch.Tensor, index: Any, value: Any) -> None:
    """Does `operand[index] = value` likewise."""
    selected, rest = _by_numbers(operand, index, is_written=True)
    selected[rest] = value


def indices_by_number() -> contextlib.AbstractContextManager[object]:
    """Has PyTorch's export do so too, before it looks at numbers itself."""
    return mock.patch.object(_NonStrictTorchFunctionHandler, "_override", _with_numbers)


def _with_numbers(
    self: _NonStrictTorchFunctionHandler, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    if func in _FUNCTIONS:
        operand, index, *value = args
        args = (*_by_numbers(operand, index, is_written=bool(value)), *value)
        if any(map(_is_number, _items(args[1]))):
            return func, args, kwargs
    if func in _SELECT:
        args, kwargs = _with_counted(args, kwargs), {}
    return _override(self, func, args, kwargs)


def _with_counted(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
    """The operand of `select`, its dimension, and the place, which is counted from the start."""
    given = {**dict(zip(("input", "dim", "index"), args, strict=False)), **kwargs}
    operand, dim, index = (given[name] for name in ("input", "dim", "index"))
    if isinstance(dim, int) and _is_unknown(index):
        index = _counted(index, operand.shape[dim])
    return operand, dim, index


def _by_numbers(
    operand: torch.Tensor, index: Any, *, is_written: bool = False
) -> tuple[torch.Tensor, Any]:
    """What numbers in tensors select, and the index of that by other items.

    A truth value is a mask of one element along a dimension of its own. Where there is a number, or
    a truth value, for each of a batch, these stay what they are. A size is a number where something
    is written: there PyTorch takes the example's.
    """
    is_number = _is_written_number if is_written else _is_number
    numbers = [_of_one_level(item) for item in _items(index) if is_number(item) or _is_truth(item)]
    tensors = (number for number in numbers if isinstance(number, torch.Tensor))
    if not numbers or any(map(torch._C._functorch.is_batchedtensor, tensors)):
        return operand, index
    rest: list[Any] = []
    dim = 0
    for place, item in enumerate(_items(index)):
        if item is Ellipsis:
            dim = operand.dim() - sum(map(_dimensions, _items(index)[place:]))
        if is_number(item):
            operand = operand.select(dim, _counted(_of_one_level(item), operand.shape[dim]))
        elif _is_truth(item):
            operand = operand.unsqueeze(dim)
            rest.append(item.reshape(1))
            dim += 1
        else:
            rest.append(item)
            dim += _dimensions(item)
    return operand, tuple(rest)


def _items(index: Any) -> Sequence[Any]:
    return index if isinstance(index, tuple) else (index,)


def _counted(item: Any, size: int) -> Any:
    """A number, or that in a tensor, from the start of so many elements, which have to have it."""
    if isinstance(item, torch.SymInt):
        if statically_known_true(item >= 0) and statically_known_true(item < size):
            return item
        if statically_known_true(item < 0) and statically_known_true(item + size >= 0):
            return item + size
        number: Any = item
        item = torch.scalar_tensor(number, dtype=torch.int64)
    if not isinstance(item, FakeTensor) or item.constant is not None:
        return item.item()
    is_there = (-size <= item) & (item < size)
    torch._assert_async(is_there, "an index is out of range")
    place = torch.where(item < 0, item + size, item).item()
    # Which, other than torch._check, is handed on by the trace of a gradient.
    torch.sym_constrain_range(place, min=0)
    return place


def _dimensions(item: Any) -> int:
    """Of how many dimensions of what is indexed an item of an index tells."""
    if isinstance(item, torch.Tensor) and item.dtype in (torch.bool, torch.uint8):
        return item.dim()
    return 0 if item is None or item is Ellipsis or isinstance(item, bool) else 1


def _is_number(item: Any) -> bool:
    if isinstance(item, torch.Tensor):
        return item.dim() == 0 and item.dtype in _INTEGERS
    return _is_unknown(item)


def _is_written_number(item: Any) -> bool:
    return isinstance(item, torch.SymInt) or _is_number(item)


def _is_truth(item: Any) -> bool:
    return isinstance(item, torch.Tensor) and item.dim() == 0 and item.dtype == torch.bool


def _is_unknown(item: Any) -> bool:
    """Whether an item is a number that only a run tells."""
    return isinstance(item, torch.SymInt) and bool(free_unbacked_symbols(item))


def _of_one_level(item: Any) -> Any:
    """What a tensor that gradients are taken of is a wrapper around; integers have none."""
    if not isinstance(item, torch.Tensor):
        return item
    while torch._C._functorch.is_gradtrackingtensor(item):
        item = torch._C._functorch.get_unwrapped(item)
    return item
