"""Windows of StableHLO, compiled and held against its interpreter."""

# ruff: noqa: E501 - lines of MLIR are as long as its types

import sys

import numpy as np
import pytest

from plumbline.errors import UserError
from test.stablehlo_to_tcp.program import Case, check, compiled, numbers, whole_numbers


def _windows(
    name: str,
    op: str,
    shape: str,
    result: str,
    window: str,
    *,
    dtype: str = "f32",
    initial: str = "0.0",
    sizes: dict[str, int] | None = None,
) -> Case:
    x, r = f"tensor<{shape}x{dtype}>", f"tensor<{result}x{dtype}>"
    return Case(
        f"{name} {op} {dtype}",
        f"%x: {x}",
        r,
        f"""  %i = stablehlo.constant dense<{initial}> : tensor<{dtype}>
  %0 = "stablehlo.reduce_window"(%x, %i) <{{{window}}}> ({{
    ^bb0(%a: tensor<{dtype}>, %b: tensor<{dtype}>):
      %1 = stablehlo.{op} %a, %b : tensor<{dtype}>
      stablehlo.return %1 : tensor<{dtype}>
    }}) : ({x}, tensor<{dtype}>) -> {r}
  return %0 : {r}""",
        sizes or {},
        # The interpreter sums in bf16, which does not bear numbers of both signs.
        draws={0: numbers(0.5, 2)} if dtype == "bf16" else {},
    )


TWO = "window_dimensions = array<i64: 1, 1, 2, 3>"
NHWC = "window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 1, 1>"
PADDED = "padding = dense<[[0, 0], [0, 0], [1, 0], [2, 1]]> : tensor<4x2xi64>"
LOWEST = "0xFF800000"

AVERAGE = """
func.func @program(%x: tensor<2x7x6x3xf32>) -> tensor<2x4x3x3xf32> {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>, window_dilations = array<i64: 1, 1, 2, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %4 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<2x7x6x3xf32>, tensor<f32>) -> tensor<2x4x3x3xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<2x7x6x1xf32>
  %2 = "stablehlo.reduce_window"(%1, %i) <{window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>, window_dilations = array<i64: 1, 1, 2, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %4 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<2x7x6x1xf32>, tensor<f32>) -> tensor<2x4x3x1xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : (tensor<2x4x3x1xf32>) -> tensor<2x4x3x3xf32>
  %4 = stablehlo.divide %0, %3 : tensor<2x4x3x3xf32>
  return %4 : tensor<2x4x3x3xf32>
}
"""


def test_averages_are_of_the_elements_that_windows_have() -> None:
    x = np.random.default_rng(0).random((2, 7, 6, 3), np.float32)
    (given,) = compiled(AVERAGE)(x)
    padded = np.full((2, 9, 8, 3), np.nan, np.float32)
    padded[:, 1:8, 1:7] = x
    for row in range(4):
        for column in range(3):
            window = padded[:, 2 * row : 2 * row + 3, 2 * column : 2 * column + 3 : 2]
            np.testing.assert_allclose(given[:, row, column], np.nanmean(window, (1, 2)), rtol=1e-6)


STATIC = [
    _windows("nchw", "add", "2x3x5x6", "2x3x4x4", TWO),
    _windows("nchw", "maximum", "2x3x5x6", "2x3x4x4", TWO, initial=LOWEST),
    _windows("nhwc", "maximum", "2x5x6x3", "2x2x5x3", NHWC, initial=LOWEST),
    _windows("nhwc", "minimum", "2x5x6x3", "2x2x5x3", NHWC, initial="0x7F800000"),
    _windows("padded", "add", "2x3x5x6", "2x3x5x7", f"{TWO}, {PADDED}"),
    _windows("padded", "maximum", "2x3x5x6", "2x3x5x7", f"{TWO}, {PADDED}", initial=LOWEST),
    # What does not begin as neutral counts, in the padding too.
    _windows("padded from 2", "add", "2x3x5x6", "2x3x5x7", f"{TWO}, {PADDED}", initial="2.0"),
    _windows("padded from 0", "maximum", "2x3x5x6", "2x3x5x7", f"{TWO}, {PADDED}"),
    _windows(
        "unsigned", "maximum", "2x3x5x6", "2x3x5x7", f"{TWO}, {PADDED}", dtype="ui8", initial="0"
    ),
    _windows(
        "unsigned", "minimum", "2x3x5x6", "2x3x5x7", f"{TWO}, {PADDED}", dtype="ui8", initial="255"
    ),
    _windows(
        "signed", "maximum", "2x3x5x6", "2x3x5x7", f"{TWO}, {PADDED}", dtype="i8", initial="-128"
    ),
    _windows("narrow", "add", "2x3x5x6", "2x3x4x4", TWO, dtype="bf16"),
    _windows("booleans", "or", "2x3x5x6", "2x3x4x4", TWO, dtype="i1", initial="false"),
    _windows(
        "dilated",
        "add",
        "9x7",
        "5x7",
        "window_dimensions = array<i64: 3, 1>, window_dilations = array<i64: 2, 1>",
    ),
    _windows(
        "spread",
        "add",
        "4x5",
        "6x3",
        "window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 3>, "
        "base_dilations = array<i64: 2, 2>",
    ),
    _windows(
        "negative padding",
        "add",
        "6x5",
        "3x5",
        "window_dimensions = array<i64: 2, 1>, padding = dense<[[-1, -1], [0, 0]]> : tensor<2x2xi64>",
    ),
    _windows("of one element", "add", "3x4", "3x4", "window_dimensions = array<i64: 1, 1>"),
    _windows(
        "strides only",
        "add",
        "3x5",
        "3x2",
        "window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 3>",
    ),
    _windows(
        "sums so far",
        "add",
        "3x5",
        "3x5",
        "window_dimensions = array<i64: 1, 5>, padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>",
    ),
    _windows(
        "sums from here on",
        "add",
        "5x3",
        "5x3",
        "window_dimensions = array<i64: 5, 1>, padding = dense<[[0, 4], [0, 0]]> : tensor<2x2xi64>",
    ),
    _windows("no elements", "add", "0x3x5x6", "0x3x4x4", TWO),
    _windows("no windows", "add", "1x3x1x6", "1x3x0x4", TWO),
]

DYNAMIC = [
    _windows("batch", "maximum", "{n}x3x5x6", "{n}x3x4x4", TWO, initial=LOWEST, sizes={"n": 3}),
    _windows("channels last", "add", "{n}x5x6x{m}", "{n}x2x5x{m}", NHWC, sizes={"n": 3, "m": 4}),
    _windows(
        "image",
        "add",
        "{n}x4",
        "{n}x4",
        "window_dimensions = array<i64: 3, 1>, padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>",
        sizes={"n": 6},
    ),
]


def _gradient(
    name: str,
    choice: str,
    shape: str,
    given: str,
    window: str,
    *,
    dtype: str = "f32",
    sizes: dict[str, int] | None = None,
) -> Case:
    x, s = f"tensor<{shape}x{dtype}>", f"tensor<{given}x{dtype}>"
    # The interpreter counts what elements begin with as often as they are given something.
    kind, initial = ("FLOAT", "0.0") if dtype == "f32" else ("SIGNED", "0")
    return Case(
        f"{name} {choice} {dtype}",
        f"%x: {x}, %s: {s}",
        x,
        f"""  %i = stablehlo.constant dense<{initial}> : tensor<{dtype}>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) <{{{window}}}> ({{
    ^bb0(%a: tensor<{dtype}>, %b: tensor<{dtype}>):
      %1 = stablehlo.compare {choice}, %a, %b, {kind} : (tensor<{dtype}>, tensor<{dtype}>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
  }}, {{
    ^bb0(%a: tensor<{dtype}>, %b: tensor<{dtype}>):
      %1 = stablehlo.add %a, %b : tensor<{dtype}>
      stablehlo.return %1 : tensor<{dtype}>
  }}) : ({x}, {s}, tensor<{dtype}>) -> {x}
  return %0 : {x}""",
        sizes or {},
        # Some are equal.
        draws={0: whole_numbers(-3, 3)},
    )


GRADIENTS = [
    _gradient(
        "apart", "GE", "2x3x4x6", "2x3x2x2", f"{TWO}, window_strides = array<i64: 1, 1, 2, 3>"
    ),
    _gradient("that overlap", "GE", "2x3x5x6", "2x3x4x4", TWO),
    _gradient("padded", "GE", "2x3x5x6", "2x3x5x7", f"{TWO}, {PADDED}"),
    _gradient("channels last", "GE", "2x5x6x3", "2x2x5x3", NHWC),
    _gradient("channels last", "LE", "2x5x6x3", "2x2x5x3", NHWC),
    _gradient("of integers", "LE", "2x3x5x6", "2x3x4x4", TWO, dtype="i32"),
    _gradient("of single elements", "GE", "2x3", "2x3", "window_dimensions = array<i64: 1, 1>"),
]

DYNAMIC_GRADIENT = _gradient(
    "batch", "GE", "{n}x5x6x{m}", "{n}x2x5x{m}", NHWC, sizes={"n": 3, "m": 4}
)


@pytest.mark.parametrize("case", GRADIENTS, ids=lambda case: case.name)
def test_gradients_agree_with_the_interpreter(case: Case) -> None:
    check(case, dynamic=False)


def test_gradients_agree_with_the_interpreter_at_dynamic_sizes() -> None:
    check(DYNAMIC_GRADIENT, dynamic=True)


def _scan(padding: str, static: str) -> Case:
    """As JAX spells one along a dimension of dynamic size, which the interpreter has no op for."""
    return Case(
        f"scan {padding}",
        "%x: tensor<3x{n}xi32>",
        "tensor<3x{n}xi32>",
        f"""  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %minus = stablehlo.constant dense<-1> : tensor<i32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<3x{{n}}xi32>) -> tensor<i32>
  %less = stablehlo.add %n, %minus : tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %less1 = stablehlo.reshape %less : (tensor<i32>) -> tensor<1xi32>
  %kernel = stablehlo.concatenate %one, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %none = stablehlo.constant dense<0> : tensor<1x2xi32>
  %pad = stablehlo.concatenate {padding}, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %row = stablehlo.reshape %pad : (tensor<2xi32>) -> tensor<1x2xi32>
  %padding = stablehlo.concatenate %none, %row, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %i, %kernel, %ones, %ones, %ones, %padding) {{
    called_computations = [@sum]
  }} : (tensor<3x{{n}}xi32>, tensor<i32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<3x{{n}}xi32>
  return %0 : tensor<3x{{n}}xi32>""",
        {"n": 5},
        others="""func.func private @sum(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.add %a, %b : tensor<i32>
  return %0 : tensor<i32>
}""",
        as_interpreted=f"""  %i = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{{{static}}}> ({{
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }}) : (tensor<3x5xi32>, tensor<i32>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>""",
    )


_WHOLE = "window_dimensions = array<i64: 1, 5>, padding = dense<{}> : tensor<2x2xi64>"

SCANS = [
    _scan("%less1, %zero", _WHOLE.format("[[0, 0], [4, 0]]")),
    _scan("%zero, %less1", _WHOLE.format("[[0, 0], [0, 4]]")),
]


@pytest.mark.parametrize("case", SCANS, ids=lambda case: case.name)
def test_scans_agree_with_the_interpreter(case: Case) -> None:
    check(case, dynamic=True)


# The logarithms of sums of exponentials up to each element, and that of all elements.
_OF_EXPONENTIALS = """
func.func @program(%x: tensor<2x5xf64>) -> (tensor<2x5xf64>, tensor<2xf64>) {
  %i = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  %0 = "stablehlo.reduce_window"(%x, %i) <{padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 5>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
BODY
    }) : (tensor<2x5xf64>, tensor<f64>) -> tensor<2x5xf64>
  %1 = stablehlo.reduce(%x init: %i) across dimensions = [1] : (tensor<2x5xf64>, tensor<f64>) -> tensor<2xf64>
    reducer(%a: tensor<f64>, %b: tensor<f64>) {
BODY
    }
  return %0, %1 : tensor<2x5xf64>, tensor<2xf64>
}
"""

LOGADDEXP = """
      %2 = stablehlo.maximum %a, %b : tensor<f64>
      %3 = stablehlo.subtract %a, %b : tensor<f64>
      %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %5 = stablehlo.add %a, %b : tensor<f64>
      %6 = stablehlo.abs %3 : tensor<f64>
      %7 = stablehlo.negate %6 : tensor<f64>
      %8 = stablehlo.exponential %7 : tensor<f64>
      %9 = stablehlo.log_plus_one %8 : tensor<f64>
      %10 = stablehlo.add %2, %9 : tensor<f64>
      %11 = stablehlo.select %4, %5, %10 : tensor<i1>, tensor<f64>
      stablehlo.return %11 : tensor<f64>"""
"""As JAX spells it."""

LOGADDEXP_OF_XLA = """
      %2 = stablehlo.maximum %a, %b : tensor<f64>
      %3 = stablehlo.is_finite %2 : (tensor<f64>) -> tensor<i1>
      %4 = stablehlo.not %3 : tensor<i1>
      %5 = stablehlo.abs %2 : tensor<f64>
      %6 = stablehlo.negate %5 : tensor<f64>
      %7 = stablehlo.minimum %a, %b : tensor<f64>
      %8 = stablehlo.subtract %7, %2 : tensor<f64>
      %9 = stablehlo.select %4, %6, %8 : tensor<i1>, tensor<f64>
      %10 = stablehlo.exponential %9 : tensor<f64>
      %11 = stablehlo.log_plus_one %10 : tensor<f64>
      %12 = stablehlo.add %2, %11 : tensor<f64>
      stablehlo.return %12 : tensor<f64>"""
"""As XLA spells it for TensorFlow."""


@pytest.mark.parametrize("body", [LOGADDEXP, LOGADDEXP_OF_XLA])
def test_logarithms_of_sums_of_exponentials_are_known_by_what_they_are(body: str) -> None:
    x = np.array([[0.5, -np.inf, 2.0, 90.0, -3.0], [-np.inf, -np.inf, 1.0, np.inf, 2.0]])
    scanned, reduced = compiled(_OF_EXPONENTIALS.replace("BODY", body))(x)
    expected = np.logaddexp.accumulate(x, axis=1)
    np.testing.assert_allclose(scanned, expected, rtol=1e-14)
    np.testing.assert_allclose(reduced, expected[:, -1], rtol=1e-14)
    other = body.replace("log_plus_one", "exponential_minus_one")
    with pytest.raises(UserError, match=r"its body is none of add, .*, logaddexp of the two"):
        compiled(_OF_EXPONENTIALS.replace("BODY", other))


def test_windows_that_are_no_scan_are_refused() -> None:
    more = compiled(_scan("%n1, %zero", "").text({"n": "?"}))
    with pytest.raises(UserError, match="there is not one for each element"):
        more(np.ones((3, 5), np.int32))
    with pytest.raises(UserError, match="padding that is not before or behind them"):
        compiled(_scan("%less1, %one", "").text({"n": "?"}))


@pytest.mark.parametrize("case", STATIC, ids=lambda case: case.name)
def test_agrees_with_the_interpreter(case: Case) -> None:
    check(case, dynamic=False)


@pytest.mark.parametrize("case", DYNAMIC, ids=lambda case: case.name)
def test_agrees_with_the_interpreter_at_dynamic_sizes(case: Case) -> None:
    check(case, dynamic=True)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
