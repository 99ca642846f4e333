"""What rules for matrices are made of, which are the last two dimensions of tensors."""

from collections.abc import Callable, Sequence

import torch
from torch._higher_order_ops.scan import scan_op

Number = int | torch.Tensor
"""Of a row or a column: a tensor of rank 0 where it is counted as the program runs."""

_FEW = 4
"""Steps that stay apart: what they do to small matrices then becomes one kernel."""


def in_steps(
    turn: Callable[..., Sequence[torch.Tensor]],
    count: int,
    carried: Sequence[torch.Tensor],
    given: Sequence[torch.Tensor] = (),
    *,
    backwards: bool = False,
) -> list[torch.Tensor]:
    """What `turn(step, *carried, *given)` makes of `carried`, for one step after the other: a loop.

    It may make more than there is to carry: of that, what all steps make follows, stacked.

    Args:
      turn: gives tensors of its own, and takes sizes from those that it is given.
      count: of steps, at least one. They are counted from 0.
      carried: what the first step finds.
      given: what all steps read.
      backwards: whether the last one comes first.
    """
    if isinstance(count, int) and count <= _FEW:
        made: list[Sequence[torch.Tensor]] = []
        for step in reversed(range(count)) if backwards else range(count):
            results = turn(step, *carried, *given)
            carried = results[: len(carried)]
            made.append(results[len(carried) :])
        return [*carried, *map(torch.stack, zip(*made, strict=True))]

    def body(*operands: torch.Tensor) -> list[torch.Tensor]:
        place = len(carried)
        return [*turn(operands[place], *operands[:place], *operands[place + 1 :])]

    steps = numbers(count)
    # PyTorch wants what is carried to lie the same way after each step, also if it is empty.
    start = [each.clone(memory_format=torch.contiguous_format) for each in carried]
    return [*scan_op(body, start, [steps.flip(0) if backwards else steps], tuple(given))]


def numbers(count: int) -> torch.Tensor:
    """0, 1 and so on."""
    return torch.arange(count)


def entry(vector: torch.Tensor, number: Number) -> torch.Tensor:
    """The element at a place, as a vector of one."""
    if isinstance(number, torch.Tensor):
        return vector.index_select(-1, number.reshape(1))
    return vector[..., number].unsqueeze(-1)


def column(matrix: torch.Tensor, number: Number) -> torch.Tensor:
    """One column."""
    if isinstance(number, torch.Tensor):
        return entry(matrix, number).squeeze(-1)
    return matrix[..., :, number]


def row(matrix: torch.Tensor, number: Number) -> torch.Tensor:
    """One row."""
    if isinstance(number, torch.Tensor):
        return matrix.index_select(-2, number.reshape(1)).squeeze(-2)
    return matrix[..., number, :]


def outer(column: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    """All products of an element of one with one of the other."""
    return column.unsqueeze(-1) * row.unsqueeze(-2)


def with_column(matrix: torch.Tensor, number: Number, column: torch.Tensor) -> torch.Tensor:
    """The matrix with another column in the place of one."""
    chosen = numbers(matrix.shape[-1]) == number
    return torch.where(chosen, column.unsqueeze(-1), matrix)


def with_row(matrix: torch.Tensor, number: Number, row: torch.Tensor) -> torch.Tensor:
    """The matrix with another row in the place of one."""
    chosen = (numbers(matrix.shape[-2]) == number).unsqueeze(-1)
    return torch.where(chosen, row.unsqueeze(-2), matrix)


def rows_taken(matrix: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """The rows of `matrix` that `order` names."""
    if 0 in order.shape:
        # Nothing is looked up in nothing.
        return matrix.new_zeros((*order.shape, matrix.shape[-1]))
    return matrix.gather(-2, order.unsqueeze(-1).expand(*order.shape, matrix.shape[-1]))


def transposed(matrix: torch.Tensor) -> torch.Tensor:
    """Rows as columns."""
    return matrix.transpose(-2, -1)
