"""Attention whose scores a function of the program's changes, by ops that have lowerings.

`flex_attention` would be traced as one op with the function as its body. What it computes where it
is not compiled is attention with a mask that is told by place, which one kernel does.
"""

import contextlib
from unittest import mock

from torch._higher_order_ops.flex_attention import math_attention
from torch.nn.attention import flex_attention


def flex_attention_by_ops() -> contextlib.AbstractContextManager[object]:
    """Has what is traced meanwhile compute `flex_attention` as PyTorch does op by op."""
    return mock.patch.multiple(
        flex_attention,
        flex_attention_hop=math_attention,
        # Or it would have `torch.compile` trace the one op.
        _FLEX_ATTENTION_DISABLE_COMPILE_DEBUG=True,
    )
