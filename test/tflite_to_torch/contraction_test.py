"""Products of matrices, against LiteRT."""

import sys
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

from test.tflite_to_torch.models import Case, Value, check, given, result, weights

_ACTIVATIONS = schema.ActivationFunctionType
_INT8, _UINT8, _INT16, _INT32 = torch.int8, torch.uint8, torch.int16, torch.int32


def _bias(count: int, *scales: float, dtype: torch.dtype = _INT32) -> Value:
    numbers = torch.arange(-3, count - 3).to(dtype) * 500
    return Value(numbers, True, scales, [0] * len(scales))


def _linear(activation: int = 0, *, keeps: bool = False) -> schema.FullyConnectedOptionsT:
    return schema.FullyConnectedOptionsT(fusedActivationFunction=activation, keepNumDims=keeps)


def _matmul(*, first: bool = False, second: bool = False) -> schema.BatchMatMulOptionsT:
    return schema.BatchMatMulOptionsT(adjX=first, adjY=second)


CASES = [
    *(
        Case("FULLY_CONNECTED", [given(*shape), weights(given(5, 6)), *bias], options)
        for shape, bias, options in (
            ((4, 6), [weights(given(5))], _linear(_ACTIVATIONS.RELU_N1_TO_1)),
            ((2, 3, 6), [], _linear(_ACTIVATIONS.RELU6)),
            ((2, 3, 6), [None], _linear(keeps=True)),
            ((2, 2, 3), [weights(given(5))], _linear(_ACTIVATIONS.RELU)),
        )
    ),
    Case("FULLY_CONNECTED", [given(4, 6), given(5, 6), given(5)], _linear()),
    *(
        Case(
            "FULLY_CONNECTED",
            [
                given(4, 6, dtype=dtype, scale=0.05, zero_point=zero),
                weights(given(7, 6, dtype=dtype, scale=0.02, zero_point=of_weight)),
                _bias(7, 0.05 * 0.02),
            ],
            _linear(activation),
            [result(dtype, 0.1, zero + 9)],
        )
        for dtype, zero, of_weight in ((_INT8, -5, 0), (_UINT8, 121, 133))
        for activation in (_ACTIVATIONS.NONE, _ACTIVATIONS.RELU_N1_TO_1)
    ),
    *(
        Case(
            "FULLY_CONNECTED",
            [
                given(4, 6, dtype=dtype, scale=scale, zero_point=zero),
                weights(given(3, 6, dtype=_INT8, scale=[0.01, 0.02, 0.05])),
                _bias(3, scale * 0.01, scale * 0.02, scale * 0.05, dtype=bias),
            ],
            _linear(_ACTIVATIONS.RELU),
            [result(dtype, 4 * scale, zero)],
        )
        for dtype, scale, zero, bias in ((_INT8, 0.05, 7, _INT32), (_INT16, 0.001, 0, torch.int64))
    ),
    Case("BATCH_MATMUL", [given(2, 3, 4), given(2, 4, 5)], _matmul()),
    Case("BATCH_MATMUL", [given(2, 1, 4, 3), given(3, 5, 4)], _matmul(first=True, second=True)),
    Case("BATCH_MATMUL", [given(2, 3, 4), weights(given(5, 4))], _matmul(second=True)),
    *(
        Case(
            "BATCH_MATMUL",
            [
                given(2, 3, 4, dtype=dtype, scale=scale, zero_point=zero),
                given(2, 5, 4, dtype=dtype, scale=scale, zero_point=-zero),
            ],
            _matmul(second=True),
            [result(dtype, 4 * scale, zero)],
        )
        for dtype, scale, zero in ((_INT8, 0.05, 3), (_INT16, 0.005, 0))
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_agrees_with_litert(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
