"""Fourier transforms, against LiteRT."""

import sys
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema

from test.tflite_to_torch.models import Case, check, given, known, result

CASES = [
    Case(
        "RFFT2D",
        [given(*shape), known(lengths)],
        schema.Rfft2dOptionsT(),
        [result(torch.complex64)],
    )
    for shape, lengths in (
        ((2, 1, 16), [1, 16]),
        ((4, 8), [4, 8]),
        ((3, 5, 20), [4, 16]),
        ((3, 2, 5), [4, 8]),
    )
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_agrees_with_litert(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
