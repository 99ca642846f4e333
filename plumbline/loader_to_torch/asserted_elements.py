"""That a tensor of as many elements as values say has any: asserted, where PyTorch asks.

Many of its ops ask first whether there is something to do: `roll`, `cdist`, attention. No export
knows, and PyTorch refuses the program.
"""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import sympy
import torch
from torch.fx.experimental import symbolic_shapes
from torch.fx.experimental.symbolic_shapes import (
    GuardOnDataDependentSymNode,
    ShapeEnv,
    free_unbacked_symbols,
)

_NO_PROGRAMS = tuple(f"{Path(file).parent}{os.sep}" for file in (torch.__file__, __file__))
"""Where code is PyTorch's or ours."""

_TRUTHS = {torch.SymBool.__bool__.__code__, torch.SymInt.__bool__.__code__}
"""By which Python asks; PyTorch's C++ does otherwise."""


@contextlib.contextmanager
def elements_asserted() -> Iterator[None]:
    """Has PyTorch take tensors that it exports meanwhile not to be empty, which programs assert.

    Where a program itself branches on it, that is refused as before: its other branch may be what
    it is for.
    """
    with (
        mock.patch.object(ShapeEnv, "evaluate_expr", _evaluated),
        mock.patch.object(symbolic_shapes, "uninteresting_files", _files_that_do_not_ask),
    ):
        yield


_evaluated_by_pytorch = ShapeEnv.evaluate_expr

_files_of_pytorch: Callable[[], set[str]] = symbolic_shapes.uninteresting_files


@functools.cache
def _files_that_do_not_ask() -> set[str]:
    """Those that PyTorch passes over to tell who asks, and this one, which stands between."""
    return {*_files_of_pytorch(), _evaluated.__code__.co_filename}


def _evaluated(sizes: ShapeEnv, asked: sympy.Basic, *given: Any, **options: Any) -> sympy.Basic:
    try:
        return _evaluated_by_pytorch(sizes, asked, *given, **options)
    except GuardOnDataDependentSymNode:
        if not _is_of_elements(sizes, asked) or _is_asked_by_the_program():
            raise
        count, _ = asked.args
        sizes.guard_or_defer_runtime_assert(sympy.Ne(count, 0), "a tensor is not empty")
        return sympy.true if isinstance(asked, sympy.Ne) else sympy.false


def _is_of_elements(sizes: ShapeEnv, asked: sympy.Basic) -> bool:
    """Whether it is compared with 0 how many elements there are."""
    is_with_zero = isinstance(asked, sympy.Eq | sympy.Ne) and asked.args[1] == 0
    return is_with_zero and free_unbacked_symbols(asked) <= sizes.size_like


def _is_asked_by_the_program() -> bool:
    """Whether code of a program's, or of a library that it uses, branches on what is asked."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code not in _TRUTHS:
        frame = frame.f_back
    # That of a number asks for that of a comparison.
    while frame is not None and frame.f_code in _TRUTHS:
        frame = frame.f_back
    return frame is not None and not frame.f_code.co_filename.startswith(_NO_PROGRAMS)
