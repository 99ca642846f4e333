"""Jacobi's rotations, by which small matrices become diagonal, in float64.

A step turns disjoint pairs of dimensions, all at once, so that one entry (or product) of each pair
becomes 0; a sweep is as many steps as bring each pair together once, by the order of Brent and Luk;
sweeps go on until one found nothing left to turn (Golub and Van Loan, Matrix Computations, 8.5 and
8.6.3).

It takes more operations than to go by three diagonals or two (`sweeps.py`), but fewer steps, of
which each does all of a batch, and a fifth of the code: a thousand matrices of 3x3 have singular
values and vectors in a quarter of the time.
"""

import math
from collections.abc import Callable

import torch
from torch._higher_order_ops.while_loop import while_loop_op
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.nn.functional import pad

from plumbline.loader_to_torch.decompositions import matrices
from plumbline.loader_to_torch.decompositions.linear_algebra import linalg_qr
from plumbline.loader_to_torch.decompositions.loops import contiguous

_Results = tuple[torch.Tensor, ...]

_F64 = torch.float64

MOST_ROWS = 16
"""Of matrices that are small. Sixteen of 16x16 take 1.2 times as long as by sweeps, and a third of
the time to compile."""

# Convergence is quadratic: what takes more never ends.
_MOST_SWEEPS = 30

# The cosine of an angle that a turn would change by less than the square of it.
_NOTHING = 1e-12

# What entries are off after some sweeps, relative to the greatest of the matrix.
_ROUNDING = 1e-15


def eigenvalues_by_rotations(matrix: torch.Tensor, *, with_vectors: bool) -> list[torch.Tensor]:
    """The eigenvalues of a symmetric matrix in any order, and then in columns the eigenvectors.

    Args:
      matrix: [..., n, n], with a greatest entry of about 1.
      with_vectors: whether there are any.
    """
    size, batch = matrix.shape[-1], matrix.shape[:-2]
    # Where the number is odd, one row is turned with zeros: that changes nothing.
    odd = size % 2

    def turned(matrix: torch.Tensor, *vectors: torch.Tensor) -> _Results:
        half = matrix.shape[0] // 2
        diagonal, shared = _diagonal(matrix, 0), _diagonal(matrix, half)
        cosine, sine = _rotation(diagonal[:half], diagonal[half:], shared)
        from_left = _turned_rows(matrix, cosine, sine)
        return (
            shared.abs() / _NOTHING,
            _turned_rows(from_left.transpose(0, 1), cosine, sine),
            *(_turned_rows(rows, cosine, sine) for rows in vectors),
        )

    padded = _batch_last(pad(matrix, (0, odd, 0, odd)))
    vectors = [_unit(size + odd, size, padded.shape[-1])] if with_vectors else []
    turned_matrix, *vectors = _swept(turned, padded, *vectors)
    values = _diagonal(turned_matrix, 0)[:size].movedim(-1, 0).reshape(*batch, size)
    return [values, *(_batch_first(rows[:size], batch).mT for rows in vectors)]


def singular_values_by_rotations(matrix: torch.Tensor, *, with_vectors: bool) -> list[torch.Tensor]:
    """The singular values, falling, and then in columns the vectors from the left and the right.

    Args:
      matrix: [..., n, n], with a greatest entry of about 1.
      with_vectors: whether there are any.
    """
    size, batch = matrix.shape[-1], matrix.shape[:-2]
    odd = size % 2

    def turned(rows: torch.Tensor, *vectors: torch.Tensor) -> _Results:
        rounding = _ROUNDING * math.sqrt(rows.shape[0] * rows.shape[1])
        half = rows.shape[0] // 2
        squares = (rows * rows).sum(1)
        shared = (rows[:half] * rows[half:]).sum(1)
        cosine, sine = _rotation(squares[:half], squares[half:], shared)
        lengths = torch.sqrt(squares)
        first, second = lengths[:half], lengths[half:]
        nothing = _NOTHING * first * second + rounding * (first + second)
        return (
            torch.where(shared == 0, 0.0, shared.abs() / nothing),
            *(_turned_rows(other, cosine, sine) for other in (rows, *vectors)),
        )

    padded = _batch_last(pad(matrix, (0, 0, 0, odd)))
    vectors = [_unit(size + odd, size, padded.shape[-1])] if with_vectors else []
    turned_rows, *vectors = _swept(turned, padded, *vectors)
    rows, *vectors = (_batch_first(each, batch) for each in (turned_rows, *vectors))
    lengths = torch.sqrt((rows * rows).sum(-1))[..., :size]
    lengths, order = lengths.sort(-1, descending=True)
    if not with_vectors:
        return [lengths]
    left, right = _rows_in_order(vectors[0], order), _rows_in_order(rows, order)
    return [lengths, left.mT, _orthonormal(right.mT)]


def _batch_last(matrix: torch.Tensor) -> torch.Tensor:
    """[..., m, n] as [m, n, batch], whose steps are vectors of all matrices, however small."""
    return matrix.reshape(-1, *matrix.shape[-2:]).movedim(0, -1)


def _batch_first(matrix: torch.Tensor, batch: torch.Size) -> torch.Tensor:
    """The matrices as they were given."""
    return matrix.movedim(-1, 0).reshape(*batch, *matrix.shape[:2])


def _diagonal(matrix: torch.Tensor, offset: int) -> torch.Tensor:
    """A diagonal of [m, n, batch], as [:, batch]."""
    return torch.diagonal(matrix, offset, 0, 1).movedim(-1, 0)


def _rotation(
    first: torch.Tensor, second: torch.Tensor, shared: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosine and sine of the smaller angle that makes [[first, shared], [shared, second]] diagonal.

    As [:, 1, batch], to multiply rows by.
    """
    none = shared == 0
    ratio = (second - first) / torch.where(none, 1.0, 2 * shared)
    tangent = torch.where(ratio < 0, -1.0, 1.0) / (ratio.abs() + torch.sqrt(1 + ratio * ratio))
    tangent = torch.where(none, 0.0, tangent)
    cosine = torch.rsqrt(1 + tangent * tangent)
    return cosine.unsqueeze(1), (tangent * cosine).unsqueeze(1)


def _turned_rows(rows: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """Each row of the upper half turned with that of the lower half, and brought to a new partner.

    The first row stays, and all others go one place around: through the upper half, and back
    through the lower one. After one step less than there are rows, all are where they were.
    """
    half = rows.shape[0] // 2
    upper, lower = rows[:half], rows[half:]
    up, down = cosine * upper - sine * lower, sine * upper + cosine * lower
    if statically_known_true(half == 1):
        return torch.cat([up, down])
    if not statically_known_true(half > 1):
        return torch.cat([up, down])[_next_places(half)]
    return torch.cat([up[:1], down[:1], up[1:-1], down[1:], up[-1:]])


def _next_places(half: int) -> torch.Tensor:
    """For each of 2 * half rows, which one comes there next."""
    place = matrices.numbers(2 * half)
    within = torch.where(place < half, place - 1, place + 1)
    ends = torch.where(place == 2 * half - 1, half - 1, within)
    return torch.where(place == 0, 0, torch.where(place == 1, half, ends))


def _swept(turned: Callable[..., _Results], *given: torch.Tensor) -> list[torch.Tensor]:
    """The matrices after as many sweeps as it takes.

    Args:
      turned: one step; what the matrices are before it is to how much was found to turn, relative
        to what counts as nothing, and what they are after it.
      given: [2 h, :, batch], the matrices that are to be turned together.
    """

    def goes_on(step: torch.Tensor, most: torch.Tensor, *before: torch.Tensor) -> torch.Tensor:
        steps = before[0].shape[0] - 1
        within = torch.remainder(step, steps) != 0
        return within | ((most > 1.0) & (step < _MOST_SWEEPS * steps))

    def body(step: torch.Tensor, most: torch.Tensor, *before: torch.Tensor) -> _Results:
        found, *after = turned(*before)
        is_first = torch.remainder(step, before[0].shape[0] - 1) == 0
        so_far = torch.where(is_first, 0.0, most)
        return step + 1, torch.maximum(so_far, found.amax()), *after

    start = torch.zeros((), dtype=torch.int64), torch.full((), math.inf, dtype=_F64)
    _, _, *after = while_loop_op(goes_on, body, (*start, *map(contiguous, given)), ())  # type: ignore[arg-type]
    return list(after)


def _unit(rows: int, columns: int, count: int) -> torch.Tensor:
    return matrices.unit(rows, columns, _F64).unsqueeze(-1).expand(rows, columns, count)


def _rows_in_order(rows: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    return rows.gather(-2, order.unsqueeze(-1).expand(*order.shape, rows.shape[-1]))


def _orthonormal(columns: torch.Tensor) -> torch.Tensor:
    """Orthogonal columns of length 1, also in place of those that are 0."""
    basis, triangle = linalg_qr(columns)
    signs = torch.where(torch.diagonal(triangle, 0, -2, -1) < 0, -1.0, 1.0)
    return basis * signs.unsqueeze(-2)
