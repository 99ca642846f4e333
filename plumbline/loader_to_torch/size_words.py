"""Sizes, numbers and conditions of them in the words of a program, for messages."""

from collections.abc import Iterable, Mapping

import sympy
import torch
from sympy.printing.str import StrPrinter
from torch.utils._sympy.printers import PythonPrinter

from plumbline.loader_to_torch.followed_program import symbolic_sizes_of
from plumbline.loader_to_torch.scalars import SCALAR

_ITEM = (torch.ops.aten.item.default, torch.ops.aten._local_scalar_dense.default)


def in_words(expression: sympy.Basic, words: Mapping[str, str]) -> str:
    """An expression in Python; `words` are what symbols are called."""
    called = {
        symbol: sympy.Symbol(words[str(symbol)], integer=True)
        for symbol in expression.free_symbols
        if str(symbol) in words
    }
    text: str = _Printer().doprint(expression.xreplace(called))
    return text


def words_of_values(nodes: Iterable[torch.fx.Node]) -> dict[str, str]:
    """What symbols are that depend on values: where in the nodes of a graph they come up first.

    It is `n.item()`, or `nonzero.shape[0]` of what the graph calls so, or an argument that is a
    number.
    """
    words: dict[str, str] = {}
    for node in nodes:
        for value, word in _parts(node):
            if value.node.expr.is_symbol:
                words.setdefault(str(value.node.expr), word)
    return words


def _parts(node: torch.fx.Node) -> Iterable[tuple[torch.SymInt, str]]:
    """The symbolic numbers in what a node gives, and what each is called."""
    for axis, size in symbolic_sizes_of(node):
        yield size, f"{node.name}.shape[{axis}]"
    value = node.meta.get("val")
    if isinstance(value, torch.SymInt):
        word = node.name
        if node.target in _ITEM:
            (operand,) = node.all_input_nodes
            word = operand.name if SCALAR in operand.meta else f"{operand.name}.item()"
        yield value, word


class _Printer(PythonPrinter):
    """Has `n - 3` and not `(-3) + n`."""

    _print_Add = StrPrinter._print_Add  # noqa: N815
    _print_Mul = StrPrinter._print_Mul  # noqa: N815
