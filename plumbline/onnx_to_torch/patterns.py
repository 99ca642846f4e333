"""All patterns, by the domain and the name of the op that they convert."""

from plumbline.onnx_to_torch import (
    attention,
    block_quantization,
    contraction,
    control_flow,
    convolution,
    data_movement,
    detection,
    elementwise,
    features,
    indexing,
    linear_models,
    losses,
    microsoft,
    microsoft_attention,
    microsoft_quantization,
    normalization,
    pooling,
    quantization,
    random_numbers,
    recurrent,
    reduction,
    resampling,
    sequences,
    spectra,
    trees,
)
from plumbline.onnx_to_torch.node import DEFAULT_DOMAIN, Pattern

_OF_ONNX = (
    attention,
    contraction,
    control_flow,
    convolution,
    data_movement,
    detection,
    elementwise,
    indexing,
    losses,
    normalization,
    pooling,
    quantization,
    random_numbers,
    recurrent,
    reduction,
    resampling,
    sequences,
    spectra,
)
_OF_MACHINE_LEARNING = (
    features,
    linear_models,
    trees,
)

_OF_ONNX_RUNTIME = (
    block_quantization,
    microsoft,
    microsoft_attention,
    microsoft_quantization,
)

PATTERNS: dict[tuple[str, str], Pattern] = {
    (domain, name): pattern
    for domain, families in (
        (DEFAULT_DOMAIN, _OF_ONNX),
        ("ai.onnx.ml", _OF_MACHINE_LEARNING),
        ("com.microsoft", _OF_ONNX_RUNTIME),
    )
    for family in families
    for name, pattern in family.PATTERNS.items()
}
