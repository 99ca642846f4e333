"""What rules for matrices are made of, which are the last two dimensions of tensors."""

import torch


def numbers(count: int) -> torch.Tensor:
    """0, 1 and so on."""
    return torch.arange(count)


def column(matrix: torch.Tensor, number: int) -> torch.Tensor:
    """One column."""
    return matrix[..., :, number]


def row(matrix: torch.Tensor, number: int) -> torch.Tensor:
    """One row."""
    return matrix[..., number, :]


def outer(column: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    """All products of an element of one with one of the other."""
    return column.unsqueeze(-1) * row.unsqueeze(-2)


def with_column(matrix: torch.Tensor, number: int, column: torch.Tensor) -> torch.Tensor:
    """The matrix with another column in the place of one."""
    chosen = numbers(matrix.shape[-1]) == number
    return torch.where(chosen, column.unsqueeze(-1), matrix)


def with_row(matrix: torch.Tensor, number: int, row: torch.Tensor) -> torch.Tensor:
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
