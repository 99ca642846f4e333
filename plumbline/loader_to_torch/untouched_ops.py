"""Ops that PyTorch's `run_decompositions` leaves as they are, told without it.

It runs a program anew, through four layers of PyTorch that may each make other ops of one, and
records what comes out: the Python dispatcher, functionalization, tracing, and the op itself. That
takes 30 ms and more, and most ops come out as they went in. Of an op these say so:

* `torch/_ops.py` asks `py_kernels` and the rules of modes, in which an op has what was registered
  in Python for it; shapes alone are computed by those of the key Meta.
* `torch/_subclasses/functional_tensor.py` takes composite ops apart. Others it hands to the kernel
  of the key Functionalize; where there is none, the op is called with what lies in its wrappers.
  Kernels there are of ops that write, and of views, whose results are views of what is written
  later: where nothing is written they call the op. Other kernels there are of ops that PyTorch
  has for itself, such as to make copies of constants.
* `torch/fx/experimental/proxy_tensor.py` asks the table, then takes composite ops apart too.

What becomes of ops that write is for the whole of a program to say.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.fx.node import map_arg

from plumbline.loader_to_torch.decompositions.rule import Conditional

Op = torch._ops.OpOverload


def is_untouched(node: torch.fx.Node, table: Mapping[Any, Callable[..., Any]]) -> bool:
    """Whether `run_decompositions(table)` makes of a node what it is.

    Its operands and results are strided tensors, whose sizes need not be known.
    """
    op = node.target
    assert isinstance(op, Op)
    if not _is_kept(op):
        return False
    rule = table.get(op)
    if rule is None:
        return True
    if not isinstance(rule, Conditional):
        return False
    args, kwargs = map_arg((node.args, node.kwargs), lambda operand: operand.meta["val"])
    return not rule.applies(*args, **kwargs)


@functools.cache
def _is_kept(op: Op) -> bool:
    """Whether no layer of PyTorch makes anything else of an op, but for a table."""
    return (
        # An extension may have rules that are not to be seen here.
        op.namespace == "aten"
        and not op._schema.is_mutable
        and op.py_kernels.keys() <= {torch._C.DispatchKey.Meta}
        and not op.python_key_table
        and not _has_kernel(op, "CompositeImplicitAutograd")
        and (not _has_kernel(op, "Functionalize") or _is_view(op))
    )


def _has_kernel(op: Op, key: str) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(op._name, key)


def _is_view(op: Op) -> bool:
    return any(argument.alias_info is not None for argument in op._schema.arguments)
