"""The attributes of StableHLO's ops, which the bindings give as plain ones until they are cast."""

from typing import Any

from torch_mlir import ir

# The wheel has no public module for them.
from torch_mlir._mlir_libs import _stablehlo


def direction(op: ir.OpView) -> str:
    """Which comparison an op is: "lt", "eq" and so on, as TCP spells them."""
    attribute = _stablehlo.ComparisonDirectionAttr(op.attributes["comparison_direction"])
    return str(attribute.value).lower()


def compares_in_total_order(op: ir.OpView) -> bool:
    """Whether a comparison of floats tells zeros of either sign, and NaN, apart."""
    name = "compare_type"
    if name not in op.attributes:
        return False
    return str(_stablehlo.ComparisonTypeAttr(op.attributes[name]).value) == "TOTALORDER"


def dot_dimensions(op: ir.OpView) -> Any:
    """`lhs_batching_dimensions` and its kin of a `dot_general`."""
    return _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])


def convolution_dimensions(op: ir.OpView) -> Any:
    """`input_batch_dimension` and its kin of a convolution."""
    return _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])


def gather_dimensions(op: ir.OpView) -> Any:
    """`offset_dims` and its kin of a gather."""
    return _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])


def scatter_dimensions(op: ir.OpView) -> Any:
    """`update_window_dims` and its kin of a scatter."""
    return _stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])


def fourier_type(op: ir.OpView) -> str:
    """Which Fourier transform an op is: "FFT", "IFFT", "RFFT" or "IRFFT"."""
    return str(_stablehlo.FftTypeAttr(op.attributes["fft_type"]).value)
