"""Programs of StableHLO in Python: what holds one, how it is called, and what is refused.

JAX is not installed here. What stands for its objects has what they have.
"""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_mlir._mlir_libs import _stablehlo

import plumbline
from plumbline.cli.main import main
from plumbline.context import lent_context
from plumbline.errors import UserError
from plumbline.tcp.assembly.module import parse_module

# As JAX exports a function of a dict, an argument that is not used, and one by keyword.
SCALED = """
module @jit_scaled {
  func.func public @main(%0: tensor<3xf32> loc("params['b']"), %1: tensor<2x3xf32> loc("x"),
      %2: tensor<f32> loc("scale")) -> (tensor<2x3xf32> {jax.result_info = "result['y']"}) {
    %3 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %5 = stablehlo.multiply %1, %4 : tensor<2x3xf32>
    %6 = stablehlo.add %5, %3 : tensor<2x3xf32>
    return %6 : tensor<2x3xf32>
  }
}
"""


class _Tree:
    """As JAX's PyTreeDef, of dicts and tuples."""

    def __init__(self, structure: Any) -> None:
        self._structure = structure
        parts = structure.values() if isinstance(structure, dict) else structure
        self._parts = None if structure is None else [*map(_Tree, parts)]
        is_leaf = self._parts is None
        self.num_leaves: int = is_leaf + sum(each.num_leaves for each in self.children())
        self.num_nodes: int = 1 + sum(each.num_nodes for each in self.children())

    def children(self) -> list["_Tree"]:
        return self._parts or []

    def flatten_up_to(self, argument: Any) -> list[Any]:
        if self._parts is None:
            return [argument]
        if type(argument) is not type(self._structure) or len(argument) != len(self._parts):
            raise ValueError(f"Expected {type(self._structure).__name__}, got {argument!r}.")
        given = argument.values() if isinstance(argument, dict) else argument
        return [
            leaf
            for part, each in zip(self._parts, given, strict=True)
            for leaf in part.flatten_up_to(each)
        ]


def _bytecode(text: str) -> bytes:
    version = _stablehlo.get_minimum_version()
    with lent_context(torch=True, stablehlo=True) as context:
        context.allow_unregistered_dialects = True
        module = parse_module(text, context, "test")
        content = _stablehlo.serialize_portable_artifact(module, version)
        del module
    return bytes(content)


@dataclass
class _Exported:
    """As jax.export.Exported."""

    in_tree: _Tree
    module_kept_var_idx: tuple[int, ...]
    fun_name: str = "scaled"
    platforms: tuple[str, ...] = ("cpu",)
    nr_devices: int = 1

    def mlir_module(self) -> str:
        return SCALED


@dataclass
class _Operation:
    text: str
    attributes: dict[str, str] = field(default_factory=dict)

    def get_asm(self, *, enable_debug_info: bool) -> str:
        assert enable_debug_info
        return self.text


@dataclass
class _Module:
    """As an ir.Module of MLIR's bindings that are another library's."""

    operation: _Operation


@dataclass
class _Lowered:
    """As jax.stages.Lowered."""

    text: str
    in_tree: _Tree

    def as_text(self) -> str:
        raise AssertionError("it has no locations")

    def compiler_ir(self, dialect: str) -> _Module:
        assert dialect == "stablehlo"
        return _Module(_Operation(self.text, {"sym_name": '"jit_scaled"'}))


class _Jitted:
    """As what jax.jit gives."""

    __name__ = "scaled"

    def __call__(self) -> None: ...
    def lower(self) -> None: ...
    def trace(self) -> None: ...


ARGUMENTS = (({"b": None}, None, None), {"scale": None})
"""The third one is not used."""

B, X = np.array([1, 2, 3], np.float32), np.arange(6, dtype=np.float32).reshape(2, 3)


def _exported(**others: Any) -> _Exported:
    return _Exported(_Tree(ARGUMENTS), (0, 1, 3), **others)


def test_what_jax_exports_is_called_as_its_function() -> None:
    program = plumbline.compile(_exported(), func_name="scaled")
    assert program.signature.names.inputs == ("params_b", "x", "scale")
    assert program.signature.names.outputs == ("y",)
    (y,) = program({"b": B}, X, 5, np.float32(2))
    np.testing.assert_array_equal(y, X * 2 + B)
    (y,) = program({"b": B}, X, None, 0.5)
    np.testing.assert_array_equal(y, X * 0.5 + B)
    assert "loc(\"params['b']\")" in program.stage("stablehlo")
    assert "func.func public @scaled(" in program.stage("tcp")
    with pytest.raises(UserError, match="no stage 'torch'; these are: stablehlo, tcp, linalg"):
        program.stage("torch")


def test_arguments_are_nested_as_those_of_the_function() -> None:
    program = plumbline.compile(_exported())
    for given, message in (
        (({"b": B}, X, 5), "is 3 arguments, where the function of JAX takes 4"),
        (([B], X, 5, 2.0), r"not nested as the function takes it: Expected dict, got \["),
        (({"b": 1.0}, X, 5, 2.0), "argument 0 is a float; it is a numpy array, .*, of rank 1"),
        (({"b": B}, X, 5, "2"), r"argument 2 is a str; it is a numpy array"),
    ):
        with pytest.raises(UserError, match=message):
            program(*given)


def test_flat_arguments_are_taken_as_they_are() -> None:
    flat = _Lowered(SCALED, _Tree(((None, None, None), {})))
    program = plumbline.compile(flat)
    assert program.nested is None
    np.testing.assert_array_equal(program(B, X, 2.0)[0], X * 2 + B)
    with pytest.raises(UserError, match=r"program scaled: it has 3 arguments, .* hold 4 arrays"):
        plumbline.compile(_Lowered(SCALED, _Tree(ARGUMENTS)))


def test_text_bytes_files_and_modules_hold_programs(tmp_path: Path) -> None:
    text, portable = tmp_path / "scaled.mlir", tmp_path / "scaled.mlirbc"
    text.write_text(SCALED)
    portable.write_bytes(_bytecode(SCALED))
    module = _Module(_Operation(SCALED))
    for held in (text, str(portable), SCALED, SCALED.encode(), portable.read_bytes(), module):
        loaded = plumbline.load_stablehlo(held)
        assert plumbline.load_stablehlo(loaded) is loaded
        np.testing.assert_array_equal(plumbline.compile(loaded)(B, X, 2.0)[0], X * 2 + B)


def test_a_library_of_what_jax_exports(tmp_path: Path) -> None:
    file = plumbline.aot(_exported(), name="small", out=tmp_path)
    header = (tmp_path / "small.h").read_text()
    assert "// Runs scaled, compiled for baseline." in header
    declared = "int small(const float *params_b, const float *x, const float *scale, float *y);"
    assert declared in " ".join(header.split()).replace("( ", "(")
    np.testing.assert_array_equal(plumbline.load(file)(B, X, 2.0)[0], X * 2 + B)


def test_the_command_takes_bytecode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scaled.mlirbc").write_bytes(_bytecode(SCALED))
    assert main(["compile", "scaled.mlirbc", "--emit", "tcp", "--out", "out"]) == 0
    assert os.listdir("out") == ["_internal_scaled_tcp.mlir"]
    assert "func.func public @scaled(" in Path("out/_internal_scaled_tcp.mlir").read_text()


# As JAX has `jnp.arange(n // 3)`, `n % 3` of them, and what `lax.switch` and `lax.cond` choose.
SIZES = """
func.func public @main(%x: tensor<?xf32>, %which: tensor<i32>)
    -> (tensor<?xi32>, tensor<?xi32>, tensor<?xf32>, tensor<?xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %quotient = stablehlo.divide %n, %three : tensor<i32>
  %sign = stablehlo.sign %n : tensor<i32>
  %of_three = stablehlo.sign %three : tensor<i32>
  %differ = stablehlo.compare NE, %sign, %of_three : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %rest = stablehlo.remainder %n, %three : tensor<i32>
  %inexact = stablehlo.compare NE, %rest, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %below = stablehlo.and %differ, %inexact : tensor<i1>
  %less = stablehlo.subtract %quotient, %one : tensor<i32>
  %floor = stablehlo.select %below, %less, %quotient : tensor<i1>, tensor<i32>
  %size = stablehlo.reshape %floor : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_iota %size, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %is_negative = stablehlo.compare LT, %rest, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %added = stablehlo.add %rest, %three : tensor<i32>
  %mod = stablehlo.select %is_negative, %added, %rest : tensor<i1>, tensor<i32>
  %mods = stablehlo.reshape %mod : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.dynamic_iota %mods, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %2 = "stablehlo.case"(%which) ({
      stablehlo.return %x : tensor<?xf32>
    }, {
      %4 = stablehlo.add %x, %x : tensor<?xf32>
      stablehlo.return %4 : tensor<?xf32>
    }, {
      %4 = stablehlo.negate %x : tensor<?xf32>
      stablehlo.return %4 : tensor<?xf32>
    }) : (tensor<i32>) -> tensor<?xf32>
  %3 = "stablehlo.case"(%which) ({
      %4 = stablehlo.multiply %x, %x : tensor<?xf32>
      stablehlo.return %4 : tensor<?xf32>
    }, {
      %4 = stablehlo.negate %x : tensor<?xf32>
      stablehlo.return %4 : tensor<?xf32>
    }) : (tensor<i32>) -> tensor<?xf32>
  return %0, %1, %2, %3 : tensor<?xi32>, tensor<?xi32>, tensor<?xf32>, tensor<?xf32>
}
"""


def test_sizes_of_results_follow_through_divisions_and_branches() -> None:
    program = plumbline.compile(plumbline.load_stablehlo(SIZES), opt_level=0)
    for count in (1, 3, 8):
        x = np.arange(count, dtype=np.float32) + 1
        for which in (0, 1, 2, -1):
            results = program(x, np.int32(which))
            of_three = [x, 2 * x, -x][which]
            of_two = x * x if which == 0 else -x
            expected = [np.arange(count // 3), np.arange(count % 3), of_three, of_two]
            for result, wanted in zip(results, expected, strict=True):
                np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (_Jitted(), "^scaled is a function of JAX's, of no sizes: hand over jax.export.export"),
        (3, "int holds no program of StableHLO; these do: what jax.export.export"),
        ("missing.mlir", "missing.mlir: cannot be read: No such file"),
        (b"ML\xefRabc", "bytes: its bytecode cannot be read: .*version"),
        (b"<\x00\xff", "is neither text nor bytecode of MLIR; what Exported.serialize"),
    ],
)
def test_what_holds_no_program_is_refused(given: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        plumbline.load_stablehlo(given)


def test_what_is_exported_for_others_is_refused() -> None:
    with pytest.raises(UserError, match=r"program scaled: .* several platforms \(cpu, cuda\)"):
        plumbline.compile(_exported(platforms=("cpu", "cuda")))
    with pytest.raises(UserError, match="program scaled: it is exported for 2 devices"):
        plumbline.compile(_exported(nr_devices=2))


def test_what_is_said_of_programs_of_pytorch_is_refused(tmp_path: Path) -> None:
    message = "program scaled is of StableHLO, .*; leave out "
    with pytest.raises(UserError, match=f"{message}example_inputs, mutable"):
        plumbline.compile(_exported(), (B, X), mutable=["x"])
    with pytest.raises(UserError, match=f"{message}inputs, mutation"):
        plumbline.aot(_exported(), X, name="f", out=tmp_path, mutation="return")
    with pytest.raises(UserError, match=r"'f\.mlir' is a str: plumbline.load_stablehlo makes"):
        plumbline.compile("f.mlir")  # type: ignore[arg-type]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
