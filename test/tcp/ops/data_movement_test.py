"""Ops that make tensors and place elements: their text, and each rule of their verifiers."""

# ruff: noqa: E501 (an op stands on one line, as it prints)

import sys

import pytest

from test.tcp.checks import check_invalid, check_round_trip, function

ARGUMENTS = [
    "index",
    "tensor<1x?xf32>",
    "tensor<?x?xf32>",
    "tensor<2x3xf32>",
    "tensor<f32>",
    "tensor<2x1xi64>",
    "tensor<?x?xi64>",
    "tensor<4x2x3xf32>",
    "tensor<?x2xi32>",
    "tensor<?x3xf32>",
]

# The op, and its text over the arguments above.
VALID = [
    ("const", "%0 = tcp.const {value = dense<[1, 2]> : tensor<2xi64>} : tensor<2xi64>"),
    ("const", "%0 = tcp.const {value = dense<1.000000e+00> : tensor<2x2xf32>} : tensor<2x2xf32>"),
    ("const", "%0 = tcp.const {value = dense<true> : tensor<i1>} : tensor<i1>"),
    ("const", "%0 = tcp.const {value = dense<> : tensor<0xf32>} : tensor<0xf32>"),
    ("iota", "%0 = tcp.iota() {dim = 0 : index} : tensor<5xi64>"),
    ("iota", "%0 = tcp.iota(%arg0) {dim = 1 : index} : tensor<5x?xf32>"),
    (
        "broadcast",
        "%0 = tcp.broadcast %arg1, %arg0 {axes = [0]} : tensor<1x?xf32>, index -> tensor<?x?xf32>",
    ),
    (
        "broadcast",
        "%0 = tcp.broadcast %arg1, %arg0 {axes = [0]} : tensor<1x?xf32>, index -> tensor<4x7xf32>",
    ),
    ("broadcast", "%0 = tcp.broadcast %arg4 {axes = []} : tensor<f32> -> tensor<f32>"),
    (
        "slice",
        "%0 = tcp.slice %arg2 starts(%arg0, %arg0) sizes(%arg0, %arg0) strides(%arg0, %arg0) : tensor<?x?xf32> -> tensor<?x2xf32>",
    ),
    ("slice", "%0 = tcp.slice %arg4 starts() sizes() strides() : tensor<f32> -> tensor<f32>"),
    (
        "pad",
        "%0 = tcp.pad %arg3, %arg4 low(%arg0, %arg0) high(%arg0, %arg0) : tensor<2x3xf32>, tensor<f32> -> tensor<?x?xf32>",
    ),
    (
        "concat",
        "%0 = tcp.concat %arg3, %arg2, %arg9 {dim = 0 : index} : tensor<2x3xf32>, tensor<?x?xf32>, tensor<?x3xf32> -> tensor<?x3xf32>",
    ),
    (
        "concat",
        "%0 = tcp.concat %arg3, %arg3 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x6xf32>",
    ),
    (
        "transpose",
        "%0 = tcp.transpose %arg7 {permutation = [2, 0, 1]} : tensor<4x2x3xf32> -> tensor<3x4x2xf32>",
    ),
    ("transpose", "%0 = tcp.transpose %arg4 {permutation = []} : tensor<f32> -> tensor<f32>"),
    ("reverse", "%0 = tcp.reverse %arg7 {axes = [0, 2]} : tensor<4x2x3xf32> -> tensor<4x2x3xf32>"),
    (
        "gather",
        "%0 = tcp.gather %arg3, %arg5 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf32>",
    ),
    (
        "gather",
        "%0 = tcp.gather %arg2, %arg6 {dim = 0 : i64} : tensor<?x?xf32>, tensor<?x?xi64> -> tensor<?x?xf32>",
    ),
    (
        "scatter",
        "%0 = tcp.scatter %arg2, %arg6, %arg2 {dim = 0 : index} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>",
    ),
    (
        "scatter",
        "%0 = tcp.scatter %arg6, %arg6, %arg6 {combiner = #tcp<combiner max>, dim = 1 : index, int_signedness = #tcp<signedness Unsigned>} : tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64> -> tensor<?x?xi64>",
    ),
    (
        "gather_nd",
        "%0 = tcp.gather_nd %arg7, %arg8 : tensor<4x2x3xf32>, tensor<?x2xi32> -> tensor<?x3xf32>",
    ),
    (
        "scatter_nd",
        "%0 = tcp.scatter_nd %arg7, %arg8, %arg9 {combiner = #tcp<combiner sum>} : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x3xf32> -> tensor<4x2x3xf32>",
    ),
]

# The op, a text that its verifier refuses, and the message.
INVALID = [
    (
        "const",
        '%0 = "tcp.const"() : () -> tensor<2xi64>',
        "requires attribute 'value'",
    ),
    (
        "const",
        "%0 = tcp.const {value = 1 : i64} : tensor<2xi64>",
        "attribute 'value' failed to satisfy constraint: constant tensor attribute",
    ),
    (
        "const",
        "%0 = tcp.const {value = dense<1> : tensor<2xi64>} : tensor<3xi64>",
        "requires attribute 'value' to have the result's type 'tensor<3xi64>', but got 'tensor<2xi64>'",
    ),
    (
        "iota",
        "%0 = tcp.iota(%arg0) {dim = 1 : index} : tensor<?xi64>",
        "requires 'dim' within the rank 1, but got 1",
    ),
    (
        "iota",
        "%0 = tcp.iota(%arg0) {dim = -1 : index} : tensor<?xi64>",
        "requires 'dim' within the rank 1, but got -1",
    ),
    (
        "iota",
        "%0 = tcp.iota(%arg0, %arg0) {dim = 0 : index} : tensor<?x2xi64>",
        "requires 1 sizes, but got 2",
    ),
    (
        "iota",
        "%0 = tcp.iota() {dim = 0 : i32} : tensor<2xi64>",
        "attribute 'dim' failed to satisfy constraint: index attribute",
    ),
    (
        "iota",
        '%0 = "tcp.iota"(%arg4) {dim = 0 : index} : (tensor<f32>) -> tensor<?xi64>',
        "operand #0 must be index, but got 'tensor<f32>'",
    ),
    (
        "broadcast",
        "%0 = tcp.broadcast %arg1, %arg0 {axes = [2]} : tensor<1x?xf32>, index -> tensor<?x?xf32>",
        "requires 'axes' within the rank 2, but got 2",
    ),
    (
        "broadcast",
        "%0 = tcp.broadcast %arg1, %arg0, %arg0 {axes = [1, 0]} : tensor<1x?xf32>, index, index -> tensor<?x?xf32>",
        "requires 'axes' to strictly increase, but got [1, 0]",
    ),
    (
        "broadcast",
        "%0 = tcp.broadcast %arg1, %arg0, %arg0 {axes = [0, 0]} : tensor<1x?xf32>, index, index -> tensor<?x?xf32>",
        "requires 'axes' to strictly increase, but got [0, 0]",
    ),
    (
        "broadcast",
        "%0 = tcp.broadcast %arg1, %arg0 {axes = [1]} : tensor<1x?xf32>, index -> tensor<?x?xf32>",
        "requires the operand to have the static size 1 along axis 1",
    ),
    (
        "broadcast",
        "%0 = tcp.broadcast %arg1 {axes = [0]} : tensor<1x?xf32> -> tensor<?x?xf32>",
        "requires 1 sizes, one for each of 'axes', but got 0",
    ),
    (
        "broadcast",
        "%0 = tcp.broadcast %arg1, %arg0 {axes = [0]} : tensor<1x?xf32>, index -> tensor<?xf32>",
        "requires a result of rank 2, but got rank 1",
    ),
    (
        "broadcast",
        "%0 = tcp.broadcast %arg1, %arg0 {axes = [0]} : tensor<1x?xf32>, index -> tensor<?x?xf64>",
        "requires the same element type throughout, but got 'f32' and 'f64'",
    ),
    (
        "broadcast",
        "%1 = tcp.broadcast %arg5, %arg0 {axes = [1]} : tensor<2x1xi64>, index -> tensor<3x4xi64>",
        "requires a result of shape 2x?, but got 3x4",
    ),
    (
        "broadcast",
        "%0 = tcp.broadcast %arg1, %arg0 {axes = array<i64: 0>} : tensor<1x?xf32>, index -> tensor<?x?xf32>",
        "attribute 'axes' failed to satisfy constraint: 64-bit integer array attribute",
    ),
    (
        "slice",
        "%0 = tcp.slice %arg2 starts(%arg0) sizes(%arg0, %arg0) strides(%arg0, %arg0) : tensor<?x?xf32> -> tensor<?x?xf32>",
        "requires 2 starts, one for each dimension, but got 1",
    ),
    (
        "slice",
        "%0 = tcp.slice %arg2 starts(%arg0, %arg0) sizes() strides(%arg0, %arg0) : tensor<?x?xf32> -> tensor<?x?xf32>",
        "requires 2 sizes, one for each dimension, but got 0",
    ),
    (
        "slice",
        "%0 = tcp.slice %arg2 starts(%arg0, %arg0) sizes(%arg0, %arg0) strides(%arg0, %arg0, %arg0) : tensor<?x?xf32> -> tensor<?x?xf32>",
        "requires 2 strides, one for each dimension, but got 3",
    ),
    (
        "slice",
        "%0 = tcp.slice %arg2 starts(%arg0, %arg0) sizes(%arg0, %arg0) strides(%arg0, %arg0) : tensor<?x?xf32> -> tensor<?xf32>",
        "requires a result of rank 2, but got rank 1",
    ),
    (
        "slice",
        "%0 = tcp.slice %arg2 starts(%arg0, %arg0) sizes(%arg0, %arg0) strides(%arg0, %arg0) : tensor<?x?xf32> -> tensor<?x?xf16>",
        "requires the same element type throughout, but got 'f32' and 'f16'",
    ),
    (
        "slice",
        "%0 = tcp.slice %arg3 starts(%arg0, %arg0) sizes(%arg0, %arg0) strides(%arg0, %arg0) : tensor<2x3xf32> -> tensor<2x4xf32>",
        "requires a result no larger than the operand, but got 4 of 3 elements along axis 1",
    ),
    (
        "slice",
        '%0 = "tcp.slice"(%arg2, %arg0) : (tensor<?x?xf32>, index) -> tensor<?x?xf32>',
        "requires attribute 'operandSegmentSizes'",
    ),
    (
        "slice",
        '%0 = "tcp.slice"(%arg2, %arg0) {operandSegmentSizes = array<i32: 1, 2, 3, 4>} : (tensor<?x?xf32>, index) -> tensor<?x?xf32>',
        "attribute 'operandSegmentSizes' does not fit the operands",
    ),
    (
        "slice",
        '%0 = "tcp.slice"() : () -> tensor<?x?xf32>',
        "expected 1 or more operands, but found 0",
    ),
    (
        "pad",
        "%0 = tcp.pad %arg3, %arg4 low(%arg0) high(%arg0, %arg0) : tensor<2x3xf32>, tensor<f32> -> tensor<?x?xf32>",
        "requires 2 low amounts, one for each dimension, but got 1",
    ),
    (
        "pad",
        "%0 = tcp.pad %arg3, %arg4 low(%arg0, %arg0) high() : tensor<2x3xf32>, tensor<f32> -> tensor<?x?xf32>",
        "requires 2 high amounts, one for each dimension, but got 0",
    ),
    (
        "pad",
        "%0 = tcp.pad %arg3, %arg3 low(%arg0, %arg0) high(%arg0, %arg0) : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<?x?xf32>",
        "operand #1 must be 0D tensor of any type values, but got 'tensor<2x3xf32>'",
    ),
    (
        "pad",
        "%0 = tcp.pad %arg6, %arg4 low(%arg0, %arg0) high(%arg0, %arg0) : tensor<?x?xi64>, tensor<f32> -> tensor<?x?xi64>",
        "requires the same element type throughout, but got 'i64' and 'f32'",
    ),
    (
        "pad",
        "%0 = tcp.pad %arg3, %arg4 low(%arg0, %arg0) high(%arg0, %arg0) : tensor<2x3xf32>, tensor<f32> -> tensor<?xf32>",
        "requires a result of rank 2, but got rank 1",
    ),
    (
        "pad",
        "%0 = tcp.pad %arg3, %arg4 low(%arg0, %arg0) high(%arg0, %arg0) : tensor<2x3xf32>, tensor<f32> -> tensor<1x?xf32>",
        "requires a result no smaller than the operand, but got 1 for 2 elements along axis 0",
    ),
    (
        "concat",
        "%0 = tcp.concat {dim = 0 : index} : () -> tensor<?xf32>",
        "requires at least one operand",
    ),
    (
        "concat",
        "%0 = tcp.concat %arg3 {dim = 2 : index} : tensor<2x3xf32> -> tensor<2x3xf32>",
        "requires 'dim' within the rank 2, but got 2",
    ),
    (
        "concat",
        "%0 = tcp.concat %arg3, %arg6 {dim = 0 : index} : tensor<2x3xf32>, tensor<?x?xi64> -> tensor<?x3xf32>",
        "requires the same element type throughout, but got 'f32' and 'i64'",
    ),
    (
        "concat",
        "%0 = tcp.concat %arg3, %arg4 {dim = 0 : index} : tensor<2x3xf32>, tensor<f32> -> tensor<?x3xf32>",
        "requires operand #1 of rank 2, but got rank 0",
    ),
    (
        "concat",
        "%1 = tcp.concat %arg5, %arg8 {dim = 0 : index} : tensor<2x1xi64>, tensor<?x2xi32> -> tensor<?x?xi64>",
        "requires the same element type throughout, but got 'i64' and 'i32'",
    ),
    (
        "concat",
        """%1 = tcp.iota() {dim = 0 : index} : tensor<2x2xi64>
%2 = tcp.concat %arg5, %1 {dim = 0 : index} : tensor<2x1xi64>, tensor<2x2xi64> -> tensor<?x?xi64>""",
        "requires operands that differ along axis 0 only",
    ),
    (
        "concat",
        "%0 = tcp.concat %arg3, %arg3 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x5xf32>",
        "requires a result of shape 2x6, but got 2x5",
    ),
    (
        "transpose",
        "%0 = tcp.transpose %arg3 {permutation = [0]} : tensor<2x3xf32> -> tensor<2x3xf32>",
        "requires a 'permutation' of 2 dimensions, but got [0]",
    ),
    (
        "transpose",
        "%0 = tcp.transpose %arg3 {permutation = [0, 0]} : tensor<2x3xf32> -> tensor<2x3xf32>",
        "requires a 'permutation' of 2 dimensions, but got [0, 0]",
    ),
    (
        "transpose",
        "%0 = tcp.transpose %arg3 {permutation = [1, 0]} : tensor<2x3xf32> -> tensor<2x3xf32>",
        "requires a result of shape 3x2, but got 2x3",
    ),
    (
        "transpose",
        "%0 = tcp.transpose %arg3 {permutation = [1, 0]} : tensor<2x3xf32> -> tensor<3x2xf64>",
        "requires the same element type throughout, but got 'f32' and 'f64'",
    ),
    (
        "reverse",
        "%0 = tcp.reverse %arg3 {axes = [2]} : tensor<2x3xf32> -> tensor<2x3xf32>",
        "requires 'axes' within the rank 2, but got 2",
    ),
    (
        "reverse",
        "%0 = tcp.reverse %arg3 {axes = [1, 0]} : tensor<2x3xf32> -> tensor<2x3xf32>",
        "requires 'axes' to strictly increase, but got [1, 0]",
    ),
    (
        "reverse",
        "%0 = tcp.reverse %arg3 {axes = [0]} : tensor<2x3xf32> -> tensor<3x2xf32>",
        "requires a result of shape 2x3, but got 3x2",
    ),
    (
        "reverse",
        "%0 = tcp.reverse %arg3 {axes = [0]} : tensor<2x3xf32> -> tensor<2x3xi32>",
        "requires the same element type throughout, but got 'f32' and 'i32'",
    ),
    (
        "gather",
        "%0 = tcp.gather %arg3, %arg5 {dim = 2 : index} : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf32>",
        "requires 'dim' within the rank 2, but got 2",
    ),
    (
        "gather",
        "%0 = tcp.gather %arg7, %arg5 {dim = 0 : index} : tensor<4x2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf32>",
        "requires indices of rank 3, but got rank 2",
    ),
    (
        "gather",
        "%0 = tcp.gather %arg1, %arg5 {dim = 1 : index} : tensor<1x?xf32>, tensor<2x1xi64> -> tensor<2x1xf32>",
        "requires indices no larger than the input, but got 2 for 1 elements along axis 0",
    ),
    (
        "gather",
        "%0 = tcp.gather %arg3, %arg5 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x3xf32>",
        "requires a result of shape 2x1, but got 2x3",
    ),
    (
        "gather",
        "%0 = tcp.gather %arg3, %arg5 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf64>",
        "requires the same element type throughout, but got 'f32' and 'f64'",
    ),
    (
        "gather",
        "%0 = tcp.gather %arg3, %arg3 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>",
        "operand #1 must be ranked tensor of signless integer values, but got 'tensor<2x3xf32>'",
    ),
    (
        "scatter",
        "%0 = tcp.scatter %arg3, %arg5, %arg3 {dim = 0 : index} : tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x3xf32> -> tensor<2x3xf32>",
        "requires updates of shape 2x1, but got 2x3",
    ),
    (
        "scatter",
        "%0 = tcp.scatter %arg2, %arg6, %arg2 {dim = 5 : index} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>",
        "requires 'dim' within the rank 2, but got 5",
    ),
    (
        "scatter",
        "%0 = tcp.scatter %arg2, %arg6, %arg6 {dim = 0 : index} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xi64> -> tensor<?x?xf32>",
        "requires the same element type throughout, but got 'f32' and 'i64'",
    ),
    (
        "scatter",
        "%0 = tcp.scatter %arg3, %arg6, %arg2 {dim = 0 : index} : tensor<2x3xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<2x4xf32>",
        "requires a result of shape 2x3, but got 2x4",
    ),
    (
        "scatter",
        "%0 = tcp.scatter %arg2, %arg6, %arg2 {dim = 0 : index, combiner = #tcp<combiner and>} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>",
        "combiner 'and' requires elements of type 'i1', but got 'f32'",
    ),
    (
        "scatter",
        "%0 = tcp.scatter %arg6, %arg6, %arg6 {dim = 0 : index, int_signedness = #tcp<signedness Signed>} : tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64> -> tensor<?x?xi64>",
        "attribute 'int_signedness' must not be set without a 'combiner'",
    ),
    (
        "scatter",
        "%0 = tcp.scatter %arg2, %arg6, %arg2 {dim = 0 : index, combiner = #tcp<combiner max>, int_signedness = #tcp<signedness Signed>} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>",
        "attribute 'int_signedness' must not be set for the float type 'f32'",
    ),
    (
        "gather_nd",
        "%0 = tcp.gather_nd %arg7, %arg6 : tensor<4x2x3xf32>, tensor<?x?xi64> -> tensor<?x3xf32>",
        "requires indices of a static size along their last axis",
    ),
    (
        "gather_nd",
        """%1 = tcp.iota() {dim = 0 : index} : tensor<5x4xi64>
%2 = tcp.gather_nd %arg7, %1 : tensor<4x2x3xf32>, tensor<5x4xi64> -> tensor<5xf32>""",
        "requires indices for at most 3 dimensions, but got 4",
    ),
    (
        "gather_nd",
        """%1 = tcp.const {value = dense<0> : tensor<i64>} : tensor<i64>
%2 = tcp.gather_nd %arg7, %1 : tensor<4x2x3xf32>, tensor<i64> -> tensor<2x3xf32>""",
        "requires indices of rank 1 or more, but got rank 0",
    ),
    (
        "gather_nd",
        "%0 = tcp.gather_nd %arg7, %arg8 : tensor<4x2x3xf32>, tensor<?x2xi32> -> tensor<?x2xf32>",
        "requires a result of shape ?x3, but got ?x2",
    ),
    (
        "gather_nd",
        "%0 = tcp.gather_nd %arg7, %arg8 : tensor<4x2x3xf32>, tensor<?x2xi32> -> tensor<?x3xf64>",
        "requires the same element type throughout, but got 'f32' and 'f64'",
    ),
    (
        "scatter_nd",
        "%0 = tcp.scatter_nd %arg7, %arg8, %arg7 : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<4x2x3xf32> -> tensor<4x2x3xf32>",
        "requires updates of shape ?x3, but got 4x2x3",
    ),
    (
        "scatter_nd",
        "%0 = tcp.scatter_nd %arg7, %arg8, %arg9 : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x3xf32> -> tensor<4x2x2xf32>",
        "requires a result of shape 4x2x3, but got 4x2x2",
    ),
    (
        "scatter_nd",
        "%0 = tcp.scatter_nd %arg7, %arg8, %arg8 : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x2xi32> -> tensor<4x2x3xf32>",
        "requires the same element type throughout, but got 'f32' and 'i32'",
    ),
    (
        "scatter_nd",
        "%0 = tcp.scatter_nd %arg7, %arg8, %arg9 {combiner = #tcp<combiner or>} : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x3xf32> -> tensor<4x2x3xf32>",
        "combiner 'or' requires elements of type 'i1', but got 'f32'",
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
