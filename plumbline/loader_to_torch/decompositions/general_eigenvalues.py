"""Eigenvalues of matrices that need not be Hermitian, and their eigenvectors, in complex128.

Matrices become Hessenberg ones by reflections, and these triangular ones by sweeps of rotations;
what the vectors of those are, substitution tells, of all at once. They are in columns, of length 1,
with a greatest entry that is real and above 0, as LAPACK has those of complex matrices.
"""

from typing import Any

import torch

from plumbline.loader_to_torch.decompositions import matrices
from plumbline.loader_to_torch.decompositions.condensed_forms import hessenberg
from plumbline.loader_to_torch.decompositions.loops import looped
from plumbline.loader_to_torch.decompositions.rule import Rules
from plumbline.loader_to_torch.decompositions.schur_form import (
    diagonal,
    quotient,
    schur_form,
)

aten = torch.ops.aten

_Results = tuple[torch.Tensor, ...]

_ROUNDING = 2.0**-53

# How far apart eigenvalues are taken to be at least, for a greatest entry of about 1.
_LEAST = 1e-130

_REAL_WITHIN = 16.0
"""Of the rounding of the greatest entry, for each row."""


def _eig(matrix: torch.Tensor, *, with_vectors: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The eigenvalues, in any order, and in columns the eigenvectors, or anything."""
    dtype = matrix.dtype.to_complex()
    if 0 in matrix.shape:
        wide = matrix.to(dtype)
        return wide.sum(-1), wide
    scaled, scale = matrices.scaled(matrix)
    condensed, turn = hessenberg(scaled)
    columns = _in_parts(condensed.movedim(-1, 0))
    triangle, *turned = schur_form(columns, with_turn=with_vectors)
    values = diagonal(triangle)
    found = torch.complex(*values.unbind(-1)).movedim(0, -1)
    if not matrix.is_complex():
        found = _real_where_next_to_it(found)
    found = (found * scale.squeeze(-1)).to(dtype)
    if not with_vectors:
        return found, matrix
    basis = torch.complex(*turned[0].unbind(-2)).movedim(0, -1)
    vectors = basis @ torch.complex(*_vectors_of_triangle(triangle).unbind(-3))
    if matrix.is_complex():
        vectors = turn.applied(vectors)
    else:
        # What is real turns both parts alike.
        parts = turn.applied(torch.cat([torch.real(vectors), torch.imag(vectors)], -1))
        size = matrix.shape[-1]
        vectors = torch.complex(parts[..., :size], parts[..., size:])
    return found, _normalized(vectors).to(dtype)


def _real_where_next_to_it(values: torch.Tensor) -> torch.Tensor:
    """Eigenvalues of a real matrix, of which rounding has made others of those that are real."""
    imaginary = torch.imag(values)
    is_real = imaginary.abs() <= _REAL_WITHIN * _ROUNDING * values.shape[-1]
    return torch.complex(torch.real(values), torch.where(is_real, 0.0, imaginary))


def _in_parts(numbers: torch.Tensor) -> torch.Tensor:
    """Numbers [..., m] as both parts [..., 2, m]."""
    one, other = numbers, torch.zeros_like(numbers)
    if numbers.is_complex():
        one, other = torch.real(numbers), torch.imag(numbers)
    return torch.stack([one, other], -2)


def _vectors_of_triangle(columns: torch.Tensor) -> torch.Tensor:
    """The eigenvectors of a triangular matrix, in columns [..., 2, n, n], of which it has some too.

    By substitution from the last row on (LAPACK's trevc), of T - t, where t is a vector's value: it
    is 1 in the row that t is in. No entry becomes greater: what would be has its vector made less.
    """
    values, rows = diagonal(columns).movedim(0, -2), columns.transpose(0, -1)

    def turn(
        place: torch.Tensor, row: torch.Tensor, known: torch.Tensor, values: torch.Tensor
    ) -> _Results:
        numbers = matrices.numbers(row.shape[-1])
        row = torch.where(numbers > place, row, 0.0)
        # [..., 2, 2, n]: of parts of what is known, and of the row.
        of_parts = row.unsqueeze(-3) @ known
        one = of_parts[..., 0, 0, :] - of_parts[..., 1, 1, :]
        other = of_parts[..., 0, 1, :] + of_parts[..., 1, 0, :]
        difference = values - values.index_select(-2, place.reshape(1))
        least = torch.clamp(_ROUNDING * values.abs().sum(-1), min=_LEAST)
        is_same = difference.abs().sum(-1) < least
        instead = torch.stack([least, torch.zeros_like(least)], -1)
        divisor = torch.where(is_same.unsqueeze(-1), instead, difference)
        found = quotient(torch.stack([one, other], -1), divisor).transpose(-2, -1)
        own = (numbers == place) & (matrices.numbers(2).unsqueeze(-1) == 0)
        found = torch.where(numbers > place, found, own.to(found.dtype))
        scale = 1 / torch.clamp(found.abs().amax(-2, keepdim=True), min=1.0)
        return (matrices.with_row(known * scale.unsqueeze(-2), place, found * scale),)

    start = torch.stack([torch.zeros_like(columns.movedim(0, -1)[..., 0, :, :])] * 2, -3)
    backwards = [matrices.numbers(columns.shape[0]).flip(0), rows.flip(0)]
    (vectors,) = looped(turn, backwards, [start], [values])
    return vectors


def _normalized(vectors: torch.Tensor) -> torch.Tensor:
    """Columns of length 1, of which the greatest entry is real."""
    one, other = torch.real(vectors), torch.imag(vectors)
    squares = one * one + other * other
    greatest = squares.argmax(-2, keepdim=True)
    length = torch.sqrt(squares.sum(-2, keepdim=True))
    size = torch.sqrt(squares.gather(-2, greatest)) * length
    cosine, sine = (each.gather(-2, greatest) / size for each in (one, other))
    is_greatest = matrices.numbers(vectors.shape[-2]).unsqueeze(-1) == greatest
    turned = torch.where(is_greatest, 0.0, other * cosine - one * sine)
    return torch.complex(one * cosine + other * sine, turned)


def _linalg_eig(matrix: torch.Tensor) -> Any:
    return _eig(matrix, with_vectors=True)


def _linalg_eigvals(matrix: torch.Tensor) -> Any:
    values, _ = _eig(matrix, with_vectors=False)
    return values


RULES: Rules = {
    aten._linalg_eigvals.default: _linalg_eigvals,
    aten.linalg_eig.default: _linalg_eig,
    aten.linalg_eigvals.default: _linalg_eigvals,
}
