"""Recurrent layers as one op, against LiteRT, over calls from one to the next."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

import plumbline
from plumbline.errors import UserError
from plumbline.tflite_to_torch.program import load_tflite
from test.tflite_to_torch.models import Graph, Op, Value, answers, given, model, packed, weights

_TANH, _RELU = schema.ActivationFunctionType.TANH, schema.ActivationFunctionType.RELU


def _state(*shape: int) -> Value:
    return Value(torch.zeros(shape), is_variable=True)


def _of(name: str, operands: Sequence[Value | None], options: Any, *result: int) -> bytes:
    """A model of one op that takes its first operand, and has the others itself."""
    first, *others = operands
    held = [each if each is None or each.is_variable else weights(each) for each in others]
    values = [each for each in (first, *held) if each is not None]
    places = iter(range(len(values)))
    inputs = [-1 if each is None else next(places) for each in (first, *held)]
    last = len(values)
    op = Op(name, inputs, [last], options)
    return packed(model(Graph([*values, given(*result)], [op], [0], [last])))


def _lstm(*, time_major: bool, clip: float = 0.0, coupled: bool = False) -> bytes:
    steps, batch, size, units = 5, 2, 3, 4
    sizes = (steps, batch) if time_major else (batch, steps)
    of_input = [given(units, size) for _ in range(4)]
    of_state = [given(units, units) for _ in range(4)]
    biases = [given(units) for _ in range(4)]
    if coupled:
        of_input[0] = of_state[0] = biases[0] = None  # type: ignore[call-overload]
    operands = [given(*sizes, size), *of_input, *of_state, *[None] * 3, *biases, *[None] * 2]
    operands += [_state(batch, units), _state(batch, units)]
    options = schema.UnidirectionalSequenceLSTMOptionsT(
        fusedActivationFunction=_TANH, timeMajor=time_major, cellClip=clip
    )
    return _of("UNIDIRECTIONAL_SEQUENCE_LSTM", [*operands, *[None] * 4], options, *sizes, units)


def _rnn(activation: int) -> bytes:
    operands = [given(2, 5, 3), given(4, 3), given(4, 4), given(4), _state(2, 4)]
    options = schema.SequenceRNNOptionsT(timeMajor=False, fusedActivationFunction=activation)
    return _of("UNIDIRECTIONAL_SEQUENCE_RNN", operands, options, 2, 5, 4)


def _filters(*, has_bias: bool) -> bytes:
    """Three units of two filters each, that look back over four steps."""
    bias = given(3) if has_bias else None
    operands = [given(2, 5), given(6, 5), given(6, 4), bias, _state(2, 24)]
    options = schema.SVDFOptionsT(rank=2, fusedActivationFunction=_RELU)
    return _of("SVDF", operands, options, 2, 3)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(_lstm(time_major=True), id="lstm-time_major"),
        pytest.param(_lstm(time_major=False), id="lstm"),
        pytest.param(_rnn(_TANH), id="rnn-tanh"),
        pytest.param(_rnn(_RELU), id="rnn-relu"),
        pytest.param(_filters(has_bias=True), id="svdf"),
        pytest.param(_filters(has_bias=False), id="svdf-no_bias"),
    ],
)
def test_states_are_kept(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(content)
    program = load_tflite(tmp_path / "model.tflite")
    compiled = plumbline.compile(program)
    states = [each.clone() for each in program.model.buffers() if not each.any()]
    calls = [[torch.randn_like(program.inputs[0])] for _ in range(3)]
    for (x,), expected in zip(calls, answers(content, *calls), strict=True):
        torch.testing.assert_close([*program.model(x).values()], expected)
        torch.testing.assert_close([*compiled(x, *states)], expected)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (_lstm(time_major=True, clip=1.0), "it keeps its cell within bounds"),
        (_lstm(time_major=True, coupled=True), "it has no weights of its own for a gate"),
    ],
)
def test_what_is_not_known_is_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(content)
    with pytest.raises(UserError, match=rf"\(UNIDIRECTIONAL_SEQUENCE_LSTM\): {reason}"):
        load_tflite(tmp_path / "model.tflite")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
