"""The lines of a program that fix a size that may differ, for what refuses the program.

PyTorch has a place for them in its message, which `torch.export` leaves empty where it does not
trace byte code.
"""

import contextlib
import itertools
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import sympy
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from plumbline.loader_to_torch.loader import places_of
from plumbline.loader_to_torch.source_path import relative_to_import_path


@dataclass(frozen=True)
class _Places:
    """What PyTorch takes for the stack of a program."""

    lines: list[str]

    def format(self) -> list[str]:
        return self.lines


@contextlib.contextmanager
def lines_that_fix_sizes() -> Iterator[None]:
    """Has the message of what fixes a size meanwhile say where that is."""
    set_replacement: Any = ShapeEnv._set_replacement

    def noted(sizes: ShapeEnv, symbol: sympy.Symbol, size: sympy.Expr, why: str) -> None:
        set_replacement(sizes, symbol, size, why)
        if isinstance(size, sympy.Integer):
            stacks: dict[Any, Any] = sizes.specialization_stacks
            for source in sizes.var_to_sources.get(symbol, []):
                if places := places_of(_stack_of_program()):
                    stacks.setdefault(source, _Places(["\n".join(places)]))

    with mock.patch.object(ShapeEnv, "_set_replacement", noted):
        yield


def _stack_of_program() -> traceback.StackSummary:
    """That of now, without what has called Plumbline."""
    stack = traceback.extract_stack()
    calls = itertools.dropwhile(
        lambda frame: not relative_to_import_path(frame.filename).startswith("plumbline/"), stack
    )
    return traceback.StackSummary.from_list(list(calls))
