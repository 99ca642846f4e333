"""The lines of a program that fix a size, or compare sizes, for what refuses programs and calls.

PyTorch has places for them in its messages and in its guards, which `torch.export` leaves empty
where it does not trace byte code.
"""

import contextlib
import dataclasses
import functools
import itertools
import sys
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any
from unittest import mock

import sympy
from torch._guards import SLoc
from torch.fx.experimental import symbolic_shapes
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from plumbline.loader_to_torch.loader import is_of_program, places_of
from plumbline.loader_to_torch.source_path import relative_to_import_path


@dataclasses.dataclass(frozen=True)
class _Places:
    """What PyTorch takes for the stack of a program."""

    lines: list[str]

    def format(self) -> list[str]:
        return self.lines


@contextlib.contextmanager
def size_lines_noted() -> Iterator[None]:
    """Has the message of what fixes a size meanwhile say where that is, and guards have it, too.

    A guard has a `FrameSummary` as `sloc.maybe_user_loc`.
    """
    set_replacement: Any = ShapeEnv._set_replacement
    place_of: Any = ShapeEnv._get_sloc
    files = {*symbolic_shapes.uninteresting_files(), __file__}

    def noted(sizes: ShapeEnv, symbol: sympy.Symbol, size: sympy.Expr, why: str) -> None:
        set_replacement(sizes, symbol, size, why)
        if isinstance(size, sympy.Integer):
            stacks: dict[Any, Any] = sizes.specialization_stacks
            for source in sizes.var_to_sources.get(symbol, []):
                if places := places_of(_stack_of_program()):
                    stacks.setdefault(source, _Places(["\n".join(places)]))

    def placed(sizes: ShapeEnv, framework_loc: str | None = None) -> SLoc:
        place: SLoc = place_of(sizes, framework_loc)
        frame: Any = _frame_of_program()
        return dataclasses.replace(place, maybe_user_loc=frame)

    def files_that_do_not_ask() -> set[str]:
        return files

    with (
        mock.patch.object(ShapeEnv, "_set_replacement", noted),
        mock.patch.object(ShapeEnv, "_get_sloc", placed),
        # This file calls PyTorch's function in between.
        mock.patch.object(symbolic_shapes, "uninteresting_files", files_that_do_not_ask),
    ):
        yield


def _stack_of_program() -> traceback.StackSummary:
    """That of now, without what has called Plumbline."""
    stack = traceback.extract_stack()
    calls = itertools.dropwhile(lambda frame: not _is_of_plumbline(frame.filename), stack)
    return traceback.StackSummary.from_list(list(calls))


def _frame_of_program() -> traceback.FrameSummary | None:
    """The innermost line of the program now, or of a library that it calls."""
    found = None
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        name = frame.f_code.co_filename
        if found is None and is_of_program(name):
            found = traceback.FrameSummary(name, frame.f_lineno, frame.f_code.co_name)
        elif found is not None and _is_of_plumbline(name):
            return found
        frame = frame.f_back
    # Whoever calls Plumbline is no program.
    return None


@functools.cache
def _is_of_plumbline(name: str) -> bool:
    return relative_to_import_path(name).startswith("plumbline/")
