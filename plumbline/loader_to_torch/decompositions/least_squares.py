"""Solutions of equations that have none, or many: those that come nearest, and of these the least.

Reflections make a square system of any, T Z = Y of a triangle T. Of full rank it is solved as it
is; the singular values of T are looked for where it may have none, or PyTorch tells them. Those of
small matrices are found as fast as anything.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch._higher_order_ops.cond import cond_op
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.nn.functional import pad

from plumbline.loader_to_torch.decompositions import linear_algebra, matrices
from plumbline.loader_to_torch.decompositions.eigenvalues import (
    default_tolerance,
    is_small,
    reciprocal,
    svd,
)
from plumbline.loader_to_torch.decompositions.linear_algebra import is_vector
from plumbline.loader_to_torch.decompositions.loops import contiguous
from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten


class _Solution(NamedTuple):
    """In double precision."""

    solution: torch.Tensor
    """[..., n, k]"""
    rank: torch.Tensor
    """[...]; of "gels", which takes it for full, anything."""
    values: torch.Tensor
    """Singular values [..., min(m, n)], falling; of "gels" and "gelsy" anything."""


def _solution(
    matrix: torch.Tensor, sides: torch.Tensor, least: float, driver: str | None
) -> _Solution:
    """Of a matrix [..., m, n] and right sides [..., m, k], in double precision."""
    rows, columns = matrix.shape[-2:]
    batch = linear_algebra.common_batch(matrix, sides)
    sides = sides.expand(*batch, *sides.shape[-2:])
    is_tall = statically_known_true(rows >= columns)
    if (
        driver in ("gelss", "gelsd")
        or 0 in (*matrix.shape, *sides.shape)
        or batch != matrix.shape[:-2]
        or not (is_tall or statically_known_true(rows < columns))
    ):
        return _by_values(matrix, sides, least)
    scaled, scale = matrices.scaled(matrix)
    size = columns if is_tall else rows
    tall = scaled if is_tall else matrices.adjoint(scaled)
    if driver != "gels" and is_small(tall[..., :size, :]):
        return _by_values(matrix, sides, least)
    packed, factors = linear_algebra.geqrf(tall)
    triangle = packed[..., :size, :].triu()
    if is_tall:
        turned = linear_algebra.reflected(sides, packed, factors, adjoint=True)[..., :size, :]
        solved, rank = _of_triangle(triangle, turned, least, driver, upper=True)
    else:
        turned = matrices.adjoint(triangle).contiguous()
        solved, rank = _of_triangle(turned, sides, least, driver, upper=False)
        longer = pad(solved, (0, 0, 0, columns - rows))
        solved = linear_algebra.reflected(longer, packed, factors, adjoint=False)
    return _Solution(solved / scale, rank, rank)


def _by_values(matrix: torch.Tensor, sides: torch.Tensor, least: float) -> _Solution:
    """By the singular values that are more than `least` times the greatest."""
    left, values, right = svd(matrix)
    reciprocals = reciprocal(values, least * values[..., :1])
    solution = right @ (reciprocals.unsqueeze(-1) * (matrices.adjoint(left) @ sides))
    return _Solution(solution, (reciprocals != 0).to(torch.int64).sum(-1), values)


def _of_triangle(
    triangle: torch.Tensor, sides: torch.Tensor, least: float, driver: str | None, *, upper: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The solution, and the rank."""
    size = triangle.shape[-1]

    def of_full_rank(triangle: torch.Tensor, sides: torch.Tensor) -> tuple[torch.Tensor, ...]:
        solved = aten.linalg_solve_triangular(triangle, sides, upper=upper)
        return contiguous(solved), torch.full(triangle.shape[:-2], size)

    def of_any_rank(triangle: torch.Tensor, sides: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = _by_values(triangle, sides, least)
        return contiguous(found.solution), contiguous(found.rank)

    if driver == "gels":
        solved, rank = of_full_rank(triangle, sides)
        return solved, rank
    unit = matrices.unit(size, size, triangle.dtype).expand(triangle.shape)
    inverse = aten.linalg_solve_triangular(triangle, unit, upper=upper)
    # No less than the quotient of the greatest and the least singular value; of NaN nothing is.
    condition = _norm(triangle) * _norm(inverse)
    is_full = (condition * least < 1).all()
    solved, rank = cond_op(is_full, of_full_rank, of_any_rank, (triangle, contiguous(sides)))
    return solved, rank


def _norm(matrix: torch.Tensor) -> torch.Tensor:
    return matrices.length(matrix.flatten(-2))


def _linalg_lstsq(
    matrix: torch.Tensor,
    right: torch.Tensor,
    rcond: float | None = None,
    *,
    driver: str | None = None,
    solve: Callable[[torch.Tensor, torch.Tensor, float, str | None], _Solution] = _solution,
) -> Any:
    """The X of least |A X - B|, and of those the least; what PyTorch tells beside by the driver."""
    rows, columns = matrix.shape[-2:]
    if driver in ("gelss", "gelsd") and rows > columns:
        raise NotImplementedError(
            f"the residuals of torch.linalg.lstsq by {driver!r}, which are there if the rank is "
            "full: use driver='gelsy', which computes none, or 'gels'"
        )
    least = default_tolerance(matrix) if rcond is None else rcond
    sides = matrices.wide(right.unsqueeze(-1) if is_vector(matrix, right) else right)
    # By "gels", the matrix has full rank, and nothing is to be looked for.
    solution, rank, values = solve(
        matrices.wide(matrix), sides, 0.0 if driver == "gels" else least, driver
    )
    nothing = matrix.new_empty(0)
    residuals, told = nothing.real, nothing.real
    if driver == "gels" and rows > columns:
        rest = matrices.wide(matrix) @ solution - sides
        squares = torch.real(matrices.conjugate(rest) * rest)
        residuals = squares.sum(-2).to(matrix.dtype.to_real())
    if driver == "gels":
        rank = nothing.real.to(torch.int64)
    if driver in ("gelss", "gelsd"):
        told = values.to(matrix.dtype.to_real())
    solution = solution.to(matrix.dtype)
    return solution.squeeze(-1) if is_vector(matrix, right) else solution, residuals, rank, told


def _any_solution(
    matrix: torch.Tensor, sides: torch.Tensor, least: float, driver: str | None
) -> _Solution:
    """What `_solution` gives, with any numbers in it."""
    del least, driver
    rows, columns = matrix.shape[-2:]
    batch = linear_algebra.common_batch(matrix, sides)
    return _Solution(
        matrix.new_empty(*batch, columns, sides.shape[-1]),
        matrix.new_empty(matrix.shape[:-2], dtype=torch.int64),
        torch.real(matrix).new_empty(*matrix.shape[:-2], matrices.lesser(rows, columns)),
    )


sizes_of_lstsq = functools.partial(_linalg_lstsq, solve=_any_solution)
"""What `linalg_lstsq` gives, with any numbers in it: for who asks for its sizes alone."""


RULES: Rules = {aten.linalg_lstsq.default: _linalg_lstsq}
