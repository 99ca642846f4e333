"""What moves elements, or makes some of known numbers, against LiteRT."""

import sys
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

from test.tflite_to_torch.models import Case, Value, check, given, known, result

_BOOL, _INT8, _UINT8, _INT16 = torch.bool, torch.int8, torch.uint8, torch.int16
_INT32, _INT64 = torch.int32, torch.int64


def _int8(*shape: int, scale: float = 0.1, zero_point: int = 3) -> Value:
    return given(*shape, dtype=_INT8, scale=scale, zero_point=zero_point)


def _split(count: int) -> schema.SplitOptionsT:
    return schema.SplitOptionsT(numSplits=count)


def _slice(
    begins: list[int],
    ends: list[int],
    strides: list[int],
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_mask: int = 0,
    shrink_mask: int = 0,
    *,
    is_offset: bool = False,
) -> Case:
    """Of a tensor of 4 x 5 x 6 x 7."""
    return Case(
        "STRIDED_SLICE",
        [given(4, 5, 6, 7), known(begins), known(ends), known(strides)],
        schema.StridedSliceOptionsT(
            begin_mask, end_mask, ellipsis_mask, new_mask, shrink_mask, is_offset
        ),
    )


CASES = [
    Case("RESHAPE", [given(2, 3, 4), known([4, -1])], schema.ReshapeOptionsT([4, 6])),
    Case("RESHAPE", [given(2, 3, 4)], schema.ReshapeOptionsT([4, -1])),
    Case("RESHAPE", [given(1, 1), known(torch.empty(0, dtype=_INT32))]),
    Case("RESHAPE", [_int8(2, 6), known([12])], None, [result(_INT8, 0.1, 3)]),
    Case("TRANSPOSE", [given(2, 3, 4, 5), known([3, 0, 2, 1])]),
    Case("TRANSPOSE", [given(2, 3, 4), known([-1, 0, 1])]),
    Case("TRANSPOSE", [given(2, 3, dtype=_INT16), known([1, 0])], None, [result(_INT16)]),
    # Joined and parted.
    Case(
        "CONCATENATION",
        [given(2, 3), given(2, 1), given(2, 5)],
        schema.ConcatenationOptionsT(axis=-1),
    ),
    # Which LiteRT takes as unlike: what is joined has the scale of the result, or of its own.
    Case(
        "CONCATENATION",
        [_int8(2, 3), _int8(4, 3)],
        schema.ConcatenationOptionsT(axis=0),
        [result(_INT8, 0.1, 3)],
    ),
    Case(
        "CONCATENATION",
        [
            given(2, 3, dtype=_UINT8, scale=0.1, zero_point=120),
            given(2, 4, dtype=_UINT8, scale=0.05, zero_point=99),
        ],
        schema.ConcatenationOptionsT(axis=1),
        [result(_UINT8, 0.2, 128)],
    ),
    Case(
        "CONCATENATION",
        [given(2, dtype=_INT32), known([7])],
        schema.ConcatenationOptionsT(axis=0),
        [result(_INT32)],
    ),
    *(
        Case(
            "PACK",
            [given(2, 3), Value(-given(2, 3).numbers)],
            schema.PackOptionsT(valuesCount=2, axis=axis),
        )
        for axis in (0, -1, 1)
    ),
    Case(
        "PACK",
        [_int8(4), Value(-_int8(4).numbers, False, [0.1], [3])],
        schema.PackOptionsT(valuesCount=2, axis=0),
        [result(_INT8, 0.1, 3)],
    ),
    Case(
        "UNPACK",
        [given(2, 3, 4)],
        schema.UnpackOptionsT(num=3, axis=-2),
        [result() for _ in range(3)],
    ),
    Case("SPLIT", [known(-1), given(2, 6)], _split(3), [result() for _ in range(3)]),
    Case("SPLIT", [known(0), _int8(2, 6)], _split(2), [result(_INT8, 0.1, 3) for _ in range(2)]),
    Case(
        "SPLIT_V",
        [given(2, 6), known([1, -1, 2]), known(1)],
        schema.SplitVOptionsT(3),
        [result() for _ in range(3)],
    ),
    # Padded.
    Case("PAD", [given(2, 3, 4), known([[0, 1], [2, 0], [3, 1]])]),
    Case("PAD", [_int8(2, 3), known([[0, 1], [2, 0]])], None, [result(_INT8, 0.1, 3)]),
    Case("PADV2", [given(2, 3), known([[0, 1], [2, 0]]), known(torch.tensor(1.5))]),
    Case(
        "PADV2",
        [
            _int8(2, 3),
            known([[0, 1], [2, 0]]),
            Value(torch.tensor([-7], dtype=_INT8), True, [0.1], [3]),
        ],
        None,
        [result(_INT8, 0.1, 3)],
    ),
    *(
        Case(
            "MIRROR_PAD",
            [given(2, 3, 4), known([[0, 1], [2, 0], [3, 1]])],
            schema.MirrorPadOptionsT(mode),
        )
        for mode in (schema.MirrorPadMode.REFLECT, schema.MirrorPadMode.SYMMETRIC)
    ),
    # Slices.
    Case(
        "SLICE",
        [given(4, 5, 6), known([1, 0, 2]), known([2, -1, 3])],
        None,
        [Value(torch.empty(2, 5, 3))],
    ),
    Case(
        "SLICE",
        [_int8(4, 5), known([1, 0]), known([-1, 0])],
        None,
        [Value(torch.empty(3, 0, dtype=_INT8), False, [0.1], [3])],
    ),
    _slice([1, 0, 2, 3], [3, 5, 6, 4], [1, 2, 3, 1]),
    _slice([-2, -9, 1], [9, -1, -1], [1, 1, 2]),
    _slice([9, 9, 9, 9], [9, 9, 9, 9], [1, 2, -1, -2], 0b1111, 0b1111),
    _slice([3, -1, 4, -1], [0, -9, 1, 2], [-1, -2, -3, -1]),
    _slice([3, 1, 2], [4, 2, 5], [1, 1, 1], shrink_mask=0b011),
    _slice([0, -1], [0, 0], [1, 1], ellipsis_mask=0b01, shrink_mask=0b10),
    _slice([1, 0, 2], [3, 0, 5], [1, 1, 2], ellipsis_mask=0b010),
    _slice([0, 1, 0, 2], [0, 3, 0, 5], [1, 1, 1, 1], new_mask=0b0001, ellipsis_mask=0b0100),
    _slice([0, 0, 0], [0, 0, 0], [1, 1, 1], new_mask=0b101, ellipsis_mask=0b010),
    _slice([1, 0, 2], [3, 0, 4], [1, 1, 1], new_mask=0b010),
    _slice([0, 1, 1], [0, 2, 3], [1, 1, 1], new_mask=0b001, shrink_mask=0b010),
    _slice([2, 1, 0, 6], [2, 3, 6, 1], [1, 2, 1, 1], is_offset=True),
    _slice([3, 0], [1, 5], [1, 1]),
    Case(
        "STRIDED_SLICE",
        [_int8(4, 5), known([1, 0]), known([3, 4]), known([1, 2])],
        schema.StridedSliceOptionsT(),
        [result(_INT8, 0.1, 3)],
    ),
    # Other sizes.
    Case("EXPAND_DIMS", [given(2, 3), known(-1)]),
    Case("EXPAND_DIMS", [given(2, 3), known([1])]),
    Case("SQUEEZE", [given(1, 2, 1, 3)], schema.SqueezeOptionsT([])),
    Case("SQUEEZE", [given(1, 2, 1, 3)], schema.SqueezeOptionsT([-2])),
    Case("TILE", [given(2, 3), known([2, 3])]),
    Case(
        "TILE",
        [given(2, 3, dtype=_BOOL), known(torch.tensor([1, 2]), _INT64)],
        None,
        [result(_BOOL)],
    ),
    Case("BROADCAST_TO", [given(3, 1), known([2, 3, 4])]),
    Case("BROADCAST_TO", [_int8(3), known([2, 3])], None, [result(_INT8, 0.1, 3)]),
    # Other orders.
    Case("REVERSE_V2", [given(2, 3, 4), known([1])]),
    Case("REVERSE_V2", [given(2, 3, 4), known([-1, 1])]),
    *(
        Case(
            "REVERSE_SEQUENCE",
            [given(3, 4, 5), Value(torch.tensor(lengths, dtype=dtype))],
            schema.ReverseSequenceOptionsT(seqDim=along, batchDim=batch),
        )
        for lengths, dtype, along, batch in (
            ([2, 4, 1], _INT32, 1, 0),
            ([1, 3, 0, 2], _INT64, 0, 1),
        )
    ),
    Case("SPACE_TO_DEPTH", [given(2, 4, 6, 3)], schema.SpaceToDepthOptionsT(2)),
    Case("DEPTH_TO_SPACE", [given(2, 2, 3, 12)], schema.DepthToSpaceOptionsT(2)),
    Case("SPACE_TO_BATCH_ND", [given(2, 5, 6, 3), known([2, 3]), known([[1, 0], [2, 1]])]),
    Case("SPACE_TO_BATCH_ND", [given(2, 5, 3), known([2]), known([[0, 1]])]),
    Case(
        "SPACE_TO_BATCH_ND",
        [_int8(1, 3, 4, 2), known([2, 2]), known([[1, 0], [0, 0]])],
        None,
        [result(_INT8, 0.1, 3)],
    ),
    Case("BATCH_TO_SPACE_ND", [given(12, 3, 2, 3), known([2, 3]), known([[1, 0], [2, 1]])]),
    Case("BATCH_TO_SPACE_ND", [given(4, 3, 3), known([2]), known([[0, 1]])]),
    # Made.
    Case("FILL", [known([2, 3]), given()]),
    Case("FILL", [known([2, 3]), Value(torch.tensor(True))], None, [result(_BOOL)]),
    Case("RANGE", [known(3), known(11), known(2)], None, [result(_INT32)]),
    Case("RANGE", [known(torch.tensor(2.0)), known(torch.tensor(0.5)), known(torch.tensor(-0.4))]),
    Case("MATRIX_DIAG", [given(2, 3)]),
    Case("MATRIX_SET_DIAG", [given(2, 3, 4), Value(given(2, 3).numbers)]),
    Case("MATRIX_SET_DIAG", [given(4, 3), given(3)]),
    *(
        Case(
            "DYNAMIC_UPDATE_SLICE",
            [given(4, 5), given(2, 3), Value(torch.tensor(starts, dtype=_INT32))],
        )
        for starts in ([1, 2], [-3, 9])
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_agrees_with_litert(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
