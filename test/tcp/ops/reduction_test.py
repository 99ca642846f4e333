"""Reductions: their text, and each rule of their verifiers."""

# ruff: noqa: E501 (an op stands on one line, as it prints)

import sys

import pytest

from test.tcp.checks import check_invalid, check_round_trip, function

ARGUMENTS = ["tensor<2x?x4xf16>", "tensor<2x?xi1>", "tensor<3xi8>"]

# The op, and its text over the arguments above.
VALID = [
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {accumulation_type = f32, axes = [0, 2], combiner = #tcp<combiner sum>} : tensor<2x?x4xf16> -> tensor<?xf16>",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {accumulation_type = f16, axes = [], combiner = #tcp<combiner prod>} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [0, 1, 2], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<f16>",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg1 {axes = [1], combiner = #tcp<combiner and>} : tensor<2x?xi1> -> tensor<2xi1>",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg2 {axes = [0], combiner = #tcp<combiner min>, int_signedness = #tcp<signedness Unsigned>} : tensor<3xi8> -> tensor<i8>",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [0], combiner = #tcp<combiner logaddexp>} : tensor<2x?x4xf16> -> tensor<?x4xf16>",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg2 {combiner = #tcp<combiner max>, dim = 0 : index, int_signedness = #tcp<signedness Unsigned>} : tensor<3xi8> -> tensor<3xi8>",
    ),
    ("argmax", "%0 = tcp.argmax %arg0 {dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x4xi64>"),
    (
        "argmin",
        "%0 = tcp.argmin %arg2 {dim = 0 : index, int_signedness = #tcp<signedness Signed>} : tensor<3xi8> -> tensor<i32>",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg2 {combiner = #tcp<combiner max>, dim = 0 : index, int_signedness = #tcp<signedness Unsigned>} : tensor<3xi8> -> tensor<3xi8>",
    ),
]

# The op, a text that its verifier refuses, and the message.
INVALID = [
    (
        "reduce",
        "%0 = tcp.reduce %arg2 {axes = [0], combiner = #tcp<combiner logaddexp>} : tensor<3xi8> -> tensor<i8>",
        "combiner 'logaddexp' requires floating-point elements, but got 'i8'",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg2 {combiner = #tcp<combiner max>, dim = 1 : index} : tensor<3xi8> -> tensor<3xi8>",
        "requires 'dim' within the rank 1, but got 1",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg2 {combiner = #tcp<combiner max>, dim = 0 : index} : tensor<3xi8> -> tensor<4xi8>",
        "requires a result of shape 3, but got 4",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg2 {combiner = #tcp<combiner max>, dim = 0 : index} : tensor<3xi8> -> tensor<3xi16>",
        "requires the same element type throughout, but got 'i8' and 'i16'",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg2 {combiner = #tcp<combiner sum>, dim = 0 : index} : tensor<3xi8> -> tensor<3xi8>",
        "requires attribute 'accumulation_type' for 'sum'",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg2 {combiner = #tcp<combiner and>, dim = 0 : index} : tensor<3xi8> -> tensor<3xi8>",
        "combiner 'and' requires elements of type 'i1', but got 'i8'",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 0 : index, int_signedness = #tcp<signedness Signed>} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>",
        "attribute 'int_signedness' must not be set for the float type 'f16'",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [3], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<?xf16>",
        "requires 'axes' within the rank 3, but got 3",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [-1], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<?xf16>",
        "requires 'axes' within the rank 3, but got -1",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [2, 0], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<?xf16>",
        "requires 'axes' to strictly increase, but got [2, 0]",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<2x1x4xf16>",
        "requires a result of shape 2x4, but got 2x1x4",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<2x4xf32>",
        "requires the same element type throughout, but got 'f16' and 'f32'",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner sum>} : tensor<2x?x4xf16> -> tensor<2x4xf16>",
        "requires attribute 'accumulation_type' for 'sum'",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner max>, accumulation_type = f32} : tensor<2x?x4xf16> -> tensor<2x4xf16>",
        "attribute 'accumulation_type' must not be set for 'max'",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner sum>, accumulation_type = i32} : tensor<2x?x4xf16> -> tensor<2x4xf16>",
        "requires an 'accumulation_type' that holds 'f16', but got 'i32'",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner sum>, accumulation_type = f8E5M2} : tensor<2x?x4xf16> -> tensor<2x4xf16>",
        "requires an 'accumulation_type' that holds 'f16', but got 'f8E5M2'",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner sum>, accumulation_type = index} : tensor<2x?x4xf16> -> tensor<2x4xf16>",
        "attribute 'accumulation_type' failed to satisfy constraint: floating-point or signless integer type attribute",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg2 {axes = [0], combiner = #tcp<combiner or>} : tensor<3xi8> -> tensor<i8>",
        "combiner 'or' requires elements of type 'i1', but got 'i8'",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner max>, int_signedness = #tcp<signedness Signed>} : tensor<2x?x4xf16> -> tensor<2x4xf16>",
        "attribute 'int_signedness' must not be set for the float type 'f16'",
    ),
    (
        "argmax",
        "%0 = tcp.argmax %arg0 {dim = 3 : index} : tensor<2x?x4xf16> -> tensor<2x4xi64>",
        "requires 'dim' within the rank 3, but got 3",
    ),
    (
        "argmax",
        "%0 = tcp.argmax %arg0 {dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x4xf16>",
        "result #0 must be ranked tensor of signless integer values, but got 'tensor<2x4xf16>'",
    ),
    (
        "argmin",
        "%0 = tcp.argmin %arg0 {dim = 1 : index} : tensor<2x?x4xf16> -> tensor<4x2xi64>",
        "requires a result of shape 2x4, but got 4x2",
    ),
    (
        "argmin",
        "%0 = tcp.argmin %arg2 {dim = 0 : index, int_signedness = #tcp<signedness Signless>} : tensor<3xi8> -> tensor<i32>",
        "attribute 'int_signedness' must be Signed or Unsigned for 'i8', but got Signless",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 3 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>",
        "requires 'dim' within the rank 3, but got 3",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 0 : index} : tensor<2x?x4xf16> -> tensor<2x4xf16>",
        "requires a result of shape 2x?x4, but got 2x4",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 0 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf32>",
        "requires the same element type throughout, but got 'f16' and 'f32'",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg0 {combiner = #tcp<combiner sum>, dim = 0 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>",
        "requires attribute 'accumulation_type' for 'sum'",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg0 {combiner = #tcp<combiner or>, dim = 0 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>",
        "combiner 'or' requires elements of type 'i1', but got 'f16'",
    ),
    (
        "scan",
        "%0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 0 : index, int_signedness = #tcp<signedness Signed>} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>",
        "attribute 'int_signedness' must not be set for the float type 'f16'",
    ),
    (
        "reduce",
        "%0 = tcp.reduce %arg2 {axes = [0], combiner = #tcp<combiner logaddexp>} : tensor<3xi8> -> tensor<i8>",
        "combiner 'logaddexp' requires floating-point elements, but got 'i8'",
    ),
]

OPS = {op for op, _ in VALID} & {op for op, _, _ in INVALID}


@pytest.mark.parametrize(("op", "text"), VALID)
def test_round_trip(op: str, text: str) -> None:
    assert f"tcp.{op}" in text
    check_round_trip(function(ARGUMENTS, text))


@pytest.mark.parametrize(("op", "text", "message"), INVALID)
def test_invalid(op: str, text: str, message: str) -> None:
    check_invalid(function(ARGUMENTS, text), op, message)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
