"""What PyTorch asks of the expression of a size, each time that it computes with the size."""

import contextlib
from typing import Any
from unittest import mock

from torch.fx.experimental.sym_node import SymNode

_expr: Any = SymNode.__dict__["expr"]


def quick_expressions() -> contextlib.AbstractContextManager[object]:
    """Has PyTorch take the expression of a size from where it is, without a look at its parts.

    It asks whether all parts are numbers before it looks whether it has the answer: a tenth of an
    export of dynamic sizes.
    """
    return mock.patch.object(SymNode, "expr", property(_expression))


def _expression(node: SymNode) -> Any:
    """The expression with what is known of its symbols in the place of them."""
    if node.shape_env is not None:
        version = node.shape_env._replacements_version_counter
        if version == 0:
            # Nothing is.
            return node._expr
        if node._expr_cache is not None and version == node._expr_ver:
            return node._expr_cache
    return _expr.fget(node)
