"""Tensors whose first dimension is that of rows, over which loops go."""

import torch

from plumbline.loader_to_torch.decompositions import matrices


def places(rows: torch.Tensor) -> torch.Tensor:
    """The number of each row, to be compared with."""
    return matrices.numbers(rows.shape[0]).reshape(-1, *[1] * (rows.dim() - 1))


def rows_more(rows: torch.Tensor, before: int, after: int) -> tuple[int, ...]:
    """How `pad` is told about rows."""
    return (*[0, 0] * (rows.dim() - 1), before, after)


def some_rows(rows: torch.Tensor, start: int, count: int) -> torch.Tensor:
    """So many of them that follow one another: by their places, where these tell how many."""
    if isinstance(count, int):
        return rows[start : start + count]
    return rows.index_select(0, matrices.numbers(count) + start)


def preceding(count: int) -> torch.Tensor:
    """For each row the number of the one before it; for the first one its own."""
    return torch.clamp(matrices.numbers(count) - 1, min=0)


def following(count: int) -> torch.Tensor:
    """For each row the number of the one after it; for the last one its own."""
    numbers = matrices.numbers(count)
    return torch.minimum(numbers + 1, numbers.amax())


def one_before(rows: torch.Tensor) -> torch.Tensor:
    """In place of each row the one before it; in place of the first one 0."""
    before = rows.index_select(0, preceding(rows.shape[0]))
    return torch.where(places(rows) > 0, before, 0.0)


def unit_rows(size: int, batch: torch.Size) -> torch.Tensor:
    """The rows of a unit matrix [n, ..., n], in float64."""
    numbers = matrices.numbers(size)
    unit = (numbers.reshape(-1, *[1] * len(batch), 1) == numbers).to(torch.float64)
    return unit.expand(size, *batch, size)
