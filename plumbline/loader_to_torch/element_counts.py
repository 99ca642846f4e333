"""How many elements `x.shape.numel()` counts, where sizes may be dynamic.

`torch.Size` is a type of C's, whose method gives the number of the example: programs would be for
that alone, and so are functions of PyTorch's such as `associative_scan`.
"""

import contextlib
import ctypes
import functools
import gc
import operator
from collections.abc import Iterator
from typing import Any

import torch

_numel = torch.Size.numel


def _count(sizes: torch.Size) -> Any:
    if all(isinstance(size, int) for size in sizes):
        return _numel(sizes)
    return functools.reduce(operator.mul, sizes, 1)


@contextlib.contextmanager
def element_counts_as_sizes() -> Iterator[None]:
    """Has sizes count their elements by products meanwhile, in one thread."""
    before = _replace_numel(_count)
    try:
        yield
    finally:
        _replace_numel(before)


def _replace_numel(method: object) -> object:
    """Has the type another method, and gives the one that it had."""
    # Python lets no attribute of such a type be set, and shows what holds them for reading only.
    (attributes,) = gc.get_referents(torch.Size.__dict__)
    before: object = attributes["numel"]
    attributes["numel"] = method
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(torch.Size))
    return before
