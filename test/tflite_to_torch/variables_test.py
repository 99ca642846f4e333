"""What a model holds from one call to the next, against LiteRT."""

import sys
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

import plumbline
from plumbline.tflite_to_torch.program import load_tflite
from test.tflite_to_torch.models import Graph, Op, Value, answers, given, known, model, packed

_HANDLE = Value(torch.empty(()), is_resource=True)
_VARIABLE = schema.VarHandleOptionsT(sharedName="so far")


def _running_sum() -> bytes:
    """Adds what it is given to a variable, and gives what that was before and is then."""
    handle, x, before, after = range(4)
    main = Graph(
        [_HANDLE, given(2, 3), given(2, 3), given(2, 3)],
        [
            Op("CALL_ONCE", [], [], schema.CallOnceOptionsT(initSubgraphIndex=1)),
            Op("VAR_HANDLE", [], [handle], _VARIABLE),
            Op("READ_VARIABLE", [handle], [before]),
            Op("ADD", [before, x], [after], schema.AddOptionsT()),
            Op("ASSIGN_VARIABLE", [handle, after], []),
        ],
        [x],
        [before, after],
    )
    first = Graph(
        [_HANDLE, known(torch.full((2, 3), 5.0))],
        [Op("VAR_HANDLE", [], [0], _VARIABLE), Op("ASSIGN_VARIABLE", [0, 1], [])],
        [],
        [],
    )
    return packed(model(main, first))


def test_variables_are_kept(tmp_path: Path) -> None:
    file, calls = tmp_path / "model.tflite", [[torch.randn(2, 3)] for _ in range(3)]
    file.write_bytes(_running_sum())
    expected = answers(_running_sum(), *calls)
    assert expected[0][0].eq(5).all()
    program = load_tflite(file)
    compiled = plumbline.compile(program)
    variable = torch.full((2, 3), 5.0)
    for (x,), wanted in zip(calls, expected, strict=True):
        torch.testing.assert_close([*compiled(x, variable)], wanted)
        torch.testing.assert_close([*program.model(x).values()], wanted)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
