"""What is computed element by element, against LiteRT."""

import sys
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

from test.tflite_to_torch.models import Case, Value, check, given, known, result

_ACTIVATIONS = schema.ActivationFunctionType
_BOOL, _INT8, _UINT8, _INT16 = torch.bool, torch.int8, torch.uint8, torch.int16
_INT32, _INT64 = torch.int32, torch.int64
_EIGHT = [(_INT8, -5), (_UINT8, 120)]


def _positive(*shape: int) -> Value:
    return Value(given(*shape).numbers.abs() + 0.1)


def _nonzero(*shape: int, dtype: torch.dtype = _INT32) -> Value:
    numbers = given(*shape, dtype=dtype).numbers
    return Value(numbers.where(numbers != 0, 7))


def _some(*numbers: float) -> Value:
    return Value(torch.tensor(numbers))


_ROUNDED = _some(-2.5, -1.5, -0.5, -0.4, 0.0, 0.5, 0.6, 1.5, 2.5)

CASES = [
    # Of floats.
    *(
        Case(op, [given(2, 3, 4)])
        for op in ("ABS", "COS", "ELU", "EXP", "HARD_SWISH", "LOGISTIC", "NEG", "RELU", "RELU6")
    ),
    *(Case(op, [given(2, 3, 4)]) for op in ("RELU_N1_TO_1", "RELU_0_TO_1", "SIGN", "SIN", "TANH")),
    *(Case(op, [given(2, 3, 4)]) for op in ("SQUARE", "ZEROS_LIKE")),
    *(Case(op, [_positive(2, 3)]) for op in ("LOG", "RSQRT", "SQRT")),
    *(Case(op, [_ROUNDED]) for op in ("CEIL", "FLOOR", "ROUND")),
    *(
        Case(op, [given(2, 3, 4), given(3, 1)])
        for op in ("MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD")
    ),
    Case("ATAN2", [given(2, 3, 4), Value(given(2, 3, 4).numbers.flip(0))]),
    Case("POW", [_positive(2, 3), given(2, 1)]),
    Case("ADD_N", [given(2, 3), given(2, 3), Value(given(2, 3).numbers + 1)]),
    *(
        Case(op, [given(2, 3, 4), given(3, 1)], options)
        for op, options in (
            ("ADD", schema.AddOptionsT()),
            ("ADD", schema.AddOptionsT(fusedActivationFunction=_ACTIVATIONS.RELU)),
            ("SUB", schema.SubOptionsT(fusedActivationFunction=_ACTIVATIONS.RELU6)),
            ("MUL", schema.MulOptionsT(fusedActivationFunction=_ACTIVATIONS.RELU_N1_TO_1)),
            ("DIV", schema.DivOptionsT(fusedActivationFunction=_ACTIVATIONS.RELU6)),
        )
    ),
    Case("LEAKY_RELU", [given(2, 3)], schema.LeakyReluOptionsT(alpha=0.2)),
    Case("PRELU", [given(1, 2, 2, 3), known(torch.tensor([[[0.1, -0.5, 2.0]]]))]),
    *(Case("GELU", [given(2, 9)], schema.GeluOptionsT(approximate=each)) for each in (True, False)),
    Case("FAKE_QUANT", [given(4, 8)], schema.FakeQuantOptionsT(min=-1.3, max=2.1, numBits=8)),
    Case("FAKE_QUANT", [given(4, 8)], schema.FakeQuantOptionsT(min=0.2, max=0.7, numBits=4)),
    Case("FAKE_QUANT", [given(4, 8)], schema.FakeQuantOptionsT(min=-0.7, max=-0.1, numBits=5)),
    # Of integers.
    *(
        Case(op, [given(2, 3, dtype=_INT32)], None, [result(_INT32)])
        for op in ("ABS", "NEG", "SIGN")
    ),
    *(
        Case(op, [given(2, 3, dtype=_INT32), given(3, dtype=_INT32)], options, [result(_INT32)])
        for op, options in (
            ("ADD", schema.AddOptionsT(fusedActivationFunction=_ACTIVATIONS.RELU6)),
            ("SUB", schema.SubOptionsT()),
            ("MUL", schema.MulOptionsT(fusedActivationFunction=_ACTIVATIONS.RELU_N1_TO_1)),
            ("MAXIMUM", None),
            ("MINIMUM", None),
            ("SQUARED_DIFFERENCE", None),
        )
    ),
    *(
        Case(op, [given(4, 9, dtype=_INT32), _nonzero(9)], options, [result(_INT32)])
        for op, options in (("DIV", schema.DivOptionsT()), ("FLOOR_DIV", None), ("FLOOR_MOD", None))
    ),
    Case(
        "ADD",
        [given(2, 3, dtype=_INT64), given(3, dtype=_INT64)],
        schema.AddOptionsT(),
        [result(_INT64)],
    ),
    Case("POW", [given(6, dtype=_INT32), known([0, 1, 2, 3, 2, 1])], None, [result(_INT32)]),
    Case(
        "RIGHT_SHIFT", [given(6, dtype=_INT32), known([0, 1, 2, 3, 2, 1])], None, [result(_INT32)]
    ),
    Case(
        "BITWISE_XOR", [given(6, dtype=_INT32), given(5, 6, dtype=_INT32)], None, [result(_INT32)]
    ),
    # What is compared, and of truth values.
    *(
        Case(op, [given(2, 5, dtype=dtype), given(5, dtype=dtype)], None, [result(_BOOL)])
        for op in ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL")
        for dtype in (torch.float32, _INT32)
    ),
    *(
        Case(op, [given(2, 5, dtype=_BOOL), given(5, dtype=_BOOL)], None, [result(_BOOL)])
        for op in ("LOGICAL_AND", "LOGICAL_OR")
    ),
    Case("LOGICAL_NOT", [given(2, 5, dtype=_BOOL)], None, [result(_BOOL)]),
    Case("SELECT", [given(4, dtype=_BOOL), given(4, 2), Value(-given(4, 2).numbers)]),
    Case("SELECT", [given(4, 2, dtype=_BOOL), given(4, 2), Value(-given(4, 2).numbers)]),
    Case("SELECT_V2", [given(4, 1, dtype=_BOOL), given(2, 1, 3), given(1, 3)]),
    # What changes types.
    *(
        Case(
            "CAST",
            [Value(torch.tensor([-1.7, 0.0, 0.6, 100.9]))],
            schema.CastOptionsT(),
            [result(dtype)],
        )
        for dtype in (_INT32, _INT64, _BOOL, _INT8, torch.complex64)
    ),
    Case("CAST", [given(7, dtype=_INT32)], schema.CastOptionsT(), [result()]),
    Case("CAST", [given(7, dtype=_BOOL)], schema.CastOptionsT(), [result(_INT32)]),
    Case("CAST", [given(7, dtype=torch.complex64)], schema.CastOptionsT(), [result()]),
    Case("BITCAST", [given(2, 3)], None, [result(_INT32)]),
    *(Case(op, [given(2, 3, dtype=torch.complex64)]) for op in ("COMPLEX_ABS", "IMAG", "REAL")),
    # Quantized: an op takes some scales, and has others for what it gives.
    *(
        Case(
            op,
            [given(6, 7, dtype=dtype, scale=0.05, zero_point=zero)],
            options,
            [result(dtype, scale, out)],
        )
        for dtype, zero in _EIGHT
        for op, options, scale, out in (
            ("ABS", None, 0.05, zero),
            ("EXP", None, 0.5, zero),
            ("HARD_SWISH", None, 0.04, zero),
            ("LOGISTIC", None, 1 / 256, -128 if dtype == _INT8 else 0),
            ("RELU", None, 0.03, zero),
            ("RELU6", None, 0.03, zero),
            ("RELU_N1_TO_1", None, 0.03, zero),
            ("RELU_0_TO_1", None, 0.03, zero),
            ("TANH", None, 1 / 128, 0 if dtype == _INT8 else 128),
            ("LEAKY_RELU", schema.LeakyReluOptionsT(alpha=0.2), 0.04, zero),
            ("GELU", schema.GeluOptionsT(), 0.04, zero),
            ("QUANTIZE", None, 0.07, zero + 4),
            ("DEQUANTIZE", None, None, 0),
        )
        if not (dtype == _UINT8 and op in ("ABS", "EXP"))
    ),
    Case("ELU", [given(6, 7, dtype=_INT8, scale=0.05)], None, [result(_INT8, 0.04, -3)]),
    Case(
        "RSQRT",
        [Value(torch.arange(1, 100, dtype=_INT8), False, [0.05], [0])],
        None,
        [result(_INT8, 0.04, -3)],
    ),
    Case(
        "LOG",
        [Value(torch.arange(1, 100, dtype=_INT8), False, [0.05], [0])],
        None,
        [result(_INT8, 0.04, -3)],
    ),
    *(
        Case(
            op,
            [
                given(6, 7, dtype=dtype, scale=0.05, zero_point=zero),
                given(7, dtype=dtype, scale=0.02, zero_point=zero + 3),
            ],
            options,
            [result(dtype, 0.06, zero + 8)],
        )
        for dtype, zero in _EIGHT
        for op, options in (
            ("ADD", schema.AddOptionsT()),
            ("ADD", schema.AddOptionsT(fusedActivationFunction=_ACTIVATIONS.RELU6)),
            ("SUB", schema.SubOptionsT(fusedActivationFunction=_ACTIVATIONS.RELU_N1_TO_1)),
            ("MUL", schema.MulOptionsT(fusedActivationFunction=_ACTIVATIONS.RELU)),
            ("SQUARED_DIFFERENCE", None),
        )
        if not (dtype == _UINT8 and op == "SQUARED_DIFFERENCE")
    ),
    *(
        Case(
            op,
            [
                given(6, 7, dtype=dtype, scale=0.05, zero_point=zero),
                given(7, dtype=dtype, scale=0.05, zero_point=zero),
            ],
            None,
            [result(dtype, 0.05, zero)],
        )
        for dtype, zero in _EIGHT
        for op in ("MAXIMUM", "MINIMUM")
    ),
    *(
        Case(
            op,
            [
                given(6, 7, dtype=_INT8, scale=0.05, zero_point=2),
                given(7, dtype=_INT8, scale=0.02, zero_point=7),
            ],
            None,
            [result(_BOOL)],
        )
        for op in ("EQUAL", "GREATER", "LESS_EQUAL")
    ),
    Case(
        "PRELU",
        [
            given(1, 2, 2, 3, dtype=_INT8, scale=0.05, zero_point=2),
            given(1, 1, 3, dtype=_INT8, scale=0.01, zero_point=-4),
        ],
        None,
        [result(_INT8, 0.04, 3)],
    ),
    # LiteRT has the least number as the quotient of what is stored as -1, 0 or 1 off zero.
    Case(
        "DIV",
        [
            Value(
                torch.tensor([[0, 17], [118, 122], [200, 255]], dtype=_UINT8), False, [0.05], [120]
            ),
            Value(torch.tensor([140, 33], dtype=_UINT8), False, [0.02], [120]),
        ],
        schema.DivOptionsT(),
        [result(_UINT8, 0.1, 128)],
    ),
    *(
        Case(op, [given(6, 7, dtype=_INT16, scale=0.0005)], None, [result(_INT16, scale)])
        for op, scale in (("LOGISTIC", 1 / 32768), ("TANH", 1 / 32768), ("RELU", 0.0005))
    ),
    *(
        Case(
            op,
            [given(6, 7, dtype=_INT16, scale=0.0005), given(7, dtype=_INT16, scale=0.0002)],
            options,
            [result(_INT16, 0.001)],
        )
        for op, options in (
            ("ADD", schema.AddOptionsT(potScaleInt16=False)),
            ("SUB", schema.SubOptionsT(potScaleInt16=False)),
            ("MUL", schema.MulOptionsT()),
        )
    ),
    *(
        Case("QUANTIZE", [given(5, 8)], None, [result(dtype, scale, zero)])
        for dtype, scale, zero in ((_INT8, 0.01, 3), (_UINT8, 0.02, 128), (_INT16, 0.0001, 0))
    ),
    Case("QUANTIZE", [given(5, 8, dtype=_INT8, scale=0.1)], None, [result(_UINT8, 0.1, 128)]),
    Case("QUANTIZE", [given(5, 8, dtype=_INT16, scale=0.001)], None, [result(_INT8, 0.2, 4)]),
    Case("DEQUANTIZE", [given(5, 8, dtype=_INT16, scale=0.001)]),
    Case("DEQUANTIZE", [known(torch.randn(5).half())]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_agrees_with_litert(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
