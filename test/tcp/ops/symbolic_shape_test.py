"""Symbolic shapes: their text, and each rule of their verifiers."""

# ruff: noqa: E501 (an op stands on one line, as it prints)

import sys

import pytest

from test.tcp.checks import check_invalid, check_round_trip, function

ARGUMENTS = ["tensor<?x?x3xf32>", "i64", "tensor<f32>"]

# The op, and its text over the arguments above.
VALID = [
    (
        "symbolic_int",
        '%0 = tcp.symbolic_int "s0" {min_val = 2, max_val = 9223372036854775806} : i64',
    ),
    ("symbolic_int", '%0 = tcp.symbolic_int "s0" {min_val = -5, max_val = -5} {note} : i64'),
    (
        "bind_symbolic_shape",
        """%0 = tcp.symbolic_int "s0" {min_val = 2, max_val = 8} : i64
%1 = tcp.symbolic_int "s1" {min_val = 2, max_val = 8} : i64
tcp.bind_symbolic_shape %arg0, [%0, %1], affine_map<()[s0, s1] -> (s0, s1 * 2 + 1, 3)> : tensor<?x?x3xf32>
tcp.bind_symbolic_shape %arg0, [%1, %0], affine_map<()[s0, s1] -> (s0 floordiv 2, s1 mod 4, 3)> {note} : tensor<?x?x3xf32>""",
    ),
    (
        "bind_symbolic_shape",
        "tcp.bind_symbolic_shape %arg2, [], affine_map<() -> ()> : tensor<f32>",
    ),
]

# The op, a text that its verifier refuses, and the message.
INVALID = [
    (
        "symbolic_int",
        '%0 = tcp.symbolic_int "s0" {min_val = 3, max_val = 2} : i64',
        "requires 'min_val' no greater than 'max_val', but got 3 and 2",
    ),
    (
        "symbolic_int",
        '%0 = tcp.symbolic_int "s0" {min_val = 3, max_val = 4} : i32',
        "result #0 must be 64-bit signless integer, but got 'i32'",
    ),
    (
        "symbolic_int",
        '%0 = "tcp.symbolic_int"() {symbol_name = "s0", min_val = 3 : i64} : () -> i64',
        "requires attribute 'max_val'",
    ),
    (
        "bind_symbolic_shape",
        "tcp.bind_symbolic_shape %arg2, [], affine_map<(d0) -> ()> : tensor<f32>",
        "requires 'shape_expressions' of symbols only, but got 1 dimensions",
    ),
    (
        "bind_symbolic_shape",
        "tcp.bind_symbolic_shape %arg2, [], affine_map<()[s0] -> ()> : tensor<f32>",
        "requires 1 shape symbols, as many as 'shape_expressions' has, but got 0",
    ),
    (
        "bind_symbolic_shape",
        "tcp.bind_symbolic_shape %arg2, [], affine_map<() -> (1)> : tensor<f32>",
        "requires 0 expressions, one for each dimension, but got 1",
    ),
    (
        "bind_symbolic_shape",
        "tcp.bind_symbolic_shape %arg0, [%arg1], affine_map<()[s0] -> (s0, s0, 3)> : tensor<?x?x3xf32>",
        "requires shape symbols that 'tcp.symbolic_int' makes",
    ),
    (
        "bind_symbolic_shape",
        """%0 = arith.constant 1 : i64
tcp.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, s0, 3)> : tensor<?x?x3xf32>""",
        "requires shape symbols that 'tcp.symbolic_int' makes",
    ),
    (
        "bind_symbolic_shape",
        '"tcp.bind_symbolic_shape"(%arg2) {shape_expressions = 1} : (tensor<f32>) -> ()',
        "attribute 'shape_expressions' failed to satisfy constraint: AffineMap attribute",
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
