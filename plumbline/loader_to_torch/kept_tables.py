"""Tables that a program computes at its first call and keeps for the next ones.

Such as the positions of a sequence, in an attribute or a buffer of a module, in a dict, or by
`functools.lru_cache`. A trace computes them without data, as a part of the program, which no later
call may find.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any
from unittest import mock

import torch
from torch._functorch._aot_autograd.utils import register_buffer_assignment_hook
from torch.export import _trace

_Table = dict[str, Any]

_MOST_ENTRIES = 10_000
"""Of a dict that is looked at: larger ones are data."""


@contextlib.contextmanager
def tables_left(model: torch.nn.Module) -> Iterator[None]:
    """Takes tensors that a trace keeps where there was none out again.

    PyTorch puts back what a trace replaces of a module's attributes, and leaves what it adds. Of a
    new buffer of the model itself it has the program write the value into some argument, as if it
    were the next buffer that there was.
    """
    before = [(table, table.copy()) for table in _tables(model)]
    caches = [(cached, cached.cache_info().misses) for cached in _caches(model)]

    def take_out() -> None:
        for table, entries in before:
            for name, value in list(table.items()):
                if not isinstance(value, torch.Tensor):
                    continue
                if name not in entries:
                    del table[name]
                elif not isinstance(entries[name], torch.Tensor):
                    table[name] = entries[name]
        for module in model.modules():
            module._non_persistent_buffers_set.intersection_update(module._buffers)

    def register_held(root: torch.nn.Module, assigned: dict[str, str]) -> _Hook:
        held = {name for name, buffer in root._buffers.items() if buffer is not None}
        hook = register_buffer_assignment_hook(root, assigned)

        def remove() -> None:
            hook.remove()
            for name in assigned.keys() - held:
                del assigned[name]
            take_out()

        return _Hook(remove)

    try:
        with mock.patch.object(_trace, register_buffer_assignment_hook.__name__, register_held):
            yield
    finally:
        take_out()
        for cached, misses in caches:
            if cached.cache_info().misses != misses:
                cached.cache_clear()


class _Hook:
    """What PyTorch removes once the model has been called."""

    def __init__(self, remove: Callable[[], None]) -> None:
        self.remove = remove


def _tables(model: torch.nn.Module) -> list[_Table]:
    """What a call of `model` may keep tensors in: attributes, buffers, and variables of files."""
    modules = list(model.modules())
    held = [vars(module) for module in modules]
    objects = [
        vars(value)
        for attributes in held
        for value in attributes.values()
        if hasattr(value, "__dict__") and not isinstance(value, type | ModuleType | FunctionType)
    ]
    variables = _variables(model)
    outer = [*held, *(module._buffers for module in modules), *objects, *variables]
    inner = [value for table in (*objects, *variables) for value in table.values()]
    found = {id(table): table for table in (*outer, *inner) if type(table) is dict}
    return [table for table in found.values() if len(table) <= _MOST_ENTRIES]


def _variables(model: torch.nn.Module) -> list[_Table]:
    """The variables of the files that modules are of, and of those whose functions these import."""
    own = {
        id(forward.__globals__): forward.__globals__
        for forward in {type(module).forward for module in model.modules()}
        if isinstance(forward, FunctionType)
    }
    imported = {
        id(value.__globals__): value.__globals__
        for variables in own.values()
        for value in variables.values()
        if isinstance(value, FunctionType)
    }
    return list({**own, **imported}.values())


def _caches(model: torch.nn.Module) -> list[Any]:
    """The functions there whose results are kept."""
    return [
        value
        for variables in _variables(model)
        for value in variables.values()
        if isinstance(value, functools._lru_cache_wrapper)
    ]
