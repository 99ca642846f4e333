"""Factorizations of matrices, and what is solved by them.

Each is a loop over panels of some rows or columns, and in it one over the rows or columns of a
panel; between panels, products do the work (Golub and Van Loan, Matrix Computations, chapters 3 to
5). Small matrices are one panel. What PyTorch raises an error for, a program asserts.

Numbers may be complex: where LAPACK transposes real matrices it takes the adjoint of others.
"""

import math
from collections.abc import Sequence

import torch
from torch.nn.functional import pad

from plumbline.loader_to_torch.decompositions import matrices
from plumbline.loader_to_torch.decompositions.matrix_parts import less_product
from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten

_Results = tuple[torch.Tensor, ...]


def common_batch(left: torch.Tensor, right: torch.Tensor) -> torch.Size:
    """The dimensions before those of the matrices, broadcast."""
    shape = torch.broadcast_shapes(left.shape[:-2], right.shape[:-2])  # type: ignore[no-untyped-call]
    return torch.Size(shape)


def is_vector(matrix: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether each right side of equations is one vector, which PyTorch tells by the rank."""
    return right.dim() == 1 or (
        matrix.dim() - 1 == right.dim() and right.shape == matrix.shape[:-1]
    )


def assert_none(info: torch.Tensor, message: str) -> None:
    """Has the program fail with `message` unless `info` is 0 for all matrices."""
    if 0 in info.shape:
        return
    aten._assert_async.msg((info == 0).all(), message)


def _check_errors(info: torch.Tensor, api_name: str, *, is_matrix: bool) -> None:
    """What a graph that has been traced before, or `vmap`, checks of factorizations."""
    del is_matrix  # It is told in PyTorch's message only.
    assert_none(info, f"{api_name}: a matrix is singular, or not positive-definite")


_SINGULAR = "the matrix is singular: one of its pivots is 0"
_NOT_POSITIVE = "the matrix is not positive-definite: one of its pivots is not positive"


# -- triangular systems ----------------------------------------------------------------------------


def _solve_triangular(
    matrix: torch.Tensor,
    right: torch.Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> torch.Tensor:
    """X of A X = B, or of X A = B unless `left`; of A the upper or the lower triangle counts."""
    if not left:
        turned = _solve_triangular(
            matrices.transposed(matrix),
            matrices.transposed(right),
            upper=not upper,
            unitriangular=unitriangular,
        )
        return matrices.transposed(turned)
    batch = common_batch(matrix, right)
    matrix = matrix.expand(*batch, *matrix.shape[-2:])
    right = right.expand(*batch, *right.shape[-2:])
    if matrix.shape[-1] == 0:
        return right.clone()

    def panel(
        start: matrices.Number, width: int, solution: torch.Tensor, matrix: torch.Tensor
    ) -> _Results:
        size = matrix.shape[-1]
        whole = matrices.is_one_panel(size)
        square, rows = matrix, solution
        if not whole:
            own = start, start + width
            solved = (own[1], size) if upper else (0, start)
            solution = less_product(solution, matrix, solution, rows=own, inner=solved)
            rows = matrices.rows(solution, start, width)
            square = matrices.columns(matrices.rows(matrix, start, width), start, width)
        rows = _substituted(rows, square, upper=upper, unitriangular=unitriangular)
        return (rows if whole else matrices.with_rows(solution, start, rows),)

    size = matrix.shape[-1]
    count = matrices.in_full_panels(size)
    if count != size:
        # What is added is to solve, too.
        numbers = matrices.numbers(count)
        added = (numbers.unsqueeze(-1) == numbers) & (numbers >= size)
        matrix = torch.where(added, 1.0, matrices.padded(matrix, count))
        right = pad(right, (0, 0, 0, count - size))
    (solution,) = matrices.in_panels(panel, size, [right], [matrix], backwards=upper)
    return solution[..., :size, :]


def _substituted(
    right: torch.Tensor, matrix: torch.Tensor, *, upper: bool, unitriangular: bool
) -> torch.Tensor:
    """X of A X = B by one row after the other, each of which is taken from all that follow."""

    def turn(
        step: matrices.Number, _: matrices.Number, rows: torch.Tensor, matrix: torch.Tensor
    ) -> _Results:
        numbers = matrices.numbers(matrix.shape[-1])
        row, column = matrices.row(rows, step), matrices.column(matrix, step)
        if not unitriangular:
            row = row / matrices.entry(column, step)
            rows = matrices.with_row(rows, step, row)
        factors = torch.where(numbers < step if upper else numbers > step, column, 0.0)
        return (rows - matrices.outer(factors, row),)

    count = matrix.shape[-1]
    (solution,) = matrices.in_steps(turn, count, [right], [matrix], backwards=upper)
    return solution


def _triangular_solve(
    right: torch.Tensor,
    matrix: torch.Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    used, is_upper = (matrices.transposed(matrix), not upper) if transpose else (matrix, upper)
    solution = _solve_triangular(used, right, upper=is_upper, unitriangular=unitriangular)
    return solution, matrix.expand(*solution.shape[:-2], *matrix.shape[-2:]).clone()


# -- LU --------------------------------------------------------------------------------------------


def pivot_size(numbers: torch.Tensor) -> torch.Tensor:
    """How large pivots are, as LAPACK tells it: of complex numbers the sizes of both parts."""
    if not numbers.is_complex():
        return numbers.abs()
    return torch.real(numbers).abs() + torch.imag(numbers).abs()


def _lu(
    matrix: torch.Tensor, *, pivot: bool = True
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """L below the diagonal and U from it on; the rows that were swapped; which pivot is 0.

    Rows are counted from 1; so are pivots, of which the first counts, and 0 stands for none.
    """
    steps = matrices.lesser(*matrix.shape[-2:])
    info = torch.zeros(matrix.shape[:-2], dtype=torch.int64)
    if steps == 0:
        pivots = torch.zeros((*matrix.shape[:-2], 0), dtype=torch.int32)
        return matrix.clone(), pivots, info.to(torch.int32)

    def turn(
        step: matrices.Number,
        place: matrices.Number,
        columns: torch.Tensor,
        order: torch.Tensor,
        info: torch.Tensor,
    ) -> _Results:
        """Columns are rows here, of which the elements are contiguous."""
        numbers = matrices.numbers(columns.shape[-1])
        column = matrices.row(columns, step)
        if pivot:
            # The greatest element from the diagonal on comes to the diagonal.
            best = torch.where(numbers >= place, pivot_size(column), -1.0).argmax(-1)
            columns = matrices.with_swapped(columns, place, best)
            order = matrices.with_swapped(order.unsqueeze(-2), place, best).squeeze(-2)
            column = matrices.row(columns, step)
        else:
            best = torch.zeros_like(info) + place
        diagonal = matrices.entry(column, place)
        zero = diagonal == 0
        info = torch.where((info == 0) & zero.squeeze(-1), place + 1, info)
        below = numbers > place
        # Where all are 0 nothing is to be taken away; without pivots it is divided by 0.
        divisor = torch.where(zero, 1.0, diagonal) if pivot else diagonal
        factors = torch.where(below, column / divisor, 0.0)
        later = matrices.numbers(columns.shape[-2]) > step
        row = torch.where(later, matrices.column(columns, place), 0.0)
        columns = columns - matrices.outer(row, factors)
        column = torch.where(below, factors, column)
        return matrices.with_rows(columns, step, column.unsqueeze(-2)), order, info, best + 1

    def panel(
        start: matrices.Number, width: int, matrix: torch.Tensor, info: torch.Tensor
    ) -> _Results:
        """Columns are factored, then the rows that they reach; their product is taken away."""
        whole = matrices.is_one_panel(steps)
        columns = matrix if whole else matrices.columns(matrix, start, width)
        order = matrices.numbers(matrix.shape[-2]).expand(matrix.shape[:-1])
        given = [matrices.transposed(columns), order, info]
        columns, order, info, pivots = matrices.in_steps(turn, width, given, start=start)
        columns, pivots = matrices.transposed(columns), pivots.movedim(0, -1)
        if whole:
            return columns, info, pivots
        matrix = _reordered(matrix, order, start, pivots - 1) if pivot else matrix
        # Few rows with entries of at most 1 are inverted as exactly as others solve by them.
        square, unit = (
            matrices.rows(columns, start, width),
            matrices.unit(width, width, matrix.dtype),
        )
        inverse = _substituted(unit.expand(square.shape), square, upper=False, unitriangular=True)
        rows = matrices.rows(matrix, start, width)
        after = [(start + width, size) for size in matrix.shape[-2:]]
        rows = less_product(rows, unit - inverse, rows, columns=after[1])
        matrix = matrices.with_rows(matrix, start, rows)
        matrix = less_product(matrix, columns, rows, rows=after[0], columns=after[1])
        return matrices.with_columns(matrix, start, columns), info, pivots

    count = matrices.in_full_panels(steps)
    start = [matrices.padded(matrix, count), info]
    factors, info, pivots = matrices.in_panels(panel, steps, start)
    if count != steps:
        # Of zeros that were added, the pivots are 0.
        info = torch.where(info > steps, 0, info)
    rows, columns = matrix.shape[-2:]
    return factors[..., :rows, :columns], pivots.to(torch.int32), info.to(torch.int32)


def _reordered(
    matrix: torch.Tensor, order: torch.Tensor, start: matrices.Number, swapped: torch.Tensor
) -> torch.Tensor:
    """The rows of `matrix` that `order` names, where those of a panel were swapped with others.

    Only these are moved: most rows stay where they are.
    """
    width, (rows, columns) = swapped.shape[-1], matrix.shape[-2:]
    own = (matrices.numbers(width) + start).expand(swapped.shape)
    places = torch.cat([own, swapped], -1)
    moved = matrices.rows_taken(matrix, order.gather(-1, places))
    # Of a batch, too, whole rows are put.
    count = math.prod(matrix.shape[:-2])
    first = (matrices.numbers(count) * rows).reshape(*matrix.shape[:-2], 1)
    flat = matrix.reshape(count * rows, columns)
    flat = flat.index_copy(0, (places + first).flatten(), moved.reshape(-1, columns))
    return flat.reshape(matrix.shape)


def _lu_factor_ex(
    matrix: torch.Tensor, *, pivot: bool = True, check_errors: bool = False
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    factors, pivots, info = _lu(matrix, pivot=pivot)
    if check_errors:
        assert_none(info, f"linalg.lu_factor_ex: {_SINGULAR}")
    return factors, pivots, info


def _order_of(pivots: torch.Tensor, rows: int) -> torch.Tensor:
    """Which row comes to each place by the swaps."""
    order = matrices.numbers(rows).expand(*pivots.shape[:-1], rows)
    if pivots.shape[-1] == 0:
        return order

    def turn(
        step: matrices.Number, _: matrices.Number, order: torch.Tensor, others: torch.Tensor
    ) -> _Results:
        other = matrices.entry(others, step).squeeze(-1)
        return (order.gather(-1, matrices.swapped(order.shape[-1], step, other)),)

    others = pivots.to(torch.int64) - 1
    (order,) = matrices.in_steps(turn, pivots.shape[-1], [order], [others])
    return order


def _lu_unpack(
    factors: torch.Tensor,
    pivots: torch.Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """P, L and U, of which the product is what was factored."""
    rows, columns = factors.shape[-2:]
    steps = matrices.lesser(rows, columns)
    permutation = lower = upper = torch.zeros(0, dtype=factors.dtype)
    if unpack_data:
        unit = matrices.numbers(rows).unsqueeze(-1) == matrices.numbers(steps)
        lower = torch.where(unit, 1.0, torch.tril(factors[..., :steps], -1))
        upper = torch.triu(factors[..., :steps, :])
    if unpack_pivots:
        order = _order_of(pivots, rows)
        # Column j has its one in the row that came to place j.
        permutation = (matrices.numbers(rows).unsqueeze(-1) == order.unsqueeze(-2)).to(
            factors.dtype
        )
    return permutation, lower, upper


def _linalg_lu(
    matrix: torch.Tensor, *, pivot: bool = True
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    factors, pivots, _ = _lu(matrix, pivot=pivot)
    permutation, lower, upper = _lu_unpack(factors, pivots, unpack_pivots=pivot)
    return permutation, lower, upper


def _linalg_lu_solve(
    factors: torch.Tensor,
    pivots: torch.Tensor,
    right: torch.Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
) -> torch.Tensor:
    """X of A X = B, given the factors of A; of X A = B unless `left`, of A^H if `adjoint`."""
    if not left:
        turned = _linalg_lu_solve(factors, pivots, matrices.adjoint(right), adjoint=not adjoint)
        return matrices.adjoint(turned)
    size = factors.shape[-1]
    batch = common_batch(factors, right)
    factors = factors.expand(*batch, size, size)
    right = right.expand(*batch, *right.shape[-2:])
    order = _order_of(pivots, size).expand(*batch, size)
    if not adjoint:
        swapped = matrices.rows_taken(right, order)
        lower = _solve_triangular(factors, swapped, upper=False, unitriangular=True)
        return _solve_triangular(factors, lower, upper=True)
    turned = matrices.adjoint(factors)
    upper = _solve_triangular(turned, right, upper=False)
    lower = _solve_triangular(turned, upper, upper=True, unitriangular=True)
    # The way back: the row that each came from.
    return matrices.rows_taken(lower, torch.argsort(order, -1))


def _lu_solve(right: torch.Tensor, factors: torch.Tensor, pivots: torch.Tensor) -> torch.Tensor:
    return _linalg_lu_solve(factors, pivots, right)


def _linalg_solve_ex(
    matrix: torch.Tensor, right: torch.Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    factors, pivots, info = _lu(matrix)
    vector = is_vector(matrix, right)
    sides = right.unsqueeze(-1) if vector else right
    solution = _linalg_lu_solve(factors, pivots, sides, left=left or vector)
    if check_errors:
        assert_none(info, f"linalg.solve: {_SINGULAR}")
    return solution.squeeze(-1) if vector else solution, factors, pivots, info


def _linalg_inv_ex(
    matrix: torch.Tensor, *, check_errors: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    factors, pivots, info = _lu(matrix)
    if check_errors:
        assert_none(info, f"linalg.inv: {_SINGULAR}")
    size = matrix.shape[-1]
    unit = matrices.unit(size, size, matrix.dtype)
    return _linalg_lu_solve(factors, pivots, unit.expand(matrix.shape)), info


def _linalg_lu_factor(
    matrix: torch.Tensor, *, pivot: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    factors, pivots, _ = _lu_factor_ex(matrix, pivot=pivot, check_errors=True)
    return factors, pivots


def _linalg_solve(matrix: torch.Tensor, right: torch.Tensor, *, left: bool = True) -> torch.Tensor:
    return _linalg_solve_ex(matrix, right, left=left, check_errors=True)[0]


def _linalg_inv(matrix: torch.Tensor) -> torch.Tensor:
    return _linalg_inv_ex(matrix, check_errors=True)[0]


def _linalg_tensorinv(operand: torch.Tensor, ind: int = 2) -> torch.Tensor:
    """The inverse of the matrix that the first `ind` dimensions make the rows of."""
    rows, columns = operand.shape[:ind], operand.shape[ind:]
    size = math.prod(columns)
    return _linalg_inv(operand.reshape(math.prod(rows), size)).reshape(*columns, *rows)


def _linalg_tensorsolve(
    operand: torch.Tensor, right: torch.Tensor, dims: Sequence[int] | None = None
) -> torch.Tensor:
    """X of which the product with the last dimensions of `operand` is `right`."""
    if dims is not None:
        operand = operand.movedim(tuple(dims), tuple(range(-len(dims), 0)))
    columns = operand.shape[right.dim() :]
    matrix = operand.reshape(right.numel(), math.prod(columns))
    return _linalg_solve(matrix, right.reshape(-1)).reshape(columns)


def _sign_of(pivots: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """-1 for an odd number of swaps."""
    swapped = (pivots != matrices.numbers(pivots.shape[-1]) + 1).to(torch.int64).sum(-1)
    return (1 - 2 * (swapped % 2)).to(dtype)


def _lu_of_determinant(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The factors of a matrix, or of its transpose, which has the same determinant.

    PyTorch takes the transpose where LAPACK would find that in place, and its gradient solves by
    these factors as by those of the one or the other.
    """
    is_taken_transposed = matrix.is_contiguous() and not matrix.is_complex()
    factors, pivots, _ = _lu(matrices.transposed(matrix) if is_taken_transposed else matrix)
    return factors, pivots


def _linalg_det(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    factors, pivots = _lu_of_determinant(matrix)
    product = torch.diagonal(factors, 0, -2, -1).prod(-1)
    return product * _sign_of(pivots, matrix.dtype), factors, pivots


def _linalg_slogdet(
    matrix: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    factors, pivots = _lu_of_determinant(matrix)
    diagonal = torch.diagonal(factors, 0, -2, -1)
    sign = torch.sgn(diagonal).prod(-1) * _sign_of(pivots, matrix.dtype)
    return sign, torch.log(diagonal.abs()).sum(-1), factors, pivots


def _slogdet(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    sign, logarithm, *_ = _linalg_slogdet(matrix)
    return sign, logarithm


def _logdet(matrix: torch.Tensor) -> torch.Tensor:
    sign, logarithm = _slogdet(matrix)
    if sign.is_complex():
        return sign.log() + logarithm
    return torch.where(sign < 0, math.nan, logarithm)


# -- Cholesky --------------------------------------------------------------------------------------


def _cholesky_ex(
    matrix: torch.Tensor, *, upper: bool = False, check_errors: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """L of L L^H = A, or its adjoint, and the number of the first pivot that is not positive."""
    size = matrix.shape[-1]
    count = matrices.in_full_panels(size)
    lower = matrices.padded(matrices.adjoint(matrix) if upper else matrix, count)
    factor = torch.zeros_like(lower)
    info = torch.zeros(matrix.shape[:-2], dtype=torch.int64)

    def turn(
        step: matrices.Number, place: matrices.Number, columns: torch.Tensor, info: torch.Tensor
    ) -> _Results:
        """Columns are rows here, of which the elements are contiguous."""
        width, size = columns.shape[-2:]
        numbers, later = matrices.numbers(size), matrices.numbers(width) > step
        column = matrices.row(columns, step)
        pivot = torch.real(matrices.entry(column, place))
        info = torch.where((info == 0) & ~(pivot.squeeze(-1) > 0), place + 1, info)
        column = torch.where(numbers > place, column * torch.rsqrt(pivot), 0.0)
        column = torch.where(numbers == place, torch.sqrt(pivot), column)
        row = matrices.conjugate(matrices.entries(column, place - step, width))
        columns = columns - matrices.outer(torch.where(later, row, 0.0), column)
        return matrices.with_rows(columns, step, column.unsqueeze(-2)), info

    def panel(
        start: matrices.Number,
        width: int,
        factor: torch.Tensor,
        info: torch.Tensor,
        lower: torch.Tensor,
    ) -> _Results:
        columns = matrices.columns(lower, start, width)
        whole = matrices.is_one_panel(lower.shape[-1])
        if not whole:
            done = matrices.adjoint(matrices.rows(factor, start, width))
            below, found = (start, factor.shape[-2]), (0, start)
            columns = less_product(columns, factor, done, rows=below, inner=found)
        given = [matrices.transposed(columns), info]
        columns, info = matrices.in_steps(turn, width, given, start=start)
        columns = matrices.transposed(columns)
        return columns if whole else matrices.with_columns(factor, start, columns), info

    if size > 0:
        factor, info = matrices.in_panels(panel, size, [factor, info], [lower])
        factor = factor[..., :size, :size]
    if count != size:
        # Of zeros that were added, the pivots are 0.
        info = torch.where(info > size, 0, info)
    if check_errors:
        assert_none(info, f"linalg.cholesky: {_NOT_POSITIVE}")
    return matrices.adjoint(factor) if upper else factor, info.to(torch.int32)


def _linalg_cholesky(matrix: torch.Tensor, *, upper: bool = False) -> torch.Tensor:
    return _cholesky_ex(matrix, upper=upper, check_errors=True)[0]


def _cholesky(matrix: torch.Tensor, upper: bool = False) -> torch.Tensor:
    return _cholesky_ex(matrix, upper=upper, check_errors=True)[0]


def _cholesky_solve(right: torch.Tensor, factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    """X of A X = B, given the factor of A."""
    first, second = (
        (matrices.adjoint(factor), factor) if upper else (factor, matrices.adjoint(factor))
    )
    return _solve_triangular(second, _solve_triangular(first, right, upper=False), upper=True)


def _cholesky_inverse(factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    size = factor.shape[-1]
    assert_none(factor.diagonal(dim1=-2, dim2=-1) == 0, f"cholesky_inverse: {_SINGULAR}")
    unit = matrices.unit(size, size, factor.dtype)
    return _cholesky_solve(unit.expand(factor.shape), factor, upper)


# -- QR --------------------------------------------------------------------------------------------


def reflection(
    column: torch.Tensor, place: matrices.Number
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What makes 0 of all that follows a place: v and f of 1 - f v v^H, and what comes there.

    It is the adjoint that does. What comes to the place is real. The vector is 0 before it, and 1
    there. Where nothing is to be done, and where there is no such place, the factor is 0.

    Args:
      column: [..., n].
      place: n at most.
    """
    rows = matrices.numbers(column.shape[-1])
    left = torch.where(rows >= place, column, 0.0)
    # Without it, squares of what is great or small would be lost.
    scale = pivot_size(left).amax(-1, keepdim=True)
    left = left / torch.where(scale == 0, 1.0, scale)
    tail = torch.where(rows == place, 0.0, left)
    first = torch.where(rows == place, left, 0.0).sum(-1, keepdim=True)
    length, real = matrices.length(tail), torch.real(first)
    flat = length == 0
    if column.is_complex():
        flat = flat & (torch.imag(first) == 0)
        length = torch.hypot(length, torch.imag(first))
    norm = torch.sqrt(real * real + length * length)
    # Of the sign that cancels nothing, as LAPACK does it; where nothing is below, no turn.
    end = torch.where(flat, real, torch.where(real < 0, norm, -norm))
    vector = torch.where(flat, 0.0, tail / torch.where(flat, 1.0, first - end))
    factor = torch.where(flat, 0.0, (end - first) / torch.where(flat, 1.0, end))
    return torch.where(rows == place, 1.0, vector), factor, end * scale


def geqrf(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """R, below it Householder's vectors that take the columns there, and their factors."""
    steps = matrices.lesser(*matrix.shape[-2:])
    if steps == 0:
        return matrix.clone(), torch.zeros((*matrix.shape[:-2], 0), dtype=matrix.dtype)

    def turn(step: matrices.Number, place: matrices.Number, columns: torch.Tensor) -> _Results:
        rows, numbers = map(matrices.numbers, columns.shape[-2:])
        column = matrices.column(columns, step)
        vector, factor, end = reflection(column, place)
        products = (matrices.conjugate(vector).unsqueeze(-1) * columns).sum(-2)
        turned = matrices.outer(vector * matrices.conjugate(factor), products)
        turned = torch.where(numbers > step, turned, 0.0)
        done = torch.where(rows > place, vector, torch.where(rows < place, column, end))
        return matrices.with_column(columns - turned, step, done), factor.squeeze(-1)

    def panel(start: matrices.Number, width: int, matrix: torch.Tensor) -> _Results:
        whole = matrices.is_one_panel(steps)
        columns = matrix if whole else matrices.columns(matrix, start, width)
        columns, factors = matrices.in_steps(turn, width, [columns], start=start)
        factors = factors.movedim(0, -1)
        if whole:
            return columns, factors
        vectors, between = _block_of(columns, factors, start)
        below, beside = (start, matrix.shape[-2]), (start + width, matrix.shape[-1])
        nothing = torch.zeros_like(matrices.rows(matrix, 0, width))
        opposite = less_product(
            nothing, matrices.adjoint(vectors), matrix, inner=below, columns=beside
        )
        products = matrices.adjoint(between) @ -opposite
        matrix = less_product(matrix, vectors, products, rows=below, columns=beside)
        return matrices.with_columns(matrix, start, columns), factors

    # Of zeros that are added, nothing is to be reflected.
    start = [matrices.padded(matrix, matrices.in_full_panels(steps))]
    packed, factors = matrices.in_panels(panel, steps, start)
    rows, columns = matrix.shape[-2:]
    return packed[..., :rows, :columns], factors


def _block_of(
    packed: torch.Tensor, factors: torch.Tensor, start: matrices.Number
) -> tuple[torch.Tensor, torch.Tensor]:
    """V and S of 1 - V S V^H, the product of some of Householder's reflections (5.1.7).

    S is triangular, the inverse of 1 + D N times D, where D has their factors on its diagonal and N
    is the part of V^H V above it: so written, a factor may be 0.

    Args:
      packed: their vectors, in columns, as they are packed with R.
      factors: theirs.
      start: the place of the first one's 1.
    """
    size, count = packed.shape[-2:]
    rows, numbers = matrices.numbers(size).unsqueeze(-1), matrices.numbers(count)
    vectors = torch.where(rows > numbers + start, packed, 0.0)
    vectors = torch.where(rows == numbers + start, 1.0, vectors)
    diagonal = factors.unsqueeze(-1)
    above = diagonal * (matrices.adjoint(vectors) @ vectors)
    scales = torch.where(numbers.unsqueeze(-1) == numbers, diagonal, 0.0)
    return vectors, _substituted(scales, above, upper=True, unitriangular=True)


def reflected(
    target: torch.Tensor, vectors: torch.Tensor, factors: torch.Tensor, *, adjoint: bool
) -> torch.Tensor:
    """Q B, or Q^H B, where Q is the product of Householder's reflections."""
    count = factors.shape[-1]
    if count == 0:
        return target.clone()

    def turn(
        step: matrices.Number,
        _: matrices.Number,
        target: torch.Tensor,
        vectors: torch.Tensor,
        factors: torch.Tensor,
    ) -> _Results:
        numbers = matrices.numbers(vectors.shape[-2])
        vector = torch.where(numbers > step, matrices.column(vectors, step), 0.0)
        vector = torch.where(numbers == step, 1.0, vector)
        products = (matrices.conjugate(vector).unsqueeze(-1) * target).sum(-2)
        factor = matrices.entry(factors, step)
        factor = matrices.conjugate(factor) if adjoint else factor
        return (target - matrices.outer(vector * factor, products),)

    def panel(
        start: matrices.Number,
        width: int,
        target: torch.Tensor,
        vectors: torch.Tensor,
        factors: torch.Tensor,
    ) -> _Results:
        given = [vectors, factors]
        if matrices.is_one_panel(count):
            return (*matrices.in_steps(turn, width, [target], given, backwards=not adjoint),)
        scales = matrices.entries(factors, start, width)
        own, between = _block_of(matrices.columns(vectors, start, width), scales, start)
        between = matrices.adjoint(between) if adjoint else between
        below = start, target.shape[-2]
        nothing = torch.zeros_like(matrices.rows(target, 0, width))
        opposite = less_product(nothing, matrices.adjoint(own), target, inner=below)
        return (less_product(target, own, between @ -opposite, rows=below),)

    added = matrices.in_full_panels(count) - count
    given = [pad(vectors, (0, added)), pad(factors, (0, added))]
    (target,) = matrices.in_panels(panel, count, [target], given, backwards=not adjoint)
    return target


def _householder_product(vectors: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
    rows, columns = vectors.shape[-2:]
    unit = matrices.unit(rows, columns, vectors.dtype)
    return reflected(unit.expand(vectors.shape), vectors, factors, adjoint=False)


def _ormqr(
    vectors: torch.Tensor,
    factors: torch.Tensor,
    target: torch.Tensor,
    left: bool = True,
    transpose: bool = False,
) -> torch.Tensor:
    if left:
        return reflected(target, vectors, factors, adjoint=transpose)
    turned = reflected(matrices.adjoint(target), vectors, factors, adjoint=not transpose)
    return matrices.adjoint(turned)


def linalg_qr(matrix: torch.Tensor, mode: str = "reduced") -> tuple[torch.Tensor, torch.Tensor]:
    """Q with orthonormal columns, and R with 0 below the diagonal, of which it is the product."""
    rows, columns = matrix.shape[-2:]
    packed, factors = geqrf(matrix)
    size = rows if mode == "complete" else matrices.lesser(rows, columns)
    triangle = torch.triu(packed)[..., :size, :]
    if mode == "r":
        return torch.zeros(0, dtype=matrix.dtype), triangle
    unit = matrices.unit(rows, size, matrix.dtype).expand(*matrix.shape[:-2], rows, size)
    return reflected(unit, packed, factors, adjoint=False), triangle


RULES: Rules = {
    aten._linalg_check_errors.default: _check_errors,
    aten._linalg_det.default: _linalg_det,
    aten._linalg_slogdet.default: _linalg_slogdet,
    aten._linalg_solve_ex.default: _linalg_solve_ex,
    aten.cholesky.default: _cholesky,
    aten.cholesky_inverse.default: _cholesky_inverse,
    aten.cholesky_solve.default: _cholesky_solve,
    aten.geqrf.default: geqrf,
    aten.inverse.default: _linalg_inv,
    aten.linalg_cholesky.default: _linalg_cholesky,
    aten.linalg_cholesky_ex.default: _cholesky_ex,
    aten.linalg_householder_product.default: _householder_product,
    aten.linalg_inv.default: _linalg_inv,
    aten.linalg_inv_ex.default: _linalg_inv_ex,
    aten.linalg_lu.default: _linalg_lu,
    aten.linalg_lu_factor.default: _linalg_lu_factor,
    aten.linalg_lu_factor_ex.default: _lu_factor_ex,
    aten.linalg_lu_solve.default: _linalg_lu_solve,
    aten.linalg_qr.default: linalg_qr,
    aten.linalg_solve.default: _linalg_solve,
    aten.linalg_solve_triangular.default: _solve_triangular,
    aten.linalg_slogdet.default: _slogdet,
    aten.linalg_tensorinv.default: _linalg_tensorinv,
    aten.linalg_tensorsolve.default: _linalg_tensorsolve,
    aten.logdet.default: _logdet,
    aten.lu_solve.default: _lu_solve,
    aten.lu_unpack.default: _lu_unpack,
    aten.ormqr.default: _ormqr,
    aten.triangular_solve.default: _triangular_solve,
}
