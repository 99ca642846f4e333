"""The stage from StableHLO to TCP: the name of its function, and what callers are told of it."""

import importlib.abc
import re
import sys

import pytest

from plumbline.errors import UserError
from plumbline.stablehlo_to_tcp.stage import stablehlo_to_tcp

# As JAX exports for dynamic sizes: names are within, and what they have to be is asserted outside.
DYNAMIC = """
module @jit_f attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32} {
  func.func public @main(%0: tensor<?xui8> loc(unknown), %1: tensor<?xf32> loc("scale"))
      -> (tensor<?xf32> {jax.result_info = "result"}) {
    %n = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xui8>) -> tensor<i32>
    %m = stablehlo.get_dimension_size %1, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %enough = stablehlo.compare GE, %n, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%enough) {error_message = "n"} : (tensor<i1>) -> ()
    %same = stablehlo.compare EQ, %m, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%same) {error_message = "m"} : (tensor<i1>) -> ()
    %2 = call @inner(%n, %0, %1) : (tensor<i32>, tensor<?xui8>, tensor<?xf32>) -> tensor<?xf32>
    return %2 : tensor<?xf32>
  }
  func.func private @inner(%n: tensor<i32> {jax.global_constant = "n"}, %0: tensor<?xui8> loc("x"),
      %1: tensor<?xf32> loc("scale")) -> tensor<?xf32> {
    %2 = stablehlo.convert %0 : (tensor<?xui8>) -> tensor<?xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<?xf32>
    return %3 : tensor<?xf32>
  }
}
"""

IDENTITY = "func.func {}@{}(%x: tensor<2xf32>) -> tensor<2xf32> {{ return %x : tensor<2xf32> }}\n"

# What JAX does not write, but a file may hold.
ODD_CALLS = """
func.func private @declared(%x: tensor<2xf32>) -> tensor<2xf32>
func.func public @main(%x: tensor<2xf32> loc(unknown)) -> tensor<2xf32> {
  stablehlo.custom_call @shape_assertion() {error_message = "", has_side_effect = true} : () -> ()
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @declared(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = call @declared(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""

LAPACK = """
func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = stablehlo.custom_call @lapack_sgehrd_ffi(%x) {
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l]) {i=3, j=3}>
  } : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
"""


def test_the_bindings_look_for_classes_of_a_dialect_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_for: list[str] = []

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, fullname: str, *others: object) -> None:
            looked_for.append(fullname)

    ops = "".join(f"%{n + 1} = stablehlo.tanh %{n} : tensor<2xf32>\n" for n in range(9))
    text = f"""
func.func @main(%0: tensor<2xf32>) -> tensor<2xf32> {{
  {ops} %x = chlo.tan %9 : tensor<2xf32> -> tensor<2xf32>
  %y = chlo.tan %x : tensor<2xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}}"""
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    stablehlo_to_tcp(text, "tanh.mlir", "f")
    of_dialects = [name for name in looked_for if name.endswith((".stablehlo", ".chlo"))]
    assert len(of_dialects) == len(set(of_dialects))


def test_random_numbers_are_refused_before_they_are_spelled_otherwise() -> None:
    text = """
func.func @main(%x: tensor<f32>, %s: tensor<1xi64>) -> tensor<2xf32> {
  %0 = stablehlo.rng %x, %x, %s, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""  # noqa: E501
    with pytest.raises(UserError, match=r"'stablehlo\.rng' op cannot be lowered to TCP: random"):
        stablehlo_to_tcp(text, "rng.mlir", "f")


def test_the_function_has_its_name_and_those_of_its_arguments() -> None:
    text = stablehlo_to_tcp(DYNAMIC, "dynamic.mlir", "scaled")
    (line,) = (line for line in text.splitlines() if "func.func" in line)
    assert "func.func public @scaled(%arg0: tensor<?xi8>, %arg1: tensor<?xf32>)" in line
    named = r'\{name = "(\w+)", type = "(\w+)"\}'
    assert re.findall(named, line) == [("x", "u8"), ("scale", "f32"), ("out0", "f32")]
    assert 'tcp.symbolic_int "n" {min_val = 2, ' in text
    bound = r"tcp.bind_symbolic_shape %arg(\d), \[(%\d+)\], affine_map<\(\)\[s0\] -> \(s0\)>"
    (first, n), (second, m) = re.findall(bound, text)
    assert (first, second) == ("0", "1")
    assert n == m
    assert "jax." not in text
    assert "mhlo." not in text


def test_devices_that_jax_lays_a_program_out_for_are_passed_over() -> None:
    text = """module @jit_f {
  sdy.mesh @empty_mesh = <["x"=1]> {stablehlo.mesh = {axes = [{name = "x", size = 1 : i64}]}}
  func.func public @main(%arg0: tensor<2x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> tensor<2x3xf32> {
    %0:2 = stablehlo.optimization_barrier %arg0, %arg0 : tensor<2x3xf32>, tensor<2x3xf32>
    %1 = sdy.sharding_constraint %0#1 <@empty_mesh, [{"x"}, {}]> : tensor<2x3xf32>
    %2 = stablehlo.tanh %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}
"""
    lowered = stablehlo_to_tcp(text, "keys.mlir", "f")
    assert "tcp.tanh %arg0" in lowered
    assert '"keys.mlir":7:' in lowered


def test_the_function_is_main_if_there_is_one() -> None:
    others = IDENTITY.format("", "reducer") + IDENTITY.format("private ", "identity")
    text = stablehlo_to_tcp(others + IDENTITY.format("public ", "main"), "main.mlir", "identity")
    assert re.findall(r"func.func (?:\w+ )?@(\w+)", text) == ["identity"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (IDENTITY.format("", "f") + IDENTITY.format("", "g"), "it has 2: f, g"),
        (IDENTITY.format("private ", "f"), "it has none"),
        (ODD_CALLS, "windows that are not described as JAX does it"),
        (ODD_CALLS, "an assertion of nothing"),
        # What it says of several devices is passed over.
        (LAPACK, "'lapack_sgehrd_ffi', which JAX has LAPACK do; TCP has no op for it"),
        (
            'func.func @main() { "nobody.knows"() : () -> () return }',
            "'nobody.knows' op is not legal at the TCP stage",
        ),
    ],
)
def test_what_it_cannot_be_is_told(text: str, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        stablehlo_to_tcp(text, "program.mlir", "program")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
