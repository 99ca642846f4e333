"""What becomes of the elements along some axes, against LiteRT."""

import sys
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

from test.tflite_to_torch.models import Case, check, given, known, result

_BOOL, _INT8, _UINT8, _INT16 = torch.bool, torch.int8, torch.uint8, torch.int16
_INT32, _INT64 = torch.int32, torch.int64
_SHAPE = (2, 3, 4, 5)
_BYTES = [(_INT8, -5), (_UINT8, 120)]


def _options(*, keeps: bool = False) -> schema.ReducerOptionsT:
    return schema.ReducerOptionsT(keepDims=keeps)


CASES = [
    *(
        Case(op, [given(*_SHAPE), known(axes)], _options(keeps=keeps))
        for op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM")
        for axes, keeps in (([1, 2], True), ([-1, 0, 3], False))
    ),
    # One axis that is no list, and all.
    Case("SUM", [given(*_SHAPE), known(-2)], _options()),
    Case("MEAN", [given(*_SHAPE), known([0, 1, 2, 3])], _options()),
    *(
        Case(op, [given(*_SHAPE, dtype=_BOOL), known([1, -1])], _options(), [result(_BOOL)])
        for op in ("REDUCE_ALL", "REDUCE_ANY")
    ),
    *(
        Case(op, [given(2, 3, 4, dtype=dtype), known([-1])], _options(), [result(dtype)])
        for op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM")
        for dtype in (_INT32, _INT64)
    ),
    *(
        Case(
            op,
            [given(*_SHAPE, dtype=dtype, scale=0.05, zero_point=zero), known([1, 2])],
            _options(keeps=True),
            [result(dtype, scale, out)],
        )
        for dtype, zero in _BYTES
        for op, scale, out in (
            ("MEAN", 0.04, zero + 3),
            ("REDUCE_MAX", 0.05, zero),
            ("REDUCE_MIN", 0.05, zero),
            ("SUM", 0.4, zero + 3),
        )
    ),
    *(
        Case(
            op,
            [given(*_SHAPE, dtype=_INT16, scale=0.001), known([1, 2])],
            _options(),
            [result(_INT16, scale)],
        )
        for op, scale in (("MEAN", 0.001), ("SUM", 0.01), ("REDUCE_MAX", 0.001))
    ),
    *(
        Case(op, [given(2, 3, 9), known([axis])], options(type_), [result(dtype)])
        for op, options in (("ARG_MAX", schema.ArgMaxOptionsT), ("ARG_MIN", schema.ArgMinOptionsT))
        for axis, dtype, type_ in (
            (-1, _INT32, schema.TensorType.INT32),
            (1, _INT64, schema.TensorType.INT64),
        )
    ),
    # The first of several that are the largest.
    Case(
        "ARG_MAX",
        [given(3, 40, dtype=_INT8, scale=0.1), known([1])],
        schema.ArgMaxOptionsT(schema.TensorType.INT32),
        [result(_INT32)],
    ),
    Case(
        "ARG_MAX",
        [given(3, 400, dtype=_UINT8, scale=0.1, zero_point=9), known(-1)],
        schema.ArgMaxOptionsT(schema.TensorType.INT32),
        [result(_INT32)],
    ),
    *(
        Case(
            "CUMSUM",
            [given(2, 3, 4), known(axis)],
            schema.CumsumOptionsT(exclusive=exclusive, reverse=reverse),
        )
        for axis, exclusive, reverse in ((1, False, False), (-1, True, False), (0, True, True))
    ),
    Case(
        "CUMSUM", [given(2, 5, dtype=_INT32), known(1)], schema.CumsumOptionsT(), [result(_INT32)]
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_agrees_with_litert(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
