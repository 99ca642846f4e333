"""Branches and loops, against LiteRT; graphs that call themselves are refused."""

import sys
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

import plumbline
from plumbline.errors import UserError
from plumbline.tflite_to_torch.program import load_tflite
from test.tflite_to_torch.models import Graph, Op, answers, given, known, model, packed

_COUNT, _FLAG = given(1, dtype=torch.int32), given(1, dtype=torch.bool)


def _loop(body: int = 2) -> bytes:
    """Doubles what it is given and adds 1, as often as it is told."""
    main = Graph(
        [_COUNT, given(2, 3), _COUNT, given(2, 3)],
        [
            Op(
                "WHILE",
                [0, 1],
                [2, 3],
                schema.WhileOptionsT(condSubgraphIndex=1, bodySubgraphIndex=body),
            )
        ],
        [0, 1],
        [2, 3],
    )
    goes_on = Graph(
        [_COUNT, given(2, 3), known([0]), _FLAG],
        [Op("GREATER", [0, 2], [3], schema.GreaterOptionsT())],
        [0, 1],
        [3],
    )
    turn = Graph(
        [
            _COUNT,
            given(2, 3),
            known([1]),
            _COUNT,
            known([2.0]),
            known([1.0]),
            given(2, 3),
            given(2, 3),
        ],
        [
            Op("SUB", [0, 2], [3], schema.SubOptionsT()),
            Op("MUL", [1, 4], [6], schema.MulOptionsT()),
            Op("ADD", [6, 5], [7], schema.AddOptionsT()),
        ],
        [0, 1],
        [3, 7],
    )
    return packed(model(main, goes_on, turn))


def _branch() -> bytes:
    """Negates what it is given, or adds a constant to it."""
    main = Graph(
        [_FLAG, given(2, 3), given(2, 3)],
        [Op("IF", [0, 1], [2], schema.IfOptionsT(thenSubgraphIndex=1, elseSubgraphIndex=2))],
        [0, 1],
        [2],
    )
    then = Graph([given(2, 3), given(2, 3)], [Op("NEG", [0], [1])], [0], [1])
    otherwise = Graph(
        [given(2, 3), known(torch.arange(6.0).reshape(2, 3)), given(2, 3)],
        [Op("ADD", [0, 1], [2], schema.AddOptionsT())],
        [0],
        [2],
    )
    return packed(model(main, then, otherwise))


@pytest.mark.parametrize(
    ("content", "firsts"),
    [
        (_loop(), [torch.tensor([count], dtype=torch.int32) for count in (0, 1, 5)]),
        (_branch(), [torch.tensor([flag]) for flag in (False, True)]),
    ],
    ids=["loop", "branch"],
)
def test_it_goes_where_litert_goes(
    content: bytes, firsts: list[torch.Tensor], tmp_path: Path
) -> None:
    (tmp_path / "model.tflite").write_bytes(content)
    calls = [(first, torch.randn(2, 3)) for first in firsts]
    program = load_tflite(tmp_path / "model.tflite")
    compiled = plumbline.compile(program)
    for call, expected in zip(calls, answers(content, *calls), strict=True):
        torch.testing.assert_close([*program.model(*call).values()], expected)
        torch.testing.assert_close([*compiled(*call)], expected)


@pytest.mark.parametrize("body", [0, 3])
def test_a_graph_that_cannot_be_called_is_refused(body: int, tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(_loop(body))
    with pytest.raises(UserError, match=rf"\(WHILE\): it calls graph {body}, which it cannot"):
        load_tflite(tmp_path / "model.tflite")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
