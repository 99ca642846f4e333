"""Going over operations with what is known where they stand."""

from collections.abc import Callable
from typing import TypeVar

from torch_mlir import ir

from plumbline.tcp.ops.structure import IsolatedGroupOp

_ISOLATED = ("builtin.module", "func.func", IsolatedGroupOp.OPERATION_NAME)
"""Ops whose regions use no values from outside."""

_Key = TypeVar("_Key")


def visit_in_scopes(
    op: ir.Operation,
    visit: Callable[[ir.Operation, dict[_Key, ir.Value]], None],
    known: dict[_Key, ir.Value],
) -> None:
    """Visits the operations in `op`, nested ones included, in the order of the text.

    Each is given values that can be used there: those of `known`, and what visits have added before
    it. A visit may erase an operation without regions.
    """
    for region in op.regions:
        visible = {} if op.name in _ISOLATED else dict(known)
        for block in region.blocks:
            # Of several blocks only the first comes before all others.
            own = visible if block == region.blocks[0] else dict(visible)
            for inner in [view.operation for view in block.operations]:
                has_regions = len(inner.regions) > 0
                visit(inner, own)
                if has_regions:
                    visit_in_scopes(inner, visit, own)
