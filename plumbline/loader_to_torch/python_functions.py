"""What functions of Python's give of sizes, as numbers that may be dynamic.

`len` gives an integer, and `math.sqrt` a float, so that they fix a dynamic size at the example's,
in programs and in PyTorch's own decompositions. Of logarithms and others torch.export has no word.
"""

import contextlib
import functools
import math
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType
from typing import Any
from unittest import mock

import torch


def _power(base: Any, exponent: Any) -> Any:
    number: Any = torch.sym_float(base)  # type: ignore[no-untyped-call]
    return number**exponent


_TRACED: dict[str, Callable[..., Any]] = {
    "exp": lambda number: _power(math.e, number),
    "pow": _power,
    "sqrt": torch.sym_sqrt,
}
"""What takes the place of each function of `math`."""


def _is_size(number: object) -> bool:
    return isinstance(number, torch.SymInt | torch.SymFloat)


def _of_sizes(name: str) -> Callable[..., Any]:
    """The function of that name, which traces what it computes of sizes."""
    function: Callable[..., Any] = getattr(math, name)

    @functools.wraps(function)
    def of_sizes(*numbers: Any) -> Any:
        return (_TRACED[name] if any(map(_is_size, numbers)) else function)(*numbers)

    return of_sizes


_OF_SIZES = {getattr(math, name): _of_sizes(name) for name in _TRACED}


@contextlib.contextmanager
def functions_of_sizes() -> Iterator[None]:
    """Has functions of `math` trace meanwhile what they compute of sizes."""
    with contextlib.ExitStack() as stack:
        for function, of_sizes in _OF_SIZES.items():
            stack.enter_context(mock.patch.object(math, function.__name__, of_sizes))
        yield


@contextlib.contextmanager
def lengths_as_sizes(model: torch.nn.Module) -> Iterator[None]:
    """Has `len` give sizes meanwhile, in the files that the classes of a model's modules are in.

    What these have imported from `math` by its name traces what it computes of sizes there.
    """
    names = {cls.__module__ for module in model.modules() for cls in type(module).__mro__}
    of_pytorch = ("torch", "builtins")
    with contextlib.ExitStack() as stack:
        for name in names:
            file = sys.modules.get(name)
            if file is None or name.partition(".")[0] in of_pytorch:
                continue
            if not hasattr(file, "len"):
                stack.enter_context(mock.patch.object(file, "len", _length, create=True))
            for own, value in list(vars(file).items()):
                if isinstance(value, BuiltinFunctionType) and value in _OF_SIZES:
                    stack.enter_context(mock.patch.object(file, own, _OF_SIZES[value]))
        yield


def _length(of: Any) -> Any:
    if isinstance(of, torch.Tensor) and of.dim() and isinstance(of.shape[0], torch.SymInt):
        return of.shape[0]
    return len(of)
