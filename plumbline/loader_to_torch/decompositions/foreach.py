"""Ops on lists of tensors, each of which is an op on tensors for every place.

Those are what optimizers, and what clips gradients, call.
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules

_KEY = torch._C.DispatchKey.CompositeExplicitAutograd
"""Of the kernels that call an op for each place."""


def _ops() -> Iterator[Any]:
    """Those with such a kernel that write nothing."""
    for name in torch._C._dispatch_get_registrations_for_dispatch_key(_KEY.name):
        packet, _, overload = name.removeprefix("aten::").partition(".")
        if packet.startswith("_foreach_"):
            op = getattr(getattr(torch.ops.aten, packet), overload or "default")
            if not op._schema.is_mutable:
                yield op


RULES: Rules = {op: functools.partial(op._op_dk, _KEY) for op in _ops()}
