"""Has loops and branches that rules are made of become functional without being looked through.

PyTorch traces each body up to twice, with what is nested in it, to see whether it writes into what
it is given or gives that back, before it traces it in earnest: with panels of panels that was half
of the time of an export. A rule's does not. Those of a program are graphs by then, which are looked
through as ever.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch._higher_order_ops.cond import cond_op
from torch._higher_order_ops.scan import scan_op
from torch._higher_order_ops.while_loop import while_loop_op
from torch._subclasses.functional_tensor import FunctionalTensorMode, PythonFunctionalizeAPI


@contextlib.contextmanager
def bodies_of_rules_trusted() -> Iterator[None]:
    """Does so meanwhile."""
    with contextlib.ExitStack() as changes:
        for op in (cond_op, scan_op, while_loop_op):
            known = op.python_key_table[FunctionalTensorMode]
            changed = {FunctionalTensorMode: _for_rules(op, known)}
            changes.enter_context(mock.patch.dict(op.python_key_table, changed))
        yield


def _for_rules(op: Any, known: Callable[..., Any]) -> Callable[..., Any]:
    """How `op` becomes functional: where a program has it, as PyTorch knows."""

    def functional(mode: FunctionalTensorMode, *args: Any, **options: Any) -> Any:
        if options or any(isinstance(arg, torch.fx.GraphModule) for arg in args):
            return known(mode, *args, **options)
        context = PythonFunctionalizeAPI(mode)
        with context.redispatch_to_next():
            results = op(
                *(
                    context.functionalize(arg) if _is_body(arg) else context.unwrap_tensors(arg)
                    for arg in args
                )
            )
            return context.wrap_tensors(results)

    return functional


def _is_body(argument: object) -> bool:
    return callable(argument) and not isinstance(argument, torch.Tensor)
