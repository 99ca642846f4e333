"""What becomes of the elements along some axes."""

from collections.abc import Callable, Mapping

import torch

from plumbline.tflite_to_torch.node import Node, Pattern, axes_of
from plumbline.tflite_to_torch.tensors import Operand


def _reduced(reduce: Callable[..., torch.Tensor]) -> Pattern:
    def pattern(node: Node, x: Operand, axes: Operand) -> torch.Tensor:
        real = x.real
        # An axis may be said twice.
        dims = sorted(set(axes_of(node.numbers(1), real.ndim)))
        if not dims:
            return node.store(real)
        return node.store(reduce(real, dims, keepdim=node.option("KeepDims", False)))

    return pattern


def _product(x: torch.Tensor, dims: list[int], keepdim: bool) -> torch.Tensor:
    for dim in reversed(dims):
        x = x.prod(dim, keepdim)
    return x


def _sum(x: torch.Tensor, dims: list[int], keepdim: bool) -> torch.Tensor:
    return x.sum(dims, keepdim, dtype=x.dtype)


def _mean(x: torch.Tensor, dims: list[int], keepdim: bool) -> torch.Tensor:
    if x.is_floating_point():
        return x.mean(dims, keepdim)
    count = 1
    for dim in dims:
        count *= x.shape[dim]
    return torch.div(x.sum(dims, keepdim), count, rounding_mode="trunc")


def _index_of(find: Callable[..., torch.Tensor]) -> Pattern:
    def pattern(node: Node, x: Operand, axis: Operand) -> torch.Tensor:
        (dim,) = axes_of([node.number(1)], x.stored.ndim)
        return find(x.stored, dim).to(node.outputs[0].dtype)

    return pattern


def _cumulative_sum(node: Node, x: Operand, axis: Operand) -> torch.Tensor:
    real = x.real
    (dim,) = axes_of([node.number(1)], real.ndim)
    given = real.flip(dim) if node.option("Reverse", False) else real
    sums = given.cumsum(dim, dtype=given.dtype)
    if node.option("Exclusive", False):
        sums = torch.cat([torch.zeros_like(given.narrow(dim, 0, 1)), sums], dim)
        sums = sums.narrow(dim, 0, given.shape[dim])
    return node.store(sums.flip(dim) if node.option("Reverse", False) else sums)


PATTERNS: Mapping[str, Pattern] = {
    "ARG_MAX": _index_of(torch.argmax),
    "ARG_MIN": _index_of(torch.argmin),
    "CUMSUM": _cumulative_sum,
    "MEAN": _reduced(_mean),
    "REDUCE_ALL": _reduced(torch.all),
    "REDUCE_ANY": _reduced(torch.any),
    "REDUCE_MAX": _reduced(torch.amax),
    "REDUCE_MIN": _reduced(torch.amin),
    "REDUCE_PROD": _reduced(_product),
    "SUM": _reduced(_sum),
}
