"""A test that finds nothing compiled, and leaves nothing behind."""

from collections.abc import Iterator

import torch


def nothing_compiled_before() -> Iterator[None]:
    """What a fixture does around each test; random numbers are the same ones in each."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()
