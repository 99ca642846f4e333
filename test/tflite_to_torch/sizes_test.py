"""Sizes that a model may have beside those that its file says."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

import plumbline
from plumbline.errors import UserError
from plumbline.tflite_to_torch.program import load_tflite
from test.tflite_to_torch.models import Graph, Op, given, known, model, packed


def _rows_as_one() -> bytes:
    """Doubles rows of 3, of which there is one in the file, and puts them one after the other."""
    x, doubled = (replace(given(1, 3), dynamic_axes=[0]) for _ in range(2))
    result = replace(given(3), dynamic_axes=[0])
    ops = [
        Op("ADD", [0, 0], [1], schema.AddOptionsT()),
        Op("RESHAPE", [1, 2], [3], schema.ReshapeOptionsT()),
    ]
    return packed(model(Graph([x, doubled, known([-1]), result], ops, [0], [3])))


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    file = tmp_path / "model.tflite"
    file.write_bytes(_rows_as_one())
    return file


@pytest.mark.parametrize("rows", [1, 4])
def test_another_size(rows: int, file: Path) -> None:
    program = load_tflite(file, sizes={} if rows == 1 else {"t0_0": rows})
    x = torch.randn(rows, 3)
    (result,) = plumbline.compile(program)(x)
    torch.testing.assert_close(result, 2 * x.flatten())


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({"t0_1": 4}, "no dimension is called t0_1; did you mean t0_0?"),
        ({"batch": 4}, "no dimension is called batch; there is t0_0"),
        ({"t0_0": -1}, "t0_0 is to be -1; a size is at least 0"),
    ],
)
def test_other_names_and_numbers_are_refused(
    sizes: dict[str, int], reason: str, file: Path
) -> None:
    with pytest.raises(UserError) as refusal:
        load_tflite(file, sizes=sizes)
    assert str(refusal.value) == f"model {file}: {reason}"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
