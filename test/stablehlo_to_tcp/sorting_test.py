"""Sorts of StableHLO, compiled and held against its interpreter."""

import sys

import numpy as np
import pytest

from test.stablehlo_to_tcp.program import Case, check, compiled, whole_numbers


def _sort(
    name: str,
    dtypes: str,
    comparison: str,
    *,
    shape: str = "3x17",
    dimension: int = 1,
    sizes: dict[str, int] | None = None,
    special: bool = False,
) -> Case:
    """One of an operand for each dtype; the two elements of the first are %a0 and %b0."""
    names = dtypes.split()
    types = [f"tensor<{shape}x{dtype}>" for dtype in names]
    operands = ", ".join(f"%x{number}" for number in range(len(names)))
    pairs = (
        f"%{side}{number}: tensor<{dtype}>" for number, dtype in enumerate(names) for side in "ab"
    )
    results = ", ".join(f"%r#{number}" for number in range(len(names)))
    all_types = ", ".join(types)
    return Case(
        name,
        ", ".join(f"%x{number}: {type_}" for number, type_ in enumerate(types)),
        all_types,
        f"""  %r:{len(names)} = "stablehlo.sort"({operands}) <{{
    dimension = {dimension} : i64, is_stable = true
  }}> ({{
    ^bb0({", ".join(pairs)}):
{comparison}
      stablehlo.return %c : tensor<i1>
  }}) : ({all_types}) -> ({all_types})
  return {results} : {all_types}""",
        sizes or {},
        # Some are equal.
        draws={} if special else {0: whole_numbers(0, 6)},
        special=special,
    )


def _compare(direction: str, dtype: str, kind: str, number: int = 0, result: str = "c") -> str:
    return (
        f"      %{result} = stablehlo.compare {direction}, %a{number}, %b{number}, {kind} : "
        f"(tensor<{dtype}>, tensor<{dtype}>) -> tensor<i1>"
    )


FIRST_THEN_SECOND = f"""{_compare("LT", "i32", "SIGNED", 0, "less")}
{_compare("EQ", "i32", "SIGNED", 0, "equal")}
{_compare("GT", "f32", "FLOAT", 1, "further")}
      %both = stablehlo.and %equal, %further : tensor<i1>
      %c = stablehlo.or %less, %both : tensor<i1>"""

BY_MAGNITUDE = """      %m = stablehlo.abs %a0 : tensor<f32>
      %n = stablehlo.abs %b0 : tensor<f32>
      %c = stablehlo.compare LT, %m, %n, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>"""

CASES = [
    _sort("rising", "f32", _compare("LT", "f32", "FLOAT")),
    _sort("unsigned", "ui8", _compare("LT", "ui8", "UNSIGNED"), special=True),
    # So many that they are sorted by their digits.
    _sort("many", "i32 f32", _compare("LT", "i32", "SIGNED"), shape="2x300"),
    _sort("many, unsigned and falling", "ui8", _compare("GT", "ui8", "UNSIGNED"), shape="2x300"),
    _sort("with what goes along", "i32 f32", _compare("LT", "i32", "SIGNED")),
    _sort("columns", "i64", _compare("GT", "i64", "SIGNED"), dimension=-2),
    _sort("by two operands", "i32 f32", FIRST_THEN_SECOND),
    _sort("by magnitude", "f32", BY_MAGNITUDE),
]

DYNAMIC = _sort(
    "dynamic", "i32 f32", _compare("LT", "i32", "SIGNED"), shape="{n}x{m}", sizes={"n": 3, "m": 40}
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_the_interpreter(case: Case) -> None:
    check(case, dynamic=False)


def test_sorts_that_are_alike_share_a_kernel() -> None:
    """By a comparison with numbers that are no part of it."""
    comparison = """      %m = stablehlo.subtract %a0, %limit : tensor<f32>
      %n = stablehlo.subtract %b0, %limit : tensor<f32>
      %v = stablehlo.abs %m : tensor<f32>
      %w = stablehlo.abs %n : tensor<f32>
      %c = stablehlo.compare LT, %v, %w, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>"""
    one = _sort("one", "f32", comparison)
    sort, _ = one.body.rsplit("\n", 1)
    text = "\n".join(
        (
            "func.func @program(%x0: tensor<3x17xf32>, %y0: tensor<3x17xf32>, %limit: tensor<f32>)",
            "    -> (tensor<3x17xf32>, tensor<3x17xf32>) {",
            sort,
            sort.replace("%x0", "%y0").replace("%r:", "%s:"),
            "  return %r#0, %s#0 : tensor<3x17xf32>, tensor<3x17xf32>",
            "}",
        )
    )
    x, y = np.random.default_rng(0).uniform(-4, 4, (2, 3, 17)).astype(np.float32)
    limit = np.float32(1.5)
    for found, given in zip(compiled(text)(x, y, np.array(limit)), (x, y), strict=True):
        places = np.argsort(np.abs(given - limit), axis=1, kind="stable")
        np.testing.assert_array_equal(found, np.take_along_axis(given, places, 1))


def test_total_order() -> None:
    # The interpreter has no such comparison; IEEE 754 orders these so.
    rising = np.array(
        [0xFFC00000, 0xFF800000, 0xBF800000, 0x80000000, 0, 1, 0x3F800000, 0x7F800000, 0x7FC00000],
        np.uint32,
    )
    case = _sort("total", "f32", _compare("LT", "f32", "TOTALORDER"), shape="1x9")
    mixed = np.random.default_rng(0).permutation(rising)
    (found,) = compiled(case.text({}))(mixed.view(np.float32)[None])
    np.testing.assert_array_equal(found.view(np.uint32)[0], rising)


def test_agrees_with_the_interpreter_at_dynamic_sizes() -> None:
    check(DYNAMIC, dynamic=True)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
