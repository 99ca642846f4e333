"""Eigenvalues of symmetric matrices, singular values, and what is computed by them.

By Jacobi's rotations, in float64: a step turns disjoint pairs of dimensions, all at once, so that
one entry (or product) of each pair becomes 0; a sweep is as many steps as bring each pair together
once, by the order of Brent and Luk; sweeps go on until one found nothing left to turn (Golub and
Van Loan, Matrix Computations, 8.5 and 8.6.3). It is a loop, whatever the size. Eigenvectors and
singular vectors are unique up to their signs at best, and those are not LAPACK's.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch._higher_order_ops.while_loop import while_loop_op
from torch.nn.functional import pad

from plumbline.loader_to_torch.decompositions.linear_algebra import is_vector, linalg_qr
from plumbline.loader_to_torch.decompositions.loops import contiguous
from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten

_F64 = torch.float64

# Convergence is quadratic: what takes more never ends.
_MOST_SWEEPS = 30

# The cosine of an angle that a turn would change by less than the square of it.
_NOTHING = 1e-12

# What entries are off after some sweeps, relative to the greatest of the matrix.
_ROUNDING = 1e-15


def _rotation(
    first: torch.Tensor, second: torch.Tensor, shared: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosine and sine of the smaller angle that makes [[first, shared], [shared, second]] diagonal.

    As columns, to multiply rows by.
    """
    none = shared == 0
    ratio = (second - first) / torch.where(none, 1.0, 2 * shared)
    tangent = torch.where(ratio < 0, -1.0, 1.0) / (ratio.abs() + torch.sqrt(1 + ratio * ratio))
    tangent = torch.where(none, 0.0, tangent)
    cosine = torch.rsqrt(1 + tangent * tangent)
    return cosine.unsqueeze(-1), (tangent * cosine).unsqueeze(-1)


def _turned_rows(rows: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """Each row of the upper half turned with that of the lower half, and brought to a new partner.

    The first row stays, and all others go one place around: through the upper half, and back
    through the lower one. After one step less than there are rows, all are where they were.
    """
    half = rows.shape[-2] // 2
    upper, lower = rows[..., :half, :], rows[..., half:, :]
    up, down = cosine * upper - sine * lower, sine * upper + cosine * lower
    if isinstance(half, torch.SymInt):
        return torch.cat([up, down], -2).index_select(-2, _partners(rows.shape[-2]))
    if half == 1:
        return torch.cat([up, down], -2)
    return torch.cat(
        [up[..., :1, :], down[..., :1, :], up[..., 1:-1, :], down[..., 1:, :], up[..., -1:, :]], -2
    )


def _partners(size: int) -> torch.Tensor:
    """Which row comes to each place, without asking how many there are: a half may be one row."""
    places, half = torch.arange(size), size // 2
    upper, lower = places - 1, torch.where(places == size - 1, half - 1, places + 1)
    moved = torch.where(places < half, upper, lower)
    return torch.where(places == 0, 0, torch.where(places == 1, half, moved))


def _swept(
    turned: Callable[..., tuple[torch.Tensor, ...]], *matrices: torch.Tensor
) -> list[torch.Tensor]:
    """The matrices after as many sweeps as it takes.

    Args:
      turned: one step; what the matrices are before it is to how much was found to turn, relative
        to what counts as nothing, and what they are after it.
      matrices: [..., 2 h, :], that are to be turned together.
    """
    # Sizes may be dynamic: a loop's body and condition know those of their own operands alone.

    def goes_on(step: torch.Tensor, most: torch.Tensor, *before: torch.Tensor) -> torch.Tensor:
        steps = before[0].shape[-2] - 1
        within = torch.remainder(step, steps) != 0
        return within | ((most > 1.0) & (step < _MOST_SWEEPS * steps))

    def body(
        step: torch.Tensor, most: torch.Tensor, *before: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        steps = before[0].shape[-2] - 1
        found, *after = turned(*before)
        so_far = torch.where(torch.remainder(step, steps) == 0, 0.0, most)
        return step + 1, torch.maximum(so_far, found.amax()), *after

    start = torch.zeros((), dtype=torch.int64), torch.full((), math.inf, dtype=_F64)
    _, _, *after = while_loop_op(goes_on, body, (*start, *map(contiguous, matrices)), ())  # type: ignore[arg-type]
    return list(after)


def _unit(batch: torch.Size, rows: int, columns: int) -> torch.Tensor:
    unit = torch.arange(rows).unsqueeze(-1) == torch.arange(columns)
    return unit.to(_F64).expand(*batch, rows, columns)


def _first(values: torch.Tensor, count: int) -> torch.Tensor:
    """So many of the values that a loop has left: by their places, for these tell how many."""
    if isinstance(count, int):
        return values[..., :count]
    return values.index_select(-1, torch.arange(count))


def _scaled(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The matrices in float64, with a greatest entry of 1, and what it was."""
    wide = matrix.to(_F64)
    scale = wide.abs().amax((-2, -1), keepdim=True)
    scale = torch.where(scale == 0, 1.0, scale)
    return wide / scale, scale


def _rows_in_order(rows: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    return rows.gather(-2, order.unsqueeze(-1).expand(*order.shape, rows.shape[-1]))


# -- eigenvalues -----------------------------------------------------------------------------------


def _linalg_eigh(matrix: torch.Tensor, UPLO: str = "L", compute_v: bool = True) -> Any:  # noqa: N803
    """The eigenvalues, rising, and in columns the eigenvectors, of one triangle of the matrix."""
    if matrix.is_complex():
        return NotImplemented
    values, vectors = _eigh(matrix, upper=UPLO.upper() == "U", with_vectors=compute_v)
    vectors = vectors.mT.to(matrix.dtype) if compute_v else matrix.new_empty(0)
    return values.to(matrix.dtype), vectors


def _eigh(
    matrix: torch.Tensor, *, upper: bool, with_vectors: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The eigenvalues, rising, and in rows the eigenvectors or anything, in float64."""
    size = matrix.shape[-1]
    if 0 in matrix.shape:
        return matrix.to(_F64).sum(-1), matrix.to(_F64)
    triangle = matrix.triu().mT if upper else matrix.tril()
    symmetric, scale = _scaled(triangle + triangle.tril(-1).mT)
    # Where the number is odd, one row is turned with zeros: that changes nothing.
    odd = size % 2

    def turned(matrix: torch.Tensor, *vectors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        half = matrix.shape[-1] // 2
        diagonal = torch.diagonal(matrix, 0, -2, -1)
        # Of a part: how far a diagonal is from the middle one cannot be dynamic.
        shared = torch.diagonal(matrix[..., :half, half:], 0, -2, -1)
        cosine, sine = _rotation(diagonal[..., :half], diagonal[..., half:], shared)
        from_left = _turned_rows(matrix, cosine, sine)
        return (
            shared.abs() / _NOTHING,
            _turned_rows(from_left.mT, cosine, sine),
            *(_turned_rows(rows, cosine, sine) for rows in vectors),
        )

    vectors = [_unit(matrix.shape[:-2], size + odd, size)] if with_vectors else []
    diagonal, *vectors = _swept(turned, pad(symmetric, (0, odd, 0, odd)), *vectors)
    values = _first(torch.diagonal(diagonal, 0, -2, -1), size) * scale.squeeze(-1)
    values, order = values.sort(-1)
    return values, _rows_in_order(vectors[0], order) if with_vectors else matrix


# -- singular values -------------------------------------------------------------------------------


class _Turned(NamedTuple):
    """A matrix [..., k, n], in float64, turned from the left so that its rows are orthogonal."""

    rows: torch.Tensor
    """[..., k, n], the longest first, over the scale."""
    lengths: torch.Tensor
    """[..., k]: the singular values."""
    turn: torch.Tensor
    """[..., k, k], orthogonal; its transpose times the rows is the matrix over the scale."""
    scale: torch.Tensor
    """[..., 1, 1], without which squares of what is great or small would be lost."""


def _orthogonalized(matrix: torch.Tensor, *, with_vectors: bool = True) -> _Turned:
    """A matrix that has no fewer columns than rows, turned; only the lengths `with_vectors`."""
    batch, count = matrix.shape[:-2], matrix.shape[-2]
    if 0 in matrix.shape:
        wide = matrix.to(_F64)
        return _Turned(wide, wide.sum(-1), _unit(batch, count, count), _unit(batch, 1, 1))
    scaled, scale = _scaled(matrix)
    odd = count % 2

    def turned(rows: torch.Tensor, *vectors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        half = rows.shape[-2] // 2
        rounding = _ROUNDING * math.sqrt(rows.shape[-2] * rows.shape[-1])
        squares = (rows * rows).sum(-1)
        shared = (rows[..., :half, :] * rows[..., half:, :]).sum(-1)
        cosine, sine = _rotation(squares[..., :half], squares[..., half:], shared)
        lengths = torch.sqrt(squares)
        first, second = lengths[..., :half], lengths[..., half:]
        nothing = _NOTHING * first * second + rounding * (first + second)
        return (
            torch.where(shared == 0, 0.0, shared.abs() / nothing),
            _turned_rows(rows, cosine, sine),
            *(_turned_rows(other, cosine, sine) for other in vectors),
        )

    vectors = [_unit(batch, count + odd, count)] if with_vectors else []
    rows, *vectors = _swept(turned, pad(scaled, (0, 0, 0, odd)), *vectors)
    lengths = _first(torch.sqrt((rows * rows).sum(-1)), count)
    lengths, order = (lengths * scale.squeeze(-1)).sort(-1, descending=True)
    if not with_vectors:
        return _Turned(rows, lengths, rows, scale)
    return _Turned(_rows_in_order(rows, order), lengths, _rows_in_order(vectors[0], order), scale)


def _lying(matrix: torch.Tensor) -> tuple[torch.Tensor, bool]:
    """The matrix, or where it has more rows than columns the transpose, and whether it is that."""
    stands = matrix.shape[-2] > matrix.shape[-1]
    return matrix.mT if stands else matrix, stands


def _linalg_svd(
    matrix: torch.Tensor,
    full_matrices: bool = False,
    compute_uv: bool = True,
    *,
    driver: str | None = None,
) -> Any:
    if matrix.is_complex():
        return NotImplemented
    dtype = matrix.dtype
    lying, stands = _lying(matrix)
    rows, lengths, turn, _ = _orthogonalized(lying, with_vectors=compute_uv)
    if not compute_uv:
        return matrix.new_empty(0), lengths.to(dtype), matrix.new_empty(0)
    basis = _orthonormal(rows, complete=full_matrices)
    left, right = (basis.mT, turn) if stands else (turn.mT, basis)
    return left.to(dtype), lengths.to(dtype), right.to(dtype)


def _orthonormal(rows: torch.Tensor, *, complete: bool) -> torch.Tensor:
    """Orthogonal rows of length 1, also in place of those that are 0; `complete`: a whole basis."""
    columns, triangle = linalg_qr(rows.mT, "complete" if complete else "reduced")
    signs = torch.where(torch.diagonal(triangle, 0, -2, -1) < 0, -1.0, 1.0)
    signs = pad(signs, (0, columns.shape[-1] - signs.shape[-1]), value=1.0)
    return (columns * signs.unsqueeze(-2)).mT


# -- inverses of what has none ---------------------------------------------------------------------


def _reciprocal(values: torch.Tensor, least: torch.Tensor) -> torch.Tensor:
    """1 / x, or 0 of what is no more than `least`."""
    counts = values.abs() > least
    return torch.where(counts, 1 / torch.where(counts, values, 1.0), 0.0)


def _linalg_pinv(
    matrix: torch.Tensor,
    *,
    atol: torch.Tensor | None = None,
    rtol: torch.Tensor | None = None,
    hermitian: bool = False,
) -> Any:
    if matrix.is_complex():
        return NotImplemented
    if 0 in matrix.shape:
        return matrix.mT.clone()
    absolute = torch.zeros((), dtype=_F64) if atol is None else atol.to(_F64)
    if rtol is None:
        relative = torch.full((), _default_tolerance(matrix), dtype=_F64)
        relative = torch.where(absolute > 0, 0.0, relative)
    else:
        relative = rtol.to(_F64)

    def least(greatest: torch.Tensor) -> torch.Tensor:
        return torch.maximum(absolute.unsqueeze(-1), relative.unsqueeze(-1) * greatest)

    if hermitian:
        values, vectors = _eigh(matrix, upper=False, with_vectors=True)
        scales = _reciprocal(values, least(values.abs().amax(-1, keepdim=True)))
        return ((vectors.mT * scales.unsqueeze(-2)) @ vectors).to(matrix.dtype)
    lying, stands = _lying(matrix)
    turned = _orthogonalized(lying)
    inverse = _inverse(turned, _reciprocal(turned.lengths, least(turned.lengths[..., :1])))
    return (inverse.mT if stands else inverse).to(matrix.dtype)


def _inverse(turned: _Turned, reciprocals: torch.Tensor) -> torch.Tensor:
    """The pseudoinverse of what was turned."""
    scales = reciprocals.unsqueeze(-1)
    return (turned.rows * (scales * turned.scale)).mT @ (turned.turn * scales)


def _default_tolerance(matrix: torch.Tensor) -> float:
    return torch.finfo(matrix.dtype).eps * max(matrix.shape[-2:])


def _as_triangle(
    matrix: torch.Tensor, sides: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What has the same solutions of least squares, times the scale [..., 1, 1]: R X = Q^T B.

    Where there are more rows than columns R has less of them, and the same singular values over the
    scale; others stay as they are.
    """
    rows, columns = matrix.shape[-2:]
    if rows <= columns or 0 in matrix.shape:
        return matrix, sides, torch.ones((), dtype=_F64)
    scaled, scale = _scaled(matrix)
    basis, triangle = linalg_qr(scaled)
    return triangle, basis.mT @ sides, scale


def _linalg_lstsq(
    matrix: torch.Tensor,
    right: torch.Tensor,
    rcond: float | None = None,
    *,
    driver: str | None = None,
) -> Any:
    """The X of least |A X - B|, and of those the least; what PyTorch tells beside by the driver."""
    if matrix.is_complex():
        return NotImplemented
    rows, columns = matrix.shape[-2:]
    if rows > columns and driver in ("gelss", "gelsd"):
        raise NotImplementedError(
            f"the residuals of torch.linalg.lstsq by {driver!r}, which are there if the rank is "
            "full: use driver='gelsy', which computes none, or 'gels'"
        )
    least = _default_tolerance(matrix) if rcond is None else rcond
    sides = (right.unsqueeze(-1) if is_vector(matrix, right) else right).to(_F64)
    square, turned_sides, scale = _as_triangle(matrix, sides)
    lying, stands = _lying(square)
    turned = _orthogonalized(lying)
    # By "gels", the matrix has full rank, and nothing is to be looked for.
    floor = 0.0 if driver == "gels" else least
    reciprocals = _reciprocal(turned.lengths, floor * turned.lengths[..., :1])
    inverse = _inverse(turned, reciprocals)
    inverse = inverse.mT if stands else inverse
    solution = inverse @ turned_sides / scale
    nothing = matrix.new_empty(0)
    rank, residuals, values = nothing.to(torch.int64), nothing, nothing
    if driver == "gels" and rows > columns:
        rest = matrix.to(_F64) @ solution - sides
        residuals = (rest * rest).sum(-2).to(matrix.dtype)
    if driver != "gels":
        rank = (reciprocals != 0).to(torch.int64).sum(-1)
    if driver in ("gelss", "gelsd"):
        values = turned.lengths.to(matrix.dtype)
    solution = solution.to(matrix.dtype)
    return solution.squeeze(-1) if is_vector(matrix, right) else solution, residuals, rank, values


# PyTorch asks for vectors where a gradient might be taken, as it might of all that it traces.


def _linalg_eigvalsh(matrix: torch.Tensor, UPLO: str = "L") -> Any:  # noqa: N803
    values, _ = aten._linalg_eigh(matrix, UPLO, False)
    return values


def _linalg_svdvals(matrix: torch.Tensor, *, driver: str | None = None) -> Any:
    _, values, _ = aten._linalg_svd(matrix, False, False)
    return values


RULES: Rules = {
    aten._linalg_eigh.default: _linalg_eigh,
    aten._linalg_svd.default: _linalg_svd,
    aten.linalg_eigvalsh.default: _linalg_eigvalsh,
    aten.linalg_svdvals.default: _linalg_svdvals,
    aten.linalg_lstsq.default: _linalg_lstsq,
    aten.linalg_pinv.atol_rtol_tensor: _linalg_pinv,
}
