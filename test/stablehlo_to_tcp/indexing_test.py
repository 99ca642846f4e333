"""Gathers and scatters of StableHLO, compiled and held against its interpreter."""

# ruff: noqa: E501 - lines of MLIR are as long as its types

import sys

import numpy as np
import pytest

from test.stablehlo_to_tcp.program import Case, check, compiled, whole_numbers


def _gather(
    name: str,
    operand: str,
    indices: str,
    result: str,
    numbers: str,
    window: str,
    *,
    dtype: str = "f32",
    index: str = "i32",
    sizes: dict[str, int] | None = None,
) -> Case:
    x, i, r = (
        f"tensor<{operand}x{dtype}>",
        f"tensor<{indices}x{index}>",
        f"tensor<{result}x{dtype}>",
    )
    return Case(
        name,
        f"%x: {x}, %i: {i}",
        r,
        f"""  %0 = "stablehlo.gather"(%x, %i) <{{
    dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = array<i64: {window}>
  }}> : ({x}, {i}) -> {r}
  return %0 : {r}""",
        sizes or {},
        # Beyond either end, too: what would lie outside is moved back.
        draws={1: whole_numbers(0 if index.startswith("ui") else -2, 6)},
    )


ROWS = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
BATCHED = (
    "offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], "
    "start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2"
)

GATHERS = [
    _gather("rows", "5x3", "4x1", "4x3", ROWS, "1, 3"),
    _gather("rows of ui8", "5x3", "4x1", "4x3", ROWS, "1, 3", dtype="ui8", index="ui8"),
    _gather("rows of bf16 by i64", "5x3", "4x1", "4x3", ROWS, "1, 3", dtype="bf16", index="i64"),
    _gather(
        "rows without a vector",
        "5x3",
        "4x2",
        "4x2x3",
        "offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2",
        "1, 3",
    ),
    _gather(
        "columns",
        "5x3",
        "2x1",
        "5x2",
        "offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1",
        "5, 1",
    ),
    _gather(
        "elements",
        "5x3",
        "4x2",
        "4",
        "collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1",
        "1, 1",
    ),
    _gather(
        "elements, vector first",
        "5x3",
        "2x4",
        "4",
        "collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 0",
        "1, 1",
    ),
    _gather(
        "windows",
        "5x6",
        "4x2",
        "4x2x3",
        "offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1",
        "2, 3",
    ),
    _gather(
        "windows in front",
        "5x6",
        "4x2",
        "2x4x3",
        "offset_dims = [0, 2], start_index_map = [1, 0], index_vector_dim = 1",
        "2, 3",
    ),
    _gather(
        "kept of size 1",
        "5x6x2",
        "4x1",
        "1x4x6x2",
        "offset_dims = [0, 2, 3], start_index_map = [0], index_vector_dim = 1",
        "1, 6, 2",
    ),
    _gather(
        "part of what is not named",
        "5x6",
        "4x1",
        "4x3",
        "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1",
        "1, 3",
    ),
    _gather(
        "of size 1, not named",
        "5x1",
        "4x1",
        "4",
        "collapsed_slice_dims = [0, 1], start_index_map = [0], index_vector_dim = 1",
        "1, 1",
    ),
    _gather("batches", "2x5x3", "2x4x1", "2x4x3", BATCHED, "1, 1, 3"),
    _gather(
        "one window",
        "5x6",
        "2",
        "2x3",
        "offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 0",
        "2, 3",
    ),
    _gather("nothing", "5x3", "0x1", "0x3", ROWS, "1, 3"),
    _gather("empty rows", "5x0", "4x1", "4x0", ROWS, "1, 0"),
]

DYNAMIC_GATHERS = [
    _gather("rows", "{n}x3", "{m}x1", "{m}x3", ROWS, "1, 3", sizes={"n": 5, "m": 4}),
    _gather(
        "windows",
        "{n}x6",
        "{m}x2",
        "{m}x2x3",
        "offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1",
        "2, 3",
        sizes={"n": 5, "m": 4},
    ),
    _gather(
        "batches", "{n}x{m}x3", "{n}x4x1", "{n}x4x3", BATCHED, "1, 1, 3", sizes={"n": 2, "m": 5}
    ),
    _gather("rows", "{n}x3", "{m}x1", "{m}x3", ROWS, "1, 3", sizes={"n": 5, "m": 0}),
]


def _scatter(
    name: str,
    operand: str,
    indices: str,
    updates: str,
    numbers: str,
    op: str = "",
    *,
    dtype: str = "f32",
    distinct: bool = True,
    sizes: dict[str, int] | None = None,
) -> Case:
    x, i, u = f"tensor<{operand}x{dtype}>", f"tensor<{indices}xi32>", f"tensor<{updates}x{dtype}>"
    body = (
        f"%1 = stablehlo.{op} %a, %b : tensor<{dtype}>\n      stablehlo.return %1 : tensor<{dtype}>"
        if op
        else f"stablehlo.return %b : tensor<{dtype}>"
    )
    return Case(
        f"{name} {op} {dtype}",
        f"%x: {x}, %i: {i}, %u: {u}",
        x,
        f"""  %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> ({{
    ^bb0(%a: tensor<{dtype}>, %b: tensor<{dtype}>):
      {body}
    }}) : ({x}, {i}, {u}) -> {x}
  return %0 : {x}""",
        sizes or {},
        # Of several updates of one place any may stay, so that there are none.
        draws={1: _distinct if distinct else whole_numbers(-2, 6)},
    )


def _distinct(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Places of which no two are the same, some of them outside."""
    count = int(np.prod(shape))
    return generator.permutation(np.arange(-2, count + 5))[:count].reshape(shape)


PUT_ROWS = (
    "update_window_dims = [1], inserted_window_dims = [0], "
    "scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
)
PUT_BATCHED = (
    "update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], "
    "scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2"
)

SCATTERS = [
    _scatter("rows", "5x3", "4x1", "4x3", PUT_ROWS),
    _scatter("rows", "5x3", "4x1", "4x3", PUT_ROWS, dtype="ui8"),
    *(
        _scatter("rows", "5x3", "9x1", "9x3", PUT_ROWS, op, dtype=dtype, distinct=False)
        for op, dtype in (
            ("add", "f32"),
            ("add", "f64"),
            ("add", "i32"),
            ("add", "ui8"),
            ("add", "i1"),
            ("subtract", "f32"),
            ("multiply", "f32"),
            ("multiply", "ui8"),
            ("maximum", "f32"),
            ("maximum", "ui8"),
            ("minimum", "i8"),
            ("minimum", "ui8"),
            ("minimum", "bf16"),
            ("and", "i1"),
            ("or", "i1"),
        )
    ),
    _scatter(
        "elements",
        "5x3",
        "9x2",
        "9",
        "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1",
        "add",
        distinct=False,
    ),
    _scatter(
        "vector first",
        "5x3",
        "2x9",
        "9",
        "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 0",
        "add",
        distinct=False,
    ),
    _scatter(
        "columns",
        "5x3",
        "2x1",
        "5x2",
        "update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1",
    ),
    _scatter(
        "one window",
        "5x6",
        "2",
        "2x3",
        "update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0",
    ),
    _scatter(
        "windows",
        "5x6",
        "4x2",
        "2x4x3",
        "update_window_dims = [0, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1",
        "add",
        distinct=False,
    ),
    _scatter(
        "window of size 1",
        "5x6",
        "4x1",
        "1x4x6",
        "update_window_dims = [0, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1",
        "add",
        distinct=False,
    ),
    _scatter(
        "of size 1, not named",
        "5x1",
        "4x1",
        "4",
        "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1",
    ),
    _scatter("batches", "2x5x3", "2x4x1", "2x4x3", PUT_BATCHED, "add", distinct=False),
    _scatter("nothing", "5x3", "0x1", "0x3", PUT_ROWS),
]

DYNAMIC_SCATTERS = [
    _scatter("rows", "{n}x3", "{m}x1", "{m}x3", PUT_ROWS, sizes={"n": 5, "m": 4}),
    _scatter(
        "rows", "{n}x3", "{m}x1", "{m}x3", PUT_ROWS, "add", distinct=False, sizes={"n": 5, "m": 9}
    ),
    _scatter(
        "batches",
        "{n}x{m}x3",
        "{n}x4x1",
        "{n}x4x3",
        PUT_BATCHED,
        "maximum",
        distinct=False,
        sizes={"n": 2, "m": 5},
    ),
    _scatter("nothing", "{n}x3", "{m}x1", "{m}x3", PUT_ROWS, "add", sizes={"n": 5, "m": 0}),
]


@pytest.mark.parametrize("case", [*GATHERS, *SCATTERS], ids=lambda case: case.name)
def test_agrees_with_the_interpreter(case: Case) -> None:
    check(case, dynamic=False)


@pytest.mark.parametrize("case", [*DYNAMIC_GATHERS, *DYNAMIC_SCATTERS], ids=lambda case: case.name)
def test_agrees_with_the_interpreter_at_dynamic_sizes(case: Case) -> None:
    check(case, dynamic=True)


def test_gather_agrees_with_numpy() -> None:
    x = np.random.default_rng(0).random((5, 3), np.float32)
    i = np.array([[4], [0], [3], [3]], np.int32)
    (result,) = compiled(GATHERS[0].text({}))(x, i)
    np.testing.assert_array_equal(result, x[i[:, 0]])


def test_scatter_agrees_with_numpy() -> None:
    x, u = (np.random.default_rng(0).random(shape, np.float32) for shape in ((5, 3), (9, 3)))
    i = np.array([4, 0, 3, 3, 1, 1, 1, 2, 0], np.int32)
    expected = x.copy()
    np.add.at(expected, i, u)
    case = next(case for case in SCATTERS if case.name == "rows add f32")
    (result,) = compiled(case.text({}))(x, i[:, None], u)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_all_of_a_tensor_is_scattered_into_once() -> None:
    program = compiled("""
func.func @program(%x: tensor<?x3xf32>, %y: tensor<3x?xf32>, %i: tensor<0xi32>) -> tensor<?x3xf32> {
  %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<3x?xf32>) -> tensor<?x3xf32>
  %0 = "stablehlo.scatter"(%x, %i, %t) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.multiply %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<?x3xf32>, tensor<0xi32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
""")
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.full((3, 2), 2.5, np.float32)
    np.testing.assert_array_equal(program(x, y, np.zeros(0, np.int32))[0], x * 2.5)


def test_dynamic_gather() -> None:
    # The interpreter takes no sizes that are computed.
    text = f"""
func.func @program(%x: tensor<5x6xf32>, %i: tensor<4x1xi32>, %s: tensor<2xi32>) -> tensor<4x?xf32> {{
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{{dimension_numbers = #stablehlo.gather<{ROWS}>}}>
    : (tensor<5x6xf32>, tensor<4x1xi32>, tensor<2xi32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}}"""
    x = np.random.default_rng(0).random((5, 6), np.float32)
    i = np.array([4, 0, 3, 3], np.int32)
    (result,) = compiled(text)(x, i[:, None], np.array([1, 2], np.int32))
    np.testing.assert_array_equal(result, x[i, :2])


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
