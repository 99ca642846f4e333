"""What divides by a sum, or by a length, against LiteRT."""

import sys
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

from test.tflite_to_torch.models import Case, check, given, result

_INT8, _UINT8, _INT16 = torch.int8, torch.uint8, torch.int16

CASES = [
    Case("SOFTMAX", [given(2, 3, 7)], schema.SoftmaxOptionsT(beta=1.0)),
    Case("SOFTMAX", [given(4, 7)], schema.SoftmaxOptionsT(beta=0.3)),
    *(
        Case(
            "SOFTMAX",
            [given(4, 7, dtype=dtype, scale=0.02, zero_point=zero)],
            schema.SoftmaxOptionsT(beta=1.0),
            [result(dtype, 1 / 256, out)],
        )
        for dtype, zero, out in ((_INT8, 4, -128), (_UINT8, 121, 0))
    ),
    # LiteRT looks exponentials up in tables, between whose entries it draws lines.
    Case(
        "SOFTMAX",
        [given(4, 7, dtype=_INT16, scale=0.0002)],
        schema.SoftmaxOptionsT(beta=1.0),
        [result(_INT16, 1 / 32768)],
        steps=2,
    ),
    Case("LOG_SOFTMAX", [given(2, 3, 7)], schema.LogSoftmaxOptionsT()),
    *(
        Case(
            "LOG_SOFTMAX",
            [given(4, 7, dtype=dtype, scale=0.02, zero_point=zero)],
            schema.LogSoftmaxOptionsT(),
            [result(dtype, 16 / 256, out)],
        )
        for dtype, zero, out in ((_INT8, 4, 127), (_UINT8, 121, 255))
    ),
    Case("L2_NORMALIZATION", [given(2, 3, 7)], schema.L2NormOptionsT()),
    *(
        Case(
            "L2_NORMALIZATION",
            [given(4, 7, dtype=dtype, scale=0.02, zero_point=zero)],
            schema.L2NormOptionsT(),
            [result(dtype, 1 / 128, out)],
        )
        for dtype, zero, out in ((_INT8, 4, 0), (_UINT8, 121, 128))
    ),
    Case(
        "LOCAL_RESPONSE_NORMALIZATION",
        [given(1, 2, 3, 9)],
        schema.LocalResponseNormalizationOptionsT(radius=2, bias=0.5, alpha=0.3, beta=0.75),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_agrees_with_litert(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
