"""What XLA and earlier versions of MLIR spell otherwise is read as it was meant."""

import math
import sys

import numpy as np
import pytest

import plumbline
from plumbline.loader_to_stablehlo.spellings import as_read_here


def test_ops_of_xla_are_those_of_stablehlo_that_compute_the_same() -> None:
    text = """
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = mhlo.erf %x : tensor<3xf32> loc("Erf")
  %1 = mhlo.copy %x : tensor<3xf32>
  %2 = mhlo.tan %x : tensor<3xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
"""
    x = np.array([-0.5, 0.25, 1], np.float32)
    erf, copy, tan = plumbline.compile(plumbline.load_stablehlo(text), cache=False, opt_level=0)(x)
    np.testing.assert_allclose(erf, [math.erf(each) for each in x], rtol=1e-6)
    np.testing.assert_array_equal(copy, x)
    np.testing.assert_allclose(tan, np.tan(x), rtol=1e-6)


def test_truth_values_may_be_spelled_as_bits() -> None:
    # As MLIR wrote them before it had a byte for each; the last byte has four.
    values = np.arange(108).reshape(2, 54) % 3 == 0
    bits = np.packbits(values, bitorder="little").tobytes().hex().upper()
    of_bytes = values.tobytes().hex().upper()
    constant = 'stablehlo.constant dense<"0x{}"> : tensor<2x54xi1>'
    assert as_read_here(constant.format(bits)) == constant.format(of_bytes)
    assert as_read_here(constant.format(of_bytes)) == constant.format(of_bytes)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
