"""Products of matrices: their text, and each rule of their verifiers."""

# ruff: noqa: E501 (an op stands on one line, as it prints)

import sys

import pytest

from test.tcp.checks import check_invalid, check_round_trip, function

ARGUMENTS = [
    "tensor<2x3xf32>",
    "tensor<3x?xf32>",
    "tensor<?x2x3xbf16>",
    "tensor<7x3x4xbf16>",
    "tensor<2x3xi64>",
    "tensor<6x3x4xbf16>",
    "tensor<3x4xbf16>",
]

# The op, and its text over the arguments above.
VALID = [
    (
        "matmul",
        "%0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xf32> -> tensor<2x?xf32>",
    ),
    (
        "batch_matmul",
        "%0 = tcp.batch_matmul %arg2, %arg3 : tensor<?x2x3xbf16>, tensor<7x3x4xbf16> -> tensor<7x2x4xbf16>",
    ),
]

# The op, a text that its verifier refuses, and the message.
INVALID = [
    (
        "matmul",
        "%0 = tcp.matmul %arg0, %arg0 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>",
        "requires as many columns in operand #0 as rows in operand #1, but got 3 and 2",
    ),
    (
        "matmul",
        "%0 = tcp.matmul %arg0, %arg3 : tensor<2x3xf32>, tensor<7x3x4xbf16> -> tensor<2x3xf32>",
        "requires the same element type throughout, but got 'f32' and 'bf16'",
    ),
    (
        "matmul",
        "%0 = tcp.matmul %arg2, %arg3 : tensor<?x2x3xbf16>, tensor<7x3x4xbf16> -> tensor<7x2x4xbf16>",
        "requires operand #0 of rank 2, but got rank 3",
    ),
    (
        "matmul",
        "%0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xf32> -> tensor<3x?xf32>",
        "requires a result of shape 2x?, but got 3x?",
    ),
    (
        "matmul",
        "%0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xf32> -> tensor<2x?xf64>",
        "requires the same element type throughout, but got 'f32' and 'f64'",
    ),
    (
        "batch_matmul",
        "%0 = tcp.batch_matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xf32> -> tensor<2x?xf32>",
        "requires operand #0 of rank 3, but got rank 2",
    ),
    (
        "batch_matmul",
        "%0 = tcp.batch_matmul %arg3, %arg5 : tensor<7x3x4xbf16>, tensor<6x3x4xbf16> -> tensor<7x3x4xbf16>",
        "requires as many matrices in both operands, but got 7 and 6",
    ),
    (
        "batch_matmul",
        "%0 = tcp.batch_matmul %arg2, %arg3 : tensor<?x2x3xbf16>, tensor<7x3x4xbf16> -> tensor<8x2x4xbf16>",
        "requires a result of shape 7x2x4, but got 8x2x4",
    ),
    (
        "batch_matmul",
        "%0 = tcp.batch_matmul %arg2, %arg6 : tensor<?x2x3xbf16>, tensor<3x4xbf16> -> "
        "tensor<?x2x4xbf16>",
        "requires operand #1 of rank 3, but got rank 2",
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
