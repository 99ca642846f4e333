"""Each op is held against LiteRT at least once."""

import sys

import pytest

from plumbline.tflite_to_torch.patterns import PATTERNS
from test.tflite_to_torch import (
    contraction_test,
    convolution_test,
    data_movement_test,
    elementwise_test,
    indexing_test,
    normalization_test,
    reduction_test,
    resampling_test,
    spectra_test,
)

_TESTS = (
    contraction_test,
    convolution_test,
    data_movement_test,
    elementwise_test,
    indexing_test,
    normalization_test,
    reduction_test,
    resampling_test,
    spectra_test,
)


def test_each_pattern_is_tested() -> None:
    assert {case.op for test in _TESTS for case in test.CASES} == {*PATTERNS}


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
