"""All patterns, by the name of the op that they convert, but for those of variables."""

from plumbline.tflite_to_torch import (
    contraction,
    control_flow,
    convolution,
    data_movement,
    detection,
    elementwise,
    indexing,
    list_items,
    normalization,
    pooling,
    reduction,
    resampling,
    spectra,
)
from plumbline.tflite_to_torch.graph import GraphPattern
from plumbline.tflite_to_torch.node import Pattern

_FAMILIES = (
    contraction,
    control_flow,
    convolution,
    data_movement,
    detection,
    elementwise,
    indexing,
    list_items,
    normalization,
    pooling,
    reduction,
    resampling,
    spectra,
)

PATTERNS: dict[str, Pattern | GraphPattern] = {
    name: pattern for family in _FAMILIES for name, pattern in family.PATTERNS.items()
}
