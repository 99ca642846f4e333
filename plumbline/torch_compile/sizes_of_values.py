"""Tensors of as many elements as values say, in graphs of which Dynamo allows none.

Without `fullgraph=True` Dynamo divides a program before each op that gives such a tensor, for
backends that cannot. Of the ops that only gradients are computed by, as that of `x[mask] = y` reads
`gradient[mask]`, it knows nothing; AOTAutograd would refuse the graph for them, and the whole of it
would be left to Python.
"""

import contextlib
import dataclasses
from collections.abc import Iterator
from unittest import mock

from torch._guards import TracingContext


@contextlib.contextmanager
def sizes_of_values_allowed() -> Iterator[None]:
    """Has the graph that is traced have such tensors, until Dynamo goes on."""
    context = TracingContext.try_get()
    known = None if context is None or context.fake_mode is None else context.fake_mode.shape_env
    if known is None:
        yield
        return
    allowed = dataclasses.replace(known.settings, allow_dynamic_output_shape_ops=True)
    with mock.patch.object(known, "settings", allowed):
        yield
