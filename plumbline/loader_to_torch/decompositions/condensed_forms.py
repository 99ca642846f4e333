"""Matrices with the same eigenvalues, or singular values, of which less is not 0.

By Householder's reflections from the left and from the right, in panels: what those of a panel do
to the rest of a matrix is taken away by products when the panel is done, and until then from each
column as it is read (Golub and Van Loan, Matrix Computations, 8.3.1, 5.4.8 and 7.4.3; LAPACK's
hetrd, gebrd and gehrd). Where two or three diagonals remain, they are real, also of complex
matrices.
"""

from typing import NamedTuple

import torch

from plumbline.loader_to_torch.decompositions import matrices
from plumbline.loader_to_torch.decompositions.linear_algebra import reflected, reflection
from plumbline.loader_to_torch.decompositions.matrix_parts import less_product

_Results = tuple[torch.Tensor, ...]


class Reflections(NamedTuple):
    """An orthogonal matrix [..., n, n], or a unitary one, as a product of reflections."""

    vectors: torch.Tensor
    """[..., n, n], in columns, 1 where they begin: on the diagonal, or the one below it."""
    factors: torch.Tensor
    """[..., n]."""
    below: bool
    """Whether they begin below the diagonal."""

    def applied(self, target: torch.Tensor) -> torch.Tensor:
        """The matrix times another one [..., n, m]."""
        if not self.below:
            return reflected(target, self.vectors, self.factors, adjoint=False)
        # With the first row behind the others they begin on the diagonal; the last one, which has
        # no factor, begins in that row.
        moved, vectors = target.roll(-1, -2), self.vectors.roll(-1, -2)
        return reflected(moved, vectors, self.factors, adjoint=False).roll(1, -2)


def _times(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """A matrix times a vector."""
    return (left @ right.unsqueeze(-1)).squeeze(-1)


def _adjoint_times(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The adjoint of a matrix times a vector."""
    return _times(matrices.adjoint(left), right)


# -- three diagonals -------------------------------------------------------------------------------


def tridiagonal(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, Reflections]:
    """The diagonal of T, what is below it, and Q, of Q T Q^H, which is a Hermitian matrix.

    What is below the diagonal [..., n] ends with 0.
    """
    size = matrix.shape[-1]

    def panel(
        start: matrices.Number, width: int, matrix: torch.Tensor, packed: torch.Tensor
    ) -> _Results:
        whole = matrices.is_one_panel(size)

        def turn(
            step: matrices.Number,
            place: matrices.Number,
            vectors: torch.Tensor,
            products: torch.Tensor,
            matrix: torch.Tensor,
        ) -> _Results:
            # A - V W^H - W V^H is what is left of the matrix. Their columns are carried as rows.
            of_vectors, of_products = vectors, products
            vectors, products = map(matrices.transposed, (vectors, products))
            column = matrices.column(matrix, place)
            column = column - _times(vectors, matrices.conjugate(matrices.row(products, place)))
            column = column - _times(products, matrices.conjugate(matrices.row(vectors, place)))
            own = torch.real(matrices.entry(column, place)).squeeze(-1)
            vector, factor, end = reflection(column, place + 1)
            product = _times(matrix, vector)
            product = product - _times(vectors, _adjoint_times(products, vector))
            product = product - _times(products, _adjoint_times(vectors, vector))
            product = product * factor
            inner = (matrices.conjugate(product) * vector).sum(-1, keepdim=True)
            product = product - 0.5 * factor * inner * vector
            return (
                matrices.with_rows(of_vectors, step, vector.unsqueeze(-2)),
                matrices.with_rows(of_products, step, product.unsqueeze(-2)),
                own,
                end.squeeze(-1),
                factor.squeeze(-1),
            )

        nothing = torch.zeros_like(matrix[..., :width, :])
        vectors, products, *made = matrices.in_steps(
            turn, width, [nothing, nothing], [matrix], start=start, is_long=True
        )
        vectors, products = map(matrices.transposed, (vectors, products))
        made = [each.movedim(0, -1) for each in made]
        if whole:
            return matrix, vectors, *made
        lefts, rights = torch.cat([vectors, products], -1), torch.cat([products, vectors], -1)
        rest = start + width, matrix.shape[-1]
        matrix = less_product(matrix, lefts, matrices.adjoint(rights), rows=rest, columns=rest)
        return matrix, matrices.with_columns(packed, start, vectors), *made

    count = matrices.in_full_panels(size)
    start = matrices.padded(matrix, count)
    _, vectors, diagonal, below, factors = matrices.in_panels(
        panel, size, [start, torch.zeros_like(start)]
    )
    vectors = vectors[..., :size, :size]
    return diagonal, below, Reflections(vectors, factors, below=True)


# -- two diagonals ---------------------------------------------------------------------------------


def bidiagonal(
    matrix: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, Reflections, Reflections]:
    """The diagonal of B, what is right of it, and P and Q, of P B Q^H, which is a square matrix.

    What is right of the diagonal [..., n] ends with 0.
    """
    size = matrix.shape[-1]

    def panel(
        start: matrices.Number,
        width: int,
        matrix: torch.Tensor,
        lefts: torch.Tensor,
        rights: torch.Tensor,
    ) -> _Results:
        def turn(
            step: matrices.Number,
            place: matrices.Number,
            left: torch.Tensor,
            left_products: torch.Tensor,
            right_products: torch.Tensor,
            right: torch.Tensor,
            matrix: torch.Tensor,
        ) -> _Results:
            # A - U Y^H - X V^H is what is left of the matrix. Their columns are carried as rows.
            carried = [left, left_products, right_products, right]
            left, left_products, right_products, right = map(matrices.transposed, carried)

            def taken(place: matrices.Number) -> torch.Tensor:
                return matrices.conjugate(matrices.row(right, place))

            column = matrices.column(matrix, place) - _times(right_products, taken(place))
            beside = matrices.conjugate(matrices.row(left_products, place))
            vector, factor, end = reflection(column - _times(left, beside), place)
            product = _adjoint_times(matrix, vector)
            product = product - _times(left_products, _adjoint_times(left, vector))
            product = product - _times(right, _adjoint_times(right_products, vector))
            carried[0] = matrices.with_rows(carried[0], step, vector.unsqueeze(-2))
            carried[1] = matrices.with_rows(carried[1], step, (product * factor).unsqueeze(-2))
            left, left_products = map(matrices.transposed, carried[:2])
            # The row, as a column of the adjoint.
            row = matrices.conjugate(matrices.row(matrix, place))
            row = row - _times(left_products, matrices.conjugate(matrices.row(left, place)))
            row = row - _times(right, matrices.conjugate(matrices.row(right_products, place)))
            other, other_factor, other_end = reflection(row, place + 1)
            product = _times(matrix, other)
            product = product - _times(left, _adjoint_times(left_products, other))
            product = product - _times(right_products, _adjoint_times(right, other))
            product = product * other_factor
            return (
                *carried[:2],
                matrices.with_rows(carried[2], step, product.unsqueeze(-2)),
                matrices.with_rows(carried[3], step, other.unsqueeze(-2)),
                *(each.squeeze(-1) for each in (end, factor, other_end, other_factor)),
            )

        nothing = [torch.zeros_like(matrix[..., :width, :])] * 4
        made = matrices.in_steps(turn, width, nothing, [matrix], start=start, is_long=True)
        left, left_products, right_products, right = map(matrices.transposed, made[:4])
        made = [each.movedim(0, -1) for each in made[4:]]
        if matrices.is_one_panel(size):
            return matrix, left, right, *made
        both, others = torch.cat([left, right_products], -1), torch.cat([left_products, right], -1)
        rest = start + width, matrix.shape[-1]
        matrix = less_product(matrix, both, matrices.adjoint(others), rows=rest, columns=rest)
        lefts = matrices.with_columns(lefts, start, left)
        return matrix, lefts, matrices.with_columns(rights, start, right), *made

    start = matrices.padded(matrix, matrices.in_full_panels(size))
    zeros = torch.zeros_like(start)
    results = matrices.in_panels(panel, size, [start, zeros, zeros])
    lefts, rights = (vectors[..., :size, :size] for vectors in results[1:3])
    diagonal, left_factors, beside, right_factors = results[3:]
    return (
        diagonal,
        beside,
        Reflections(lefts, left_factors, below=False),
        Reflections(rights, right_factors, below=True),
    )


# -- all but what is below the diagonal and the one below it ---------------------------------------


def hessenberg(matrix: torch.Tensor) -> tuple[torch.Tensor, Reflections]:
    """H and Q of Q H Q^H, which is a square matrix; H is 0 two places below the diagonal, and on.

    Each reflection is done to the whole of the matrix.
    """
    size = matrix.shape[-1]

    def turn(_: matrices.Number, place: matrices.Number, matrix: torch.Tensor) -> _Results:
        column = matrices.column(matrix, place)
        vector, factor, _ = reflection(column, place + 1)
        # (1 - f v v^H)^H A (1 - f v v^H)
        left = matrices.conjugate(factor) * vector
        right = factor * matrices.conjugate(vector)
        products = _times(matrix, vector)
        inner = (matrices.conjugate(vector) * products).sum(-1, keepdim=True)
        others = matrices.conjugate(_adjoint_times(matrix, vector))
        turned = matrix - matrices.outer(left, others - inner * right)
        return turned - matrices.outer(products, right), vector, factor.squeeze(-1)

    matrix, vectors, factors = matrices.in_steps(turn, size, [matrix], is_long=True)
    numbers = matrices.numbers(size)
    is_kept = numbers.unsqueeze(-1) <= numbers + 1
    return (
        torch.where(is_kept, matrix, 0.0),
        Reflections(vectors.movedim(0, -1), factors.movedim(0, -1), below=True),
    )
