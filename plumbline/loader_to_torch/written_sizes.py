"""Expressions of sizes as numbers, or as nodes of a graph that compute them."""

import math
from collections.abc import Callable
from typing import Any

import sympy
import torch
from torch.utils._sympy.interp import _run_sympy_handler
from torch.utils._sympy.reference import PythonReferenceAnalysis


def written_as(expression: sympy.Basic, written: dict[Any, Any]) -> Any:
    """The node or number of an expression; `written` has those of symbols, and then all."""
    if isinstance(expression, sympy.Number):
        return int(expression) if expression.is_integer else float(expression)
    if expression not in written:
        args = [written_as(arg, written) for arg in expression.args]
        written[expression] = _run_sympy_handler(  # type: ignore[no-untyped-call]
            _Arithmetic, args, expression
        )
    return written[expression]


class _Arithmetic(PythonReferenceAnalysis):
    """Arithmetic on numbers and nodes, which gives a number also where it divides by 0."""

    @classmethod
    def ne(cls, a: Any, b: Any) -> Any:
        # In place of a negation, for which torch-mlir's importer has no op.
        return a != b

    @staticmethod
    def floordiv(a: Any, b: Any) -> Any:
        return a // _at_least_1(b)

    @staticmethod
    def mod(x: Any, y: Any) -> Any:
        return x % _at_least_1(y)

    python_mod = mod

    @staticmethod
    def int_truediv(a: Any, b: Any) -> Any:
        return a / _at_least_1(b)

    @staticmethod
    def floor_to_int(x: Any, dtype: torch.dtype) -> Any:
        return _call(math.floor, x)

    @staticmethod
    def ceil_to_int(x: Any, dtype: torch.dtype) -> Any:
        return _call(math.ceil, x)

    @staticmethod
    def round_to_int(a: Any, dtype: torch.dtype) -> Any:
        return _call(round, a)

    @staticmethod
    def trunc_to_int(x: Any, dtype: torch.dtype) -> Any:
        return _call(math.trunc, x)


def _call(function: Callable[[Any], Any], number: Any) -> Any:
    if isinstance(number, torch.fx.Proxy):
        return number.tracer.create_proxy("call_function", function, (number,), {})
    return function(number)


def _at_least_1(divisor: Any) -> Any:
    return divisor if isinstance(divisor, int) and divisor else torch.sym_max(divisor, 1)  # type: ignore[no-untyped-call]
