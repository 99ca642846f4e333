"""What takes elements from where indices say, against LiteRT."""

import sys
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

from test.tflite_to_torch.models import Case, Value, check, given, known, result

_BOOL, _INT8, _INT32, _INT64 = torch.bool, torch.int8, torch.int32, torch.int64


def _indices(numbers: object, dtype: torch.dtype = _INT32) -> Value:
    """Indices that are computed as the program runs."""
    return Value(torch.tensor(numbers, dtype=dtype))


CASES = [
    *(
        Case(
            "GATHER",
            [given(2, 3, 4, 5), indices],
            schema.GatherOptionsT(axis=axis, batchDims=batch),
        )
        for indices, axis, batch in (
            (_indices([1, 0, 1]), 0, 0),
            (_indices([[2, 0], [1, 1]], _INT64), -3, 0),
            (_indices(3), 2, 0),
            (_indices([[2, 0], [1, 1]]), 1, 1),
            (_indices([[3, 0, 1], [1, 1, 2]]), 2, 1),
            (_indices([[[3], [0], [1]], [[1], [1], [2]]]), -1, 2),
            (_indices([[3, 0], [1, 2]]), 2, -1),
        )
    ),
    Case(
        "GATHER",
        [given(4, 5, dtype=_INT8, scale=0.1, zero_point=4), _indices([3, 1])],
        schema.GatherOptionsT(axis=0),
        [result(_INT8, 0.1, 4)],
    ),
    Case(
        "GATHER_ND", [given(2, 3, 4), _indices([[0, 2], [1, 1], [0, 0]])], schema.GatherNdOptionsT()
    ),
    Case(
        "GATHER_ND",
        [given(2, 3, 4), _indices([[[0, 2, 3]], [[1, 1, 0]]], _INT64)],
        schema.GatherNdOptionsT(),
    ),
    Case(
        "SCATTER_ND",
        [_indices([[0, 2], [1, 1], [0, 2]]), given(3, 4), known([2, 3, 4])],
        schema.ScatterNdOptionsT(),
    ),
    Case(
        "SCATTER_ND",
        [_indices([[4], [1]]), given(2, dtype=_INT32), known([6])],
        schema.ScatterNdOptionsT(),
        [result(_INT32)],
    ),
    Case("EMBEDDING_LOOKUP", [_indices([3, 0, 3]), given(4, 2, 5)]),
    *(
        Case(
            "ONE_HOT",
            [_indices([[0, 2], [5, -1]]), known(4), given(), Value(torch.tensor(-2.0))],
            schema.OneHotOptionsT(axis=axis),
        )
        for axis in (-1, 0, 1)
    ),
    Case(
        "ONE_HOT",
        [_indices([0, 2]), known(3), known(7), known(1)],
        schema.OneHotOptionsT(axis=-1),
        [result(_INT32)],
    ),
    Case("TOPK_V2", [given(3, 9), known(4)], schema.TopKV2OptionsT(), [result(), result(_INT32)]),
    # Of several that are alike, the first ones.
    Case(
        "TOPK_V2",
        [Value(torch.tensor([[1, 5, 5, 2, 5, 1, 5, 0]] * 2, dtype=_INT32)), known(3)],
        schema.TopKV2OptionsT(),
        [result(_INT32), result(_INT32)],
    ),
    Case(
        "TOPK_V2",
        [given(2, 200, dtype=_INT8, scale=0.1, zero_point=3), known(150)],
        schema.TopKV2OptionsT(),
        [result(_INT8, 0.1, 3), result(_INT32)],
    ),
    Case("SEGMENT_SUM", [given(5, 3), known([0, 0, 1, 1, 2])]),
    Case("SEGMENT_SUM", [given(4, dtype=_INT32), known([0, 1, 1, 1])], None, [result(_INT32)]),
    *(
        Case(
            f"UNSORTED_SEGMENT_{kind}",
            [given(4, 3, dtype=dtype), _indices([2, 0, 2, -1]), known(4)],
            None,
            [result(dtype)],
        )
        for kind in ("MAX", "MIN", "PROD", "SUM")
        for dtype in (torch.float32, _INT32)
    ),
    Case("UNSORTED_SEGMENT_SUM", [given(2, 3, 4), _indices([[1, 0, 1], [2, 2, 0]]), known(3)]),
    Case("WHERE", [given(3, 4, dtype=_BOOL)], schema.WhereOptionsT(), [result(_INT64)]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_agrees_with_litert(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
