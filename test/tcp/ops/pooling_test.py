"""Pooling windows: their text, and each rule of their verifiers."""

# ruff: noqa: E501 (an op stands on one line, as it prints)

import sys

import pytest

from test.tcp.checks import check_invalid, check_round_trip, function

ARGUMENTS = ["tensor<1x6x8xf32>", "tensor<?x?xi8>"]

# The op, and its text over the arguments above.
VALID = [
    (
        "pool",
        "%0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 1], padding_low = [0, 1], strides = [2, 2]} : tensor<1x6x8xf32> -> tensor<1x3x4xf32>",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg1 {combiner = #tcp<combiner max>, dilations = [1], int_signedness = #tcp<signedness Unsigned>, kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<?x?xi8> -> tensor<?x?xi8>",
    ),
    (
        "argmax_pool",
        "%0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>",
    ),
]

# The op, a text that its verifier refuses, and the message.
INVALID = [
    (
        "pool",
        "%0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x5xf32>",
        "requires a result of shape 1x6x4, but got 1x6x5",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf16>",
        "requires the same element type throughout, but got 'f32' and 'f16'",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
        "requires attribute 'combiner'",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {combiner = #tcp<combiner sum>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
        "requires attribute 'accumulation_type' for 'sum'",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {accumulation_type = f16, combiner = #tcp<combiner sum>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
        "requires an 'accumulation_type' that holds 'f32', but got 'f16'",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {combiner = #tcp<combiner and>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
        "combiner 'and' requires elements of type 'i1', but got 'f32'",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], int_signedness = #tcp<signedness Unsigned>, kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
        "attribute 'int_signedness' must not be set for the float type 'f32'",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [0], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
        "requires 'kernel' of 1 or more, but got [0]",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
        "requires a 'kernel' of 1 to 3 dimensions, but got 0",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [1, 1, 1, 1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
        "requires a 'kernel' of 1 to 3 dimensions, but got 4",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [-1]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
        "requires 'strides' of 1 or more, but got [-1]",
    ),
    (
        "pool",
        "%0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [11], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
        "requires a window within the padded input, but got 11 of 10 elements along spatial axis 0",
    ),
    (
        "argmax_pool",
        "%0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>",
        "result #0 must be ranked tensor of signless integer values, but got 'tensor<1x6x4xf32>'",
    ),
    (
        "argmax_pool",
        "%0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x7x4xi64>",
        "requires a result of shape 1x6x4, but got 1x7x4",
    ),
    (
        "argmax_pool",
        "%0 = tcp.argmax_pool %arg0 {dilations = [1], int_signedness = #tcp<signedness Unsigned>, kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>",
        "attribute 'int_signedness' must not be set for the float type 'f32'",
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
