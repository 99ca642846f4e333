"""All patterns, by the domain and the name of the op that they convert."""

from plumbline.onnx_to_torch import (
    contraction,
    control_flow,
    convolution,
    data_movement,
    elementwise,
    indexing,
    normalization,
    pooling,
    quantization,
    recurrent,
    reduction,
    resampling,
    sequences,
)
from plumbline.onnx_to_torch.node import DEFAULT_DOMAIN, Pattern

PATTERNS: dict[tuple[str, str], Pattern] = {
    (DEFAULT_DOMAIN, name): pattern
    for family in (
        contraction,
        control_flow,
        convolution,
        data_movement,
        elementwise,
        indexing,
        normalization,
        pooling,
        quantization,
        recurrent,
        reduction,
        resampling,
        sequences,
    )
    for name, pattern in family.PATTERNS.items()
}
