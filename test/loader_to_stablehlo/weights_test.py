"""Large constants of StableHLO become weights, whatever the program comes in as."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import plumbline
from plumbline.archives.serialised_weights import serialised
from plumbline.cli.main import main
from plumbline.errors import UserError
from plumbline.loader_to_stablehlo.program import StablehloProgram
from plumbline.loader_to_stablehlo.weights import LARGEST_CONSTANT

COUNT = LARGEST_CONSTANT + 1
W = np.arange(COUNT, dtype=np.float32) / 4
V = W[::-1].copy()
X = np.full(COUNT, 2, np.float32)


def _dense(array: np.ndarray[Any, Any], element: str = "f32") -> str:
    """A constant, as MLIR spells one of many elements."""
    content = array.tobytes().hex().upper()
    return f'stablehlo.constant dense<"0x{content}"> : tensor<{array.size}x{element}>'


def _scaled(w: np.ndarray[Any, Any] = W) -> str:
    """Adds to its argument a weight, and what is no weight: a splat, and few numbers."""
    t = f"tensor<{COUNT}xf32>"
    return f"""
module @jit_scaled {{
  func.func public @main(%x: {t} loc("x")) -> ({t}, tensor<2xf32>) {{
    %w = {_dense(w)}
    %same = {_dense(w)}
    %ones = stablehlo.constant dense<1.0> : {t}
    %few = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = stablehlo.multiply %x, %w : {t}
    %1 = stablehlo.add %0, %same : {t}
    %2 = stablehlo.add %1, %ones : {t}
    return %2, %few : {t}, tensor<2xf32>
  }}
}}
"""


def test_large_constants_are_weights_and_others_are_not() -> None:
    loaded = plumbline.load_stablehlo(_scaled())
    assert list(loaded.weights) == ["constant0"]
    np.testing.assert_array_equal(loaded.weights["constant0"], W)
    assert '{plumbline.weight = "constant0"}' in loaded.text
    assert loaded.text.count("stablehlo.constant") == 2
    program = plumbline.compile(loaded, cache=False)
    assert program.weight_bytes == W.nbytes
    assert program.signature.names.inputs == ("x",)
    sums, few = program(X)
    np.testing.assert_array_equal(sums, X * W + W + 1)
    np.testing.assert_array_equal(few, [1, 2])


def test_a_program_without_large_constants_stays_as_it_is() -> None:
    text = _scaled(W).replace(_dense(W), f"stablehlo.constant dense<2.0> : tensor<{COUNT}xf32>")
    assert plumbline.load_stablehlo(text).text == text


def test_programs_of_other_weights_share_machine_code(tmp_path: Path) -> None:
    programs = [
        plumbline.compile(plumbline.load_stablehlo(_scaled(w)), cache=tmp_path) for w in (W, V)
    ]
    assert [program.from_cache for program in programs] == [False, True]
    for program, w in zip(programs, (W, V), strict=True):
        np.testing.assert_array_equal(program(X)[0], X * w + w + 1)


CALLS = f"""
func.func public @main(%x: tensor<{COUNT}xf32>, %n: tensor<i32>) -> tensor<{COUNT}xf32> {{
  %0 = call @outer(%x) : (tensor<{COUNT}xf32>) -> tensor<{COUNT}xf32>
  %1 = call @inner(%0) : (tensor<{COUNT}xf32>) -> tensor<{COUNT}xf32>
  %2 = stablehlo.composite "own.composite" %1 {{decomposition = @kept}}
      : (tensor<{COUNT}xf32>) -> tensor<{COUNT}xf32>
  %3:2 = stablehlo.while(%i = %n, %v = %2) : tensor<i32>, tensor<{COUNT}xf32>
    cond {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %4 = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %w = {_dense(V)}
      %5 = stablehlo.subtract %i, %one : tensor<i32>
      %6 = stablehlo.add %v, %w : tensor<{COUNT}xf32>
      stablehlo.return %5, %6 : tensor<i32>, tensor<{COUNT}xf32>
    }}
  return %3#1 : tensor<{COUNT}xf32>
}}
func.func private @outer(%x: tensor<{COUNT}xf32> {{own.note}}) -> tensor<{COUNT}xf32> {{
  %0 = call @inner(%x) : (tensor<{COUNT}xf32>) -> tensor<{COUNT}xf32>
  %w = {_dense(V)}
  %1 = stablehlo.multiply %0, %w : tensor<{COUNT}xf32>
  return %1 : tensor<{COUNT}xf32>
}}
func.func private @inner(%x: tensor<{COUNT}xf32>) -> tensor<{COUNT}xf32> {{
  %w = {_dense(W)}
  %0 = stablehlo.add %x, %w : tensor<{COUNT}xf32>
  return %0 : tensor<{COUNT}xf32>
}}
func.func private @kept(%x: tensor<{COUNT}xf32>) -> tensor<{COUNT}xf32> {{
  %w = {_dense(W)}
  %0 = stablehlo.multiply %x, %w : tensor<{COUNT}xf32>
  return %0 : tensor<{COUNT}xf32>
}}
"""


def test_those_of_functions_that_it_calls_and_of_loops_are_weights_of_the_entry() -> None:
    loaded = plumbline.load_stablehlo(CALLS)
    assert [each.tolist() for each in loaded.weights.values()] == [W.tolist(), V.tolist()]
    # What a composite op refers to is called with what that says.
    assert loaded.text.count('dense<"0x') == 1
    (result,) = plumbline.compile(loaded, cache=False)(X, np.int32(2))
    np.testing.assert_array_equal(result, ((X + W) * V + W) * W + 2 * V)


@pytest.mark.parametrize(
    ("element", "array", "torch_name"),
    [
        ("bf16", (V.view(np.uint32) >> 16).astype(np.uint16), "BF16"),
        ("f16", V.astype(np.float16), "F16"),
        ("i1", V > 3, "BOOL"),
        ("ui8", V.astype(np.uint8), "U8"),
        ("i64", V.astype(np.int64), "I64"),
    ],
)
def test_weights_have_all_elements_of_tensors(
    element: str, array: np.ndarray[Any, Any], torch_name: str, tmp_path: Path
) -> None:
    type_ = f"tensor<{COUNT}x{element}>"
    text = f"func.func @main() -> {type_} {{ %w = {_dense(array, element)} return %w : {type_} }}"
    loaded = plumbline.load_stablehlo(text)
    (weight,) = loaded.weights.values()
    assert weight.tobytes() == array.tobytes()
    content = serialised(loaded.weights)
    length = int.from_bytes(content[:8], "little")
    assert json.loads(content[8 : 8 + length])["constant0"]["dtype"] == torch_name
    assert content[8 + length :] == array.tobytes()
    if element == "bf16":
        return
    (result,) = plumbline.compile(loaded, cache=False, opt_level=0)()
    np.testing.assert_array_equal(result, array)


def test_constants_that_are_no_weights_stay() -> None:
    pairs = np.arange(2 * COUNT, dtype=np.float32)
    content = pairs.tobytes().hex().upper()
    type_ = f"tensor<{COUNT}xcomplex<f32>>"
    text = f"""func.func @main() -> {type_} {{
      %w = stablehlo.constant dense<"0x{content}"> : {type_}
      return %w : {type_}
    }}"""
    loaded = plumbline.load_stablehlo(text)
    assert not loaded.weights
    assert loaded.text == text
    (result,) = plumbline.compile(loaded, cache=False)()
    np.testing.assert_array_equal(result, pairs.view(np.complex64))


def test_a_library_has_them_embedded_or_in_a_file(tmp_path: Path) -> None:
    loaded = plumbline.load_stablehlo(_scaled())
    embedded = plumbline.aot(loaded, name="scaled", out=tmp_path / "embedded")
    np.testing.assert_array_equal(plumbline.load(embedded)(X)[0], X * W + W + 1)
    beside = plumbline.aot(loaded, name="scaled", out=tmp_path / "beside", weights="file")
    weights = tmp_path / "beside" / "scaled.safetensors"
    np.testing.assert_array_equal(safetensors.numpy.load_file(weights)["constant0"], W)
    library = plumbline.load(beside)
    library.load_weights(weights)
    np.testing.assert_array_equal(library(X)[0], X * W + W + 1)
    with pytest.raises(UserError, match='weights "arguments" are of a PyTorch program'):
        plumbline.aot(loaded, name="scaled", out=tmp_path, weights="arguments")


def test_the_command_writes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scaled.mlir").write_text(_scaled())
    assert main(["compile", "scaled.mlir", "--emit", "tcp,weights,packed-weights"]) == 0
    (file,) = tmp_path.rglob("_internal_scaled_weights.safetensors")
    np.testing.assert_array_equal(safetensors.numpy.load_file(file)["constant0"], W)
    (tcp,) = tmp_path.rglob("_internal_scaled_tcp.mlir")
    assert "dense<" not in tcp.read_text().replace("dense<[", "").replace("dense<1", "")


def test_a_program_is_saved_with_its_weights(tmp_path: Path) -> None:
    loaded = plumbline.load_stablehlo(_scaled())
    given: dict[str, np.ndarray[Any, Any]] = {"few": X[:2], "layer/w": W}
    renamed = StablehloProgram(
        loaded.text.replace('"constant0"', '"layer/w"').replace(
            "(%arg0: ", '(%few: tensor<2xf32> {plumbline.weight = "few"}, %arg0: '
        ),
        "program scaled",
        "scaled",
        weights=given,
    )
    file = tmp_path / "scaled.mlir"
    renamed.save(file)
    again = plumbline.load_stablehlo(file)
    assert list(again.weights) == ["few", "layer/w"]
    for name, value in again.weights.items():
        assert value.tobytes() == given[name].tobytes()
    program = plumbline.compile(again, cache=False)
    assert program.signature.names.inputs == ("x",)
    np.testing.assert_array_equal(program(X)[0], X * W + W + 1)
    with pytest.raises(UserError, match=r"no_folder/f\.mlir: cannot be written: No such file"):
        loaded.save(tmp_path / "no_folder" / "f.mlir")


def test_places_in_the_source_stay(tmp_path: Path) -> None:
    broken = _scaled().replace(
        "%few = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>",
        "%few = stablehlo.custom_call @unknown() : () -> tensor<2xf32>",
    )
    file = tmp_path / "broken.mlir"
    file.write_text(broken)
    line = 1 + broken[: broken.index("custom_call")].count("\n")
    with pytest.raises(UserError, match=f"broken.mlir:{line}:"):
        plumbline.compile(plumbline.load_stablehlo(file), cache=False)
    file.write_text(_scaled().replace("public @main", "private @main"))
    with pytest.raises(UserError, match="one public function becomes a C function"):
        plumbline.load_stablehlo(file)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
