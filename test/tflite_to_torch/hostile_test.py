"""Malformed models are read, or refused in one message."""

import random
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

from plumbline.errors import UserError
from plumbline.tflite_to_torch.program import load_tflite
from test.hostile.mutation import mutate_bytes
from test.tflite_to_torch.models import Graph, Op, Value, given, known, model, packed, weights

_MUTATIONS = 400
_GIGABYTE = 1 << 20
"""In the units of `ru_maxrss`."""


def _small() -> Any:
    """A quantized convolution, a slice of its result, a sum along axes, and a variable."""
    int8 = torch.int8
    values = [
        given(1, 6, 6, 2, dtype=int8, scale=0.1, zero_point=3),
        weights(given(3, 3, 3, 2, dtype=int8, scale=[0.1, 0.2, 0.3])),
        Value(torch.arange(3, dtype=torch.int32), True, [0.01, 0.02, 0.03], [0, 0, 0]),
        given(1, 3, 3, 3, dtype=int8, scale=0.2, zero_point=-4),
        known([0, 0, 1, 0]),
        known([0, 2, 3, 3]),
        known([1, 1, 1, 1]),
        given(1, 2, 2, 3, dtype=int8, scale=0.2, zero_point=-4),
        given(1, 2, 2, 3),
        known([1, 2]),
        given(1, 3),
        Value(torch.empty(()), is_resource=True),
        given(1, 3),
        given(1, 3),
    ]
    ops = [
        Op("CONV_2D", [0, 1, 2], [3], schema.Conv2DOptionsT(strideW=2, strideH=2)),
        Op("STRIDED_SLICE", [3, 4, 5, 6], [7], schema.StridedSliceOptionsT(endMask=1)),
        Op("DEQUANTIZE", [7], [8]),
        Op("SUM", [8, 9], [10], schema.ReducerOptionsT()),
        Op("VAR_HANDLE", [], [11], schema.VarHandleOptionsT(sharedName="kept")),
        Op("READ_VARIABLE", [11], [12]),
        Op("ADD", [10, 12], [13], schema.AddOptionsT()),
        Op("ASSIGN_VARIABLE", [11, 13], []),
    ]
    return model(Graph(values, ops, [0], [13]))


def _refusal(folder: Path, content: bytes) -> str | None:
    """Why a model is refused; None: it is not."""
    file = folder / "m.tflite"
    file.write_bytes(content)
    try:
        load_tflite(file)
    except UserError as refusal:
        return str(refusal)
    return None


def test_a_whole_model_is_read(tmp_path: Path) -> None:
    assert _refusal(tmp_path, packed(_small())) is None


def test_parts_of_a_model_are_refused(tmp_path: Path) -> None:
    whole = packed(_small())
    for length in range(0, len(whole), 23):
        refusal = _refusal(tmp_path, whole[:length])
        assert refusal is None or "m.tflite" in refusal


def test_mutated_models(tmp_path: Path) -> None:
    rng, whole = random.Random(0), packed(_small())
    refusals = [_refusal(tmp_path, mutate_bytes(rng, whole)) for _ in range(_MUTATIONS)]
    found = [each for each in refusals if each is not None]
    assert [each for each in found if "m.tflite" not in each] == []
    assert len(found) > _MUTATIONS // 10
    assert len(refusals) - len(found) > _MUTATIONS // 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 * _GIGABYTE


def _with_index_out_of_range(small: Any) -> None:
    small.subgraphs[0].operators[0].inputs = np.array([0, 99, 2], np.int32)


def _with_a_short_buffer(small: Any) -> None:
    small.buffers[1].data = small.buffers[1].data[:-1]


def _with_a_buffer_that_is_not_there(small: Any) -> None:
    small.subgraphs[0].tensors[1].buffer = 77


def _with_an_unknown_op(small: Any) -> None:
    small.operatorCodes[0].builtinCode = 20000


def _with_an_op_of_its_own(small: Any) -> None:
    code = small.operatorCodes[0]
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
    code.customCode = "Mine"


def _with_what_is_computed_later(small: Any) -> None:
    small.subgraphs[0].operators.reverse()


def _with_a_huge_argument(small: Any) -> None:
    small.subgraphs[0].tensors[0].shape = np.array([1, 2**31 - 1, 2**31 - 1, 2], np.int32)


def _with_a_huge_variable(small: Any) -> None:
    for index in (10, 12, 13):
        small.subgraphs[0].tensors[index].shape = np.array([2**31 - 1, 2**31 - 1], np.int32)


def _with_a_huge_result(small: Any) -> None:
    graph = small.subgraphs[0]
    graph.operators[0] = schema.OperatorT(
        opcodeIndex=0, inputs=np.array([4], np.int32), outputs=np.array([3], np.int32)
    )
    code = small.operatorCodes[0]
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.SHAPE
    small.subgraphs[0].tensors[4].shape = np.array([2**31 - 1] * 4, np.int32)


def _with_negative_sizes(small: Any) -> None:
    small.subgraphs[0].tensors[0].shape = np.array([1, -6, 6, 2], np.int32)


def _with_a_scale_of_nothing(small: Any) -> None:
    small.subgraphs[0].tensors[0].quantization.scale = np.array([0.0], np.float32)


def _without_graphs(small: Any) -> None:
    small.subgraphs = []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_with_index_out_of_range, "there is no tensor 99"),
        (_with_a_short_buffer, r"tensor t1 has 53 bytes"),
        (_with_a_buffer_that_is_not_there, "there is no buffer 77"),
        (_with_an_unknown_op, "op 20000: 1 node"),
        (_with_an_op_of_its_own, "CUSTOM Mine: 1 node"),
        (_with_what_is_computed_later, "reads .* before it is there"),
        (_with_a_huge_argument, "tensor t0 .* over 2 GiB"),
        (_with_a_huge_variable, "tensor t10 .* over 2 GiB"),
        (_with_a_huge_result, "tensor t4 .* over 2 GiB"),
        (_with_negative_sizes, "has the sizes"),
        (_with_a_scale_of_nothing, "has the scales"),
        (_without_graphs, "it has no graph"),
    ],
)
def test_says_what_is_wrong(change: Any, message: str, tmp_path: Path) -> None:
    small = _small()
    change(small)
    file = tmp_path / "m.tflite"
    file.write_bytes(packed(small))
    with pytest.raises(UserError, match=message):
        load_tflite(file)


def test_what_is_computed_of_constants_is_small(tmp_path: Path) -> None:
    values = [known(0), known(2**31 - 1), known(1), Value(torch.empty(3, dtype=torch.int32))]
    huge = packed(model(Graph(values, [Op("RANGE", [0, 1, 2], [3])], [], [3])))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "where the model says torch.int32 of [3]" in str(_refusal(tmp_path, huge))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + _GIGABYTE


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (Op("SHAPE", [], [1]), r"\(SHAPE\): it takes one tensor"),
        (Op("SHAPE", [-1], [1]), r"\(SHAPE\): it takes one tensor"),
        (Op("RANK", [0, 0], [1]), r"\(RANK\): it takes one tensor"),
        (Op("WHILE", [0], [1]), r"\(WHILE\): it has no option CondSubgraphIndex"),
    ],
)
def test_nodes_that_lack_something(op: Op, message: str, tmp_path: Path) -> None:
    graph = Graph([given(2, 3), Value(torch.empty(2, dtype=torch.int32))], [op], [0], [1])
    file = tmp_path / "m.tflite"
    file.write_bytes(packed(model(graph)))
    with pytest.raises(UserError, match=message):
        load_tflite(file)


def test_what_is_no_model(tmp_path: Path) -> None:
    content = packed(_small())
    for changed in (b"", b"TFL3", content.replace(b"TFL3", b"TFL2", 1)):
        assert "it is no model of TensorFlow Lite" in str(_refusal(tmp_path, changed))
    with pytest.raises(UserError, match="cannot be read"):
        load_tflite(tmp_path / "none.tflite")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
