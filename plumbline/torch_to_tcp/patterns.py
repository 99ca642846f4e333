"""The patterns of all families."""

from plumbline.torch_to_tcp import (
    contraction,
    convolution,
    data_movement,
    elementwise,
    fourier,
    indexing,
    pooling,
    reduction,
)
from plumbline.torch_to_tcp.pattern import Patterns

PATTERNS: Patterns = {
    **contraction.PATTERNS,
    **convolution.PATTERNS,
    **data_movement.PATTERNS,
    **elementwise.PATTERNS,
    **fourier.PATTERNS,
    **indexing.PATTERNS,
    **pooling.PATTERNS,
    **reduction.PATTERNS,
}
