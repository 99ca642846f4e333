"""What a program asserts of a number is a bound of it from then on.

A number that a tensor holds, as `n.item()` gives it, may be a size: nothing but
`torch._check(n <= 64)` says how large. Computed with the least of both, it is within the bound also
where nothing is checked, and whoever is to bring memory along reads off how much that is.
"""

import operator
from collections.abc import Callable
from typing import Any, TypeGuard

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from plumbline.loader_to_torch.assertions import ASSERT_NUMBER

_Bound = tuple[Callable[..., object], int]
"""Which of two numbers to take, and what is added to the second."""

_BOUNDS: dict[object, tuple[_Bound, _Bound]] = {
    operator.le: ((torch.sym_min, 0), (torch.sym_max, 0)),
    operator.lt: ((torch.sym_min, -1), (torch.sym_max, 1)),
    operator.ge: ((torch.sym_max, 0), (torch.sym_min, 0)),
    operator.gt: ((torch.sym_max, 1), (torch.sym_min, -1)),
}
"""By comparison, what it makes of its left side, and of its right one."""


def bound_numbers(exported: torch.export.ExportedProgram) -> None:
    """Has `exported` compute numbers with what it asserts of them, after it does."""
    for node in list(exported.graph.nodes):
        if node.target is not ASSERT_NUMBER:
            continue
        comparison = node.args[0]
        if not isinstance(comparison, torch.fx.Node) or comparison.target not in _BOUNDS:
            continue
        left, right = comparison.args
        of_left, of_right = _BOUNDS[comparison.target]
        if _is_unbacked(left) and not _is_unbacked(right):
            _bound(node, left, of_left, right)
        elif _is_unbacked(right) and not _is_unbacked(left):
            _bound(node, right, of_right, left)


def _is_unbacked(number: object) -> TypeGuard[torch.fx.Node]:
    """Whether only a run tells a whole number, which is not the size of a tensor that is there."""
    if not isinstance(number, torch.fx.Node) or number.target is torch.ops.aten.sym_size.int:
        return False
    value = number.meta.get("val")
    return isinstance(value, torch.SymInt) and bool(free_unbacked_symbols(value))


def _bound(assertion: torch.fx.Node, number: torch.fx.Node, bound: _Bound, other: Any) -> None:
    """Has what comes after an assertion use `number` within a bound."""
    choose, more = bound
    graph = assertion.graph

    def call(function: Callable[..., object], *arguments: Any) -> torch.fx.Node:
        node = graph.call_function(function, arguments)
        node.meta = dict(number.meta)
        values = [a.meta["val"] if isinstance(a, torch.fx.Node) else a for a in arguments]
        node.meta["val"] = function(*values)
        return node

    later = _after(assertion)
    with graph.inserting_after(assertion):
        limit = other
        if isinstance(other, torch.fx.Node) and more:
            limit = call(operator.add, other, more)
        elif more:
            assert isinstance(other, int)
            limit = other + more
    with graph.inserting_after(limit if isinstance(limit, torch.fx.Node) and more else assertion):
        bounded = call(choose, number, limit)
    number.replace_all_uses_with(bounded, delete_user_cb=lambda user: user in later)


def _after(node: torch.fx.Node) -> set[torch.fx.Node]:
    nodes = set()
    while node.next.op != "root":
        node = node.next
        nodes.add(node)
    return nodes
