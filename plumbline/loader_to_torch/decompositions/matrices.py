"""What rules for matrices are made of, which are the last two dimensions of tensors."""

from collections.abc import Callable, Sequence

import torch
from torch.nn.functional import pad

from plumbline.loader_to_torch.decompositions.loops import looped
from plumbline.loader_to_torch.decompositions.matrix_parts import part, with_part

Number = int | torch.Tensor
"""Of a row or a column: a tensor of rank 0 where it is counted as the program runs."""

_FEW = 4
"""Steps that stay apart: what they do to small matrices then becomes one kernel."""

_PANEL = 16
"""At most so many rows or columns are factored by steps before a product brings the rest of a
matrix up to them. They stay in the nearest cache, and are enough for the product to be fast."""

_SAVED = 8
"""Which part of the rows it has to save that panels are narrower. Narrow ones are no whole vectors:
with 7 of 15 rows a QR decomposition of 100 took 1.15 times as long (AMD Zen 4, AVX2)."""


def in_steps(
    turn: Callable[..., Sequence[torch.Tensor]],
    count: int,
    carried: Sequence[torch.Tensor],
    given: Sequence[torch.Tensor] = (),
    *,
    start: Number = 0,
    backwards: bool = False,
    is_long: bool = False,
) -> list[torch.Tensor]:
    """What `turn(step, place, *carried, *given)` makes of `carried`, one step after the other.

    It may make more than there is to carry: of that, what all steps make follows, stacked.

    Args:
      turn: gives tensors of its own, and takes sizes from those that it is given.
      count: of steps, at least one. They are counted from 0.
      carried: what the first step finds.
      given: what all steps read.
      start: the place of step 0, from which places are counted on.
      backwards: whether the last one comes first.
      is_long: whether a step is a program of its own, which few steps are a loop of, too.
    """
    # Complex numbers take several times the ops.
    is_long = is_long or any(each.is_complex() for each in carried)
    if isinstance(count, int) and count <= _FEW and not is_long:
        made: list[Sequence[torch.Tensor]] = []
        for step in reversed(range(count)) if backwards else range(count):
            results = turn(step, start + step, *carried, *given)
            carried = results[: len(carried)]
            made.append(results[len(carried) :])
        return [*carried, *map(torch.stack, zip(*made, strict=True))]
    steps = numbers(count)
    steps = steps.flip(0) if backwards else steps
    return looped(turn, [steps, steps + start], carried, given)


def in_panels(
    turn: Callable[..., Sequence[torch.Tensor]],
    count: int,
    carried: Sequence[torch.Tensor],
    given: Sequence[torch.Tensor] = (),
    *,
    backwards: bool = False,
) -> list[torch.Tensor]:
    """What `turn(start, width, *carried, *given)` makes of `carried`, one panel after the other.

    A panel is some of `count` rows or columns that follow one another. Small matrices are one, and
    those of a size that is not known. Of others all panels have one width, so that they are one
    loop: it goes on to `in_full_panels(count)`, as what is carried and given has to.

    It may make more than there is to carry: a vector of its width, of which one of `count` follows.

    Args:
      turn: gives tensors of its own, and takes sizes from those that it is given.
      count: of rows or columns, at least one.
      carried: what the first panel finds.
      given: what all panels read.
      backwards: whether the last one comes first; then there is nothing but to carry.
    """
    if is_one_panel(count):
        return [*turn(0, count, *carried, *given)]

    width = _panel(count)

    def body(start: torch.Tensor, *operands: torch.Tensor) -> Sequence[torch.Tensor]:
        return turn(start, width, *operands)

    starts = numbers(in_full_panels(count) // width) * width
    starts = starts.flip(0) if backwards else starts
    results = looped(body, [starts], carried, given)
    vectors = (each.movedim(0, -2).flatten(-2) for each in results[len(carried) :])
    return [*results[: len(carried)], *(vector[..., :count] for vector in vectors)]


def in_full_panels(count: int) -> int:
    """How many rows or columns there are in the panels of so many."""
    return count if is_one_panel(count) else count + -count % _panel(count)


def _panel(count: int) -> int:
    """The width of as few panels as there can be of so many rows or columns.

    All are as narrow as they can be, 33 being three times 11 and not 48, unless next to nothing is
    saved by that.
    """
    panels = -(-count // _PANEL)
    width = -(-count // panels)
    return width if _PANEL - width >= _PANEL // _SAVED else _PANEL


def is_one_panel(count: int) -> bool:
    """Whether so many rows or columns are one panel, so that nothing comes before or after it."""
    return not isinstance(count, int) or count <= _PANEL


def lesser(rows: int, columns: int) -> int:
    """The lesser number, without asking which one it is where neither is known."""
    if isinstance(rows, int) and isinstance(columns, int):
        return min(rows, columns)
    lesser: int = torch.sym_min(rows, columns)
    return lesser


def greater(rows: int, columns: int) -> int:
    """The greater number, in the same way."""
    if isinstance(rows, int) and isinstance(columns, int):
        return max(rows, columns)
    greater: int = torch.sym_max(rows, columns)
    return greater


def numbers(count: int) -> torch.Tensor:
    """0, 1 and so on."""
    return torch.arange(count)


def unit(rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    """1 on the diagonal, and 0 beside it."""
    return (numbers(rows).unsqueeze(-1) == numbers(columns)).to(dtype)


def entry(vector: torch.Tensor, number: Number) -> torch.Tensor:
    """The element at a place, as a vector of one."""
    if isinstance(number, torch.Tensor):
        return part(vector, number, -1, 1)
    return vector[..., number].unsqueeze(-1)


def column(matrix: torch.Tensor, number: Number) -> torch.Tensor:
    """One column."""
    if isinstance(number, torch.Tensor):
        return entry(matrix, number).squeeze(-1)
    return matrix[..., :, number]


def row(matrix: torch.Tensor, number: Number) -> torch.Tensor:
    """One row."""
    if isinstance(number, torch.Tensor):
        return part(matrix, number, -2, 1).squeeze(-2)
    return matrix[..., number, :]


def entries(vector: torch.Tensor, start: Number, count: int) -> torch.Tensor:
    """Some elements that follow one another."""
    if isinstance(start, torch.Tensor):
        return part(vector, start, -1, count)
    return vector[..., start : start + count]


def columns(matrix: torch.Tensor, start: Number, count: int) -> torch.Tensor:
    """Some columns that follow one another."""
    return entries(matrix, start, count)


def rows(matrix: torch.Tensor, start: Number, count: int) -> torch.Tensor:
    """Some rows that follow one another."""
    if isinstance(start, torch.Tensor):
        return part(matrix, start, -2, count)
    return matrix[..., start : start + count, :]


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


def with_rows(matrix: torch.Tensor, start: Number, rows: torch.Tensor) -> torch.Tensor:
    """The matrix with other rows in the place of some that follow one another."""
    return _with_entries(matrix, start, rows, -2)


def with_columns(matrix: torch.Tensor, start: Number, columns: torch.Tensor) -> torch.Tensor:
    """The matrix with other columns in the place of some that follow one another."""
    return _with_entries(matrix, start, columns, -1)


def _with_entries(
    tensor: torch.Tensor, start: Number, entries: torch.Tensor, dim: int
) -> torch.Tensor:
    if isinstance(start, torch.Tensor):
        return with_part(tensor, entries, start, dim)
    return tensor.slice_scatter(entries, dim, start, start + entries.shape[dim])


def padded(matrix: torch.Tensor, count: int) -> torch.Tensor:
    """The matrix with zeros below it and beside it, as far as it has less rows or columns."""
    if not isinstance(count, int):
        return matrix
    rows, columns = (max(0, count - size) for size in matrix.shape[-2:])
    return pad(matrix, (0, columns, 0, rows))


def swapped(count: int, here: Number, there: torch.Tensor) -> torch.Tensor:
    """The numbers of rows [..., count] after two of them have changed places."""
    rows, other = numbers(count), there.unsqueeze(-1)
    return torch.where(rows == here, other, torch.where(rows == other, here, rows))


def with_swapped(matrix: torch.Tensor, here: Number, there: torch.Tensor) -> torch.Tensor:
    """The matrix after two of its columns have changed places."""
    other = there.unsqueeze(-1)
    places = torch.stack([torch.zeros_like(other) + here, other], -1)
    places = places.expand(*matrix.shape[:-1], 2)
    return matrix.scatter(-1, places, matrix.gather(-1, places.flip(-1)))


def rows_taken(matrix: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """The rows of `matrix` that `order` names."""
    if 0 in order.shape:
        # Nothing is looked up in nothing.
        return matrix.new_zeros((*order.shape, matrix.shape[-1]))
    return matrix.gather(-2, order.unsqueeze(-1).expand(*order.shape, matrix.shape[-1]))


def transposed(matrix: torch.Tensor) -> torch.Tensor:
    """Rows as columns."""
    return matrix.transpose(-2, -1)


def conjugate(numbers: torch.Tensor) -> torch.Tensor:
    """Complex numbers with the other sign of the imaginary parts; real ones as they are."""
    return torch.conj_physical(numbers) if numbers.is_complex() else numbers


def adjoint(matrix: torch.Tensor) -> torch.Tensor:
    """Rows as columns, conjugate if they are complex."""
    return conjugate(transposed(matrix))


def length(vector: torch.Tensor) -> torch.Tensor:
    """Euclid's length, as a vector of one; real of complex numbers, too."""
    if vector.is_complex():
        return torch.hypot(length(torch.real(vector)), length(torch.imag(vector)))
    norm: torch.Tensor = torch.linalg.vector_norm(vector, 2, -1, keepdim=True)
    return norm


def wide(matrix: torch.Tensor) -> torch.Tensor:
    """The matrix in double precision."""
    return matrix.to(torch.complex128 if matrix.is_complex() else torch.float64)


def scaled(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The matrices in double precision, with a greatest part of 1, and what it was [..., 1, 1]."""
    numbers = wide(matrix)
    sizes = torch.real(numbers).abs()
    if numbers.is_complex():
        sizes = torch.maximum(sizes, torch.imag(numbers).abs())
    scale = sizes.amax((-2, -1), keepdim=True)
    scale = torch.where(scale == 0, 1.0, scale)
    return numbers / scale, scale
