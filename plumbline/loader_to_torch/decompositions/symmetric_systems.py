"""Symmetric matrices that need not be definite, as L D L^T, and what is solved by that.

By Bunch's and Kaufman's pivots (Mathematics of Computation 31, 1977), as LAPACK's sytf2 and sytrs
do it: blocks of D have one row, or two where one would let entries grow. Which, values tell: each
step does both, and takes what holds.
"""

import math
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions import linear_algebra, matrices
from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten

# With it, two steps of one row let entries grow no more than one step of two.
_ALPHA = (1 + math.sqrt(17)) / 8


def _swap_both(matrix: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """Rows and columns in another order."""
    rows = matrices.rows_taken(matrix, order)
    return matrices.transposed(matrices.rows_taken(matrices.transposed(rows), order))


def _entry(vector: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    return vector.gather(-1, place.unsqueeze(-1)).squeeze(-1)


def _divided(dividend: torch.Tensor, divisor: torch.Tensor) -> torch.Tensor:
    """A quotient, or nothing in particular where there is none: it is not taken then."""
    return dividend / torch.where(divisor == 0, 1.0, divisor)


def _ldl_factor_ex(
    matrix: torch.Tensor, *, hermitian: bool = False, check_errors: bool = False
) -> Any:
    """D, below it L; the rows that were swapped, counted from 1, below 0 for two; which D is 0."""
    if matrix.is_complex():
        return NotImplemented
    size, batch = matrix.shape[-1], matrix.shape[:-2]
    numbers = matrices.numbers(size)
    lower = matrix.tril()
    # What is still to be factored is kept whole, of which `done` takes columns.
    rest = lower + matrices.transposed(lower.tril(-1))
    done = torch.zeros_like(rest)
    pivots = torch.zeros((*batch, size), dtype=torch.int64)
    info = torch.zeros(batch, dtype=torch.int64)
    # Whether the step before has done this one's column too.
    second = torch.zeros(batch, dtype=torch.bool)
    for step in range(size):
        is_last = step + 1 == size
        below = numbers > step
        sizes = torch.where(below, matrices.column(rest, step).abs(), -1.0)
        highest, most = sizes.argmax(-1), torch.clamp(sizes.amax(-1), min=0)
        own = rest[..., step, step].abs()
        across = torch.where(
            (numbers >= step) & (numbers != highest.unsqueeze(-1)),
            matrices.rows_taken(rest, highest.unsqueeze(-1)).squeeze(-2).abs(),
            0.0,
        ).amax(-1)
        other = _entry(torch.diagonal(rest, 0, -2, -1), highest).abs()
        stays = (own >= _ALPHA * most) | (own * across >= _ALPHA * most * most)
        moves = ~stays & (other >= _ALPHA * across)
        two = ~stays & ~moves & ~second if not is_last else torch.zeros_like(second)
        zero = ~second & (torch.maximum(own, most) == 0)
        info = torch.where(zero & (info == 0), step + 1, info)
        pivot = torch.where(stays, step, highest)
        # A block of two has the pivot in its second row.
        by_one = matrices.swapped(size, step, torch.where(two | second, step, pivot))
        order = by_one
        if not is_last:
            order = torch.where(two.unsqueeze(-1), matrices.swapped(size, step + 1, pivot), by_one)
        rest = _swap_both(rest, order)
        column = matrices.column(rest, step)
        scaled = torch.where(below, _divided(column, column[..., step].unsqueeze(-1)), 0.0)
        after_one = rest - matrices.outer(scaled, torch.where(below, column, 0.0))
        kept = torch.where(numbers == step, column, scaled)
        kept = torch.where(zero.unsqueeze(-1), torch.where(numbers >= step, column, 0.0), kept)
        if is_last:
            after, first, next_ = after_one, kept, None
        else:
            after_two, first_of_two, next_ = _two_rows(rest, step)
            after = torch.where(two[..., None, None], after_two, after_one)
            first = torch.where(two.unsqueeze(-1), first_of_two, kept)
        is_done = second | zero
        rest = torch.where(is_done[..., None, None], rest, after)
        held = matrices.column(done, step)
        done = matrices.with_column(done, step, torch.where(second.unsqueeze(-1), held, first))
        number = torch.where(two, -pivot - 1, pivot + 1)
        takes = (numbers == step) & ~second.unsqueeze(-1)
        takes = takes | ((numbers == step + 1) & two.unsqueeze(-1))
        pivots = torch.where(takes, number.unsqueeze(-1), pivots)
        if next_ is not None:
            held = matrices.column(done, step + 1)
            done = matrices.with_column(done, step + 1, torch.where(two.unsqueeze(-1), next_, held))
        second = two
    if check_errors:
        linear_algebra.assert_none(info, "linalg.ldl_factor: a block of D is 0")
    return done, pivots.to(torch.int32), info.to(torch.int32)


def _two_rows(rest: torch.Tensor, step: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What remains after a block of two, and its two columns."""
    numbers = matrices.numbers(rest.shape[-1])
    below = numbers > step + 1
    first, next_ = matrices.column(rest, step), matrices.column(rest, step + 1)
    left, right = _solved(
        rest[..., step, step],
        rest[..., step + 1, step],
        rest[..., step + 1, step + 1],
        first,
        next_,
    )
    left, right = (torch.where(below, part, 0.0) for part in (left, right))
    after = rest - matrices.outer(first, left) - matrices.outer(next_, right)
    # The block itself is what it was.
    first = torch.where(below, left, torch.where(numbers >= step, first, 0.0))
    return after, first, torch.where(below, right, torch.where(numbers > step, next_, 0.0))


def _solved(
    upper: torch.Tensor,
    beside: torch.Tensor,
    lower: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What x and y are in [[upper, beside], [beside, lower]] (x, y) = (first, second).

    Over what is beside, which is the greatest of a block of two, so that nothing overflows.
    """
    upper, beside, lower = (part.unsqueeze(-1) for part in (upper, beside, lower))
    high, low = _divided(upper, beside), _divided(lower, beside)
    determinant = high * low - 1
    first, second = _divided(first, beside), _divided(second, beside)
    return (
        _divided(low * first - second, determinant),
        _divided(high * second - first, determinant),
    )


def _ldl_factor(matrix: torch.Tensor, *, hermitian: bool = False) -> Any:
    if matrix.is_complex():
        return NotImplemented
    factors, pivots, _ = _ldl_factor_ex(matrix, hermitian=hermitian, check_errors=True)
    return factors, pivots


def _ldl_solve(
    factors: torch.Tensor, pivots: torch.Tensor, right: torch.Tensor, *, hermitian: bool = False
) -> Any:
    """X of A X = B, given the factors of A."""
    if factors.is_complex():
        return NotImplemented
    size = factors.shape[-1]
    batch = linear_algebra.common_batch(factors, right)
    factors, pivots = factors.expand(*batch, size, size), pivots.expand(*batch, size)
    solution = right.expand(*batch, *right.shape[-2:])
    numbers = matrices.numbers(size)
    places = pivots.to(torch.int64).abs() - 1
    begins = _first_of_two(pivots)
    for step in range(size):
        two = begins[step]
        # Of a block of two, all is done with its second row.
        ends = begins[step - 1] if step else torch.zeros_like(two)
        solution = _rows_swapped(solution, places, step, two, ends)
        below = (numbers > step) & ~(two.unsqueeze(-1) & (numbers == step + 1))
        column = torch.where(below, matrices.column(factors, step), 0.0)
        row = matrices.row(solution, step)
        solution = solution - matrices.outer(column, row)
        one = _divided(row, factors[..., step, step].unsqueeze(-1))
        alone = ~two & ~ends
        solution = matrices.with_row(
            solution, step, torch.where(alone.unsqueeze(-1), one, matrices.row(solution, step))
        )
        if step:
            upper, lower = _solved(
                factors[..., step - 1, step - 1],
                factors[..., step, step - 1],
                factors[..., step, step],
                matrices.row(solution, step - 1),
                matrices.row(solution, step),
            )
            for place, part in ((step - 1, upper), (step, lower)):
                kept = matrices.row(solution, place)
                solution = matrices.with_row(
                    solution, place, torch.where(ends.unsqueeze(-1), part, kept)
                )
    for step in reversed(range(size)):
        two = begins[step]
        ends = begins[step - 1] if step else torch.zeros_like(two)
        below = (numbers > step) & ~(two.unsqueeze(-1) & (numbers == step + 1))
        column = torch.where(below, matrices.column(factors, step), 0.0)
        products = (column.unsqueeze(-1) * solution).sum(-2)
        solution = matrices.with_row(solution, step, matrices.row(solution, step) - products)
        solution = _rows_swapped(solution, places, step, two, ends)
    return solution


def _rows_swapped(
    solution: torch.Tensor,
    places: torch.Tensor,
    step: int,
    two: torch.Tensor,
    ends: torch.Tensor,
) -> torch.Tensor:
    """Rows swapped as the step did it: its own, or of a block of two, which it begins, the other.

    Where it ends a block nothing is to be swapped.
    """
    size = solution.shape[-2]
    own = torch.where(two | ends, step, places[..., step])
    solution = matrices.rows_taken(solution, matrices.swapped(size, step, own))
    if step + 1 == size:
        return solution
    other = torch.where(two, places[..., step], step + 1)
    return matrices.rows_taken(solution, matrices.swapped(size, step + 1, other))


def _first_of_two(pivots: torch.Tensor) -> list[torch.Tensor]:
    """For each row, whether a block of two begins with it."""
    first: list[torch.Tensor] = []
    for step in range(pivots.shape[-1]):
        negative = pivots[..., step] < 0
        first.append(negative & ~first[-1] if first else negative)
    return first


RULES: Rules = {
    aten.linalg_ldl_factor.default: _ldl_factor,
    aten.linalg_ldl_factor_ex.default: _ldl_factor_ex,
    aten.linalg_ldl_solve.default: _ldl_solve,
}
