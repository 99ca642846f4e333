"""Eigenvalues of Hermitian matrices, singular values, and what is computed by them.

Matrices become tridiagonal or bidiagonal ones by reflections, and these diagonal ones by sweeps of
rotations, in float64; small real ones do by rotations alone. They are loops, whatever the size.
Eigenvectors and singular vectors are unique up to their signs at best, and those are not LAPACK's.
"""

from typing import Any, NamedTuple

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.nn.functional import pad

from plumbline.loader_to_torch.decompositions import linear_algebra, matrices
from plumbline.loader_to_torch.decompositions.condensed_forms import bidiagonal, tridiagonal
from plumbline.loader_to_torch.decompositions.leading_rows import unit_rows
from plumbline.loader_to_torch.decompositions.rotations import (
    MOST_ROWS,
    eigenvalues_by_rotations,
    singular_values_by_rotations,
)
from plumbline.loader_to_torch.decompositions.rule import Rules
from plumbline.loader_to_torch.decompositions.sweeps import (
    eigenvalues_of_tridiagonal,
    singular_values_of_bidiagonal,
)

aten = torch.ops.aten

_F64 = torch.float64


def is_small(matrix: torch.Tensor) -> bool:
    """Whether a square matrix is one for rotations alone."""
    return not matrix.is_complex() and statically_known_true(matrix.shape[-1] <= MOST_ROWS)


def _columns_in_order(columns: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    return columns.gather(-1, order.unsqueeze(-2).expand(columns.shape))


# -- eigenvalues -----------------------------------------------------------------------------------


def _linalg_eigh(matrix: torch.Tensor, UPLO: str = "L", compute_v: bool = True) -> Any:  # noqa: N803
    """The eigenvalues, rising, and in columns the eigenvectors, of one triangle of the matrix."""
    values, vectors = _eigh(matrix, upper=UPLO.upper() == "U", with_vectors=compute_v)
    vectors = vectors.to(matrix.dtype) if compute_v else matrix.new_empty(0)
    return values.to(matrix.dtype.to_real()), vectors


def _eigh(
    matrix: torch.Tensor, *, upper: bool, with_vectors: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The eigenvalues, rising, and in columns the eigenvectors or anything, in float64."""
    if 0 in matrix.shape:
        wide = matrices.wide(matrix)
        return torch.real(wide).sum(-1), wide
    triangle = matrices.adjoint(matrix.triu()) if upper else matrix.tril()
    scaled, scale = matrices.scaled(triangle)
    below = scaled.tril(-1)
    diagonal = torch.diag_embed(torch.real(torch.diagonal(scaled, 0, -2, -1)))
    hermitian = below + matrices.adjoint(below) + diagonal
    if is_small(hermitian):
        values, *found = eigenvalues_by_rotations(hermitian, with_vectors=with_vectors)
        values, order = (values * scale.squeeze(-1)).sort(-1)
        return values, _columns_in_order(found[0], order) if with_vectors else matrix
    diagonal, below, turn = tridiagonal(hermitian)
    unit = [unit_rows(matrix.shape[-1], matrix.shape[:-2])] if with_vectors else []
    values, *rows = eigenvalues_of_tridiagonal(diagonal.movedim(-1, 0), below.movedim(-1, 0), *unit)
    values, order = (values.movedim(0, -1) * scale.squeeze(-1)).sort(-1)
    if not with_vectors:
        return values, matrix
    columns = _columns_in_order(rows[0].movedim(0, -1), order)
    return values, turn.applied(columns.to(scaled.dtype))


# -- singular values -------------------------------------------------------------------------------


class Svd(NamedTuple):
    """U, S and V of U S V^H, in double precision."""

    left: torch.Tensor
    """[..., m, k], or [..., m, m]."""
    values: torch.Tensor
    """[..., k], falling."""
    right: torch.Tensor
    """[..., n, k], or [..., n, n]."""


def svd(matrix: torch.Tensor, *, with_vectors: bool = True, complete: bool = False) -> Svd:
    """All of a matrix; without vectors they are anything, and `complete` if they are all."""
    rows, columns = matrix.shape[-2:]
    if statically_known_true(rows < columns):
        left, values, right = svd(
            matrices.adjoint(matrix), with_vectors=with_vectors, complete=complete
        )
        return Svd(right, values, left)
    if 0 in matrix.shape:
        wide = matrices.wide(matrix)
        unit = unit_rows(rows, matrix.shape[:-2]).movedim(0, -2).to(wide.dtype)
        left = unit if complete else unit[..., :columns]
        return Svd(left, torch.real(wide).sum(-2), unit[..., :columns, :columns])
    scaled, scale = matrices.scaled(matrix)
    if statically_known_true(rows == columns):
        left, values, right = _of_square(scaled, with_vectors=with_vectors)
        return Svd(left, values * scale.squeeze(-1), right)
    # Where it is not known which number is less, there is a triangle on both sides.
    stands = statically_known_true(rows > columns)
    count = columns if stands else matrices.lesser(rows, columns)
    packed = linear_algebra.geqrf(scaled)
    triangle = packed[0][..., :count, :].triu()
    across = None if stands else linear_algebra.geqrf(matrices.adjoint(triangle))
    if across is not None:
        triangle = matrices.adjoint(across[0][..., :count, :].triu())
    left, values, right = _of_square(triangle, with_vectors=with_vectors)
    if with_vectors:
        left = _reflected(left, *packed, complete=complete)
        if across is not None:
            right = _reflected(right, *across, complete=complete)
    return Svd(left, values * scale.squeeze(-1), right)


def _reflected(
    columns: torch.Tensor, packed: torch.Tensor, factors: torch.Tensor, *, complete: bool
) -> torch.Tensor:
    """Columns of which a triangle is made as those of what it is the triangle of."""
    rows, count = packed.shape[-2], columns.shape[-1]
    more = rows - count
    columns = pad(columns, (0, more if complete else 0, 0, more))
    if complete:
        numbers = matrices.numbers(rows)
        added = (numbers.unsqueeze(-1) == numbers) & (numbers >= count)
        columns = torch.where(added, 1.0, columns)
    return linear_algebra.reflected(columns, packed, factors, adjoint=False)


def _of_square(matrix: torch.Tensor, *, with_vectors: bool) -> Svd:
    """All of a square matrix that is scaled."""
    if is_small(matrix):
        lengths, *vectors = singular_values_by_rotations(matrix, with_vectors=with_vectors)
        of_left, of_right = vectors or (matrix, matrix)
        return Svd(of_left, lengths, of_right)
    size, batch = matrix.shape[-1], matrix.shape[:-2]
    diagonal, beside, left, right = bidiagonal(matrix)
    unit = [unit_rows(size, batch)] * 2 if with_vectors else []
    values, *rows = singular_values_of_bidiagonal(
        diagonal.movedim(-1, 0), beside.movedim(-1, 0), *unit
    )
    values = values.movedim(0, -1)
    signs = torch.where(values < 0, -1.0, 1.0)
    values, order = values.abs().sort(-1, descending=True)
    if not with_vectors:
        return Svd(matrix, values, matrix)
    of_right = rows[0].movedim(0, -1) * signs.unsqueeze(-2)
    of_left = rows[1].movedim(0, -1)
    return Svd(
        left.applied(_columns_in_order(of_left, order).to(matrix.dtype)),
        values,
        right.applied(_columns_in_order(of_right, order).to(matrix.dtype)),
    )


def _linalg_svd(
    matrix: torch.Tensor,
    full_matrices: bool = False,
    compute_uv: bool = True,
    *,
    driver: str | None = None,
) -> Any:
    dtype = matrix.dtype
    left, values, right = svd(matrix, with_vectors=compute_uv, complete=full_matrices)
    values = values.to(dtype.to_real())
    if not compute_uv:
        return matrix.new_empty(0), values, matrix.new_empty(0)
    return left.to(dtype), values, matrices.adjoint(right).to(dtype)


# -- inverses of what has none ---------------------------------------------------------------------


def reciprocal(values: torch.Tensor, least: torch.Tensor) -> torch.Tensor:
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
    if 0 in matrix.shape:
        return matrix.mT.clone()
    absolute = torch.zeros((), dtype=_F64) if atol is None else atol.to(_F64)
    if rtol is None:
        relative = torch.full((), default_tolerance(matrix), dtype=_F64)
        relative = torch.where(absolute > 0, 0.0, relative)
    else:
        relative = rtol.to(_F64)

    def least(greatest: torch.Tensor) -> torch.Tensor:
        return torch.maximum(absolute.unsqueeze(-1), relative.unsqueeze(-1) * greatest)

    if hermitian:
        values, vectors = _eigh(matrix, upper=False, with_vectors=True)
        scales = reciprocal(values, least(values.abs().amax(-1, keepdim=True)))
        inverse = (vectors * scales.unsqueeze(-2)) @ matrices.adjoint(vectors)
    else:
        left, values, right = svd(matrix)
        scales = reciprocal(values, least(values[..., :1]))
        inverse = (right * scales.unsqueeze(-2)) @ matrices.adjoint(left)
    return inverse.to(matrix.dtype)


def default_tolerance(matrix: torch.Tensor) -> float:
    """What part of the greatest singular value counts for nothing."""
    return torch.finfo(matrix.dtype).eps * matrices.greater(*matrix.shape[-2:])


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
    aten.linalg_pinv.atol_rtol_tensor: _linalg_pinv,
}
