"""The order in which several tensors are multiplied, which opt_einsum chooses by their sizes.

`torch.einsum` of three tensors and more asks it where it is installed, and so do libraries. It
takes sizes for numbers, which fixes dynamic ones at the example's, though any order gives the same.
"""

import contextlib
import sys
from typing import Any
from unittest import mock

import torch

_CHOOSES = "opt_einsum.contract"


def orders_by_example() -> contextlib.AbstractContextManager[object]:
    """Has it meanwhile choose by the sizes of the example, for all sizes."""
    module = sys.modules.get(_CHOOSES)
    if module is None:
        return contextlib.nullcontext()
    return mock.patch.object(module, "int", _of_example, create=True)


def _of_example(size: Any) -> int:
    """What `int` gives in that module, of dynamic sizes without a guard."""
    is_dynamic = isinstance(size, torch.SymInt) and size.node.has_hint()
    return int(size.node.hint if is_dynamic else size)
