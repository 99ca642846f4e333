"""Images of other sizes, against LiteRT."""

import sys
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

from test.tflite_to_torch.models import Case, check, given, known, result

_INT8, _UINT8, _INT16 = torch.int8, torch.uint8, torch.int16
_SIZES = [(9, 14), (3, 4), (5, 7), (1, 1), (8, 2)]
"""Of an image of 5 x 7."""

_OPTIONS = [
    ("RESIZE_BILINEAR", schema.ResizeBilinearOptionsT),
    ("RESIZE_NEAREST_NEIGHBOR", schema.ResizeNearestNeighborOptionsT),
]

CASES = [
    *(
        Case(op, [given(2, 5, 7, 3), known(sizes)], options(aligned, centered))
        for op, options in _OPTIONS
        for aligned, centered in ((False, False), (True, False), (False, True))
        for sizes in _SIZES
    ),
    *(
        Case(
            op,
            [given(2, 5, 7, 3, dtype=dtype, scale=0.1, zero_point=zero), known([9, 14])],
            options(False, centered),
            [result(dtype, 0.1, zero)],
            # LiteRT has places in steps of 1/1024, and so much of the range off.
            steps=64 if dtype == _INT16 else 1,
        )
        for op, options in _OPTIONS
        for dtype, zero in ((_INT8, -3), (_UINT8, 128), (_INT16, 0))
        for centered in (False, True)
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_agrees_with_litert(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
