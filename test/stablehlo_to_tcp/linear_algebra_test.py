"""Routines of LAPACK's as JAX calls them, and StableHLO's own ops of linear algebra."""

import re
import sys
from typing import Any

import numpy as np
import pytest

import plumbline
from plumbline.errors import UserError

Array = np.ndarray[Any, np.dtype[Any]]

GENERATOR = np.random.default_rng(0)

CHARACTERS = {name: ord(name) for name in "ACLNRSTUV"}


def _drawn(*shape: int, dtype: str = "float32") -> Array:
    numbers: Array = GENERATOR.standard_normal(shape).astype(dtype)
    return numbers


def _positive(*shape: int, dtype: str = "float32") -> Array:
    factor = _drawn(*shape, dtype=dtype)
    product: Array = factor @ factor.mT + 2 * np.eye(shape[-1], dtype=dtype)
    return product


def _type(array: Array, *, dynamic: int = 0) -> str:
    sizes = ["?"] * dynamic + [str(size) for size in array.shape[dynamic:]]
    kind = {
        "complex64": "complex<f32>",
        "complex128": "complex<f64>",
        "float32": "f32",
        "float64": "f64",
        "int32": "i32",
    }[array.dtype.name]
    return f"tensor<{'x'.join([*sizes, kind])}>"


def _program(
    routine: str,
    options: str,
    operands: list[Array],
    results: list[str],
    kept: list[int],
    *,
    dynamic: int = 0,
) -> plumbline.CompiledProgram:
    """A program that calls a routine, `options` being such as "uplo=L", and gives some results.

    So many sizes of each operand are `dynamic`, from the first on.
    """
    given = [_type(each, dynamic=dynamic) for each in operands]
    config = ", ".join(
        f"{name} = {CHARACTERS[letter]} : ui8"
        for name, letter in (each.split("=") for each in options.split())
    )
    arguments = ", ".join(f"%{number}: {type_}" for number, type_ in enumerate(given))
    names = ", ".join(f"%{number}" for number in range(len(given)))
    returned = ", ".join(results[number] for number in kept)
    text = f"""
func.func @main({arguments}) -> ({returned}) {{
  %r:{len(results)} = stablehlo.custom_call @lapack_{routine}_ffi({names})
    {{mhlo.backend_config = {{{config}}}}} : ({", ".join(given)}) -> ({", ".join(results)})
  return {", ".join(f"%r#{number}" for number in kept)} : {returned}
}}"""
    return plumbline.compile(plumbline.load_stablehlo(text), opt_level=0)


def _close(given: Array, expected: Array) -> None:
    wide = given.dtype in (np.float64, np.complex128)
    np.testing.assert_allclose(given, expected, rtol=1e-12 if wide else 2e-5, atol=2e-5)


@pytest.mark.parametrize(("uplo", "dtype"), [("L", "float32"), ("U", "float64")])
def test_a_cholesky_factor_is_of_one_triangle(uplo: str, dtype: str) -> None:
    x = np.stack([_positive(3, 3, dtype=dtype), -np.eye(3, dtype=dtype)])
    program = _program("spotrf" if dtype == "float32" else "dpotrf", f"uplo={uplo}", [x],
                       [_type(x), "tensor<2xi32>"], [0, 1])  # fmt: skip
    other = np.tril(x) if uplo == "L" else np.triu(x)
    factor, info = program(other)
    lower = np.linalg.cholesky(x[0])
    _close(factor[0], lower if uplo == "L" else lower.mT)
    assert info.tolist() == [0, 1]


def test_linear_equations_are_solved_by_factors() -> None:
    x = _drawn(2, 5, 5)
    of_lu = [_type(x), "tensor<2x5xi32>", "tensor<2xi32>"]
    packed, pivots, info = _program("sgetrf", "", [x], of_lu, [0, 1, 2])(x)
    lower, upper = np.tril(packed, -1) + np.eye(5, dtype="float32"), np.triu(packed)
    rows = x.copy()
    for matrix, places in zip(rows, pivots - 1, strict=True):
        for place, other in enumerate(places):
            matrix[[place, other]] = matrix[[other, place]]
    _close(lower @ upper, rows)
    assert info.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("diag=N side=L trans_x=N uplo=L", lambda a, b: np.linalg.solve(np.tril(a), b)),
        ("diag=U side=L trans_x=T uplo=U",
         lambda a, b: np.linalg.solve((np.triu(a, 1) + np.eye(3)).mT, b)),
        ("diag=N side=R trans_x=T uplo=L",
         lambda a, b: (b.mT @ np.linalg.inv(np.tril(a).mT)).mT),
    ],
)  # fmt: skip
def test_triangular_systems_are_solved(options: str, expected: Any) -> None:
    a, b = _drawn(2, 3, 3) + 3 * np.eye(3, dtype="float32"), _drawn(2, 3, 2)
    given = np.ascontiguousarray(b.mT) if "side=R" in options else b
    (solution,) = _program("strsm", options, [a, given], [_type(given)], [0])(a, given)
    _close(solution.mT if "side=R" in options else solution, expected(a, b))


def test_reflections_are_packed_and_multiplied() -> None:
    x = _drawn(4, 3)
    packed, factors = _program("sgeqrf", "", [x], [_type(x), "tensor<3xf32>"], [0, 1])(x)
    (q,) = _program("sorgqr", "", [x, factors], [_type(x)], [0])(packed, factors)
    _close(q @ np.triu(packed)[:3], x)
    _close(q.T @ q, np.eye(3))


def _complex(*shape: int, dtype: str = "complex64") -> Array:
    numbers: Array = (_drawn(*shape) + 1j * _drawn(*shape)).astype(dtype)
    return numbers


def test_complex_matrices_are_factored() -> None:
    x = _complex(2, 3, 3, dtype="complex128")
    x = x @ x.conj().mT + 2 * np.eye(3)
    of_factor = [_type(x), "tensor<2xi32>"]
    factor, info = _program("zpotrf", "uplo=L", [x], of_factor, [0, 1])(np.tril(x))
    _close(factor, np.linalg.cholesky(x))
    assert info.tolist() == [0, 0]
    options = "diag=N side=L trans_x=C uplo=L"
    (solution,) = _program("ztrsm", options, [factor, x], [_type(x)], [0])(factor, x)
    _close(factor.conj().mT @ solution, x)
    y = _complex(4, 3)
    packed, factors = _program("cgeqrf", "", [y], [_type(y), _type(y[0])], [0, 1])(y)
    (q,) = _program("cungqr", "", [y, factors], [_type(y)], [0])(packed, factors)
    _close(q @ np.triu(packed)[:3], y)


def test_complex_matrices_have_real_eigenvalues_where_they_are_hermitian() -> None:
    x = _complex(3, 3)
    x = x + x.conj().T
    results = [_type(x), "tensor<3xf32>", "tensor<i32>"]
    (values,) = _program("cheevd", "mode=V uplo=L", [x], results, [1])(x)
    _close(values, np.linalg.eigvalsh(x))


@pytest.mark.parametrize("letter", ["s", "c"])
def test_eigenvalues_of_matrices_that_are_not_symmetric(letter: str) -> None:
    """Real ones have both parts of the values as tensors of their own, and complex vectors."""
    x = _drawn(3, 3) if letter == "s" else _complex(3, 3)
    vectors = "tensor<3x3xcomplex<f32>>"
    values = ["tensor<3xf32>"] * 2 if letter == "s" else ["tensor<3xcomplex<f32>>"]
    results = [*values, vectors, vectors, "tensor<i32>"]
    kept = [*range(len(values)), len(values) + 1]
    options = "compute_left=N compute_right=V"
    *found, right = _program(f"{letter}geev", options, [x], results, kept)(x)
    numbers = found[0] + 1j * found[1] if letter == "s" else found[0]
    _close(x @ right, right * numbers)
    _close(np.abs(right * right.conj()).sum(0), np.ones(3, dtype="float32"))


def test_xla_factors_matrices_by_calls_that_give_tuples() -> None:
    x = _drawn(4, 3)
    text = """
func.func @main(%x: tensor<4x3xf32>, %s: tensor<3x3xf32>)
    -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<3x3xf32>, tensor<3xf32>) {
  %0 = stablehlo.custom_call @Qr(%x) {backend_config = "", xla_shape = "(f32[4,3]{1,0}, f32[3]{0})"}
      : (tensor<4x3xf32>) -> tuple<tensor<4x3xf32>, tensor<3xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4x3xf32>, tensor<3xf32>>) -> tensor<4x3xf32>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4x3xf32>, tensor<3xf32>>) -> tensor<3xf32>
  %3 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%1, %2) {backend_config = ""}
      : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %4 = stablehlo.custom_call @Eigh(%s) {backend_config = "1,1,4,0.000001"}
      : (tensor<3x3xf32>) -> tuple<tensor<3x3xf32>, tensor<3xf32>>
  %5 = stablehlo.get_tuple_element %4[0] : (tuple<tensor<3x3xf32>, tensor<3xf32>>) -> tensor<3x3xf32>
  %6 = stablehlo.get_tuple_element %4[1] : (tuple<tensor<3x3xf32>, tensor<3xf32>>) -> tensor<3xf32>
  return %1, %3, %5, %6 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<3x3xf32>, tensor<3xf32>
}"""  # noqa: E501
    symmetric = _positive(3, 3)
    program = plumbline.compile(plumbline.load_stablehlo(text), opt_level=0)
    packed, q, vectors, values = program(x, np.tril(symmetric))
    _close(q @ np.triu(packed)[:3], x)
    _close(vectors @ np.diag(values) @ vectors.T, symmetric)
    with pytest.raises(UserError, match="'Eigh' of values in any order; have it sort them"):
        plumbline.compile(plumbline.load_stablehlo(text.replace('"1,1,4,', '"1,0,4,')))


def test_symmetric_matrices_have_eigenvectors_where_they_are_asked_for() -> None:
    x = _positive(5, 5, dtype="float64")
    results = [_type(x), "tensor<5xf64>", "tensor<i32>"]
    vectors, values, info = _program("dsyevd", "mode=V uplo=L", [x], results, [0, 1, 2])(np.tril(x))
    _close(vectors @ np.diag(values) @ vectors.T, x)
    assert info == 0
    alone = _program("dsyevd", "mode=V uplo=L", [x], results, [1])
    _close(alone(x)[0], np.linalg.eigvalsh(x))
    # Rows are turned along with the matrix, which become the vectors.
    both = _program("dsyevd", "mode=V uplo=L", [x], results, [0, 1])
    assert "tensor<6x5xf64>" in both.stage("tcp")
    assert "tensor<6x5xf64>" not in alone.stage("tcp")


def test_singular_values_and_vectors_of_all_kinds() -> None:
    x = _drawn(4, 3)
    values = np.linalg.svd(x, compute_uv=False)
    results = [_type(x), "tensor<3xf32>", "tensor<4x4xf32>", "tensor<3x3xf32>", "tensor<i32>"]
    s, u, vt = _program("sgesdd", "mode=A", [x], results, [1, 2, 3])(x)
    _close(s, values)
    _close(u[:, :3] @ np.diag(s) @ vt, x)
    _close(u.T @ u, np.eye(4))
    _close(_program("sgesvd", "mode=N", [x], results, [1])(x)[0], values)


def test_three_diagonals_are_solved_with_pivots() -> None:
    below, diagonal, above, right = _drawn(6), 0.1 * _drawn(6), _drawn(6), _drawn(6, 2)
    matrix = np.diag(diagonal) + np.diag(below[1:], -1) + np.diag(above[:-1], 1)
    given = [below, diagonal, above, right]
    results = [*map(_type, given), "tensor<i32>"]
    solution, info = _program("sgtsv", "", given, results, [3, 4])(*given)
    np.testing.assert_allclose(matrix @ solution, right, rtol=1e-3, atol=1e-3)
    assert info == 0
    singular = [np.zeros_like(each) for each in given]
    assert _program("sgtsv", "", given, results, [4])(*singular) == (1,)


def test_sizes_may_be_dynamic() -> None:
    x = _positive(2, 3, 3)
    results = ["tensor<?x?x?xf32>", "tensor<?xi32>"]
    program = _program("spotrf", "uplo=L", [x], results, [0], dynamic=3)
    for sizes in ((2, 3, 3), (1, 1, 1), (3, 17, 17)):
        x = _positive(*sizes)
        _close(program(x)[0], np.linalg.cholesky(x))
    x = _drawn(2, 3, 2)
    results = ["tensor<?x3x2xf32>", "tensor<?x2xf32>"]
    (packed,) = _program("sgeqrf", "", [x], results, [0], dynamic=1)(x)
    r = np.triu(packed)[:, :2]
    _close(r.mT @ r, x.mT @ x)


def test_eigenvalues_and_singular_values_of_any_size() -> None:
    x = _positive(2, 3, 3)
    values = ["tensor<?x?x?xf32>", "tensor<?x?xf32>", "tensor<?xi32>"]
    eigenvalues = _program("ssyevd", "mode=N uplo=L", [x], values, [1], dynamic=3)
    others = ["tensor<?x?x?xf32>"] * 2
    results = [*values[:2], *others, "tensor<?xi32>"]
    singular_values = _program("sgesdd", "mode=N", [x], results, [1], dynamic=3)
    for sizes in ((2, 3, 3), (1, 1, 1), (3, 17, 17)):
        x = _positive(*sizes)
        expected = np.linalg.eigvalsh(x)
        _close(eigenvalues(x)[0], expected)
        _close(singular_values(x)[0], expected[:, ::-1])


@pytest.mark.parametrize(
    ("routine", "options", "message"),
    [
        (
            "sgeev",
            "compute_left=V compute_right=V",
            "'lapack_sgeev_ffi', which JAX has LAPACK do; it gives eigenvectors from the left",
        ),
        ("sgees", "", "'lapack_sgees_ffi', which JAX has LAPACK do; TCP has no op for it"),
        ("spotrf", "", "'lapack_spotrf_ffi' without uplo, which it is to be told"),
        (
            "strsm",
            "diag=N side=L trans_x=N uplo=L",
            "'lapack_strsm_ffi' of 1 operands, where it takes 2",
        ),
    ],
)
def test_what_there_is_no_program_for_is_refused(routine: str, options: str, message: str) -> None:
    x = _drawn(3, 3)
    results = ["tensor<?x?xf32>", "tensor<?xf32>", "tensor<i32>"]
    with pytest.raises(UserError, match=re.escape(message)):
        _program(routine, options, [x], results, [0], dynamic=2)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
