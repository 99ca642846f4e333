"""Reductions of StableHLO, compiled and held against its interpreter."""

# ruff: noqa: E501 - lines of MLIR are as long as its types

import sys

import numpy as np
import pytest

from test.stablehlo_to_tcp.program import Case, check, compiled, numbers, whole_numbers

DTYPES = {
    "add": ("f64", "f32", "bf16", "i32", "ui8", "i1"),
    "multiply": ("f64", "f32", "i32", "ui8", "i1"),
    "maximum": ("f32", "bf16", "i8", "ui8", "i1"),
    "minimum": ("f32", "bf16", "i8", "ui8", "i1"),
    "and": ("i1", "i32"),
    "or": ("i1", "ui8"),
    "xor": ("i1", "i64"),
}
NEUTRAL = {
    "add": "0",
    "multiply": "1",
    "and": "true",
    "or": "false",
}


def _reduce(name: str, dtype: str, initial: str, dims: str) -> Case:
    result = {"0": "3x{n}", "1": "{n}x{n}", "0, 2": "3", "": "{n}x3x{n}"}[dims]
    result = f"tensor<{result}x{dtype}>"
    value = initial
    if "f" in dtype and value.lstrip("-").isdigit():
        value = f"{value}.0"
    return Case(
        f"{name} {dtype} {initial} [{dims}]",
        f"%x: tensor<{{n}}x3x{{n}}x{dtype}>",
        result,
        f"""
  %i = stablehlo.constant dense<{value}> : tensor<{dtype}>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.{name} across dimensions = [{dims}] : (tensor<{{n}}x3x{{n}}x{dtype}>, tensor<{dtype}>) -> {result}
  return %0 : {result}""",
        {"n": 4},
        draws={0: numbers(0.5, 2)} if "f" in dtype and name in ("add", "multiply") else {},
    )


def _initial(name: str, dtype: str) -> str:
    if dtype == "i1":
        return "true" if name in ("multiply", "minimum", "and") else "false"
    if name in ("and", "or", "xor"):
        return "0" if name != "and" else "-1"
    if name in ("maximum", "minimum"):
        # None that is neutral: it stays where it is the greatest or least.
        return "3"
    return NEUTRAL[name]


CASES = [
    *(
        _reduce(name, dtype, _initial(name, dtype), "0, 2")
        for name, dtypes in DTYPES.items()
        for dtype in dtypes
    ),
    _reduce("add", "f32", "0", "0"),
    _reduce("add", "f32", "0", "1"),
    _reduce("add", "f32", "5", "0, 2"),
    _reduce("multiply", "ui8", "3", "1"),
    _reduce("add", "f32", "0", ""),
    Case(
        "side by side",
        "%x: tensor<{n}x3xf32>, %y: tensor<{n}x3xui8>, %i: tensor<f32>, %j: tensor<ui8>",
        "tensor<{n}xf32>, tensor<{n}xui8>",
        """
  %0:2 = stablehlo.reduce(%x init: %i), (%y init: %j) across dimensions = [1] : (tensor<{n}x3xf32>, tensor<{n}x3xui8>, tensor<f32>, tensor<ui8>) -> (tensor<{n}xf32>, tensor<{n}xui8>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<ui8>, %d: tensor<ui8>) {
      %1 = stablehlo.add %a, %b : tensor<f32>
      %2 = stablehlo.minimum %d, %c : tensor<ui8>
      stablehlo.return %1, %2 : tensor<f32>, tensor<ui8>
    }
  return %0#0, %0#1 : tensor<{n}xf32>, tensor<{n}xui8>""",
        {"n": 4},
        special=False,
    ),
]

# As JAX writes it: a NaN stays, and of equal values the one with the lower place.
JAX_ARGMAX = """
      %2 = stablehlo.compare {better}, %a, %b, {kind} : (tensor<{t}>, tensor<{t}>) -> tensor<i1>
      %3 = stablehlo.compare NE, %a, %a, {kind} : (tensor<{t}>, tensor<{t}>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %a, %b, {kind} : (tensor<{t}>, tensor<{t}>) -> tensor<i1>
      %6 = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %a, %b : tensor<i1>, tensor<{t}>
      %10 = stablehlo.select %8, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<{t}>, tensor<i32>
"""
# As XLA's own library does.
XLA_ARGMAX = """
      %2 = stablehlo.compare {better}, %a, %b, {kind} : (tensor<{t}>, tensor<{t}>) -> tensor<i1>
      %3 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<{t}>
      %4 = stablehlo.compare EQ, %a, %b, {kind} : (tensor<{t}>, tensor<{t}>) -> tensor<i1>
      %5 = stablehlo.minimum %c, %d : tensor<i32>
      %6 = stablehlo.select %2, %c, %d : tensor<i1>, tensor<i32>
      %7 = stablehlo.select %4, %5, %6 : tensor<i1>, tensor<i32>
      stablehlo.return %3, %7 : tensor<{t}>, tensor<i32>
"""


def _best(body: str, better: str, dtype: str, worst: str) -> Case:
    kind = "FLOAT" if "f" in dtype else "UNSIGNED" if "u" in dtype else "SIGNED"
    inner = body.replace("{better}", better).replace("{kind}", kind).replace("{t}", dtype)
    x, r, p = f"tensor<{{n}}x7x{dtype}>", f"tensor<{{n}}x{dtype}>", "tensor<{n}xi32>"
    return Case(
        f"best {better} {dtype}",
        f"%x: {x}",
        f"{r}, {p}",
        f"""
  %i = stablehlo.iota dim = 0 : tensor<7xi32>
  %p = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<7xi32>) -> tensor<NUMBERx7xi32>
  %w = stablehlo.constant dense<{worst}> : tensor<{dtype}>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %w), (%p init: %z) across dimensions = [1] : (tensor<NUMBERx7x{dtype}>, tensor<NUMBERx7xi32>, tensor<{dtype}>, tensor<i32>) -> (tensor<NUMBERx{dtype}>, tensor<NUMBERxi32>)
    reducer(%a: tensor<{dtype}>, %b: tensor<{dtype}>) (%c: tensor<i32>, %d: tensor<i32>) {{{inner}    }}
  return %0#0, %0#1 : {r}, {p}""".replace("NUMBER", "{n}"),
        {"n": 30},
        draws={0: whole_numbers(0, 3)},
    )


BEST = [
    _best(JAX_ARGMAX, "GT", "f32", "0xFF800000"),
    _best(JAX_ARGMAX, "LT", "f32", "0x7F800000"),
    _best(JAX_ARGMAX, "GT", "i8", "-128"),
    _best(JAX_ARGMAX, "LT", "ui8", "255"),
    _best(XLA_ARGMAX, "GE", "f32", "0xFF800000"),
    _best(XLA_ARGMAX, "LE", "ui8", "255"),
]


@pytest.mark.parametrize("kind", ["static", "dynamic", "empty"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_the_interpreter(case: Case, kind: str) -> None:
    check(case, dynamic=kind == "dynamic", sizes={"n": 0} if kind == "empty" else None)


@pytest.mark.parametrize("case", BEST, ids=lambda case: case.name)
def test_the_best_with_its_place(case: Case) -> None:
    check(case, dynamic=False)


def test_the_place_of_a_nan() -> None:
    case = _best(JAX_ARGMAX, "GT", "f32", "0xFF800000")
    x = np.random.default_rng(0).random((30, 7), np.float32)
    x[::3, 2] = x[::2, 4] = np.nan
    best, places = compiled(case.text(case.sizes))(x)
    np.testing.assert_array_equal(places, np.argmax(x, 1))
    np.testing.assert_array_equal(best, np.max(x, 1))


def test_no_elements_have_a_place_as_the_reduction_begins() -> None:
    text = """
func.func @program(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xui32>) {
  %s = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %t = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %s1 = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
  %t1 = stablehlo.reshape %t : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %s1, %t1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %p = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi32>) -> tensor<?x?xui32>
  %w = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0> : tensor<ui32>
  %0:2 = stablehlo.reduce(%x init: %w), (%p init: %z) across dimensions = [1] : (tensor<?x?xf32>, tensor<?x?xui32>, tensor<f32>, tensor<ui32>) -> (tensor<?xf32>, tensor<?xui32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<ui32>, %d: tensor<ui32>) {
      %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
      %3 = stablehlo.select %1, %c, %d : tensor<i1>, tensor<ui32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<ui32>
    }
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xui32>
}
"""
    program = compiled(text)
    best, places = program(np.zeros((2, 0), np.float32))
    np.testing.assert_array_equal(best, [-np.inf, -np.inf])
    np.testing.assert_array_equal(places, [0, 0])
    _, places = program(np.array([[1, 3, 3], [2, 1, 0]], np.float32))
    np.testing.assert_array_equal(places, [1, 0])


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
