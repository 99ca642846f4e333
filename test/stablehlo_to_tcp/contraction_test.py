"""Products of StableHLO, compiled and held against its interpreter."""

# ruff: noqa: E501 - lines of MLIR are as long as its types

import sys

import numpy as np
import pytest

from test.stablehlo_to_tcp.program import Case, check, compiled


def _dot(
    name: str, left: str, right: str, result: str, dims: str, *, dtypes: str = "f32 f32 f32"
) -> Case:
    a, b, r = (
        f"tensor<{f'{shape}x' if shape else ''}{dtype}>"
        for shape, dtype in zip((left, right, result), dtypes.split(), strict=True)
    )
    # The interpreter multiplies and sums in the type of the operands.
    *_, dtype = dtypes.split()
    dtype = "f64" if "f" in dtype else dtype
    wide = [f"tensor<{f'{shape}x' if shape else ''}{dtype}>" for shape in (left, right, result)]
    return Case(
        f"{name} {dtypes}",
        f"%a: {a}, %b: {b}",
        r,
        f"  %0 = stablehlo.dot_general %a, %b, {dims} : ({a}, {b}) -> {r}\n  return %0 : {r}",
        {"n": 3, "m": 4},
        as_interpreted=f"""
  %2 = stablehlo.convert %a : ({a}) -> {wide[0]}
  %3 = stablehlo.convert %b : ({b}) -> {wide[1]}
  %4 = stablehlo.dot_general %2, %3, {dims} : ({wide[0]}, {wide[1]}) -> {wide[2]}
  %0 = stablehlo.convert %4 : ({wide[2]}) -> {r}
  return %0 : {r}""",
    )


MATMUL = ("{n}x5", "5x{m}", "{n}x{m}", "contracting_dims = [1] x [0]")

CASES = [
    *(
        _dot("matmul", *MATMUL, dtypes=dtypes)
        for dtypes in (
            "f32 f32 f32",
            "f64 f64 f64",
            "bf16 bf16 bf16",
            "bf16 bf16 f32",
            "f16 f16 f32",
            "i32 i32 i32",
            "i8 i8 i32",
            "ui8 ui8 ui32",
            "i1 i1 i1",
        )
    ),
    _dot("other way round", "5x{n}", "{m}x5", "{n}x{m}", "contracting_dims = [0] x [1]"),
    _dot(
        "batch",
        "{n}x{m}x5",
        "{n}x5x2",
        "{n}x{m}x2",
        "batching_dims = [0] x [0], contracting_dims = [2] x [1]",
    ),
    _dot(
        "several of each",
        "2x{n}x5x{m}x3x2",
        "3x{m}x2x4x5x2",
        "{m}x2x{n}x2x4x2",
        "batching_dims = [3, 0] x [1, 2], contracting_dims = [4, 2] x [0, 4]",
    ),
    _dot("vectors", "5", "5", "", "contracting_dims = [0] x [0]"),
    _dot("outer product", "{n}", "{m}", "{n}x{m}", "contracting_dims = [] x []"),
    _dot("scaled", "", "{m}x2", "{m}x2", "contracting_dims = [] x []"),
    _dot(
        "batched elements",
        "{n}x2",
        "{n}x2",
        "{n}x2",
        "batching_dims = [0, 1] x [0, 1], contracting_dims = [] x []",
    ),
]

SUMMED = _dot("summed", "2x{n}", "{n}x3", "2x3", "contracting_dims = [1] x [0]")


@pytest.mark.parametrize("kind", ["static", "dynamic", "empty"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_the_interpreter(case: Case, kind: str) -> None:
    sizes = {"n": 0, "m": 4} if kind == "empty" else None
    check(case, dynamic=kind == "dynamic", sizes=sizes)


def test_summed_over_a_dynamic_size() -> None:
    check(SUMMED, dynamic=True)


@pytest.mark.parametrize("sizes", [{"n": 0}, {"n": "?"}])
def test_no_products_sum_up_to_zero(sizes: dict[str, int | str]) -> None:
    # The interpreter aborts on those.
    program = compiled(SUMMED.text(sizes))
    (result,) = program(np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32))
    np.testing.assert_array_equal(result, np.zeros((2, 3)))


DEPRECATED = Case(
    "dot",
    "%a: tensor<{n}x5xf32>, %b: tensor<5xf32>",
    "tensor<{n}xf32>",
    """  %0 = stablehlo.dot %a, %b : (tensor<{n}x5xf32>, tensor<5xf32>) -> tensor<{n}xf32>
  return %0 : tensor<{n}xf32>""",
    {"n": 3},
    as_interpreted="""  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<{n}x5xf32>, tensor<5xf32>) -> tensor<{n}xf32>
  return %0 : tensor<{n}xf32>""",
)


def test_dot_of_older_exporters() -> None:
    check(DEPRECATED, dynamic=True)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
