"""Convolutions: their text, and each rule of their verifiers."""

# ruff: noqa: E501 (an op stands on one line, as it prints)

import sys

import pytest

from test.tcp.checks import check_invalid, check_round_trip, function

ARGUMENTS = [
    "tensor<1x6x8xf32>",
    "tensor<4x3x3xf32>",
    "tensor<?x3x?x9xf16>",
    "tensor<8x3x3x3xf16>",
    "tensor<1x6x8xi8>",
    "tensor<6x2x3xf32>",
]

# The op, and its text over the arguments above.
VALID = [
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg2, %arg3 {dilations = [2, 1], groups = 1 : i64, padding_high = [0, 1], padding_low = [0, 1], strides = [1, 1]} : tensor<?x3x?x9xf16>, tensor<8x3x3x3xf16> -> tensor<?x8x?x9xf16>",
    ),
    (
        "conv_transpose",
        "%0 = tcp.conv_transpose %arg0, %arg5 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>",
    ),
]

# The op, a text that its verifier refuses, and the message.
INVALID = [
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x5xf32>",
        "requires a result of shape 1x4x4, but got 1x4x5",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x6x4xf32>",
        "requires a result of shape 1x4x4, but got 1x6x4",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf64>",
        "requires the same element type throughout, but got 'f32' and 'f64'",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4xf32>",
        "requires a result of rank 3, but got rank 2",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg3 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<8x3x3x3xf16> -> tensor<1x4x4xf32>",
        "requires the same element type throughout, but got 'f32' and 'f16'",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [0]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires 'strides' of 1 or more, but got [0]",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [1, 1]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires 1 entries of 'strides', one for each spatial dimension, but got 2",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [0], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires 'dilations' of 1 or more, but got [0]",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires 1 entries of 'dilations', one for each spatial dimension, but got 0",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [-1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires 'padding_low' of 0 or more, but got [-1]",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires 1 entries of 'padding_low', one for each spatial dimension, but got 0",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [-1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires 'padding_high' of 0 or more, but got [-1]",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1, 1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires 1 entries of 'padding_high', one for each spatial dimension, but got 2",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 0 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires 'groups' of 1 or more, but got [0]",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 3 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires output channels in 'groups' of equal size, but got 4 in 3",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 4 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires input channels in 'groups' of equal size, but got 6 in 4",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 1 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires a weight of shape 4x6x3, but got 4x3x3",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [5], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>",
        "requires a window within the padded input, but got 11 of 10 elements along spatial axis 0",
    ),
    (
        "conv",
        """%1 = tcp.const {value = dense<0.0> : tensor<2x2xf32>} : tensor<2x2xf32>
%0 = tcp.conv %1, %1 {dilations = [], groups = 1, padding_high = [], padding_low = [], strides = []} : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>""",
        "requires an input of one to three spatial dimensions, but got rank 2",
    ),
    (
        "conv",
        """%1 = tcp.const {value = dense<0.0> : tensor<2x2xf32>} : tensor<2x2xf32>
%0 = tcp.conv %arg0, %1 {dilations = [1], groups = 1, padding_high = [1], padding_low = [1], strides = [1]} : tensor<1x6x8xf32>, tensor<2x2xf32> -> tensor<1x2x2xf32>""",
        "requires a weight of rank 3, but got rank 2",
    ),
    (
        "conv",
        "%0 = tcp.conv %arg0, %arg1 {dilations = [1], padding_high = [1], padding_low = [1], strides = [1]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x2x2xf32>",
        "requires attribute 'groups'",
    ),
    (
        "conv_transpose",
        "%0 = tcp.conv_transpose %arg0, %arg5 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x15xf32>",
        "requires a result of shape 1x4x16, but got 1x4x15",
    ),
    (
        "conv_transpose",
        "%0 = tcp.conv_transpose %arg0, %arg5 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x2x16xf32>",
        "requires a result of shape 1x4x16, but got 1x2x16",
    ),
    (
        "conv_transpose",
        "%0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x16xf32>",
        "requires a weight of shape 6x3x3, but got 4x3x3",
    ),
    (
        "conv_transpose",
        "%0 = tcp.conv_transpose %arg0, %arg5 {dilations = [1], groups = 4 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>",
        "requires input channels in 'groups' of equal size, but got 6 in 4",
    ),
    (
        "conv_transpose",
        "%0 = tcp.conv_transpose %arg0, %arg5 {dilations = [1], groups = 2 : i64, output_padding = [-1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>",
        "requires 'output_padding' of 0 or more, but got [-1]",
    ),
    (
        "conv_transpose",
        "%0 = tcp.conv_transpose %arg0, %arg5 {dilations = [1], groups = 2 : i64, output_padding = [], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>",
        "requires 1 entries of 'output_padding', one for each spatial dimension, but got 0",
    ),
    (
        "conv_transpose",
        "%0 = tcp.conv_transpose %arg0, %arg5 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>",
        "requires attribute 'output_padding'",
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
