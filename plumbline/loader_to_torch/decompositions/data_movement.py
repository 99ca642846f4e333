"""Copies of views, and what is written into views."""

from collections.abc import Sequence
from typing import Any

import torch
from torch._decomp import get_decompositions
from torch.fx.experimental.symbolic_shapes import statically_known_true

from plumbline.loader_to_torch.decompositions.rule import Conditional, Rule, Rules

aten = torch.ops.aten


def _places(size: Sequence[int], stride: Sequence[int], offset: int) -> torch.Tensor:
    """Where in memory the elements of a view with strides are."""
    places = torch.full([1] * len(size), offset, dtype=torch.int64)
    for dim, (count, step) in enumerate(zip(size, stride, strict=True)):
        shape = [count if place == dim else 1 for place in range(len(size))]
        places = places + (torch.arange(count, dtype=torch.int64) * step).reshape(shape)
    return places


def _memory(operand: torch.Tensor, offset: int | None) -> torch.Tensor:
    """The elements that strides from `offset` go through; None: from the operand's first one."""
    if not operand.is_contiguous() or (offset is not None and operand.storage_offset() != 0):
        raise NotImplementedError("strides into a tensor that is itself a view into another")
    return operand.reshape(-1)


def _is_whole(
    operand: torch.Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None
) -> bool:
    """Whether a view with strides is the operand as it is; one element takes any stride."""
    return (
        len(size) == operand.dim()
        and offset in (None, operand.storage_offset())
        and all(
            count == own and (count == 1 or step == own_step)
            for count, own, step, own_step in zip(
                size, operand.shape, stride, operand.stride(), strict=True
            )
        )
    )


def _as_strided(
    operand: torch.Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None = None
) -> Any:
    if _is_whole(operand, size, stride, offset):
        return aten.alias(operand)
    # torch-mlir crashes on tensors of rank 0, to and from, and takes no sizes that are not known.
    # It counts in the memory that a tensor is a part of, where real parts are far from one another.
    known = all(isinstance(number, int) for number in (*size, *stride, *operand.shape, offset or 0))
    if size and operand.dim() and known and not operand.is_complex():
        return NotImplemented
    return _as_strided_copy(operand, size, stride, offset)


def _as_strided_copy(
    operand: torch.Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None = None
) -> torch.Tensor:
    places = _places(size, stride, offset or 0).reshape(-1)
    return _memory(operand, offset).index_select(0, places).reshape(size)


def _as_strided_scatter(
    operand: torch.Tensor,
    source: torch.Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    offset: int | None = None,
) -> torch.Tensor:
    places = _places(size, stride, offset or 0).reshape(-1)
    values = source.expand(size).reshape(-1)
    return _memory(operand, offset).index_put((places,), values).reshape(operand.shape)


def _diagonal_scatter(
    operand: torch.Tensor, source: torch.Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> torch.Tensor:
    """`operand` with `source` as its diagonal, which is the last dimension of `source`."""
    rank = operand.dim()
    dim1, dim2 = dim1 % rank, dim2 % rank
    rows = torch.arange(operand.shape[dim1]).unsqueeze(-1)
    columns = torch.arange(operand.shape[dim2])
    on_diagonal = columns - rows == offset
    # The n-th element of the diagonal is in row n, or further down where it begins below.
    first = max(-offset, 0)
    length = source.shape[-1]
    if length == 0:
        return operand.clone()
    along = torch.clamp(torch.arange(operand.shape[dim1]) - first, 0, length - 1)
    spread = source.index_select(-1, along).unsqueeze(-1)
    moved = operand.movedim((dim1, dim2), (-2, -1))
    return torch.where(on_diagonal, spread, moved).movedim((-2, -1), (dim1, dim2))


def narrow(operand: torch.Tensor, dim: int, start: torch.Tensor, length: int) -> torch.Tensor:
    """Places of a dimension one after another, the first of which a tensor names."""
    start = start.reshape(1)
    start = torch.where(start < 0, start + operand.shape[dim], start)
    return operand.index_select(dim, start + torch.arange(length))


def _put(
    operand: torch.Tensor, index: torch.Tensor, source: torch.Tensor, accumulate: bool = False
) -> torch.Tensor:
    """Elements of `source` where `index` tells, as if `operand` had one dimension."""
    flat = operand.reshape(-1).index_put(
        (index.reshape(-1),), source.reshape(-1), accumulate=accumulate
    )
    return flat.reshape(operand.shape)


def _without_strides(op: Any) -> Rule:
    """The op that makes a tensor with elements of any value, which strides say nothing about."""

    def decomposed(*arguments: Any, **options: Any) -> torch.Tensor:
        *before, size, _ = arguments
        kept = {name: value for name, value in options.items() if name == "dtype"}
        result: torch.Tensor = op(*before, size, **kept)
        return result

    return decomposed


def _has_known_sign(operand: torch.Tensor, source: torch.Tensor, dim: int, index: Any) -> bool:
    """Whether it is known from which end the place is counted that is written."""
    return statically_known_true(index >= 0) or statically_known_true(index < 0)


def _select_scatter(
    operand: torch.Tensor, source: torch.Tensor, dim: int, index: Any
) -> torch.Tensor:
    """Writes that place alone, where PyTorch's rule chooses for each place whether it is that."""
    start = index if statically_known_true(index >= 0) else index + operand.shape[dim]
    return torch.slice_scatter(operand, source.unsqueeze(dim), dim, start, start + 1)


def _turns_by_sizes(operand: torch.Tensor, shifts: Any, dims: Any = ()) -> bool:
    """Whether an operand is turned by numbers that are only known as the program runs."""
    return any(isinstance(shift, torch.SymInt) for shift in shifts) and len(dims) > 0


def _roll(operand: torch.Tensor, shifts: Sequence[int], dims: Sequence[int]) -> torch.Tensor:
    for shift, dim in zip(shifts, dims, strict=True):
        size = operand.shape[dim]
        last = shift % size
        parts = [operand.narrow(dim, size - last, last), operand.narrow(dim, 0, size - last)]
        operand = torch.cat(parts, dim)
    return operand


def _zeros_for_derivatives(
    operand: torch.Tensor, other: torch.Tensor, *, self_num_batch_dims: int = 0
) -> torch.Tensor:
    """Zeros like `other`, for each place along the first dimensions of `operand`.

    Derivatives in the direction of an argument begin so.
    """
    return operand.new_zeros((*operand.shape[:self_num_batch_dims], *other.shape))


def _copy_strided(operand: torch.Tensor, stride: Sequence[int]) -> torch.Tensor:
    """A copy: how it lies is nothing that a program can tell."""
    return operand.clone()


RULES: Rules = {
    torch.ops.prims.copy_strided.default: _copy_strided,
    # What is known to be zero, such as the gradient of a sign.
    aten._efficientzerotensor.default: torch.zeros,
    aten._new_zeros_with_same_feature_meta.default: _zeros_for_derivatives,
    **get_decompositions(
        [
            aten.narrow_copy,
            aten.permute_copy,
            aten.unbind_copy,
            aten.view_copy.default,
        ]
    ),
    aten.as_strided.default: _as_strided,
    aten.as_strided_copy.default: _as_strided_copy,
    aten.as_strided_scatter.default: _as_strided_scatter,
    aten.detach_copy.default: torch.clone,
    aten.diagonal_scatter.default: _diagonal_scatter,
    aten.empty_permuted.default: _without_strides(torch.empty),
    aten.empty_strided.default: _without_strides(torch.empty),
    aten.new_empty_strided.default: _without_strides(torch.Tensor.new_empty),
    aten.put.default: _put,
    aten.roll.default: Conditional(_turns_by_sizes, _roll),
    aten.select_scatter.default: Conditional(_has_known_sign, _select_scatter),
}
