"""Elementwise ops of StableHLO, compiled and held against its interpreter."""

# ruff: noqa: E501 - lines of MLIR are as long as its types

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from plumbline.errors import UserError
from test.stablehlo_to_tcp.program import Case, Draw, check, compiled, numbers, whole_numbers

FLOATS = ("f64", "f32", "f16", "bf16")
SIGNED = ("i8", "i32", "i64")
UNSIGNED = ("ui8", "ui32", "ui64")
INTEGERS = (*SIGNED, *UNSIGNED)
NUMBERS = (*FLOATS, *INTEGERS)
BOOL = ("i1",)

UNARY = {
    "abs": (*FLOATS, *SIGNED),
    "cbrt": FLOATS,
    "ceil": FLOATS,
    "cosine": FLOATS,
    "count_leading_zeros": INTEGERS,
    "exponential": FLOATS,
    "exponential_minus_one": FLOATS,
    "floor": FLOATS,
    "log": FLOATS,
    "log_plus_one": FLOATS,
    "logistic": FLOATS,
    "negate": NUMBERS,
    "not": (*INTEGERS, *BOOL),
    "popcnt": INTEGERS,
    "round_nearest_afz": FLOATS,
    "round_nearest_even": FLOATS,
    "rsqrt": FLOATS,
    "sign": (*FLOATS, *SIGNED),
    "sine": FLOATS,
    "sqrt": FLOATS,
    "tan": FLOATS,
    "tanh": FLOATS,
}
BINARY = {
    "add": (*NUMBERS, *BOOL),
    "and": (*INTEGERS, *BOOL),
    "atan2": FLOATS,
    "divide": FLOATS,
    "maximum": (*NUMBERS, *BOOL),
    "minimum": (*NUMBERS, *BOOL),
    "multiply": (*NUMBERS, *BOOL),
    "or": (*INTEGERS, *BOOL),
    "power": ("f64", "f32"),
    "subtract": NUMBERS,
    "xor": (*INTEGERS, *BOOL),
}
SHIFTS = ("shift_left", "shift_right_arithmetic", "shift_right_logical")
DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")


def _together(
    name: str,
    lines: Sequence[tuple[str, list[str], str]],
    *,
    special: bool = False,
    draws: Mapping[int, Draw] | None = None,
) -> Case:
    """One program of several ops, each with arguments of its own."""
    arguments, results, body = [], [], []
    for index, (line, operands, result) in enumerate(lines):
        names = [f"%a{index}_{place}" for place in range(len(operands))]
        arguments += [f"{n}: {type_}" for n, type_ in zip(names, operands, strict=True)]
        results.append(result)
        body.append(f"  %r{index} = " + line.format(*names))
    returned = ", ".join(f"%r{index}" for index in range(len(lines)))
    body.append(f"  return {returned} : {', '.join(results)}")
    return Case(
        name,
        ", ".join(arguments),
        ", ".join(results),
        "\n".join(body),
        {"n": 37},
        draws=draws or {},
        special=special,
    )


def _of(dtype: str) -> str:
    return f"tensor<{{n}}x{dtype}>"


def _unary(name: str) -> Case:
    return _together(
        name,
        [
            (f"stablehlo.{name} {{0}} : {_of(t).replace('{n}', '{{n}}')}", [_of(t)], _of(t))
            for t in UNARY[name]
        ],
        special=True,
    )


def _binary(
    name: str,
    dtypes: Sequence[str],
    *,
    special: bool = False,
    draws: Mapping[int, Draw] | None = None,
) -> Case:
    return _together(
        name,
        [
            (
                f"stablehlo.{name} {{0}}, {{1}} : {_of(t).replace('{n}', '{{n}}')}",
                [_of(t), _of(t)],
                _of(t),
            )
            for t in dtypes
        ],
        special=special,
        draws=draws,
    )


def _compare(kind: str, dtypes: tuple[str, ...]) -> Case:
    return _together(
        f"compare {kind}",
        [
            (
                f"stablehlo.compare {direction}, {{0}}, {{1}}, {kind} : "
                f"(tensor<{{{{n}}}}x{t}>, tensor<{{{{n}}}}x{t}>) -> tensor<{{{{n}}}}xi1>",
                [_of(t), _of(t)],
                _of("i1"),
            )
            for t in dtypes
            for direction in DIRECTIONS
        ],
        special=True,
    )


def _convert(sources: tuple[str, ...], targets: tuple[str, ...]) -> Case:
    return _together(
        f"convert {sources[0]} {targets[0]}",
        [
            (
                f"stablehlo.convert {{0}} : (tensor<{{{{n}}}}x{s}>) -> tensor<{{{{n}}}}x{t}>",
                [_of(s)],
                _of(t),
            )
            for s in sources
            for t in targets
            if s != t
        ],
    )


def _odd_counts(count: int) -> dict[int, Draw]:
    return {2 * index + 1: whole_numbers(0, 7) for index in range(count)}


N = "tensor<{n}xf32>"

CASES = [
    *map(_unary, UNARY),
    *(_binary(name, dtypes, special=True) for name, dtypes in BINARY.items()),
    # Division by zero is undefined, as is the quotient of the least number by -1.
    *(
        _binary(
            name,
            INTEGERS,
            draws={2 * index + 1: whole_numbers(1, 120) for index in range(len(INTEGERS))},
            special=True,
        )
        for name in ("divide", "remainder")
    ),
    _binary("remainder", ("f64", "f32")),
    *(_binary(name, INTEGERS, draws=_odd_counts(len(INTEGERS)), special=True) for name in SHIFTS),
    _binary(
        "power",
        ("i32", "i64", "ui8", "ui32"),
        draws=_odd_counts(4),
    ),
    _compare("FLOAT", FLOATS),
    _compare("SIGNED", SIGNED),
    _compare("UNSIGNED", (*UNSIGNED, *BOOL)),
    _convert(NUMBERS, ("i1",)),
    _convert(BOOL, NUMBERS),
    _convert(INTEGERS, INTEGERS),
    _convert(INTEGERS, FLOATS),
    _convert(FLOATS, FLOATS),
    _convert(FLOATS, SIGNED),
    _together(
        "is_finite",
        [
            (
                f"stablehlo.is_finite {{0}} : (tensor<{{{{n}}}}x{t}>) -> tensor<{{{{n}}}}xi1>",
                [_of(t)],
                _of("i1"),
            )
            for t in FLOATS
        ],
        special=True,
    ),
    _together(
        "bitcast",
        [
            (
                f"stablehlo.bitcast_convert {{0}} : (tensor<{{{{n}}}}x{s}>) -> tensor<{{{{n}}}}x{t}>",
                [_of(s)],
                _of(t),
            )
            for s, t in (("f32", "ui32"), ("f64", "i64"), ("i16", "ui16"), ("f16", "i16"))
        ],
        special=True,
    ),
    Case(
        "clamp",
        f"%l: {N}, %x: {N}, %h: {N}, %s: tensor<f32>, %t: tensor<f32>, "
        "%i: tensor<{n}xui8>, %j: tensor<ui8>, %k: tensor<ui8>",
        f"{N}, {N}, tensor<{{n}}xui8>",
        f"""
  %0 = stablehlo.clamp %l, %x, %h : ({N}, {N}, {N}) -> {N}
  %1 = stablehlo.clamp %s, %x, %t : (tensor<f32>, {N}, tensor<f32>) -> {N}
  %2 = stablehlo.clamp %j, %i, %k : (tensor<ui8>, tensor<{{n}}xui8>, tensor<ui8>) -> tensor<{{n}}xui8>
  return %0, %1, %2 : {N}, {N}, tensor<{{n}}xui8>""",
        {"n": 37},
        draws={
            3: numbers(-1, 0),
            4: numbers(0, 1),
            6: whole_numbers(3, 3),
            7: whole_numbers(200, 200),
        },
        special=True,
    ),
    Case(
        "select",
        f"%c: tensor<{{n}}xi1>, %s: tensor<i1>, %x: {N}, %y: {N}",
        f"{N}, {N}",
        f"""
  %0 = stablehlo.select %c, %x, %y : tensor<{{n}}xi1>, {N}
  %1 = stablehlo.select %s, %x, %y : tensor<i1>, {N}
  return %0, %1 : {N}, {N}""",
        {"n": 37},
    ),
    Case(
        "reduce_precision",
        f"%x: {N}",
        f"{N}, {N}",
        f"""
  %0 = stablehlo.reduce_precision %x, format = e8m7 : {N}
  %1 = stablehlo.reduce_precision %x, format = e5m10 : {N}
  return %0, %1 : {N}, {N}""",
        {"n": 37},
        special=True,
    ),
]


@pytest.mark.parametrize("kind", ["static", "dynamic", "empty"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_the_interpreter(case: Case, kind: str) -> None:
    check(case, dynamic=kind == "dynamic", sizes={"n": 0} if kind == "empty" else None)


TOTAL_ORDER = """
func.func @program(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xi1> {
  %0 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
"""


def test_total_order() -> None:
    # The interpreter has no such comparison; IEEE 754 orders these so.
    rising = np.array(
        [
            *(0xFFC00001, 0xFFC00000, 0xFF800000, 0xBF800000, 0x80000001, 0x80000000),
            *(0x00000000, 0x00000001, 0x3F800000, 0x7F800000, 0x7FC00000, 0x7FC00001),
        ],
        np.uint32,
    ).view(np.float32)
    left, right = (grid.reshape(-1) for grid in np.meshgrid(rising, rising, indexing="ij"))
    (less,) = compiled(TOTAL_ORDER)(left, right)
    places = np.arange(len(rising))
    np.testing.assert_array_equal(less.reshape(len(rising), -1), places[:, None] < places[None, :])


CHLO: dict[str, Callable[..., Any]] = {
    "acos": np.arccos,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "cosh": np.cosh,
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
    "sinh": np.sinh,
    "tan": np.tan,
}


@pytest.mark.parametrize("name", CHLO)
def test_chlo(name: str) -> None:
    # The interpreter knows nothing of CHLO.
    text = (
        "func.func @program(%x: tensor<?xf64>) -> tensor<?xf64> {\n"
        f"  %0 = chlo.{name} %x : tensor<?xf64> -> tensor<?xf64>\n"
        "  return %0 : tensor<?xf64>\n}"
    )
    x = np.linspace(-1, 1, 41)
    (result,) = compiled(text)(x)
    np.testing.assert_allclose(result, CHLO[name](x), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint64"])
def test_integers_are_divided_by_zero_too(dtype: str) -> None:
    type_ = f"tensor<?x{dtype.replace('uint', 'ui').replace('int', 'i')}>"
    program = compiled(f"""
func.func @program(%x: {type_}, %y: {type_}) -> ({type_}, {type_}) {{
  %0 = stablehlo.divide %x, %y : {type_}
  %1 = stablehlo.remainder %x, %y : {type_}
  return %0, %1 : {type_}, {type_}
}}
""")
    limits = np.iinfo(dtype)
    x = np.array([7, 0, limits.min, limits.max, 9], dtype)
    y = np.array([0, 0, 0, 0, 4], dtype)
    quotient, remainder = program(x, y)
    nothing = -1 if limits.min else limits.max
    assert quotient.tolist() == [nothing] * 4 + [2]
    assert remainder.tolist() == [*x[:4].tolist(), 1]


@pytest.mark.parametrize(
    ("wide", "of", "narrow", "part"),
    [
        ("f32", "float32", "ui8", "uint8"),
        ("f64", "float64", "f16", "float16"),
        ("i64", "int64", "i16", "int16"),
    ],
)
def test_an_element_is_the_bits_of_several(wide: str, of: str, narrow: str, part: str) -> None:
    count = np.dtype(of).itemsize // np.dtype(part).itemsize
    one, several = f"tensor<?x3x{wide}>", f"tensor<?x3x{count}x{narrow}>"
    program = compiled(f"""
func.func @program(%x: {one}) -> ({several}, {one}) {{
  %0 = stablehlo.bitcast_convert %x : ({one}) -> {several}
  %1 = stablehlo.bitcast_convert %0 : ({several}) -> {one}
  return %0, %1 : {several}, {one}
}}
""")
    x = (np.random.default_rng(0).standard_normal((2, 3)) * 100).astype(of)
    parts, again = program(x)
    np.testing.assert_array_equal(parts, x.view(part).reshape(2, 3, count))
    np.testing.assert_array_equal(again, x)


BEYOND = [0.5, -0.5, -3.75, 300.0, -300.0, 65504.0, 3e9, -3e9, 1e20, -1e20, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize(
    ("of", "dtype"),
    [
        *(("f32", "int8"), ("f32", "int32"), ("f32", "uint32"), ("f32", "uint64")),
        *(("f64", "int32"), ("f64", "int64"), ("f16", "int64"), ("f16", "uint8")),
    ],
)
def test_floats_beyond_integers_are_the_nearest(of: str, dtype: str) -> None:
    type_ = f"tensor<?x{dtype.replace('uint', 'ui').replace('int', 'i')}>"
    program = compiled(f"""
func.func @program(%x: tensor<?x{of}>) -> {type_} {{
  %0 = stablehlo.convert %x : (tensor<?x{of}>) -> {type_}
  return %0 : {type_}
}}
""")
    with np.errstate(over="ignore"):
        x = np.array(BEYOND, of.replace("f", "float"))
    limits = np.iinfo(dtype)
    expected = [
        0
        if np.isnan(number)
        else min(max(int(np.clip(number, -1e30, 1e30)), limits.min), limits.max)
        for number in x.astype(np.float64)
    ]
    assert program(x)[0].tolist() == expected


def test_chlo_is_taken_apart_where_tcp_has_no_op() -> None:
    text = """
func.func @program(%x: tensor<?xf64>) -> tensor<?xf64> {
  %0 = chlo.lgamma %x : tensor<?xf64> -> tensor<?xf64>
  return %0 : tensor<?xf64>
}
"""
    x = np.linspace(0.25, 9.75, 20)
    (result,) = compiled(text)(x)
    np.testing.assert_allclose(result, np.vectorize(math.lgamma)(x), rtol=1e-12, atol=1e-14)


CHLO_BROADCASTS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "divide": np.divide,
    "maximum": np.maximum,
    "next_after": np.nextafter,
    "power": lambda left, right: np.power(np.abs(left), right),
    "subtract": np.subtract,
}

SIZES_THAT_FIT = (((2, 3), (3,)), ((2, 3), (1,)), ((2, 1), (3,)), ((0, 3), (3,)), ((1, 1), (1,)))


@pytest.mark.parametrize("name", CHLO_BROADCASTS)
def test_chlo_broadcasts_operands_of_any_size(name: str) -> None:
    base = "chlo.broadcast_" + name
    left = "%a" if name == "power" else "%x"
    program = compiled(f"""
func.func @program(%x: tensor<?x?xf64>, %y: tensor<?xf64>) -> tensor<?x?xf64> {{
  %a = stablehlo.abs %x : tensor<?x?xf64>
  %0 = {base} {left}, %y : (tensor<?x?xf64>, tensor<?xf64>) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}}
""")
    generator = np.random.default_rng(0)
    for shapes in SIZES_THAT_FIT:
        x, y = map(generator.standard_normal, shapes)
        (result,) = program(x, y)
        np.testing.assert_allclose(result, CHLO_BROADCASTS[name](x, y), rtol=1e-13)


def test_chlo_broadcasts_no_operands_that_do_not_fit() -> None:
    program = compiled("""
func.func @program(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xi1> {
  %0 = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>} : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xi1>
  return %0 : tensor<?x?xi1>
}
""")
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.full(1, 2.5, np.float32)
    (less,) = program(x, y)
    np.testing.assert_array_equal(less, x < y)
    with pytest.raises(UserError, match="required broadcastable shapes"):
        program(x, np.ones(2, np.float32))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
