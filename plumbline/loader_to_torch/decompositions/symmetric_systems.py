"""Symmetric or Hermitian matrices that need not be definite, as L D L^T, and what they solve.

By Bunch's and Kaufman's pivots (Mathematics of Computation 31, 1977), as LAPACK's sytf2, hetf2 and
sytrs do it: blocks of D have one row, or two where one would let entries grow. Which, values tell:
each step does both, and takes what holds. Hermitian ones are L D L^H.
"""

import math
from typing import Any, NamedTuple

import torch

from plumbline.loader_to_torch.decompositions import linear_algebra, matrices
from plumbline.loader_to_torch.decompositions.loops import contiguous
from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten

_Results = tuple[torch.Tensor, ...]

# With it, two steps of one row let entries grow no more than one step of two.
_ALPHA = (1 + math.sqrt(17)) / 8


def _swap_both(matrix: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """Rows and columns in another order."""
    rows = matrices.rows_taken(matrix, order)
    return matrices.transposed(matrices.rows_taken(matrices.transposed(rows), order))


def _entry(vector: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    return vector.gather(-1, place.unsqueeze(-1)).squeeze(-1)


def _diagonal_entry(matrix: torch.Tensor, place: matrices.Number) -> torch.Tensor:
    return matrices.entry(torch.diagonal(matrix, 0, -2, -1), place).squeeze(-1)


def _before(step: matrices.Number) -> matrices.Number:
    """The place before; of the first one its own."""
    return torch.clamp(step - 1, min=0) if isinstance(step, torch.Tensor) else max(step - 1, 0)


def _column_after(matrix: torch.Tensor, step: matrices.Number) -> torch.Tensor:
    """The column after one; 0 of the last."""
    chosen = matrices.numbers(matrix.shape[-1]) == step + 1
    return torch.where(chosen, matrix, 0.0).sum(-1)


def _divided(dividend: torch.Tensor, divisor: torch.Tensor) -> torch.Tensor:
    """A quotient, or nothing in particular where there is none: it is not taken then."""
    return dividend / torch.where(divisor == 0, 1.0, divisor)


def _ldl_factor_ex(
    matrix: torch.Tensor, *, hermitian: bool = False, check_errors: bool = False
) -> Any:
    """D, below it L; the rows that were swapped, counted from 1, below 0 for two; which D is 0."""
    size, batch = matrix.shape[-1], matrix.shape[:-2]
    pivots = torch.zeros((*batch, size), dtype=torch.int64)
    info = torch.zeros(batch, dtype=torch.int64)
    if 0 in matrix.shape:
        return matrix.clone(), pivots.to(torch.int32), info.to(torch.int32)

    def adjoint(numbers: torch.Tensor) -> torch.Tensor:
        return matrices.conjugate(numbers) if hermitian else numbers

    def turn(
        step: matrices.Number,
        _: matrices.Number,
        rest: torch.Tensor,
        done: torch.Tensor,
        pivots: torch.Tensor,
        info: torch.Tensor,
        second: torch.Tensor,
    ) -> _Results:
        numbers = matrices.numbers(rest.shape[-1])
        below = numbers > step
        sizes = linear_algebra.pivot_size(matrices.column(rest, step))
        own = matrices.entry(sizes, step).squeeze(-1)
        sizes = torch.where(below, sizes, -1.0)
        highest, most = sizes.argmax(-1), torch.clamp(sizes.amax(-1), min=0)
        row = matrices.rows_taken(rest, highest.unsqueeze(-1)).squeeze(-2)
        across = torch.where(
            (numbers >= step) & (numbers != highest.unsqueeze(-1)),
            linear_algebra.pivot_size(row),
            0.0,
        ).amax(-1)
        other = linear_algebra.pivot_size(_entry(torch.diagonal(rest, 0, -2, -1), highest))
        stays = (own >= _ALPHA * most) | (own * across >= _ALPHA * most * most)
        moves = ~stays & (other >= _ALPHA * across)
        two = ~stays & ~moves & ~second & below.any()
        zero = ~second & (torch.maximum(own, most) == 0)
        info = torch.where(zero & (info == 0), step + 1, info)
        pivot = torch.where(stays, step, highest)
        # A block of two has the pivot in its second row.
        size = rest.shape[-1]
        by_one = matrices.swapped(size, step, torch.where(two | second, step, pivot))
        by_two = matrices.swapped(size, step + 1, pivot)
        rest = _swap_both(rest, torch.where(two.unsqueeze(-1), by_two, by_one))
        column = matrices.column(rest, step)
        scaled = torch.where(below, _divided(column, matrices.entry(column, step)), 0.0)
        after_one = rest - matrices.outer(scaled, torch.where(below, adjoint(column), 0.0))
        kept = torch.where(numbers == step, column, scaled)
        kept = torch.where(zero.unsqueeze(-1), torch.where(numbers >= step, column, 0.0), kept)
        after_two, first, next_ = two_rows(rest, step)
        after = torch.where(two[..., None, None], after_two, after_one)
        kept = torch.where(two.unsqueeze(-1), first, kept)
        rest = torch.where((second | zero)[..., None, None], rest, after)
        held = matrices.column(done, step)
        done = matrices.with_column(done, step, torch.where(second.unsqueeze(-1), held, kept))
        is_next = (numbers == step + 1) & two.unsqueeze(-1)
        done = torch.where(is_next.unsqueeze(-2), next_.unsqueeze(-1), done)
        number = torch.where(two, -pivot - 1, pivot + 1)
        takes = ((numbers == step) & ~second.unsqueeze(-1)) | is_next
        pivots = torch.where(takes, number.unsqueeze(-1), pivots)
        return contiguous(rest), contiguous(done), pivots, info, two

    def two_rows(rest: torch.Tensor, step: matrices.Number) -> _Results:
        """What remains after a block of two, and its two columns."""
        numbers = matrices.numbers(rest.shape[-1])
        below = numbers > step + 1
        first, next_ = matrices.column(rest, step), _column_after(rest, step)
        beside = torch.where(numbers == step + 1, first, 0.0).sum(-1)
        lower = torch.where(numbers == step + 1, next_, 0.0).sum(-1)
        block = _Block(_diagonal_entry(rest, step), beside, adjoint(beside), lower)
        left, right = (torch.where(below, part, 0.0) for part in block.solved(first, next_))
        after = rest - matrices.outer(first, adjoint(left)) - matrices.outer(next_, adjoint(right))
        # The block itself is what it was.
        first = torch.where(below, left, torch.where(numbers >= step, first, 0.0))
        return after, first, torch.where(below, right, torch.where(numbers > step, next_, 0.0))

    lower = matrix.tril()
    if hermitian and matrix.is_complex():
        diagonal = torch.real(torch.diagonal(matrix, 0, -2, -1)).to(matrix.dtype)
        lower = matrix.tril(-1) + torch.diag_embed(diagonal)
    # What is still to be factored is kept whole, of which `done` takes columns.
    rest = lower + adjoint(matrices.transposed(lower.tril(-1)))
    # The last says whether the step before has done this one's column too.
    start = [rest, torch.zeros_like(rest), pivots, info, torch.zeros(batch, dtype=torch.bool)]
    _, done, pivots, info, _ = matrices.in_steps(turn, size, start, is_long=True)
    if check_errors:
        linear_algebra.assert_none(info, "linalg.ldl_factor: a block of D is 0")
    return done, pivots.to(torch.int32), info.to(torch.int32)


class _Block(NamedTuple):
    """A block of two rows and columns, of which `above` and `below` are not 0."""

    upper: torch.Tensor
    above: torch.Tensor
    below: torch.Tensor
    lower: torch.Tensor

    def solved(
        self, first: torch.Tensor, second: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What x and y are in [[upper, above], [below, lower]] (x, y) = (first, second).

        Over what is beside the diagonal, the greatest of a block of two, so that nothing overflows.
        """
        upper, above, below, lower = (part.unsqueeze(-1) for part in self)
        high, low = _divided(upper, above), _divided(lower, below)
        determinant = high * low - 1
        first, second = _divided(first, above), _divided(second, below)
        return (
            _divided(low * first - second, determinant),
            _divided(high * second - first, determinant),
        )


def _ldl_factor(matrix: torch.Tensor, *, hermitian: bool = False) -> Any:
    factors, pivots, _ = _ldl_factor_ex(matrix, hermitian=hermitian, check_errors=True)
    return factors, pivots


def _ldl_solve(
    factors: torch.Tensor, pivots: torch.Tensor, right: torch.Tensor, *, hermitian: bool = False
) -> Any:
    """X of A X = B, given the factors of A."""
    size = factors.shape[-1]
    batch = linear_algebra.common_batch(factors, right)
    if size == 0:
        return right.expand(*batch, *right.shape[-2:]).clone()
    factors, pivots = factors.expand(*batch, size, size), pivots.expand(*batch, size)
    solution = right.expand(*batch, *right.shape[-2:])
    places = pivots.to(torch.int64).abs() - 1

    def adjoint(numbers: torch.Tensor) -> torch.Tensor:
        return matrices.conjugate(numbers) if hermitian else numbers

    def column_below(
        step: matrices.Number, two: torch.Tensor, factors: torch.Tensor
    ) -> torch.Tensor:
        numbers = matrices.numbers(factors.shape[-1])
        below = (numbers > step) & ~(two.unsqueeze(-1) & (numbers == step + 1))
        return torch.where(below, matrices.column(factors, step), 0.0)

    def down(
        step: matrices.Number,
        _: matrices.Number,
        solution: torch.Tensor,
        ends: torch.Tensor,
        factors: torch.Tensor,
        places: torch.Tensor,
        negative: torch.Tensor,
    ) -> _Results:
        """By L and D; tells whether a block of two begins."""
        two = matrices.entry(negative, step).squeeze(-1) & ~ends
        # Of a block of two, all is done with its second row.
        solution = _rows_swapped(solution, places, step, two, ends)
        row = matrices.row(solution, step)
        solution = solution - matrices.outer(column_below(step, two, factors), row)
        own = _diagonal_entry(factors, step)
        one = torch.where((two | ends).unsqueeze(-1), row, _divided(row, own.unsqueeze(-1)))
        before = _before(step)
        held = matrices.row(solution, before)
        beside = matrices.entry(matrices.row(factors, step), before).squeeze(-1)
        block = _Block(_diagonal_entry(factors, before), adjoint(beside), beside, own)
        upper, lower = block.solved(held, row)
        is_block = ends.unsqueeze(-1)
        solution = matrices.with_row(solution, before, torch.where(is_block, upper, held))
        solution = matrices.with_row(solution, step, torch.where(is_block, lower, one))
        return solution, two, two.clone()

    def up(
        step: matrices.Number,
        _: matrices.Number,
        solution: torch.Tensor,
        factors: torch.Tensor,
        places: torch.Tensor,
        begins: torch.Tensor,
    ) -> _Results:
        """By the adjoint of L."""
        two = matrices.entry(begins, step).squeeze(-1)
        ends = matrices.entry(begins, _before(step)).squeeze(-1) & (step > 0)
        column = adjoint(column_below(step, two, factors))
        products = (column.unsqueeze(-1) * solution).sum(-2)
        solution = matrices.with_row(solution, step, matrices.row(solution, step) - products)
        return (_rows_swapped(solution, places, step, two, ends),)

    start = [solution, torch.zeros(batch, dtype=torch.bool)]
    given = [factors, places, pivots < 0]
    solution, _, begins = matrices.in_steps(down, size, start, given, is_long=True)
    given = [factors, places, begins.movedim(0, -1)]
    (solution,) = matrices.in_steps(up, size, [solution], given, backwards=True, is_long=True)
    return solution


def _rows_swapped(
    solution: torch.Tensor,
    places: torch.Tensor,
    step: matrices.Number,
    two: torch.Tensor,
    ends: torch.Tensor,
) -> torch.Tensor:
    """Rows swapped as the step did it: its own, or of a block of two, which it begins, the other.

    Where it ends a block nothing is to be swapped.
    """
    size = solution.shape[-2]
    place = matrices.entry(places, step).squeeze(-1)
    own = matrices.swapped(size, step, torch.where(two | ends, step, place))
    other = matrices.swapped(size, step + 1, place)
    return matrices.rows_taken(solution, torch.where(two.unsqueeze(-1), other, own))


RULES: Rules = {
    aten.linalg_ldl_factor.default: _ldl_factor,
    aten.linalg_ldl_factor_ex.default: _ldl_factor_ex,
    aten.linalg_ldl_solve.default: _ldl_solve,
}
