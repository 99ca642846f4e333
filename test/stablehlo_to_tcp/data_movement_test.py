"""Ops of StableHLO that make tensors or place elements anew, held against its interpreter."""

# ruff: noqa: E501 - lines of MLIR are as long as its types

import sys
from collections.abc import Sequence

import numpy as np
import pytest

from test.stablehlo_to_tcp.program import Array, Case, check, compiled, whole_numbers

CASES = [
    Case(
        "constant",
        "",
        "tensor<3xui8>, tensor<2xi1>, tensor<2x2xbf16>, tensor<ui64>",
        """
  %0 = stablehlo.constant dense<[1, 128, 255]> : tensor<3xui8>
  %1 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %2 = stablehlo.constant dense<1.5> : tensor<2x2xbf16>
  %3 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  return %0, %1, %2, %3 : tensor<3xui8>, tensor<2xi1>, tensor<2x2xbf16>, tensor<ui64>""",
    ),
    Case(
        "iota",
        "",
        "tensor<2x3xf32>, tensor<4xui8>, tensor<3xbf16>, tensor<0x2xi64>",
        """
  %0 = stablehlo.iota dim = 1 : tensor<2x3xf32>
  %1 = stablehlo.iota dim = 0 : tensor<4xui8>
  %2 = stablehlo.iota dim = 0 : tensor<3xbf16>
  %3 = stablehlo.iota dim = 0 : tensor<0x2xi64>
  return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<4xui8>, tensor<3xbf16>, tensor<0x2xi64>""",
    ),
    Case(
        "broadcast_in_dim",
        "%x: tensor<3x1xf32>, %s: tensor<ui8>, %y: tensor<2x3xi1>, %z: tensor<0xf32>",
        "tensor<2x3x4x5xf32>, tensor<4xui8>, tensor<3x2xi1>, tensor<2x0xf32>",
        """
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<3x1xf32>) -> tensor<2x3x4x5xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<ui8>) -> tensor<4xui8>
  %2 = stablehlo.broadcast_in_dim %y, dims = [1, 0] : (tensor<2x3xi1>) -> tensor<3x2xi1>
  %3 = stablehlo.broadcast_in_dim %z, dims = [1] : (tensor<0xf32>) -> tensor<2x0xf32>
  return %0, %1, %2, %3 : tensor<2x3x4x5xf32>, tensor<4xui8>, tensor<3x2xi1>, tensor<2x0xf32>""",
    ),
    Case(
        "reshape",
        "%x: tensor<2x6xf32>, %y: tensor<1x1xui8>, %z: tensor<i1>, %e: tensor<0x4xf32>",
        "tensor<3x4xf32>, tensor<ui8>, tensor<1x1x1xi1>, tensor<2x0x3xf32>",
        """
  %0 = stablehlo.reshape %x : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.reshape %y : (tensor<1x1xui8>) -> tensor<ui8>
  %2 = stablehlo.reshape %z : (tensor<i1>) -> tensor<1x1x1xi1>
  %3 = stablehlo.reshape %e : (tensor<0x4xf32>) -> tensor<2x0x3xf32>
  return %0, %1, %2, %3 : tensor<3x4xf32>, tensor<ui8>, tensor<1x1x1xi1>, tensor<2x0x3xf32>""",
    ),
    Case(
        "slice",
        "%x: tensor<5x6xui8>",
        "tensor<2x3xui8>, tensor<0x2xui8>",
        """
  %0 = stablehlo.slice %x [1:3, 0:6:2] : (tensor<5x6xui8>) -> tensor<2x3xui8>
  %1 = stablehlo.slice %x [5:5, 1:5:3] : (tensor<5x6xui8>) -> tensor<0x2xui8>
  return %0, %1 : tensor<2x3xui8>, tensor<0x2xui8>""",
    ),
    Case(
        "pad",
        "%x: tensor<3x4xf32>, %v: tensor<f32>, %y: tensor<2xui8>, %w: tensor<ui8>, %e: tensor<0xf32>",
        "tensor<9x3xf32>, tensor<0xui8>, tensor<5xf32>, tensor<7x6xf32>",
        """
  %0 = stablehlo.pad %x, %v, low = [1, -1], high = [3, 0], interior = [1, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<9x3xf32>
  %1 = stablehlo.pad %y, %w, low = [-1], high = [-1], interior = [0] : (tensor<2xui8>, tensor<ui8>) -> tensor<0xui8>
  %2 = stablehlo.pad %e, %v, low = [2], high = [3], interior = [4] : (tensor<0xf32>, tensor<f32>) -> tensor<5xf32>
  %3 = stablehlo.pad %x, %v, low = [-1, 0], high = [1, -4], interior = [2, 2] : (tensor<3x4xf32>, tensor<f32>) -> tensor<7x6xf32>
  return %0, %1, %2, %3 : tensor<9x3xf32>, tensor<0xui8>, tensor<5xf32>, tensor<7x6xf32>""",
    ),
]

# These take dynamic sizes.
SIZED = [
    Case(
        "order",
        "%x: tensor<{n}x3xbf16>, %y: tensor<{m}x3xbf16>",
        "tensor<3x{n}xbf16>, tensor<{n}x3xbf16>",
        """
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<{n}x3xbf16>) -> tensor<3x{n}xbf16>
  %1 = stablehlo.reverse %x, dims = [1, 0] : tensor<{n}x3xbf16>
  return %0, %1 : tensor<3x{n}xbf16>, tensor<{n}x3xbf16>""",
        {"n": 4, "m": 5},
    ),
    Case(
        "concatenate",
        "%x: tensor<{n}x3xui8>, %y: tensor<{n}x2xui8>",
        "tensor<{n}x8xui8>",
        """
  %0 = stablehlo.concatenate %x, %y, %x, dim = 1 : (tensor<{n}x3xui8>, tensor<{n}x2xui8>, tensor<{n}x3xui8>) -> tensor<{n}x8xui8>
  return %0 : tensor<{n}x8xui8>""",
        {"n": 4},
    ),
    Case(
        "dynamic_slice",
        "%x: tensor<{n}x6xf32>, %i: tensor<i32>, %j: tensor<i32>",
        "tensor<2x3xf32>, tensor<2x3xf32>",
        """
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 3] : (tensor<{n}x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %1 = stablehlo.dynamic_slice %x, %j, %i, sizes = [2, 3] : (tensor<{n}x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>""",
        {"n": 5},
        # Beyond either end a slice is moved back.
        draws={1: whole_numbers(-7, -7), 2: whole_numbers(9, 9)},
    ),
    Case(
        "dynamic_update_slice",
        "%x: tensor<{n}x6xf32>, %y: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i32>",
        "tensor<{n}x6xf32>, tensor<{n}x6xf32>",
        """
  %0 = stablehlo.dynamic_update_slice %x, %y, %i, %j : (tensor<{n}x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<{n}x6xf32>
  %1 = stablehlo.dynamic_update_slice %x, %y, %j, %i : (tensor<{n}x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<{n}x6xf32>
  return %0, %1 : tensor<{n}x6xf32>, tensor<{n}x6xf32>""",
        {"n": 5},
        draws={2: whole_numbers(1, 1), 3: whole_numbers(9, 9)},
    ),
    Case(
        "get_dimension_size",
        "%x: tensor<3x{n}xf32>",
        "tensor<i32>, tensor<i32>",
        """
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<3x{n}xf32>) -> tensor<i32>
  %1 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<3x{n}xf32>) -> tensor<i32>
  return %0, %1 : tensor<i32>, tensor<i32>""",
        {"n": 4},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_the_interpreter(case: Case) -> None:
    check(case, dynamic=False)


@pytest.mark.parametrize("kind", ["static", "dynamic"])
@pytest.mark.parametrize("case", SIZED, ids=lambda case: case.name)
def test_agrees_with_the_interpreter_at_sizes(case: Case, kind: str) -> None:
    check(case, dynamic=kind == "dynamic")


@pytest.mark.parametrize("case", SIZED[:2], ids=lambda case: case.name)
@pytest.mark.parametrize("dynamic", [False, True])
def test_agrees_with_the_interpreter_without_elements(case: Case, dynamic: bool) -> None:
    check(case, dynamic=dynamic, sizes=dict.fromkeys(case.sizes, 0))


# -- shapes that are computed: the interpreter takes none, numpy says what they are -------------------

SHAPES_OF = """
  %s0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %s1 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %r0 = stablehlo.reshape %s0 : (tensor<i32>) -> tensor<1xi32>
  %r1 = stablehlo.reshape %s1 : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
"""


def _run(arguments: str, results: str, body: str, *arrays: Array) -> Sequence[Array]:
    text = f"func.func @program({arguments}) -> ({results}) {{\n{body}\n}}"
    return compiled(text)(*arrays)


def _random(*shape: int) -> Array:
    return np.random.default_rng(0).random(shape, np.float32)


@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (0, 4)])
def test_dynamic_broadcast_in_dim_along_known_sizes(shape: tuple[int, int]) -> None:
    x = _random(*shape)
    body = f"""{SHAPES_OF}
  %shape = stablehlo.concatenate %two, %r1, %r0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [2, 1] : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>"""
    (result,) = _run("%x: tensor<?x?xf32>", "tensor<2x?x?xf32>", body, x)
    np.testing.assert_array_equal(result, np.broadcast_to(x.T, (2, *x.T.shape)))


@pytest.mark.parametrize("have", [1, 4])
def test_dynamic_broadcast_in_dim_stretches_what_turns_out_to_be_1(have: int) -> None:
    x = _random(3, have)
    body = """
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>"""
    (result,) = _run(
        "%x: tensor<?x?xf32>, %s: tensor<2xi64>", "tensor<?x?xf32>", body, x, np.array([3, 4])
    )
    np.testing.assert_array_equal(result, np.broadcast_to(x, (3, 4)))


@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (0, 4)])
def test_dynamic_reshape(shape: tuple[int, int]) -> None:
    x = _random(*shape)
    body = f"""{SHAPES_OF}
  %n = stablehlo.multiply %r0, %r1 : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %shape = stablehlo.concatenate %one, %n, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>"""
    (result,) = _run("%x: tensor<?x?xf32>", "tensor<?x?xf32>", body, x)
    np.testing.assert_array_equal(result, x.reshape(1, -1))


def test_dynamic_iota() -> None:
    body = """
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<?x?xui8>
  return %0 : tensor<?x?xui8>"""
    (result,) = _run("%s: tensor<2xi32>", "tensor<?x?xui8>", body, np.array([2, 3], np.int32))
    np.testing.assert_array_equal(result, [[0, 1, 2], [0, 1, 2]])


def test_unsigned_starts_are_not_negative() -> None:
    # The interpreter takes 200 of 8 bits for -56.
    x = _random(5, 6)
    body = """
  %0 = stablehlo.dynamic_slice %x, %u, %v, sizes = [2, 3] : (tensor<5x6xf32>, tensor<ui8>, tensor<ui8>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>"""
    arguments = "%x: tensor<5x6xf32>, %u: tensor<ui8>, %v: tensor<ui8>"
    starts = np.array(200, np.uint8), np.array(1, np.uint8)
    (result,) = _run(arguments, "tensor<2x3xf32>", body, x, *starts)
    np.testing.assert_array_equal(result, x[3:5, 1:4])


def test_real_dynamic_slice() -> None:
    x = _random(6, 7)
    body = """
  %0 = stablehlo.real_dynamic_slice %x, %b, %e, %s : (tensor<?x7xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>"""
    (result,) = _run(
        "%x: tensor<?x7xf32>, %b: tensor<2xi32>, %e: tensor<2xi32>, %s: tensor<2xi32>",
        "tensor<?x?xf32>",
        body,
        x,
        *(np.array(entries, np.int32) for entries in ((1, 0), (6, 7), (2, 3))),
    )
    np.testing.assert_array_equal(result, x[1:6:2, 0:7:3])


@pytest.mark.parametrize(
    ("low", "high", "interior", "expected"),
    [
        ([1], [2], [0], [9, 1, 2, 3, 9, 9]),
        ([0], [0], [1], [1, 9, 2, 9, 3]),
        ([-1], [-1], [0], [2]),
        ([-1], [1], [1], [9, 2, 9, 3, 9]),
    ],
)
def test_dynamic_pad(
    low: list[int], high: list[int], interior: list[int], expected: list[int]
) -> None:
    body = """
  %v = stablehlo.constant dense<9.0> : tensor<f32>
  %0 = stablehlo.dynamic_pad %x, %v, %l, %h, %i : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>"""
    (result,) = _run(
        "%x: tensor<?xf32>, %l: tensor<1xi64>, %h: tensor<1xi64>, %i: tensor<1xi64>",
        "tensor<?xf32>",
        body,
        np.array([1, 2, 3], np.float32),
        *map(np.array, (low, high, interior)),
    )
    np.testing.assert_array_equal(result, np.array(expected, np.float32))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
