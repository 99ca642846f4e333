"""Loops of decompositions, and what is carried around them."""

from collections.abc import Callable, Sequence

import torch
from torch._higher_order_ops.scan import scan_op


def looped(
    turn: Callable[..., Sequence[torch.Tensor]],
    counted: Sequence[torch.Tensor],
    carried: Sequence[torch.Tensor],
    given: Sequence[torch.Tensor],
) -> list[torch.Tensor]:
    """What `turn(*each of counted, *carried, *given)` makes of `carried`, as a loop."""

    def body(*operands: torch.Tensor) -> list[torch.Tensor]:
        first, last = len(carried), len(carried) + len(counted)
        return [*turn(*operands[first:last], *operands[:first], *operands[last:])]

    return [*scan_op(body, list(map(contiguous, carried)), list(counted), tuple(given))]


def contiguous(carried: torch.Tensor) -> torch.Tensor:
    """A tensor as it is carried: PyTorch wants it to lie alike after each turn, also if empty."""
    return carried.clone(memory_format=torch.contiguous_format)
