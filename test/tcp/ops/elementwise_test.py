"""Elementwise ops: their text, and each rule of their verifiers."""

import sys

import pytest

from test.tcp.checks import check_invalid, check_round_trip, function

UNARY_FLOAT = [
    "acos",
    "asin",
    "asinh",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "floor",
    "log",
    "log1p",
    "round",
    "round_even",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
UNARY_FLOAT_OR_INT = ["abs", "neg"]
FLOAT_PREDICATES = ["isfinite", "isinf", "isnan", "signbit"]
BINARY_FLOAT = ["atan2", "copysign", "divf", "remf"]
BINARY_INT = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "remsi",
    "remui",
    "shli",
    "shrsi",
    "shrui",
]
INT_DIVISIONS = ["divsi", "divui"]
BINARY_BOOL = ["logical_and", "logical_or", "logical_xor"]
BINARY_FLOAT_OR_INT = ["add", "maximum", "minimum", "mul", "pow", "sub"]
OTHERS = ["bitwise_not", "cast", "clamp", "compare", "logical_not", "select"]

OPS = {
    *UNARY_FLOAT,
    *UNARY_FLOAT_OR_INT,
    *FLOAT_PREDICATES,
    *BINARY_FLOAT,
    *BINARY_INT,
    *INT_DIVISIONS,
    *BINARY_BOOL,
    *BINARY_FLOAT_OR_INT,
    *OTHERS,
}

SHAPE = "all non-scalar operands/results must have the same shape and base type"
ELEMENT_TYPE = "requires the same element type for all operands and results"
FLOAT = "must be ranked tensor of floating-point values, but got"
INT = "must be ranked tensor of signless integer values, but got"
BOOL = "must be ranked tensor of 1-bit signless integer values, but got"
NUMBER = "must be ranked tensor of floating-point or signless integer values, but got"


def unary(op: str, operand: str, result: str, attributes: str = "") -> str:
    attributes = f" {{{attributes}}}" if attributes else ""
    return function([operand], f"%0 = tcp.{op} %arg0{attributes} : {operand} -> {result}")


def binary(op: str, first: str, second: str, result: str, attributes: str = "") -> str:
    attributes = f" {{{attributes}}}" if attributes else ""
    text = f"%0 = tcp.{op} %arg0, %arg1{attributes} : {first}, {second} -> {result}"
    return function([first, second], text)


@pytest.mark.parametrize("op", UNARY_FLOAT + UNARY_FLOAT_OR_INT)
@pytest.mark.parametrize(
    "type_", ["tensor<f16>", "tensor<?x3xbf16>", "tensor<?xf32>", "tensor<2xf64>"]
)
def test_unary_float(op: str, type_: str) -> None:
    check_round_trip(unary(op, type_, type_))


@pytest.mark.parametrize("op", UNARY_FLOAT)
def test_unary_float_invalid(op: str) -> None:
    check_invalid(
        unary(op, "tensor<2xi32>", "tensor<2xi32>"), op, f"operand #0 {FLOAT} 'tensor<2xi32>'"
    )
    check_invalid(unary(op, "f32", "f32"), op, f"operand #0 {FLOAT} 'f32'")
    check_invalid(
        unary(op, "tensor<*xf32>", "tensor<*xf32>"), op, f"operand #0 {FLOAT} 'tensor<*xf32>'"
    )
    check_invalid(
        unary(op, "tensor<2xf32>", "tensor<2xi32>"), op, f"result #0 {FLOAT} 'tensor<2xi32>'"
    )
    check_invalid(unary(op, "tensor<2xf32>", "tensor<3xf32>"), op, SHAPE)
    check_invalid(unary(op, "tensor<2xf32>", "tensor<2x1xf32>"), op, SHAPE)
    check_invalid(unary(op, "tensor<2xf32>", "tensor<2xf64>"), op, ELEMENT_TYPE)


@pytest.mark.parametrize("op", UNARY_FLOAT_OR_INT)
def test_unary_float_or_int(op: str) -> None:
    check_round_trip(unary(op, "tensor<?xi8>", "tensor<2xi8>"))
    check_invalid(
        unary(op, "tensor<2xui8>", "tensor<2xui8>"), op, f"operand #0 {NUMBER} 'tensor<2xui8>'"
    )
    check_invalid(unary(op, "tensor<2xi8>", "tensor<3xi8>"), op, SHAPE)
    check_invalid(unary(op, "tensor<2xi8>", "tensor<2xi16>"), op, ELEMENT_TYPE)


def test_bitwise_not() -> None:
    check_round_trip(unary("bitwise_not", "tensor<?xi64>", "tensor<?xi64>"))
    text = unary("bitwise_not", "tensor<2xf32>", "tensor<2xf32>")
    check_invalid(text, "bitwise_not", f"operand #0 {INT} 'tensor<2xf32>'")
    check_invalid(
        unary("bitwise_not", "tensor<2xi8>", "tensor<2xi16>"), "bitwise_not", ELEMENT_TYPE
    )


def test_logical_not() -> None:
    check_round_trip(unary("logical_not", "tensor<?xi1>", "tensor<?xi1>"))
    text = unary("logical_not", "tensor<2xi8>", "tensor<2xi8>")
    check_invalid(text, "logical_not", f"operand #0 {BOOL} 'tensor<2xi8>'")


@pytest.mark.parametrize("op", FLOAT_PREDICATES)
def test_float_predicate(op: str) -> None:
    check_round_trip(unary(op, "tensor<?xf16>", "tensor<?xi1>"))
    check_invalid(
        unary(op, "tensor<2xi8>", "tensor<2xi1>"), op, f"operand #0 {FLOAT} 'tensor<2xi8>'"
    )
    check_invalid(
        unary(op, "tensor<2xf32>", "tensor<2xf32>"), op, f"result #0 {BOOL} 'tensor<2xf32>'"
    )
    check_invalid(unary(op, "tensor<2xf32>", "tensor<3xi1>"), op, SHAPE)


@pytest.mark.parametrize(
    "bound", ["max_float = 1.000000e+00 : f32", "min_float = -5.000000e-01 : f64"]
)
def test_clamp_float(bound: str) -> None:
    check_round_trip(unary("clamp", "tensor<?xf32>", "tensor<?xf32>", bound))


def test_clamp_int() -> None:
    bounds = "int_signedness = #tcp<signedness Unsigned>, max_int = 255 : i64, min_int = -1 : i64"
    check_round_trip(unary("clamp", "tensor<?xi8>", "tensor<?xi8>", bounds))


@pytest.mark.parametrize(
    ("type_", "attributes", "message"),
    [
        ("tensor<2xf32>", "", "requires at least one of 'min_float' and 'max_float'"),
        ("tensor<2xi32>", "", "requires at least one of 'min_int' and 'max_int'"),
        (
            "tensor<2xf32>",
            "max_int = 1 : i64",
            "attribute 'max_int' must not be set for elements of type 'f32'",
        ),
        (
            "tensor<2xi32>",
            "max_int = 1 : i64, min_float = 1.0 : f32",
            "attribute 'min_float' must not be set for elements of type 'i32'",
        ),
        (
            "tensor<2xi32>",
            "max_int = 1 : i32",
            "attribute 'max_int' failed to satisfy constraint: 64-bit signless integer attribute",
        ),
        (
            "tensor<2xf32>",
            "max_float = 1 : i64",
            "attribute 'max_float' failed to satisfy constraint: floating-point attribute",
        ),
        (
            "tensor<2xf32>",
            "max_float = 1.0 : f32, int_signedness = #tcp<signedness Signed>",
            "attribute 'int_signedness' must not be set for the float type 'f32'",
        ),
        (
            "tensor<2xi32>",
            "max_int = 1, int_signedness = #tcp<signedness Signless>",
            "attribute 'int_signedness' must be Signed or Unsigned for 'i32', but got Signless",
        ),
        (
            "tensor<2xi32>",
            "max_int = 1, int_signedness = #tcp<predicate eq>",
            "attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of "
            "Signed, Unsigned, Signless",
        ),
    ],
)
def test_clamp_invalid(type_: str, attributes: str, message: str) -> None:
    check_invalid(unary("clamp", type_, type_, attributes), "clamp", message)


@pytest.mark.parametrize("op", BINARY_FLOAT + BINARY_FLOAT_OR_INT)
@pytest.mark.parametrize("type_", ["tensor<f16>", "tensor<?x3xf64>"])
def test_binary_float(op: str, type_: str) -> None:
    check_round_trip(binary(op, type_, type_, type_))
    check_round_trip(binary(op, type_, type_, type_, 'note = "a \\22quoted\\22 {word}"'))


@pytest.mark.parametrize("op", BINARY_FLOAT)
def test_binary_float_invalid(op: str) -> None:
    f32, f64, i32 = "tensor<2xf32>", "tensor<2xf64>", "tensor<2xi32>"
    check_invalid(binary(op, i32, f32, f32), op, f"operand #0 {FLOAT} '{i32}'")
    check_invalid(binary(op, f32, i32, f32), op, f"operand #1 {FLOAT} '{i32}'")
    check_invalid(binary(op, f32, f32, i32), op, f"result #0 {FLOAT} '{i32}'")
    check_invalid(binary(op, f32, f64, f32), op, ELEMENT_TYPE)
    check_invalid(binary(op, f32, "tensor<3xf32>", f32), op, SHAPE)


@pytest.mark.parametrize("op", BINARY_FLOAT_OR_INT)
def test_binary_float_or_int(op: str) -> None:
    i8, i16 = "tensor<2xi8>", "tensor<2xi16>"
    check_round_trip(binary(op, i8, "tensor<?xi8>", i8))
    check_invalid(binary(op, "index", i8, i8), op, f"operand #0 {NUMBER} 'index'")
    check_invalid(binary(op, i8, i16, i8), op, ELEMENT_TYPE)
    check_invalid(binary(op, i8, "tensor<2x2xi8>", i8), op, SHAPE)
    check_invalid(binary(op, "tensor<?xi8>", i8, "tensor<3xi8>"), op, SHAPE)


@pytest.mark.parametrize("op", ["maximum", "minimum"])
def test_extremum_signedness(op: str) -> None:
    i8, i1, f32 = "tensor<2xi8>", "tensor<2xi1>", "tensor<2xf32>"
    check_round_trip(binary(op, i8, i8, i8, "int_signedness = #tcp<signedness Unsigned>"))
    check_round_trip(binary(op, i1, i1, i1, "int_signedness = #tcp<signedness Signless>"))
    message = "attribute 'int_signedness' must be Signless for 'i1', but got Signed"
    check_invalid(binary(op, i1, i1, i1, "int_signedness = #tcp<signedness Signed>"), op, message)
    message = "attribute 'int_signedness' must not be set for the float type 'f32'"
    check_invalid(
        binary(op, f32, f32, f32, "int_signedness = #tcp<signedness Signed>"), op, message
    )


@pytest.mark.parametrize("op", BINARY_INT)
def test_binary_int(op: str) -> None:
    i8, f32 = "tensor<?xi8>", "tensor<?xf32>"
    check_round_trip(binary(op, i8, i8, i8))
    check_invalid(binary(op, f32, f32, f32), op, f"operand #0 {INT} '{f32}'")
    check_invalid(binary(op, i8, "tensor<?xi16>", i8), op, ELEMENT_TYPE)
    check_invalid(binary(op, i8, "tensor<?x?xi8>", i8), op, SHAPE)


@pytest.mark.parametrize("op", INT_DIVISIONS)
def test_int_division(op: str) -> None:
    i8, f32 = "tensor<?xi8>", "tensor<?xf32>"
    for mode in ("Trunc", "Floor", "Ceil"):
        check_round_trip(binary(op, i8, i8, i8, f"rounding_mode = #tcp<rounding_mode {mode}>"))
    check_invalid(binary(op, i8, i8, i8), op, "requires attribute 'rounding_mode'")
    message = (
        "attribute 'rounding_mode' failed to satisfy constraint: rounding_mode attribute, one "
    )
    check_invalid(
        binary(op, i8, i8, i8, "rounding_mode = 1"), op, message + "of Trunc, Floor, Ceil"
    )
    check_invalid(binary(op, f32, f32, f32), op, f"operand #0 {INT} '{f32}'")


@pytest.mark.parametrize("op", BINARY_BOOL)
def test_binary_bool(op: str) -> None:
    i1, i8 = "tensor<?xi1>", "tensor<?xi8>"
    check_round_trip(binary(op, i1, i1, i1))
    check_invalid(binary(op, i1, i8, i1), op, f"operand #1 {BOOL} '{i8}'")
    check_invalid(binary(op, i1, i1, "tensor<i1>"), op, SHAPE)


@pytest.mark.parametrize("predicate", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_compare(predicate: str) -> None:
    f32, i8, i1 = "tensor<?xf32>", "tensor<?xi8>", "tensor<?xi1>"
    attribute = f"predicate = #tcp<predicate {predicate}>"
    check_round_trip(binary("compare", f32, f32, i1, attribute))
    attributes = f"int_signedness = #tcp<signedness Unsigned>, {attribute}"
    check_round_trip(binary("compare", i8, i8, i1, attributes))


@pytest.mark.parametrize(
    ("first", "second", "result", "attributes", "message"),
    [
        ("f32", "f32", "i1", "", "requires attribute 'predicate'"),
        (
            "f32",
            "f32",
            "f32",
            "predicate = #tcp<predicate lt>",
            f"result #0 {BOOL} 'tensor<2xf32>'",
        ),
        (
            "f32",
            "f64",
            "i1",
            "predicate = #tcp<predicate lt>",
            "requires the same element type throughout, but got 'f32' and 'f64'",
        ),
        (
            "f32",
            "f32",
            "i1",
            "predicate = #tcp<predicate lt>, int_signedness = #tcp<signedness Signed>",
            "attribute 'int_signedness' must not be set for the float type 'f32'",
        ),
    ],
)
def test_compare_invalid(
    first: str, second: str, result: str, attributes: str, message: str
) -> None:
    first, second, result = (f"tensor<2x{element}>" for element in (first, second, result))
    check_invalid(binary("compare", first, second, result, attributes), "compare", message)


def select(condition: str, on_true: str, on_false: str, result: str) -> str:
    types = f"{condition}, {on_true}, {on_false} -> {result}"
    text = f"%0 = tcp.select %arg0, %arg1, %arg2 : {types}"
    return function([condition, on_true, on_false], text)


def test_select() -> None:
    i1, f32, c64 = "tensor<?xi1>", "tensor<?xf32>", "tensor<?xcomplex<f32>>"
    check_round_trip(select(i1, f32, f32, f32))
    check_round_trip(select(i1, c64, c64, c64))
    check_invalid(select(f32, f32, f32, f32), "select", f"operand #0 {BOOL} '{f32}'")
    message = "requires the same element type throughout, but got 'f32' and 'f64'"
    check_invalid(select(i1, f32, "tensor<?xf64>", f32), "select", message)
    check_invalid(select(i1, f32, f32, "tensor<?xf64>"), "select", message)
    check_invalid(select("tensor<i1>", f32, f32, f32), "select", SHAPE)


IN = "in_int_signedness = #tcp<signedness {}>"
OUT = "out_int_signedness = #tcp<signedness {}>"


@pytest.mark.parametrize(
    ("operand", "result", "attributes"),
    [
        ("f16", "bf16", ""),
        ("i1", "f32", IN.format("Signless")),
        ("f32", "i64", OUT.format("Signed")),
        ("i8", "i8", IN.format("Unsigned") + ", " + OUT.format("Signed")),
    ],
)
def test_cast(operand: str, result: str, attributes: str) -> None:
    check_round_trip(unary("cast", f"tensor<?x{operand}>", f"tensor<?x{result}>", attributes))


@pytest.mark.parametrize(
    ("operand", "result", "attributes", "message"),
    [
        ("i8", "f32", "", "requires attribute 'in_int_signedness' for elements of type 'i8'"),
        ("f32", "i8", "", "requires attribute 'out_int_signedness' for elements of type 'i8'"),
        (
            "f32",
            "f64",
            IN.format("Signed"),
            "attribute 'in_int_signedness' must not be set for the float type 'f32'",
        ),
        (
            "f32",
            "f64",
            OUT.format("Signed"),
            "attribute 'out_int_signedness' must not be set for the float type 'f64'",
        ),
        (
            "i1",
            "f32",
            IN.format("Signed"),
            "attribute 'in_int_signedness' must be Signless for 'i1', but got Signed",
        ),
        (
            "f32",
            "i32",
            OUT.format("Signless"),
            "attribute 'out_int_signedness' must be Signed or Unsigned for 'i32', but got Signless",
        ),
    ],
)
def test_cast_invalid(operand: str, result: str, attributes: str, message: str) -> None:
    text = unary("cast", f"tensor<2x{operand}>", f"tensor<2x{result}>", attributes)
    check_invalid(text, "cast", message)


def test_cast_keeps_shape() -> None:
    check_invalid(unary("cast", "tensor<2xf32>", "tensor<3xf64>"), "cast", SHAPE)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
