"""Items that are put into a list at a place that the run tells, against LiteRT."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

import plumbline
from plumbline.errors import UserError
from plumbline.tflite_to_torch.program import load_tflite
from test.tflite_to_torch.models import Graph, Op, Value, answers, given, known, model, packed


def _number(value: int) -> Value:
    return Value(torch.tensor(value, dtype=torch.int32))


def _row(length: int) -> Value:
    return given(length, dtype=torch.int32)


def _put(step: int = 1, axis: int = 0) -> bytes:
    """Puts an item into a list of 4, and gives that, as TensorFlow's converter writes it."""
    part = replace(given(1, 1, 3), dynamic_axes=[0])
    values = [
        *(given(4, 2, 3), _number(2), given(1, 2, 3), known(step), _number(0), known([1])),
        *(_row(1), known([-1, -1]), _row(3), known([0, 0, 0]), part),
        *(_row(1), known([0, 0]), _row(3), known([-1, -1, -1]), part, given(4, 2, 3)),
    ]
    joined = schema.ConcatenationOptionsT(axis=0)
    ops = [
        Op("ADD", [1, 3], [4], schema.AddOptionsT()),
        Op("RESHAPE", [1, 5], [6], schema.ReshapeOptionsT()),
        Op("CONCATENATION", [6, 7], [8], joined),
        Op("SLICE", [0, 9, 8], [10], schema.SliceOptionsT()),
        Op("RESHAPE", [4, 5], [11], schema.ReshapeOptionsT()),
        Op("CONCATENATION", [11, 12], [13], joined),
        Op("SLICE", [0, 13, 14], [15], schema.SliceOptionsT()),
        Op("CONCATENATION", [10, 2, 15], [16], schema.ConcatenationOptionsT(axis=axis)),
    ]
    return packed(model(Graph(values, ops, [0, 1, 2], [16])))


def test_an_item_is_put(tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(_put())
    program = load_tflite(tmp_path / "model.tflite")
    compiled = plumbline.compile(program)
    places = [torch.tensor(place, dtype=torch.int32) for place in (0, 2, 3)]
    calls = [(torch.randn(4, 2, 3), place, torch.randn(1, 2, 3)) for place in places]
    for call, expected in zip(calls, answers(_put(), *calls), strict=True):
        assert torch.equal(expected[0][int(call[1])], call[2][0])
        torch.testing.assert_close([*program.model(*call).values()], expected, rtol=0, atol=0)
        torch.testing.assert_close([*compiled(*call)], expected, rtol=0, atol=0)


@pytest.mark.parametrize("content", [_put(step=2), _put(axis=1)], ids=["step", "axis"])
def test_other_slices_are_none_of_an_item(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(content)
    with pytest.raises(UserError, match=r"\(SLICE\): input 2, t8, is computed as the program runs"):
        load_tflite(tmp_path / "model.tflite")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
