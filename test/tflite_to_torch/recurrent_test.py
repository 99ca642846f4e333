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


def _of(
    name: str, operands: Sequence[Value | None], options: Any, *results: tuple[int, ...]
) -> bytes:
    """A model of one op that takes its first operand, and has the others itself."""
    first, *others = operands
    held = [each if each is None or each.is_variable else weights(each) for each in others]
    values = [each for each in (first, *held) if each is not None]
    places = iter(range(len(values)))
    inputs = [-1 if each is None else next(places) for each in (first, *held)]
    made = [*range(len(values), len(values) + len(results))]
    op = Op(name, inputs, made, options)
    return packed(model(Graph([*values, *(given(*each) for each in results)], [op], [0], made)))


_STEPS, _BATCH, _SIZE, _UNITS, _PROJECTED = 5, 2, 3, 4, 3


def _weights_of_lstm(
    *,
    is_coupled: bool = False,
    has_peepholes: bool = False,
    is_projected: bool = False,
    has_projection_bias: bool = False,
) -> list[Value | None]:
    results = _PROJECTED if is_projected else _UNITS
    weights: list[Value | None] = [
        *(given(_UNITS, _SIZE) for _ in range(4)),
        *(given(_UNITS, results) for _ in range(4)),
        *(given(_UNITS) if has_peepholes else None for _ in range(3)),
        *(given(_UNITS) for _ in range(4)),
        given(_PROJECTED, _UNITS) if is_projected else None,
        given(_PROJECTED) if has_projection_bias else None,
    ]
    for place in (0, 4, 8, 11) if is_coupled else ():
        weights[place] = None
    return weights


def _lstm(
    *,
    time_major: bool = False,
    activation: int = _TANH,
    clip: float = 0.0,
    projection_clip: float = 0.0,
    has_norms: bool = False,
    lacks: int | None = None,
    **parts: bool,
) -> bytes:
    sizes = (_STEPS, _BATCH) if time_major else (_BATCH, _STEPS)
    results = _PROJECTED if parts.get("is_projected") else _UNITS
    operands = [given(*sizes, _SIZE), *_weights_of_lstm(**parts)]
    operands += [_state(_BATCH, results), _state(_BATCH, _UNITS)]
    norms = [given(_UNITS) if has_norms else None for _ in range(4)]
    if parts.get("is_coupled"):
        norms[0] = None
    if lacks is not None:
        operands[lacks] = None
    options = schema.UnidirectionalSequenceLSTMOptionsT(
        fusedActivationFunction=activation,
        timeMajor=time_major,
        cellClip=clip,
        projClip=projection_clip,
    )
    return _of("UNIDIRECTIONAL_SEQUENCE_LSTM", [*operands, *norms], options, (*sizes, results))


def _lstms(*, time_major: bool, is_merged: bool, has_more: bool = False, **parts: bool) -> bytes:
    # Of several sequences that come first LiteRT gives now these, now other results.
    batch = _BATCH if time_major else 1
    sizes = (_STEPS, batch) if time_major else (batch, _STEPS)
    results = _PROJECTED if parts.get("is_projected") else _UNITS
    states = [_state(batch, results), _state(batch, _UNITS)] * 2
    operands = [
        given(*sizes, _SIZE),
        *_weights_of_lstm(**parts),
        *_weights_of_lstm(**parts),
        *(_state(*each.numbers.shape) for each in states),
        given(*sizes, _SIZE) if has_more else None,
        *(given(_UNITS, _SIZE) if has_more else None for _ in range(8)),
    ]
    options = schema.BidirectionalSequenceLSTMOptionsT(
        fusedActivationFunction=_TANH, timeMajor=time_major, mergeOutputs=is_merged
    )
    made = [(*sizes, 2 * results)] if is_merged else [(*sizes, results)] * 2
    return _of("BIDIRECTIONAL_SEQUENCE_LSTM", operands, options, *made)


def _rnns(*, is_merged: bool) -> bytes:
    operands = [given(2, 5, 3)]
    for _ in range(2):
        operands += [given(4, 3), given(4, 4), given(4), _state(2, 4)]
    options = schema.BidirectionalSequenceRNNOptionsT(
        timeMajor=False, fusedActivationFunction=_TANH, mergeOutputs=is_merged
    )
    made = [(2, 5, 8)] if is_merged else [(2, 5, 4)] * 2
    return _of("BIDIRECTIONAL_SEQUENCE_RNN", [*operands, *[None] * 3], options, *made)


def _rnn(activation: int) -> bytes:
    operands = [given(2, 5, 3), given(4, 3), given(4, 4), given(4), _state(2, 4)]
    options = schema.SequenceRNNOptionsT(timeMajor=False, fusedActivationFunction=activation)
    return _of("UNIDIRECTIONAL_SEQUENCE_RNN", operands, options, (2, 5, 4))


def _filters(*, has_bias: bool) -> bytes:
    """Three units of two filters each, that look back over four steps."""
    bias = given(3) if has_bias else None
    operands = [given(2, 5), given(6, 5), given(6, 4), bias, _state(2, 24)]
    options = schema.SVDFOptionsT(rank=2, fusedActivationFunction=_RELU)
    return _of("SVDF", operands, options, (2, 3))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(_lstm(time_major=True), id="lstm-time_major"),
        pytest.param(_lstm(time_major=False), id="lstm"),
        pytest.param(_lstm(has_peepholes=True), id="lstm-peepholes"),
        pytest.param(_lstm(is_projected=True, projection_clip=0.2), id="lstm-projection"),
        pytest.param(
            _lstm(is_projected=True, has_projection_bias=True), id="lstm-projection_and_bias"
        ),
        pytest.param(_lstm(has_norms=True, time_major=True), id="lstm-norms"),
        pytest.param(_lstm(is_coupled=True), id="lstm-coupled"),
        pytest.param(_lstm(clip=0.5), id="lstm-clip"),
        pytest.param(_lstm(activation=_RELU), id="lstm-relu"),
        pytest.param(
            _lstm(is_coupled=True, has_peepholes=True, is_projected=True, has_norms=True),
            id="lstm-all",
        ),
        pytest.param(_lstms(time_major=True, is_merged=False), id="lstms"),
        pytest.param(_lstms(time_major=False, is_merged=True), id="lstms-merged"),
        pytest.param(
            _lstms(time_major=True, is_merged=True, is_projected=True, has_peepholes=True),
            id="lstms-projection",
        ),
        pytest.param(_rnns(is_merged=False), id="rnns"),
        pytest.param(_rnns(is_merged=True), id="rnns-merged"),
        pytest.param(_rnn(schema.ActivationFunctionType.RELU6), id="rnn-relu6"),
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
        (_lstm(lacks=2), "it has no weights of its own for a gate"),
        (_lstm(activation=9), "activation 9 has no meaning here"),
        (_lstms(time_major=True, is_merged=True, has_more=True), "it has another input"),
    ],
)
def test_what_is_not_known_is_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(content)
    with pytest.raises(UserError, match=rf"_SEQUENCE_LSTM\): {reason}"):
        load_tflite(tmp_path / "model.tflite")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
