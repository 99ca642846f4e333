"""Attention whose scores a function of the program's changes, by ops that have lowerings.

`flex_attention` would be traced as one op with the function as its body. What it computes where it
is not compiled is attention with a mask that is told by place, which one kernel does.
"""

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from torch._higher_order_ops.flex_attention import flex_attention as op
from torch._higher_order_ops.flex_attention import math_attention
from torch._subclasses.functional_tensor import FunctionalTensorMode
from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode
from torch.nn.attention import flex_attention
from torch.overrides import TorchFunctionMode


@contextlib.contextmanager
def flex_attention_by_ops() -> Iterator[None]:
    """Has what is traced meanwhile compute `flex_attention` as PyTorch does op by op.

    So does a graph that is traced again and holds the one op.
    """
    with (
        mock.patch.multiple(
            flex_attention,
            flex_attention_hop=math_attention,
            # Or it would have `torch.compile` trace the one op.
            _FLEX_ATTENTION_DISABLE_COMPILE_DEBUG=True,
        ),
        mock.patch.dict(
            op.python_key_table,
            dict.fromkeys((FunctionalTensorMode, ProxyTorchDispatchMode), _op_by_op),
        ),
    ):
        yield


def _op_by_op(mode: Any, *operands: Any) -> Any:
    with mode, _NumbersByOps():
        return math_attention(*operands)


class _NumbersByOps(TorchFunctionMode):
    """Has no tensor of a number be a constant, which a graph that is traced again does not take."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is torch.tensor:
            return torch.full((), *args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))
