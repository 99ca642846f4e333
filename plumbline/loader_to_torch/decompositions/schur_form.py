"""Sweeps by which Hessenberg matrices become triangular, in complex128.

A sweep is QR's iteration with an explicit shift (Golub and Van Loan, Matrix Computations, 7.5;
EISPACK's comqr2): H - D = Q R becomes R Q + D, where Q is a chain of rotations of neighbouring
rows. It goes over all of a matrix: where an entry below the diagonal is nothing, a block ends, and
D has another shift from there on. So all blocks of all matrices of a batch are swept together.

Complex numbers are tensors of their two parts here: matrices are columns [n, ..., 2, m], and what
is on or beside a diagonal [n, ..., 2].
"""

from collections.abc import Sequence

import torch
from torch._higher_order_ops.while_loop import while_loop_op
from torch.nn.functional import pad

from plumbline.loader_to_torch.decompositions import matrices
from plumbline.loader_to_torch.decompositions.leading_rows import (
    following,
    one_before,
    places,
    preceding,
    rows_more,
    some_rows,
    unit_rows,
)
from plumbline.loader_to_torch.decompositions.loops import contiguous, looped

_Results = tuple[torch.Tensor, ...]

_MOST_SWEEPS = 30
"""For each row, as LAPACK has it: what takes more never ends."""

_EXCEPTIONAL = 10
"""After so many sweeps a block has another shift once, as in LAPACK: by that of a permutation all
stays as it is."""

_ROUNDING = 2.0**-53

# All is relative to a greatest entry of about 1. Squares of what is no less can be told from 0.
_NOTHING = 1e-140
_LEAST_BELOW = 1e-100


def schur_form(columns: torch.Tensor, *, with_turn: bool) -> list[torch.Tensor]:
    """The columns of T, and those of Z if asked for, of Z T Z^H.

    What is below the diagonal of T is not 0, but counts for nothing.

    Args:
      columns: of a Hessenberg matrix, all entries of which are 1 at most.
      with_turn: whether there is Z.
    """
    size, batch = columns.shape[0], columns.shape[1:-2]
    unit = unit_rows(size, batch).unsqueeze(-2)
    unit = torch.cat([unit, torch.zeros_like(unit)], -2)
    below = _settled(columns)
    sweeps = torch.zeros_like(below[..., 0])

    def goes_on(step: torch.Tensor, sweeps: torch.Tensor, *carried: torch.Tensor) -> torch.Tensor:
        return (carried[0] != 0).any() & (step < _MOST_SWEEPS * sweeps.shape[0])

    def sweep(step: torch.Tensor, sweeps: torch.Tensor, *carried: torch.Tensor) -> _Results:
        below, columns, *turned = carried
        shifts = _shifts(columns, below, sweeps)
        triangle, turns = _turned_from_left(columns.transpose(0, -1), below, shifts)
        columns, *turned = _turned_from_right([triangle.transpose(0, -1), *turned], turns)
        is_own = places(columns) == matrices.numbers(columns.shape[-1])
        columns = columns + torch.where(is_own, shifts.unsqueeze(-1), 0.0)
        below = _settled(columns)
        is_within = (below != 0).any(-1)
        return step + 1, torch.where(is_within, sweeps + 1, 0.0), below, columns, *turned

    start = (torch.zeros((), dtype=torch.int64), sweeps, below, columns, *[unit] * with_turn)
    _, _, _, *results = while_loop_op(goes_on, sweep, tuple(map(contiguous, start)), ())  # type: ignore[arg-type]
    return list(results)


def diagonal(columns: torch.Tensor) -> torch.Tensor:
    """What is on the diagonal."""
    return torch.diagonal(columns, 0, 0, -1).movedim(-1, 0)


def _below_diagonal(columns: torch.Tensor) -> torch.Tensor:
    """What is one place below the diagonal, in its row; of the first there is none: 0."""
    return one_before(_of_columns(columns, following(columns.shape[0])))


def _above_diagonal(columns: torch.Tensor) -> torch.Tensor:
    """What is one place above the diagonal, in its column; of the first there is none: 0."""
    above = _of_columns(columns, preceding(columns.shape[0]))
    return torch.where(places(above) > 0, above, 0.0)


def _of_columns(columns: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Of each column what is in a row of its own."""
    index = rows.reshape(-1, *[1] * (columns.dim() - 1)).expand(*columns.shape[:-1], 1)
    return columns.gather(-1, index).squeeze(-1)


def _settled(columns: torch.Tensor) -> torch.Tensor:
    """What is below the diagonal, and 0 where that is nothing."""
    below, sizes = _below_diagonal(columns), diagonal(columns).abs().sum(-1)
    least = _ROUNDING * (sizes + one_before(sizes)) + _LEAST_BELOW
    # What is no number is of none, too, as no sweep makes it one.
    counts = below.abs().sum(-1) > least
    return torch.where(counts.unsqueeze(-1), below, 0.0)


def _shifts(columns: torch.Tensor, below: torch.Tensor, sweeps: torch.Tensor) -> torch.Tensor:
    """For each row the eigenvalue of the last two of its block that is next to the last entry.

    `sweeps` says how many there were since something ended below.
    """
    own = diagonal(columns)
    half = (one_before(own) - own) / 2
    product = _product(_above_diagonal(columns), below)
    root = _root(_product(half, half) + product)
    cancels = (half * root).sum(-1, keepdim=True) < 0
    change = quotient(product, half + torch.where(cancels, -root, root))
    size = below.abs().sum(-1, keepdim=True)
    is_exceptional = (sweeps > 0) & (torch.remainder(sweeps, _EXCEPTIONAL) == 0)
    other = -0.75 * size * (1 - matrices.numbers(2))
    change = torch.where(is_exceptional.unsqueeze(-1), other, change)
    is_within = size != 0
    own = own - torch.where(is_within, change, 0.0)

    def turn(own: torch.Tensor, goes_on: torch.Tensor, following: torch.Tensor) -> _Results:
        shift = torch.where(goes_on, following, own)
        return shift, shift.clone()

    # Whether the row that follows is of the same block; the last one has none.
    goes_on = is_within.index_select(0, following(is_within.shape[0]))
    goes_on = goes_on & (places(is_within) < is_within.shape[0] - 1)
    _, shifts = looped(turn, [own.flip(0), goes_on.flip(0)], [torch.zeros_like(own[0])], [])
    return shifts.flip(0)


def _joined(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return torch.stack([one, other], -1)


def _product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    (a, b), (c, d) = left.unbind(-1), right.unbind(-1)
    return _joined(a * c - b * d, a * d + b * c)


def quotient(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """A quotient [..., 2], or 0 where there is none."""
    (a, b), (c, d) = left.unbind(-1), right.unbind(-1)
    scale = torch.maximum(c.abs(), d.abs())
    none = scale < _NOTHING
    scale = torch.where(none, 1.0, scale)
    c, d = c / scale, d / scale
    size = (c * c + d * d) * scale
    divided = _joined(a * c + b * d, b * c - a * d) / torch.where(none, 1.0, size).unsqueeze(-1)
    return torch.where(none.unsqueeze(-1), 0.0, divided)


def _root(number: torch.Tensor) -> torch.Tensor:
    """The square root that is on the right."""
    one, other = number.unbind(-1)
    length = torch.sqrt(one * one + other * other)
    greater = torch.sqrt((length + one.abs()) / 2)
    none = greater == 0
    lesser = torch.where(none, 0.0, other / torch.where(none, 1.0, 2 * greater))
    is_right = one >= 0
    return _joined(
        torch.where(is_right, greater, lesser.abs()),
        torch.where(is_right, lesser, torch.where(other < 0, -greater, greater)),
    )


def _turned_from_left(
    rows: torch.Tensor, below: torch.Tensor, shifts: torch.Tensor
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """R's rows, and the rotations by which they are: cosines, and both parts of sines.

    Each turns a row with the one before it. The last of [n + 1, ...] does nothing.
    """
    count = rows.shape[0]

    def turn(
        place: torch.Tensor,
        row: torch.Tensor,
        below: torch.Tensor,
        shift: torch.Tensor,
        held: torch.Tensor,
    ) -> _Results:
        numbers = matrices.numbers(row.shape[-1])
        before = torch.clamp(place - 1, min=0)
        rotation = _rotation(matrices.entry(held, before).squeeze(-1), below)
        c, s, t = (each.unsqueeze(-1).unsqueeze(-1) for each in rotation)
        row = torch.where(numbers == place, row - shift.unsqueeze(-1), row)
        first = torch.where(numbers == before, below.unsqueeze(-1), 0.0)
        row = torch.where(numbers < place, first, row)
        turned = c * row - _times(s, -t, held)
        kept = torch.where(numbers >= place, turned, 0.0)
        return (kept, c * held + _times(s, t, row), *rotation)

    more = [pad(each, rows_more(each, 0, 1)) for each in (rows, below, shifts)]
    counted = [matrices.numbers(count + 1), *more]
    _, made, *turns = looped(turn, counted, [torch.zeros_like(rows[0])], [])
    return some_rows(made, 1, count), turns


def _times(one: torch.Tensor, other: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """The product of a number and numbers [..., 2, m]."""
    signs = (2 * matrices.numbers(2) - 1).unsqueeze(-1)
    return one * numbers + other * signs * numbers.flip(-2)


def _rotation(first: torch.Tensor, second: torch.Tensor) -> _Results:
    """Cosine, and both parts of the sine, of what turns (first, second) to (length, 0).

    That is [[c, s], [-conj(s), c]] with real c, which is not below 0.
    """
    (a, b), (c, d) = first.unbind(-1), second.unbind(-1)
    one, other = a * a + b * b, c * c + d * d
    is_none, is_only = other == 0, one < _NOTHING * _NOTHING
    scale = torch.rsqrt(torch.where(is_none, 1.0, one + other))
    unit = torch.rsqrt(torch.where(is_only, 1.0, one))
    a, b = torch.where(is_only, 1.0, a * unit), torch.where(is_only, 0.0, b * unit)
    c, d = c * scale, -d * scale
    cosine = torch.where(is_only, 0.0, torch.sqrt(one) * scale)
    return (
        torch.where(is_none, 1.0, cosine),
        torch.where(is_none, 0.0, a * c - b * d),
        torch.where(is_none, 0.0, a * d + b * c),
    )


def _turned_from_right(
    columns: Sequence[torch.Tensor], turns: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """The columns of some matrices, turned by the adjoints of rotations."""
    count = columns[0].shape[0]

    def turn(*operands: torch.Tensor) -> _Results:
        c, s, t = (each.unsqueeze(-1).unsqueeze(-1) for each in operands[:3])
        pairs = list(zip(operands[3 : 3 + len(columns)], operands[3 + len(columns) :], strict=True))
        return (
            *(c * column - _times(s, t, before) for column, before in pairs),
            *(c * before + _times(s, -t, column) for column, before in pairs),
        )

    more = [pad(each, rows_more(each, 0, 1)) for each in columns]
    start = [torch.zeros_like(each[0]) for each in columns]
    made = looped(turn, [*turns, *more], start, [])[len(columns) :]
    return [some_rows(each, 1, count) for each in made]
