"""Products that are summed, and distances between rows."""

import math
from collections.abc import Sequence

import torch
from torch._decomp import get_decompositions

from plumbline.loader_to_torch.decompositions.rule import Conditional, Rule, Rules

aten = torch.ops.aten


def _mv(matrix: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
    """The product as one of matrices, which the compiler knows, and not as products and sums."""
    return torch.mm(matrix, vector.unsqueeze(1)).squeeze(1)


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
    """In the operand's dtype: narrow integers wrap around."""
    return operand.sum(tuple(dims), keepdim=True, dtype=operand.dtype) if dims else operand


def _distances(difference: torch.Tensor, p: float) -> torch.Tensor:
    """The p-norms along the last dimension; a count of what is not 0 is NaN where one is."""
    if p == 0:
        return torch.clamp(difference.abs().ceil(), max=1).sum(-1)
    result: torch.Tensor = torch.linalg.vector_norm(difference, p, -1)
    return result


def _cdist(x1: torch.Tensor, x2: torch.Tensor, p: float, compute_mode: int | None) -> torch.Tensor:
    """The distance of each row of `x1` from each of `x2`.

    PyTorch leaves what is NaN out of the greatest difference, here alone.
    """
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    if p == math.inf:
        difference = torch.where(difference.isnan(), 0.0, difference)
    return _distances(difference, p)


def _cdist_backward(
    grad: torch.Tensor, x1: torch.Tensor, x2: torch.Tensor, p: float, distances: torch.Tensor
) -> torch.Tensor:
    """The gradient of the first points; where two are the same, of that distance it is 0."""
    differences = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    grad, distances = grad.unsqueeze(-1), distances.unsqueeze(-1)
    if p == 0:
        slopes = torch.zeros_like(differences)
    elif p == 1:
        slopes = torch.sgn(differences)
    elif p == math.inf:
        slopes = torch.where(differences.abs() == distances, torch.sgn(differences), 0.0)
    else:
        sizes = differences.abs() ** (p - 1) * torch.sgn(differences)
        divisor = torch.where(distances == 0, 1.0, distances)
        slopes = torch.where(distances == 0, 0.0, sizes / divisor ** (p - 1))
    return (grad * slopes).sum(-2)


def pairs(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """All pairs of a row and one after it, in order."""
    # Numbered k over all pairs, row and other are functions of k that take no table.
    k = torch.arange(count * (count - 1) // 2, dtype=torch.float64)
    # The first k of a row is row (2 count - row - 1) / 2; k, half a step on, never falls on one.
    row = torch.floor(count - 0.5 - torch.sqrt((count - 0.5) ** 2 - 2 * (k + 0.25)))
    other = k - row * (2 * count - row - 1) / 2 + row + 1
    return row.to(torch.int64), other.to(torch.int64)


def _pdist(operand: torch.Tensor, p: float = 2.0) -> torch.Tensor:
    """The distance of each row from each that comes after it."""
    count = operand.shape[0]
    if count < 2:
        return operand.new_zeros(0)
    first, second = (operand[places] for places in pairs(count))
    return _distances(first - second, p)


def _pdist_backward(
    grad: torch.Tensor, operand: torch.Tensor, p: float, distances: torch.Tensor
) -> torch.Tensor:
    """The gradient of the rows, each of which is the first of a pair or the second."""
    count = operand.shape[0]
    if count < 2:
        return torch.zeros_like(operand)
    row, other = pairs(count)

    def of_all(values: torch.Tensor) -> torch.Tensor:
        nothing = torch.zeros(count, count, dtype=values.dtype)
        return nothing.index_put(
            (torch.cat([row, other]), torch.cat([other, row])), values.repeat(2)
        )

    return _cdist_backward(of_all(grad), operand, operand, p, of_all(distances))


def _product_of_groups(
    left: torch.Tensor, right: torch.Tensor, starts: torch.Tensor, ends: torch.Tensor
) -> torch.Tensor:
    """The product of each group of rows or columns with its matrix, or of both with one another.

    Args:
      left: [rows, inner], or [groups, rows, inner].
      right: [groups, inner, columns], or [inner, columns].
      starts: [groups]: where each begins along the dimension of the matrix that is taken apart:
        the one that the other does not have, or the inner one of both.
      ends: [groups]: the place after each.
    """
    is_left, is_right = left.dim() == 2, right.dim() == 2
    groups = list(enumerate(zip(starts.tolist(), ends.tolist(), strict=True)))
    if is_left and is_right:
        parts = [left[:, start:end] @ right[start:end] for _, (start, end) in groups]
        return torch.stack(parts)
    out = left.new_zeros(_shape_of_product(left, right, starts))
    for group, (start, end) in groups:
        if is_left:
            out[start:end] = left[start:end] @ right[group]
        else:
            out[:, start:end] = left[group] @ right[:, start:end]
    return out


def _shape_of_product(
    left: torch.Tensor, right: torch.Tensor, starts: torch.Tensor
) -> tuple[int, ...]:
    shape = (left.shape[-2], right.shape[-1])
    return (starts.shape[0], *shape) if left.dim() == right.dim() else shape


torch.library.define(
    "plumbline::grouped_matmul", "(Tensor left, Tensor right, Tensor starts, Tensor ends) -> Tensor"
)
torch.library.impl("plumbline::grouped_matmul", "CPU")(_product_of_groups)


torch.library.register_fake(
    "plumbline::grouped_matmul",
    lambda left, right, starts, _: left.new_empty(_shape_of_product(left, right, starts)),
)

GROUPED_MATMUL = torch.ops.plumbline.grouped_matmul.default
"""The op of `_product_of_groups`, which is a loop over groups whose sizes a run tells."""


def _grouped_mm(
    left: torch.Tensor,
    right: torch.Tensor,
    offs: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The products of groups that end at `offs`, one after another."""
    if offs is None:
        product = left @ right
    else:
        starts = torch.cat([offs.new_zeros(1), offs[:-1]])
        product = GROUPED_MATMUL(left, right, starts, offs)
    product = product if bias is None else product + bias
    return product if out_dtype is None else product.to(out_dtype)


def _grouped_mm_gradients(
    left: torch.Tensor, right: torch.Tensor, offs: torch.Tensor, gradient: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of `left`, [rows, inner], and of `right`, [groups, inner, columns]."""
    return _grouped_mm(gradient, right.mT, offs), _grouped_mm(left.mT, gradient, offs)


def grouped_mm_of_transformers() -> Rules:
    """The rules of the ops of mixtures of experts, which `transformers` brings along."""
    rules: dict[str, Rule] = {
        "grouped_mm_fallback": _grouped_mm,
        "grouped_mm_fallback_backward": _grouped_mm_gradients,
    }
    ops = {getattr(torch.ops.transformers, name, None): rule for name, rule in rules.items()}
    return {op.default: rule for op, rule in ops.items() if op is not None}


def _int_mm(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The product of bytes without a sign and such with one, in int32.

    It is that of numbers that are 128 less, which CPUs have instructions for, and what is left.
    """
    less = torch.bitwise_xor(left, 128).view(torch.int8)
    return torch._int_mm(less, right) + 128 * right.sum(0, dtype=torch.int32)


RULES: Rules = {
    **get_decompositions([aten.addmv, aten.dist]),
    aten._cdist_backward.default: _cdist_backward,
    aten._cdist_forward.default: _cdist,
    aten._pdist_backward.default: _pdist_backward,
    aten._pdist_forward.default: _pdist,
    aten._grouped_mm.default: _grouped_mm,
    aten._int_mm.default: Conditional(lambda left, _: left.dtype == torch.uint8, _int_mm),
    aten._trilinear.default: _trilinear,
    aten.mv.default: _mv,
}
