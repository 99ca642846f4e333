import sys

import pytest

from plumbline.bindings.pipeline import LoweringError
from plumbline.context import make_context
from plumbline.tcp.assembly.module import parse_module
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg

_SYMBOLS = '[{name = "n", min_val = 0 : i64, max_val = 9 : i64}]'
_SHAPE = "affine_map<()[s0] -> (s0, 4)>"


def _lower(symbols: str, shape: str) -> str:
    text = f"""
func.func @f(%x: tensor<?x4xf32> {{plumbline.shape = {shape}}}) -> tensor<?x4xf32>
    attributes {{plumbline.symbols = {symbols}}} {{
  return %x : tensor<?x4xf32>
}}
"""
    module = parse_module(text, make_context(), "x.mlir")
    convert_tcp_to_linalg(module)
    return str(module)


def test_attributes_that_a_file_has_are_kept() -> None:
    assert f"plumbline.shape = {_SHAPE}" in _lower(_SYMBOLS, _SHAPE)


@pytest.mark.parametrize(
    "symbols",
    [
        "3",
        "[3]",
        "{a = 3}",
        '[{name = "n"}]',
        "[{name = 3, min_val = 0 : i64, max_val = 9 : i64}]",
        '[{name = "n", min_val = "a", max_val = 9 : i64}]',
    ],
)
def test_malformed_symbols_are_refused(symbols: str) -> None:
    with pytest.raises(LoweringError) as refusal:
        _lower(symbols, _SHAPE)
    message = str(refusal.value)
    assert "x.mlir:2:1: error: plumbline.symbols is " in message
    assert f"it lists the symbols of a function's sizes: {_SYMBOLS}" in message


@pytest.mark.parametrize(
    "shape", ["3", "affine_map<()[s0] -> (s0)>", "affine_map<()[s0, s1] -> (s0, s1)>"]
)
def test_malformed_shapes_are_refused(shape: str) -> None:
    with pytest.raises(LoweringError) as refusal:
        _lower(_SYMBOLS, shape)
    message = str(refusal.value)
    assert f"x.mlir:2:1: error: plumbline.shape of argument 0 is {shape}" in message
    assert "an affine map of the 1 symbols in plumbline.symbols to the 2 sizes" in message


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
