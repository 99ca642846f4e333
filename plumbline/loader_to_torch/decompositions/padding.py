"""Pads that repeat what the tensor holds, as slices of it joined.

PyTorch takes them apart into gathers, with an index for each element of the result.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten

_Pad = Callable[[torch.Tensor, int, int, int], torch.Tensor]
"""Pads one dimension by so many elements before and after; a number below 0 crops."""


def _cropped(operand: torch.Tensor, dim: int, before: int, after: int) -> torch.Tensor:
    """`operand` without what numbers below 0 take away."""
    start = max(-before, 0)
    return operand.narrow(dim, start, operand.shape[dim] - start - max(-after, 0))


def _joined(
    before: torch.Tensor, operand: torch.Tensor, after: torch.Tensor, dim: int
) -> torch.Tensor:
    parts = [before] * bool(before.shape[dim]) + [operand] + [after] * bool(after.shape[dim])
    return torch.cat(parts, dim) if len(parts) > 1 else operand


def _circular(operand: torch.Tensor, dim: int, before: int, after: int) -> torch.Tensor:
    """What is cropped does not come round."""
    kept = _cropped(operand, dim, before, after)
    before, after = max(before, 0), max(after, 0)
    last = kept.narrow(dim, kept.shape[dim] - before, before)
    return _joined(last, kept, kept.narrow(dim, 0, after), dim)


def _reflected(operand: torch.Tensor, dim: int, before: int, after: int) -> torch.Tensor:
    """The slices beside the first and the last one come again, these two do not."""
    counts = max(before, 0), max(after, 0)
    first = operand.narrow(dim, 1, counts[0]).flip(dim)
    last = operand.narrow(dim, operand.shape[dim] - 1 - counts[1], counts[1]).flip(dim)
    return _cropped(_joined(first, operand, last, dim), dim, before, after)


def _replicated(operand: torch.Tensor, dim: int, before: int, after: int) -> torch.Tensor:
    def edge(place: int, count: int) -> torch.Tensor:
        shape = [count if own == dim else size for own, size in enumerate(operand.shape)]
        return operand.narrow(dim, place, 1).expand(shape)

    first, last = edge(0, max(before, 0)), edge(operand.shape[dim] - 1, max(after, 0))
    return _cropped(_joined(first, operand, last, dim), dim, before, after)


_MODES: dict[str, _Pad] = {
    "circular": _circular,
    "reflect": _reflected,
    "replicate": _replicated,
}


def _padded(pad: _Pad, operand: torch.Tensor, padding: Sequence[int]) -> torch.Tensor:
    """Pads dimensions from the last one on, of which `padding` has two numbers each."""
    for place in range(len(padding) // 2):
        dim = operand.dim() - 1 - place
        operand = pad(operand, dim, padding[2 * place], padding[2 * place + 1])
    return operand


def _pad(
    operand: torch.Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Any:
    del value  # Only a constant pad has one.
    return _padded(_MODES[mode], operand, pad) if mode in _MODES else NotImplemented


def _rule(pad: _Pad) -> Callable[[torch.Tensor, Sequence[int]], torch.Tensor]:
    return lambda operand, padding: _padded(pad, operand, padding)


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
        places = torch.arange(size).reshape(
            [-1 if axis == dim else 1 for axis in range(grad.dim())]
        )
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
    aten.reflection_pad1d.default: _rule(_reflected),
    aten.reflection_pad2d.default: _rule(_reflected),
    aten.reflection_pad3d.default: _rule(_reflected),
    aten.replication_pad1d.default: _rule(_replicated),
    aten.replication_pad1d_backward.default: _replication_pad_backward,
    aten.replication_pad2d.default: _rule(_replicated),
    aten.replication_pad2d_backward.default: _replication_pad_backward,
    aten.replication_pad3d.default: _rule(_replicated),
    aten.replication_pad3d_backward.default: _replication_pad_backward,
}
