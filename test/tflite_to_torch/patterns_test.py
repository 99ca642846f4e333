"""Each op is held against LiteRT at least once, and some of each family as they are compiled."""

import sys
from pathlib import Path

import pytest
import torch

from plumbline.tflite_to_torch import control_flow, list_items
from plumbline.tflite_to_torch.patterns import PATTERNS
from test.tflite_to_torch import (
    contraction_test,
    convolution_test,
    data_movement_test,
    detection_test,
    elementwise_test,
    indexing_test,
    normalization_test,
    reduction_test,
    resampling_test,
    spectra_test,
)
from test.tflite_to_torch.models import Case, check

_TESTS = (
    contraction_test,
    convolution_test,
    data_movement_test,
    detection_test,
    elementwise_test,
    indexing_test,
    normalization_test,
    reduction_test,
    resampling_test,
    spectra_test,
)

_CASES: list[Case] = [case for test in _TESTS for case in test.CASES]


def _chosen(op: str, dtype: torch.dtype = torch.float32) -> Case:
    """The last case of an op whose result has some type."""
    return [each for each in _CASES if (each.op, each.results[0].numbers.dtype) == (op, dtype)][-1]


_COMPILED = [
    _chosen("FULLY_CONNECTED", torch.int8),
    _chosen("CONV_2D", torch.int8),
    _chosen("DEPTHWISE_CONV_2D", torch.int8),
    _chosen("TRANSPOSE_CONV"),
    _chosen("AVERAGE_POOL_2D", torch.int8),
    _chosen("STRIDED_SLICE"),
    _chosen("MUL", torch.int16),
    _chosen("GATHER"),
    _chosen("TOPK_V2", torch.int32),
    _chosen("SOFTMAX", torch.int8),
    _chosen("MEAN", torch.uint8),
    _chosen("RESIZE_BILINEAR", torch.int8),
    _chosen("CUSTOM Convolution2DTransposeBias"),
    _chosen("CUSTOM MaxUnpooling2D"),
    _chosen("CUSTOM TFLite_Detection_PostProcess"),
    _chosen("NON_MAX_SUPPRESSION_V5", torch.int32),
]


@pytest.mark.parametrize("case", _COMPILED, ids=lambda case: case.op)
def test_is_compiled(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path, is_compiled=True)


def test_each_pattern_is_tested() -> None:
    # Those whose bodies are graphs, and what stands for several nodes, are no cases of one node.
    others = {*control_flow.PATTERNS, *list_items.PATTERNS}
    assert {case.op for case in _CASES} | others == {*PATTERNS}


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
