"""Groups and custom ops: their text, and each rule of their verifiers."""

# ruff: noqa: E501 (an op stands on one line, as it prints)

import sys

import pytest

from test.tcp.checks import check_invalid, check_round_trip, error_of, function

ARGUMENTS = ["tensor<?xf32>", "index"]

# The op, and its text over the arguments above.
VALID = [
    (
        "group",
        """%0 = tcp.group {
  %1 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>
  tcp.yield %1 : tensor<?xf32>
} : tensor<?xf32>""",
    ),
    (
        "group",
        """%0:2 = tcp.group attributes {group_type = "codegen"} {
  %2 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>
  tcp.yield %2, %arg1 : tensor<?xf32>, index
} : tensor<?xf32>, index
%1 = tcp.tanh %0#0 : tensor<?xf32> -> tensor<?xf32>""",
    ),
    (
        "group",
        """tcp.group {
  tcp.group {
    tcp.yield
  }
  tcp.yield
}""",
    ),
    (
        "isolated_group",
        """%0 = tcp.isolated_group %arg0, %arg1 attributes {group_type = "codegen"} {
^bb0(%arg2: tensor<?xf32>, %arg3: index):
  %1 = tcp.tanh %arg2 : tensor<?xf32> -> tensor<?xf32>
  tcp.yield %1 : tensor<?xf32>
} : tensor<?xf32>, index -> tensor<?xf32>""",
    ),
    (
        "isolated_group",
        """tcp.isolated_group {
  tcp.yield
} : () -> ()""",
    ),
    (
        "yield",
        """%0 = tcp.group {
  tcp.yield %arg0 {note} : tensor<?xf32>
} : tensor<?xf32>""",
    ),
    (
        "custom_op",
        '%0 = tcp.custom_op("torch.aten.gather") %arg0, %arg1 {dim = 0 : i64} : tensor<?xf32>, index -> tensor<?xf32>',
    ),
    ("custom_op", 'tcp.custom_op("a \\22b\\22") %arg1 : index -> ()'),
    ("custom_op", '%0:2 = tcp.custom_op("f") : () -> tensor<?xf32>, !llvm.ptr'),
    ("custom_op", '%0 = tcp.custom_op("f") : () -> (index) -> (i1, tensor<?xf32>)'),
]

# The op, a text that its verifier refuses, and the message.
INVALID = [
    (
        "group",
        """%0 = tcp.group {
  tcp.yield
} : tensor<?xf32>""",
        "requires its body to yield the results' types (tensor<?xf32>), but got ()",
    ),
    (
        "group",
        """%0 = tcp.group {
  tcp.yield %arg1 : index
} : tensor<?xf32>""",
        "requires its body to yield the results' types (tensor<?xf32>), but got (index)",
    ),
    (
        "group",
        """tcp.group {
  %1 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>
}""",
        "requires a body that ends with 'tcp.yield'",
    ),
    (
        "group",
        """tcp.group {
}""",
        "requires a body of one block, but got 0",
    ),
    (
        "group",
        """tcp.group {
^bb0:
  cf.br ^bb1
^bb1:
  tcp.yield
}""",
        "requires a body of one block, but got 2",
    ),
    (
        "group",
        """tcp.group {
^bb0(%0: index):
  tcp.yield
}""",
        "requires block arguments of types (), but got (index)",
    ),
    (
        "isolated_group",
        """tcp.isolated_group %arg1 {
  tcp.yield
} : index -> ()""",
        "requires block arguments of types (index), but got ()",
    ),
    (
        "isolated_group",
        """tcp.isolated_group %arg1 {
^bb0(%0: tensor<?xf32>):
  tcp.yield
} : index -> ()""",
        "requires block arguments of types (index), but got (tensor<?xf32>)",
    ),
    (
        "isolated_group",
        """%0 = tcp.isolated_group %arg1 {
^bb0(%1: index):
  tcp.yield
} : index -> index""",
        "requires its body to yield the results' types (index), but got ()",
    ),
    (
        "yield",
        """\
scf.execute_region {
  tcp.yield
}""",
        "expects parent op to be one of 'tcp.group, tcp.isolated_group'",
    ),
    (
        "custom_op",
        'tcp.custom_op("") : () -> ()',
        "requires an 'op_name' that is not empty",
    ),
    (
        "custom_op",
        '"tcp.custom_op"() : () -> ()',
        "requires attribute 'op_name'",
    ),
    (
        "custom_op",
        '"tcp.custom_op"() {op_name = 1} : () -> ()',
        "attribute 'op_name' failed to satisfy constraint: string attribute",
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


def test_an_isolated_group_sees_nothing_around() -> None:
    text = """\
tcp.isolated_group {
  %0 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>
  tcp.yield
} : () -> ()"""
    error = error_of(function(ARGUMENTS, text))
    assert "test.mlir:4:12: error: 'tcp.tanh' op using value defined outside the region" in error
    assert "test.mlir:3:5: note: required by region isolation constraints" in error


def test_a_yield_is_the_last() -> None:
    text = """\
tcp.group {
  tcp.yield
  tcp.yield
}"""
    error = error_of(function(ARGUMENTS, text))
    assert "test.mlir:4:7: error: 'tcp.yield' op must be the last operation" in error


def test_many_values_of_different_types() -> None:
    types = ["index", "tensor<?xf32>"] * 32
    values = ", ".join(f"%arg{index}" for index in range(64))
    text = f'tcp.custom_op("f") {values} : {", ".join(types)} -> ()'
    check_round_trip(function(types, text))


def test_many_values_of_one_type() -> None:
    types = ["index"] * 500 + ["tensor<?xf32>"] * 500
    values = ", ".join(f"%arg{index}" for index in range(1000))
    text = f'tcp.custom_op("f") {values} : {", ".join(types)} -> ()'
    check_round_trip(function(types, text))


def test_too_many_values_of_different_types() -> None:
    types = ["index", "tensor<?xf32>"] * 33
    values = ", ".join(f"%arg{index}" for index in range(66))
    text = f'tcp.custom_op("f") {values} : {", ".join(types)} -> ()'
    error = error_of(function(types, text))
    assert "error: 'inputs' takes at most 64 values of different types in a row" in error


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
