"""Convolutions and pools, against LiteRT."""

import struct
import sys
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

import plumbline
from plumbline.errors import UserError
from plumbline.tflite_to_torch.program import load_tflite
from test.tflite_to_torch.models import Case, Value, check, given, known, result, weights

_ACTIVATIONS, _PADDING = schema.ActivationFunctionType, schema.Padding
_INT8, _UINT8, _INT16, _INT32 = torch.int8, torch.uint8, torch.int16, torch.int32


def _bias(count: int, *scales: float, dtype: torch.dtype = _INT32) -> Value:
    """A bias of wide integers, at the scales of the sums that it is added to."""
    numbers = torch.arange(-3, count - 3).to(dtype) * 500
    return Value(numbers, True, scales, [0] * len(scales))


def _conv(
    padding: int = _PADDING.SAME,
    strides: tuple[int, int] = (1, 1),
    dilations: tuple[int, int] = (1, 1),
    activation: int = 0,
) -> schema.Conv2DOptionsT:
    return schema.Conv2DOptionsT(
        padding, strides[1], strides[0], activation, dilations[1], dilations[0]
    )


def _depthwise(
    multiplier: int,
    padding: int = _PADDING.SAME,
    strides: tuple[int, int] = (1, 1),
    dilations: tuple[int, int] = (1, 1),
    activation: int = 0,
) -> schema.DepthwiseConv2DOptionsT:
    return schema.DepthwiseConv2DOptionsT(
        padding, strides[1], strides[0], multiplier, activation, dilations[1], dilations[0]
    )


def _transposed(padding: int, height: int, width: int) -> schema.TransposeConvOptionsT:
    return schema.TransposeConvOptionsT(padding=padding, strideH=height, strideW=width)


def _pool(
    padding: int, strides: tuple[int, int], sizes: tuple[int, int], activation: int = 0
) -> schema.Pool2DOptionsT:
    return schema.Pool2DOptionsT(padding, strides[1], strides[0], sizes[1], sizes[0], activation)


def _struct(padding: int, strides: tuple[int, int], sizes: tuple[int, int] = (0, 0)) -> bytes:
    """Options as MediaPipe's ops have them."""
    return struct.pack("<6i", padding + 1, *reversed(strides), *reversed(sizes), 0)


_FLOAT = torch.float32
_PLACED = [
    (_PADDING.VALID, (6, 8), (2, 2), (3, 4)),
    (_PADDING.VALID, (7, 9), (3, 2), (2, 4)),
    (_PADDING.SAME, (7, 7), (2, 3), (4, 3)),
]

_IMAGE = (2, 7, 10, 4)
_BYTES = [(_INT8, -5), (_UINT8, 121)]

_POOLS = (
    ("AVERAGE_POOL_2D", _pool(_PADDING.SAME, (2, 3), (3, 4), _ACTIVATIONS.RELU_N1_TO_1)),
    ("AVERAGE_POOL_2D", _pool(_PADDING.VALID, (2, 1), (3, 2))),
    ("MAX_POOL_2D", _pool(_PADDING.SAME, (2, 3), (3, 4))),
    ("MAX_POOL_2D", _pool(_PADDING.VALID, (2, 1), (3, 2), _ACTIVATIONS.RELU6)),
)

CASES = [
    # Of floats.
    *(
        Case("CONV_2D", [given(*_IMAGE), weights(given(5, 3, 2, 4)), weights(given(5))], options)
        for options in (
            _conv(),
            _conv(_PADDING.SAME, (2, 3), activation=_ACTIVATIONS.RELU6),
            _conv(_PADDING.VALID, (1, 2), activation=_ACTIVATIONS.RELU_N1_TO_1),
            _conv(_PADDING.SAME, dilations=(2, 3), activation=_ACTIVATIONS.RELU),
            _conv(_PADDING.VALID, dilations=(3, 1)),
        )
    ),
    # Of groups, and with weights that are computed.
    Case("CONV_2D", [given(*_IMAGE), weights(given(6, 3, 3, 2)), weights(given(6))], _conv()),
    Case("CONV_2D", [given(*_IMAGE), given(6, 3, 3, 4), given(6)], _conv()),
    *(
        Case(
            "DEPTHWISE_CONV_2D",
            [
                given(*_IMAGE),
                weights(given(1, 3, 2, 4 * multiplier)),
                weights(given(4 * multiplier)),
            ],
            options,
        )
        for multiplier, options in (
            (1, _depthwise(1)),
            (1, _depthwise(1, _PADDING.SAME, (2, 2), activation=_ACTIVATIONS.RELU6)),
            (3, _depthwise(3, _PADDING.VALID, (1, 1), (2, 2))),
            (2, _depthwise(2, _PADDING.SAME, (1, 1), (2, 3), _ACTIVATIONS.RELU)),
        )
    ),
    *(
        Case(
            "CONV_3D",
            [given(1, 5, 6, 7, 2), weights(given(2, 3, 2, 2, 3)), weights(given(3))],
            schema.Conv3DOptionsT(padding, 2, 1, 2, activation, dilation, 1, 1),
        )
        for padding, activation, dilation in (
            (_PADDING.SAME, _ACTIVATIONS.RELU, 1),
            (_PADDING.VALID, _ACTIVATIONS.NONE, 2),
        )
    ),
    *(
        Case(
            "TRANSPOSE_CONV",
            [known(shape), weights(given(3, 3, 4, 2)), given(2, 4, 5, 2), bias],
            options,
        )
        for shape, options, bias in (
            ([2, 8, 10, 3], _transposed(_PADDING.SAME, 2, 2), None),
            ([2, 7, 14, 3], _transposed(_PADDING.SAME, 2, 3), weights(given(3))),
            ([2, 9, 12, 3], _transposed(_PADDING.VALID, 2, 2), None),
            # Larger than what windows reach.
            ([2, 10, 12, 3], _transposed(_PADDING.VALID, 2, 2), weights(given(3))),
        )
    ),
    *(Case(op, [given(*_IMAGE)], options) for op, options in _POOLS),
    Case("L2_POOL_2D", [given(*_IMAGE)], _pool(_PADDING.SAME, (2, 3), (3, 4))),
    Case("L2_POOL_2D", [given(*_IMAGE)], _pool(_PADDING.VALID, (1, 1), (3, 4))),
    # Of MediaPipe.
    *(
        Case(
            "CUSTOM Convolution2DTransposeBias",
            [given(1, 4, 5, 3), weights(given(2, *window, 3)), weights(given(2))],
            _struct(padding, strides),
            [Value(torch.empty(1, *sizes, 2))],
        )
        for padding, window, strides, sizes in (
            (_PADDING.SAME, (3, 3), (2, 2), (8, 10)),
            (_PADDING.SAME, (4, 2), (2, 1), (8, 5)),
            (_PADDING.VALID, (3, 4), (2, 2), (9, 12)),
        )
    ),
    *(
        Case(
            "CUSTOM MaxPoolingWithArgmax2D",
            [given(2, *image, 3)],
            _struct(padding, strides, strides),
            [Value(torch.empty(2, *sizes, 3)) for _ in range(2)],
        )
        for padding, image, strides, sizes in _PLACED
    ),
    Case(
        "CUSTOM MaxUnpooling2D",
        [given(2, 3, 2, 3), Value(torch.arange(36).reshape(2, 3, 2, 3).int().fmod(6).view(_FLOAT))],
        _struct(_PADDING.VALID, (2, 3), (2, 3)),
        [Value(torch.empty(2, 6, 6, 3))],
    ),
    # Quantized: weights of one scale, and with one for each channel.
    *(
        Case(
            "CONV_2D",
            [
                given(2, 7, 10, channels, dtype=dtype, scale=0.05, zero_point=zero),
                weights(given(5, 3, 2, channels, dtype=dtype, scale=0.02, zero_point=weight_zero)),
                _bias(5, 0.05 * 0.02),
            ],
            _conv(_PADDING.SAME, (2, 1), activation=activation),
            [result(dtype, 0.1, zero + 9)],
        )
        for dtype, zero, weight_zero in ((_INT8, -5, 0), (_UINT8, 121, 133))
        for channels, activation in (
            (4, _ACTIVATIONS.NONE),
            (4, _ACTIVATIONS.RELU6),
            (4, _ACTIVATIONS.RELU_N1_TO_1),
            (3, _ACTIVATIONS.RELU6),
        )
    ),
    *(
        Case(
            "CONV_2D",
            [
                given(*_IMAGE, dtype=dtype, scale=scale, zero_point=zero),
                weights(given(3, 3, 2, 4, dtype=_INT8, scale=[0.01, 0.02, 0.05])),
                _bias(3, scale * 0.01, scale * 0.02, scale * 0.05, dtype=bias),
            ],
            _conv(_PADDING.SAME, (1, 2), (2, 1)),
            [result(dtype, 4 * scale, zero)],
        )
        for dtype, scale, zero, bias in ((_INT8, 0.05, 7, _INT32), (_INT16, 0.001, 0, torch.int64))
    ),
    *(
        Case(
            "DEPTHWISE_CONV_2D",
            [
                given(*_IMAGE, dtype=dtype, scale=scale, zero_point=zero),
                weights(
                    given(
                        1, 3, 2, 8, dtype=_INT8, axis=3, scale=[0.01 * step for step in range(1, 9)]
                    )
                ),
                _bias(8, *(scale * 0.01 * step for step in range(1, 9)), dtype=bias),
            ],
            _depthwise(2, activation=_ACTIVATIONS.RELU6),
            [result(dtype, 2 * scale, zero)],
        )
        for dtype, scale, zero, bias in ((_INT8, 0.05, 7, _INT32), (_INT16, 0.001, 0, torch.int64))
    ),
    Case(
        "DEPTHWISE_CONV_2D",
        [
            given(*_IMAGE, dtype=_UINT8, scale=0.05, zero_point=121),
            weights(given(1, 3, 2, 4, dtype=_UINT8, scale=0.02, zero_point=133)),
            _bias(4, 0.001),
        ],
        _depthwise(1, _PADDING.VALID, (2, 2)),
        [result(_UINT8, 0.1, 130)],
    ),
    Case(
        "TRANSPOSE_CONV",
        [
            known([2, 8, 10, 3]),
            weights(given(3, 3, 4, 2, dtype=_INT8, scale=[0.01, 0.02, 0.05])),
            given(2, 4, 5, 2, dtype=_INT8, scale=0.05, zero_point=7),
            _bias(3, 0.0005, 0.001, 0.0025),
        ],
        _transposed(_PADDING.SAME, 2, 2),
        [result(_INT8, 0.1, -3)],
    ),
    *(
        Case(
            op,
            [given(*_IMAGE, dtype=dtype, scale=0.05, zero_point=zero)],
            options,
            [result(dtype, 0.05, zero)],
        )
        for op, options in _POOLS
        for dtype, zero in (*_BYTES, (_INT16, 0))
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_agrees_with_litert(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_dilated_windows_are_of_bytes(tmp_path: Path) -> None:
    case = Case(
        "CONV_2D",
        [
            given(*_IMAGE, dtype=_INT8, scale=0.05, zero_point=7),
            weights(given(3, 3, 2, 4, dtype=_INT8, scale=0.01)),
            _bias(3, 0.0005),
        ],
        _conv(dilations=(2, 3)),
        [result(_INT8, 0.2, -3)],
    )
    check(case, tmp_path, is_compiled=True)
    lines = plumbline.compile(load_tflite(tmp_path / "model.tflite")).stage("torch").splitlines()
    (convolution,) = (line for line in lines if "aten.convolution" in line)
    assert "f32" not in convolution


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.op == "CUSTOM MaxPoolingWithArgmax2D"]
)
def test_places_are_whole_numbers_of_32_bits(case: Case, tmp_path: Path) -> None:
    """LiteRT's tensors of them are of floats, which all but agree whatever these are."""
    file, (_, expected) = case.write(tmp_path)
    program = load_tflite(file)
    _, places = program.model(*case.inputs).values()
    _, compiled = plumbline.compile(program)(*case.inputs)
    assert expected.view(_INT32).any()
    for found in (places, compiled):
        assert torch.equal(found.view(_INT32), expected.view(_INT32))


def test_windows_of_places_do_not_overlap(tmp_path: Path) -> None:
    case = Case(
        "CUSTOM MaxPoolingWithArgmax2D",
        [given(1, 6, 6, 2)],
        _struct(_PADDING.VALID, (1, 1), (2, 2)),
        [Value(torch.empty(1, 5, 5, 2)) for _ in range(2)],
    )
    file = tmp_path / "model.tflite"
    file.write_bytes(case.content(case.results))
    with pytest.raises(UserError, match=r"windows of \(2, 2\) are \(1, 1\) apart"):
        load_tflite(file)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
