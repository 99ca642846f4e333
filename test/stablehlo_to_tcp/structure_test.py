"""Control flow and calls of StableHLO, compiled and held against its interpreter."""

# ruff: noqa: E501 - lines of MLIR are as long as its types

import sys

import pytest

from test.stablehlo_to_tcp.program import Case, check, whole_numbers

CASES = [
    *(
        Case(
            f"while {count}",
            "%x: tensor<{n}xf32>, %u: tensor<ui8>, %c: tensor<i32>",
            "tensor<{n}xf32>, tensor<ui8>",
            """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %v = %x, %w = %u) : tensor<i32>, tensor<{n}xf32>, tensor<ui8>
    cond {
      %1 = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      %3 = stablehlo.add %v, %x : tensor<{n}xf32>
      %4 = stablehlo.add %w, %u : tensor<ui8>
      stablehlo.return %2, %3, %4 : tensor<i32>, tensor<{n}xf32>, tensor<ui8>
    }
  return %0#1, %0#2 : tensor<{n}xf32>, tensor<ui8>""",
            {"n": 4},
            draws={2: whole_numbers(count, count)},
        )
        for count in (0, 1, 5)
    ),
    *(
        Case(
            f"if {chosen}",
            "%x: tensor<{n}xui8>, %c: tensor<i1>",
            "tensor<{n}xui8>",
            """
  %0 = "stablehlo.if"(%c) ({
      %1 = stablehlo.multiply %x, %x : tensor<{n}xui8>
      stablehlo.return %1 : tensor<{n}xui8>
    }, {
      stablehlo.return %x : tensor<{n}xui8>
    }) : (tensor<i1>) -> tensor<{n}xui8>
  return %0 : tensor<{n}xui8>""",
            {"n": 4},
            draws={1: whole_numbers(chosen, chosen)},
        )
        for chosen in (0, 1)
    ),
    *(
        Case(
            f"case {chosen}",
            "%x: tensor<{n}xf32>, %c: tensor<i32>",
            "tensor<{n}xf32>, tensor<{n}xf32>",
            """
  %0:2 = "stablehlo.case"(%c) ({
      stablehlo.return %x, %x : tensor<{n}xf32>, tensor<{n}xf32>
    }, {
      %1 = stablehlo.multiply %x, %x : tensor<{n}xf32>
      stablehlo.return %1, %x : tensor<{n}xf32>, tensor<{n}xf32>
    }, {
      %1 = stablehlo.negate %x : tensor<{n}xf32>
      stablehlo.return %x, %1 : tensor<{n}xf32>, tensor<{n}xf32>
    }) : (tensor<i32>) -> (tensor<{n}xf32>, tensor<{n}xf32>)
  return %0#0, %0#1 : tensor<{n}xf32>, tensor<{n}xf32>""",
            {"n": 4},
            # A number that is no region's is the last one's.
            draws={1: whole_numbers(chosen, chosen)},
        )
        for chosen in (-1, 0, 1, 2, 9)
    ),
    Case(
        "calls",
        "%x: tensor<{n}xui8>",
        "tensor<{n}xui8>",
        """
  %0 = func.call @twice(%x) : (tensor<{n}xui8>) -> tensor<{n}xui8>
  %1 = func.call @twice(%0) : (tensor<{n}xui8>) -> tensor<{n}xui8>
  return %1 : tensor<{n}xui8>""",
        {"n": 4},
        others="""
func.func private @twice(%x: tensor<{n}xui8>) -> tensor<{n}xui8> {
  %0 = stablehlo.add %x, %x : tensor<{n}xui8>
  return %0 : tensor<{n}xui8>
}""",
    ),
    Case(
        "composite",
        "%x: tensor<{n}xui8>",
        "tensor<{n}xui8>",
        """
  %0 = stablehlo.composite "library.twice" %x {decomposition = @twice} : (tensor<{n}xui8>) -> tensor<{n}xui8>
  %1 = stablehlo.optimization_barrier %0 : tensor<{n}xui8>
  return %1 : tensor<{n}xui8>""",
        {"n": 4},
        others="""
func.func private @twice(%x: tensor<{n}xui8>) -> tensor<{n}xui8> {
  %0 = stablehlo.add %x, %x : tensor<{n}xui8>
  return %0 : tensor<{n}xui8>
}""",
    ),
]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_the_interpreter(case: Case, dynamic: bool) -> None:
    check(case, dynamic=dynamic)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
