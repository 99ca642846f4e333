"""Pads that repeat what the tensor holds, as slices of it joined.

PyTorch takes them apart into gathers, with an index for each element of the result. Slices of what
is joined from slices are copied once more for each dimension, where sizes are not known or there
are three of them: there rows are gathered, each as a whole, and only those joined from slices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules, along

aten = torch.ops.aten

_Ends = Callable[[torch.Tensor, int, int, int], tuple[torch.Tensor, torch.Tensor]]
"""What comes before and after a tensor along a dimension, of so many elements each."""

_Places = Callable[[torch.Tensor, Any], torch.Tensor]
"""Where in a dimension of some size that is which comes at places before its first element, within
it, and after its last one; the size itself where there is nothing to take, so that a gather
refuses it."""


@dataclass(frozen=True)
class _Mode:
    """How pads repeat what a tensor holds."""

    ends: _Ends
    places: _Places
    crops_first: bool = False
    """Whether what numbers below 0 take away does not come again elsewhere."""


def _cropped(operand: torch.Tensor, dim: int, before: int, after: int) -> torch.Tensor:
    """`operand` without what numbers below 0 take away."""
    start = max(-before, 0)
    return operand.narrow(dim, start, operand.shape[dim] - start - max(-after, 0))


def _joined(
    before: torch.Tensor, operand: torch.Tensor, after: torch.Tensor, dim: int
) -> torch.Tensor:
    parts = [before] * bool(before.shape[dim]) + [operand] + [after] * bool(after.shape[dim])
    return torch.cat(parts, dim) if len(parts) > 1 else operand


def _ends_that_come_round(
    operand: torch.Tensor, dim: int, before: int, after: int
) -> tuple[torch.Tensor, torch.Tensor]:
    last = operand.narrow(dim, operand.shape[dim] - before, before)
    return last, operand.narrow(dim, 0, after)


def _reflected_ends(
    operand: torch.Tensor, dim: int, before: int, after: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The slices beside the first and the last one come again, these two do not."""
    first = operand.narrow(dim, 1, before).flip(dim)
    return first, operand.narrow(dim, operand.shape[dim] - 1 - after, after).flip(dim)


def _replicated_ends(
    operand: torch.Tensor, dim: int, before: int, after: int
) -> tuple[torch.Tensor, torch.Tensor]:
    def edge(place: int, count: int) -> torch.Tensor:
        shape = [count if own == dim else size for own, size in enumerate(operand.shape)]
        return operand.narrow(dim, place, 1).expand(shape)

    return edge(0, before), edge(operand.shape[dim] - 1, after)


def _of(within: torch.Tensor, after: torch.Tensor, size: Any) -> torch.Tensor:
    """The places `within`, or, from the size on, those `after` the last element."""
    found = torch.where(within < size, within, after)
    return torch.where(found < 0, size, found)


_CIRCULAR = _Mode(
    _ends_that_come_round,
    lambda at, size: _of(torch.where(at < 0, at + size, at), at - size, size),
    crops_first=True,
)
_REFLECT = _Mode(_reflected_ends, lambda at, size: _of(at.abs(), 2 * (size - 1) - at, size))
_REPLICATE = _Mode(_replicated_ends, lambda at, size: at.clamp(0, size - 1))

_MODES = {"circular": _CIRCULAR, "reflect": _REFLECT, "replicate": _REPLICATE}


def _padded(mode: _Mode, operand: torch.Tensor, padding: Sequence[int]) -> torch.Tensor:
    """Pads dimensions from the last one on, of which `padding` has two numbers each."""
    count = len(padding) // 2
    sizes = operand.shape[operand.dim() - count :]
    is_dynamic = any(isinstance(size, torch.SymInt) for size in sizes)
    if count > 1 and (is_dynamic or count > 2) and min(padding) >= 0:
        return _joined_of_rows(mode, operand, padding)
    for place in range(count):
        dim = operand.dim() - 1 - place
        before, after = padding[2 * place : 2 * place + 2]
        if mode.crops_first:
            operand = _cropped(operand, dim, before, after)
        first, last = mode.ends(operand, dim, max(before, 0), max(after, 0))
        operand = _joined(first, operand, last, dim)
        if not mode.crops_first:
            operand = _cropped(operand, dim, before, after)
    return operand


def _joined_of_rows(mode: _Mode, operand: torch.Tensor, padding: Sequence[int]) -> torch.Tensor:
    """The same, of numbers from 0 on: rows of what the last dimension is joined of, gathered."""
    last = operand.dim() - 1
    places: list[torch.Tensor | None] = [None] * operand.dim()
    for place in range(1, len(padding) // 2):
        size = operand.shape[last - place]
        before, after = padding[2 * place : 2 * place + 2]
        found = mode.places(torch.arange(-before, size + after), size)
        places[last - place] = found.reshape([-1] + [1] * (place - 1))
    first, second = mode.ends(operand, last, *padding[:2])
    before, rows, after = (aten.index(part, places) for part in (first, operand, second))
    return _joined(before, rows, after, last)


def _pad(
    operand: torch.Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Any:
    del value  # Only a constant pad has one.
    return _padded(_MODES[mode], operand, pad) if mode in _MODES else NotImplemented


def _rule(mode: _Mode) -> Callable[[torch.Tensor, Sequence[int]], torch.Tensor]:
    return lambda operand, padding: _padded(mode, operand, padding)


def _replication_pad_backward(
    grad: torch.Tensor, operand: torch.Tensor, padding: Sequence[int]
) -> torch.Tensor:
    """The gradient: what an element is repeated as adds up at its place."""
    for number in range(len(padding) // 2):
        before, after = padding[2 * number : 2 * number + 2]
        dim = operand.dim() - 1 - number
        size = operand.shape[dim]
        if before < 0 or after < 0:
            # What is cropped has none.
            cut = [0, 0] * number + [max(-before, 0), max(-after, 0)]
            grad = torch.nn.functional.pad(grad, cut)
            before, after = max(before, 0), max(after, 0)
        places = along(torch.arange(size), grad, dim)
        ends = (
            (places == 0, grad.narrow(dim, 0, before)),
            (places == size - 1, grad.narrow(dim, before + size, after)),
        )
        grad = grad.narrow(dim, before, size)
        for is_there, repeated in ends:
            grad = grad + torch.where(is_there, repeated.sum(dim, keepdim=True), 0.0)
    return grad


RULES: Rules = {
    aten.pad.default: _pad,
    aten.reflection_pad1d.default: _rule(_REFLECT),
    aten.reflection_pad2d.default: _rule(_REFLECT),
    aten.reflection_pad3d.default: _rule(_REFLECT),
    aten.replication_pad1d.default: _rule(_REPLICATE),
    aten.replication_pad1d_backward.default: _replication_pad_backward,
    aten.replication_pad2d.default: _rule(_REPLICATE),
    aten.replication_pad2d_backward.default: _replication_pad_backward,
    aten.replication_pad3d.default: _rule(_REPLICATE),
    aten.replication_pad3d_backward.default: _replication_pad_backward,
}
