"""The patterns of all families."""

from plumbline.tcp_to_linalg import (
    contraction,
    convolution,
    data_movement,
    elementwise,
    indexing,
    pooling,
    reduction,
)
from plumbline.tcp_to_linalg.pattern import Patterns

PATTERNS: Patterns = {
    **contraction.PATTERNS,
    **convolution.PATTERNS,
    **data_movement.PATTERNS,
    **elementwise.PATTERNS,
    **indexing.PATTERNS,
    **pooling.PATTERNS,
    **reduction.PATTERNS,
}
