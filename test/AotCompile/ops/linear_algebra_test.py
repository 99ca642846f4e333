"""Linear algebra whose results are not unique, or that fails, against PyTorch."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch.export import Dim
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

import plumbline
from plumbline.errors import UserError


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self._function(x)


def _compiled(
    function: Callable[[torch.Tensor], Any], x: torch.Tensor, **options: Any
) -> plumbline.CompiledProgram:
    torch.manual_seed(0)
    return plumbline.compile(_Of(function), (x,), **options)


@pytest.mark.parametrize(
    ("dtype", "size"), [(torch.float32, 5), (torch.complex64, 5), (torch.float64, 70)], ids=str
)
def test_eigenvectors(dtype: torch.dtype, size: int) -> None:
    """Of 70 rows, too, which are reduced in panels, and turned in chunks."""
    torch.manual_seed(0)
    half = torch.randn(2, size, size, dtype=dtype)
    x = half + half.mH
    values, vectors = _compiled(torch.linalg.eigh, x)(x)
    torch.testing.assert_close(values, torch.linalg.eigvalsh(x))
    torch.testing.assert_close((vectors * values.unsqueeze(-2)) @ vectors.mH, x)


@pytest.mark.parametrize(
    ("values", "alone"),
    [
        (torch.linalg.eigvalsh, lambda x: torch.ops.aten._linalg_eigh(x, "L", False)[0]),
        (torch.linalg.svdvals, lambda x: torch.ops.aten._linalg_svd(x, False, False)[1]),
    ],
)
def test_vectors_that_nobody_asks_for_are_not_computed(
    values: Callable[[torch.Tensor], Any], alone: Callable[[torch.Tensor], Any]
) -> None:
    half = torch.randn(5, 5)
    x = half + half.mT
    program = _compiled(values, x)
    torch.testing.assert_close(program(x)[0], values(x))
    assert program.stage("tcp") == _compiled(alone, x).stage("tcp")


def _positive(count: int, size: int) -> torch.Tensor:
    half = torch.randn(count, size, size)
    return half @ half.mT + size * torch.eye(size)


@pytest.mark.parametrize(
    "function",
    [
        torch.linalg.cholesky,
        torch.linalg.inv,
        torch.linalg.det,
        lambda x: torch.linalg.qr(x)[1],
        lambda x: torch.linalg.solve(x, x[:1], left=False),
        lambda x: torch.cholesky_solve(x, torch.linalg.cholesky(x)),
        lambda x: torch.linalg.lu(x),
        lambda x: torch.linalg.eigh(x).eigenvalues,
        torch.linalg.svdvals,
        torch.linalg.matrix_exp,
    ],
)
def test_matrices_of_any_size(function: Callable[[torch.Tensor], Any]) -> None:
    torch.manual_seed(0)
    shapes = ({0: Dim("count", min=1), 1: (size := Dim("size", min=1)), 2: size},)
    program = _compiled(function, _positive(2, 6), dynamic_shapes=shapes)
    for x in (_positive(2, 6), _positive(1, 1), _positive(3, 9)):
        expected = tuple(pytree.tree_leaves(function(x)))
        torch.testing.assert_close(program(x), expected, rtol=1e-4, atol=1e-4)


def test_eigenvectors_of_matrices_that_are_not_symmetric() -> None:
    torch.manual_seed(0)
    shapes = ({0: Dim("count", min=1), 1: (size := Dim("size", min=1)), 2: size},)
    program = _compiled(torch.linalg.eig, torch.randn(2, 6, 6), dynamic_shapes=shapes)
    for count, rows in ((2, 6), (1, 1), (3, 19)):
        x = torch.randn(count, rows, rows)
        values, vectors = program(x)
        torch.testing.assert_close(x.to(vectors.dtype) @ vectors, vectors * values.unsqueeze(-2))
        torch.testing.assert_close(values.sum(-1).real, x.diagonal(0, 1, 2).sum(-1))
        torch.testing.assert_close(vectors.abs().square().sum(-2), torch.ones(count, rows))


def test_ranks_of_matrices_of_any_shape() -> None:
    """The tolerance is that of the greater size, whichever that is in the example."""
    torch.manual_seed(0)
    shapes = ({0: Dim("rows", min=1), 1: Dim("columns", min=1)},)
    program = _compiled(
        torch.linalg.matrix_rank, torch.randn(5, 3), dynamic_shapes=shapes, opt_level=0
    )
    for rows, columns in ((5, 3), (3, 5), (1, 1), (4, 4)):
        x = torch.randn(rows, columns)
        x[-1] = 2 * x[0]
        assert program(x)[0] == torch.linalg.matrix_rank(x)


def _ldl_solved(x: torch.Tensor) -> Any:
    y = x + x.mH - 2 * torch.diag_embed(x.diagonal(0, -2, -1).real).to(x.dtype)
    factors, pivots = torch.linalg.ldl_factor(y, hermitian=True)
    return torch.linalg.ldl_solve(factors, pivots, x, hermitian=True)


def test_matrices_that_are_not_definite() -> None:
    """Hermitian ones with a diagonal of 0, of any size."""
    torch.manual_seed(0)
    shapes = ({1: (size := Dim("size", min=2)), 2: size},)
    program = _compiled(
        _ldl_solved, torch.randn(2, 5, 5, dtype=torch.complex128), dynamic_shapes=shapes
    )
    for count in (5, 2, 12):
        x = torch.randn(2, count, count, dtype=torch.complex128)
        torch.testing.assert_close(program(x)[0], _ldl_solved(x))


def _of_complex_numbers(z: torch.Tensor) -> Any:
    positive = z @ z.mH + torch.eye(z.shape[-1])
    packed, factors = torch.geqrf(z)
    return (
        torch.linalg.slogdet(z),
        torch.linalg.solve(z, z[:1], left=False),
        torch.linalg.lu_solve(*torch.linalg.lu_factor(z), z, adjoint=True),
        torch.linalg.cholesky(positive, upper=True),
        torch.ormqr(packed, factors, z, left=False, transpose=True),
    )


def test_matrices_of_complex_numbers() -> None:
    torch.manual_seed(0)
    z = torch.randn(2, 3, 3, dtype=torch.complex64)
    expected = tuple(pytree.tree_leaves(_of_complex_numbers(z)))
    torch.testing.assert_close(_compiled(_of_complex_numbers, z)(z), expected, rtol=1e-4, atol=1e-5)


def test_complex_matrices_of_any_size() -> None:
    torch.manual_seed(0)
    size = Dim("size", min=1)
    z = torch.randn(4, 4, dtype=torch.complex128)
    program = _compiled(torch.linalg.det, z, dynamic_shapes=({0: size, 1: size},))
    for count in (4, 1, 19):
        z = torch.randn(count, count, dtype=torch.complex128)
        torch.testing.assert_close(program(z)[0], torch.linalg.det(z))


def test_eigenvalues_where_the_example_has_two() -> None:
    """Of which a half is one row: the program is for as many."""
    torch.manual_seed(0)
    shapes = ({1: (size := Dim("size", min=1)), 2: size},)
    x = _positive(1, 2)
    program = _compiled(torch.linalg.eigvalsh, x, dynamic_shapes=shapes)
    torch.testing.assert_close(program(x)[0], torch.linalg.eigvalsh(x))


def _of_solution(x: torch.Tensor) -> Any:
    return torch.linalg.solve(x, x[0]).square().sum() + torch.linalg.cholesky(x @ x.mT).sum()


def test_singular_values_of_rows_beside_few_columns() -> None:
    """One size is known, so that the lesser one is small, however many rows there are."""
    torch.manual_seed(0)
    shapes = {"x": {0: Dim("rows", min=1)}}
    program = plumbline.compile(_Of(torch.linalg.pinv), (torch.randn(6, 3),), shapes)
    for rows in (1, 2, 3, 4, 5, 30):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(program(x)[0], torch.linalg.pinv(x), rtol=1e-3, atol=1e-4)


def test_singular_values_of_any_number_of_rows() -> None:
    torch.manual_seed(0)
    shapes = {"x": {0: Dim("rows", min=4)}}
    program = plumbline.compile(_Of(torch.linalg.svdvals), (torch.randn(5, 3),), shapes)
    for rows in (4, 5, 40):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(program(x)[0], torch.linalg.svdvals(x))


@pytest.mark.parametrize(
    "function",
    [
        torch.linalg.svdvals,
        lambda x: (torch.linalg.qr(x), torch.linalg.lu_factor(x), torch.linalg.lu(x)),
    ],
    ids=["svdvals", "factors"],
)
def test_rectangles_of_any_sizes(function: Callable[[torch.Tensor], Any]) -> None:
    """Whichever is greater in the example."""
    torch.manual_seed(0)
    shapes = {"x": {0: Dim("rows", min=1), 1: Dim("columns", min=1)}}
    program = plumbline.compile(_Of(function), (torch.randn(5, 3, dtype=torch.float64),), shapes)
    for sizes in ((5, 3), (3, 5), (4, 4), (1, 6), (20, 1)):
        x = torch.randn(sizes, dtype=torch.float64)
        expected = tuple(pytree.tree_leaves(function(x)))
        torch.testing.assert_close(program(x), expected)


def test_gradients_in_a_graph_that_has_been_traced() -> None:
    """It has ops that check factorizations."""
    torch.manual_seed(0)
    x = _positive(1, 5)[0]
    gradient = torch.func.grad(_of_solution)
    program = plumbline.compile(make_fx(gradient)(x), (x,))
    torch.testing.assert_close(program(x)[0], gradient(x), rtol=1e-4, atol=1e-5)
    with pytest.raises(UserError, match="solve: a matrix is singular, or not positive-definite"):
        program(torch.zeros_like(x))


def test_systems_one_by_one() -> None:
    """As `vmap` has them."""

    def function(x: torch.Tensor) -> Any:
        of_one = torch.func.vmap(torch.linalg.solve, (None, 0))(x[0], x[..., 0])
        return (
            torch.func.vmap(torch.linalg.inv)(x),
            torch.func.vmap(torch.linalg.cholesky)(x),
            of_one,
        )

    torch.manual_seed(0)
    x = _positive(3, 4)
    program = _compiled(function, x)
    torch.testing.assert_close(program(x), function(x), rtol=1e-4, atol=1e-4)
    with pytest.raises(UserError, match="solve: a matrix is singular, or not positive-definite"):
        program(torch.zeros_like(x))


@pytest.mark.parametrize("sizes", [(5, 16), (37, 101)], ids=str)
def test_a_program_does_not_grow_with_its_matrices(sizes: Sequence[int]) -> None:
    """It is a loop over panels at most."""
    small, large = (
        _compiled(torch.linalg.det, torch.eye(size)).stage("tcp").count("tcp.") for size in sizes
    )
    assert small == large


@pytest.mark.parametrize(("size", "width", "rows"), [(33, 11, 33), (100, 16, 112)])
def test_panels_are_no_wider_than_it_takes(size: int, width: int, rows: int) -> None:
    """Of 16, unless narrower ones save rows that are added to fill the last one."""
    text = _compiled(torch.linalg.det, torch.eye(size)).stage("tcp")
    assert f"x{width}xf32>" in text
    assert f"<{rows}x{rows}xf32>" in text


def _other_triangle_is_nan(x: torch.Tensor, *, upper: bool) -> torch.Tensor:
    unread = torch.ones(x.shape[-2:]).tril(-1) if upper else torch.ones(x.shape[-2:]).triu(1)
    return x.masked_fill(unread.to(torch.bool), float("nan"))


def _of_cholesky(x: torch.Tensor) -> Any:
    lower = torch.linalg.cholesky(_other_triangle_is_nan(x, upper=False))
    upper = torch.linalg.cholesky(_other_triangle_is_nan(x, upper=True), upper=True)
    return lower, upper, torch.cholesky_solve(x[..., :3], lower)


def _of_triangles(x: torch.Tensor) -> Any:
    solve = torch.linalg.solve_triangular
    return [
        solve(x, x[..., :3] if left else x[..., :3, :], upper=upper, left=left, unitriangular=unit)
        for upper in (False, True)
        for left, unit in ((True, False), (False, True))
    ]


def _of_lu(x: torch.Tensor) -> Any:
    return torch.linalg.lu_factor(x), torch.linalg.solve(x, x[..., :3]), torch.linalg.slogdet(x)


@pytest.mark.parametrize("function", [_of_cholesky, _of_triangles, _of_lu])
@pytest.mark.parametrize("size", [16, 17, 53], ids=str)
def test_square_matrices_of_some_panels(function: Callable[..., Any], size: int) -> None:
    torch.manual_seed(0)
    # Rows are swapped between panels.
    x = (_positive(2, size) / size).to(torch.float64)
    x = x if function is not _of_lu else x.roll(size // 2, -2)
    expected = tuple(pytree.tree_leaves(function(x)))
    torch.testing.assert_close(_compiled(function, x)(x), expected, rtol=1e-9, atol=1e-9)


def _of_rectangle(x: torch.Tensor) -> Any:
    packed, factors = torch.geqrf(x)
    side = x @ x.mT
    return (
        torch.linalg.lu_factor(x),
        torch.linalg.qr(x, "complete"),
        torch.linalg.householder_product(packed[..., : factors.shape[-1]], factors),
        torch.ormqr(packed, factors, side, transpose=True),
        torch.ormqr(packed, factors, side, left=False),
    )


@pytest.mark.parametrize("shape", [(48, 20), (20, 48), (2, 35, 33)], ids=str)
def test_rectangles_of_some_panels(shape: Sequence[int]) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64)
    # Nothing is to be reflected in the first column, which its factor of 0 tells.
    x[..., 1:, 0] = 0
    expected = tuple(pytree.tree_leaves(_of_rectangle(x)))
    got = _compiled(_of_rectangle, x)(x)
    torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e200], ids=str)
def test_least_squares_go_over_the_triangle(scale: float) -> None:
    def solved(x: torch.Tensor) -> Any:
        solution, _, rank, _ = torch.linalg.lstsq(x, x[..., :2].abs())
        return solution, rank

    torch.manual_seed(0)
    x = torch.randn(3, 40, 5, dtype=torch.float64) * scale
    # Of the solutions of a matrix that has not full rank, the least.
    x[1, :, 4] = x[1, :, 0] + x[1, :, 1]
    x[2] = 0
    program = _compiled(solved, x)
    torch.testing.assert_close(program(x), solved(x))
    # What is turned by many steps has as many rows as the matrix has columns.
    assert "<3x6x40xf64>" not in program.stage("tcp")


def test_least_squares_of_full_rank_and_of_less() -> None:
    """The same program takes the way by the triangle alone, and that by singular values."""

    def solved(x: torch.Tensor) -> Any:
        solution, _, rank, _ = torch.linalg.lstsq(x, x[..., :2].abs())
        return solution, rank

    torch.manual_seed(0)
    full = torch.randn(40, 20)
    less = full.clone()
    less[:, -1] = less[:, 0]
    program = _compiled(solved, full, opt_level=0)
    for x in (full, less):
        solution, rank = program(x)
        torch.testing.assert_close(solution, torch.linalg.pinv(x) @ x[..., :2].abs())
        torch.testing.assert_close(rank, torch.linalg.matrix_rank(x))


@pytest.mark.parametrize("function", [torch.linalg.cholesky, torch.linalg.det], ids=str)
def test_products_between_panels_are_of_what_is_left(function: Callable[..., Any]) -> None:
    """What of whole matrices is masked would be two thirds of them."""
    products = [
        line
        for line in _compiled(function, torch.eye(64)).stage("tcp").splitlines()
        if "tcp.matmul" in line
    ]
    assert products
    assert all("tensor<?x" in line or "x?x" in line for line in products)


def test_equal_pivots_are_chosen_as_lapack_does() -> None:
    """The first of the rows as they lie after earlier swaps."""
    torch.manual_seed(0)
    x = torch.randint(-2, 3, (3, 40, 40)).to(torch.float64)
    program = _compiled(torch.linalg.lu_factor, x)
    torch.testing.assert_close(program(x), tuple(torch.linalg.lu_factor(x)))


def test_errors_of_factors_are_as_small_as_those_of_lapack() -> None:
    """Also of matrices that are nearly singular."""
    torch.manual_seed(0)
    left, right = (torch.linalg.qr(torch.randn(8, 100, 100).double()).Q for _ in range(2))
    x = ((left * torch.logspace(0, -6, 100).double()) @ right).float()

    def error(factors: torch.Tensor, pivots: torch.Tensor) -> torch.Tensor:
        permutation, lower, upper = torch.lu_unpack(factors.double(), pivots)
        residual: torch.Tensor = permutation @ lower @ upper - x
        return residual.abs().mean()

    own = error(*_compiled(torch.linalg.lu_factor, x)(x))
    assert own < 1.5 * error(*torch.linalg.lu_factor(x))


def test_which_pivot_of_a_later_panel_fails() -> None:
    def infos(x: torch.Tensor) -> Any:
        return torch.linalg.cholesky_ex(x).info, torch.linalg.lu_factor_ex(x).info

    x = torch.eye(40).repeat(3, 1, 1)
    x[1, 20, 20], x[2, 37, 37] = 0, 0
    torch.testing.assert_close(_compiled(infos, x)(x), infos(x))


@pytest.mark.parametrize(
    ("shape", "dtype"), [((6, 4), torch.complex64), ((2, 3, 4), torch.float32)], ids=str
)
def test_singular_vectors(shape: Sequence[int], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=dtype)
    left, values, right = _compiled(torch.linalg.svd, x)(x)
    count = values.shape[-1]
    torch.testing.assert_close(values, torch.linalg.svdvals(x))
    product = (left[..., :count] * values.unsqueeze(-2)) @ right[..., :count, :]
    torch.testing.assert_close(product, x)
    unit = torch.eye(shape[-2], dtype=dtype).expand(left.shape)
    torch.testing.assert_close(left @ left.mH, unit)


@pytest.mark.parametrize(
    ("ord_", "dim"),
    [("nuc", None), (2, None), (-2, (1, 0)), (1, (0, 1)), ("fro", None), (3, 1), (None, None)],
    ids=str,
)
def test_norms_of_vectors_and_matrices(ord_: Any, dim: Any) -> None:
    torch.manual_seed(0)
    x = torch.randn(6, 4)

    def norm(x: torch.Tensor) -> Any:
        return torch.linalg.norm(x, ord_, dim, keepdim=True)

    torch.testing.assert_close(_compiled(norm, x)(x)[0], norm(x))


def test_the_program_of_a_greater_matrix_is_as_small() -> None:
    small, great = (
        # Rows are added to fill the last panel of either.
        _compiled(torch.linalg.svdvals, torch.randn(n, n)).stage("tcp")
        for n in (21, 60)
    )
    assert small.count("scf.while") == great.count("scf.while") == 1
    assert small.count(" tcp.") == great.count(" tcp.")


def test_inverses_of_no_matrices() -> None:
    nothing = torch.randn(0, 5, 5)
    [inverses] = _compiled(torch.linalg.inv, nothing)(nothing)
    assert inverses.shape == nothing.shape


_UNIT = torch.eye(3)
_FAILING: dict[str, tuple[Callable[[torch.Tensor], Any], torch.Tensor, str]] = {
    "inv": (torch.linalg.inv, torch.ones(3, 3), "linalg.inv: the matrix is singular"),
    "solve": (
        lambda x: torch.linalg.solve(x, _UNIT),
        torch.zeros(3, 3),
        "linalg.solve: the matrix is singular",
    ),
    "cholesky": (
        torch.linalg.cholesky,
        torch.stack([_UNIT, -_UNIT]),
        "linalg.cholesky: the matrix is not positive-definite",
    ),
    "cholesky_inverse": (
        torch.cholesky_inverse,
        torch.diag(torch.tensor([1.0, 0.0, 2.0])),
        "cholesky_inverse: the matrix is singular",
    ),
    "lu_factor": (
        torch.linalg.lu_factor,
        torch.ones(3, 3),
        "linalg.lu_factor_ex: the matrix is singular",
    ),
}


@pytest.mark.parametrize("name", _FAILING)
def test_what_pytorch_raises_an_error_for(name: str) -> None:
    function, failing, message = _FAILING[name]
    with pytest.raises(RuntimeError):
        function(failing)
    fine = 2 * _UNIT.expand(failing.shape)
    program = _compiled(function, fine)
    torch.testing.assert_close(program(fine), tuple(_tensors(function(fine))))
    with pytest.raises(UserError, match=f"linear_algebra_test.py:\\d+: error: {message}"):
        program(failing)


def _tensors(result: Any) -> Sequence[torch.Tensor]:
    return [result] if isinstance(result, torch.Tensor) else result


def test_nothing_is_checked_without_checks() -> None:
    program = _compiled(torch.linalg.inv, _UNIT, runtime_checks="off")
    assert not program(torch.ones(3, 3))[0].isfinite().all()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
