"""Products that are summed, and distances between rows."""

from collections.abc import Sequence

import torch
from torch._decomp import get_decompositions

from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten


def _trilinear(
    first: torch.Tensor,
    second: torch.Tensor,
    third: torch.Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> torch.Tensor:
    """The product of three tensors, summed over `sumdim`.

    The dimensions of the product that an operand lacks are those of `expand1`, and so on.
    """
    operands = []
    for operand, missing in ((first, expand1), (second, expand2), (third, expand3)):
        for dim in sorted(missing):
            operand = operand.unsqueeze(dim)
        operands.append(operand)
    # What the third operand lacks is summed before it comes in.
    early = [dim for dim in sumdim if dim in expand3]
    late = [dim for dim in sumdim if dim not in early]
    product = _summed(_summed(operands[0] * operands[1], early) * operands[2], late)
    # From the last on, so that the numbers of those to come stay.
    for dim in sorted(sumdim, reverse=True):
        product = product.squeeze(dim)
    return product


def _summed(operand: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    return operand.sum(tuple(dims), keepdim=True) if dims else operand


def _distances(difference: torch.Tensor, p: float) -> torch.Tensor:
    """The p-norms along the last dimension."""
    result: torch.Tensor = torch.linalg.vector_norm(difference, p, -1)
    return result


def _cdist(x1: torch.Tensor, x2: torch.Tensor, p: float, compute_mode: int | None) -> torch.Tensor:
    """The distance of each row of `x1` from each of `x2`."""
    return _distances(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def _pdist(operand: torch.Tensor, p: float = 2.0) -> torch.Tensor:
    """The distance of each row from each that comes after it."""
    count = operand.shape[0]
    pairs = [(row, other) for row in range(count) for other in range(row + 1, count)]
    if not pairs:
        return operand.new_zeros(0)
    # Numbered k over all pairs, row and other are functions of k that take no table.
    k = torch.arange(len(pairs), dtype=torch.float64)
    # The first k of a row is row (2 count - row - 1) / 2; k, half a step on, never falls on one.
    row = torch.floor(count - 0.5 - torch.sqrt((count - 0.5) ** 2 - 2 * (k + 0.25)))
    other = k - row * (2 * count - row - 1) / 2 + row + 1
    first, second = (operand[places.to(torch.int64)] for places in (row, other))
    return _distances(first - second, p)


RULES: Rules = {
    **get_decompositions([aten.addmv, aten.dist]),
    aten._cdist_forward.default: _cdist,
    aten._pdist_forward.default: _pdist,
    aten._trilinear.default: _trilinear,
}
