"""The patterns of all families."""

from plumbline.torch_to_tcp import (
    contraction,
    convolution,
    data_movement,
    elementwise,
    pooling,
    reduction,
)
from plumbline.torch_to_tcp.pattern import Patterns

PATTERNS: Patterns = {
    **contraction.PATTERNS,
    **convolution.PATTERNS,
    **data_movement.PATTERNS,
    **elementwise.PATTERNS,
    **pooling.PATTERNS,
    **reduction.PATTERNS,
}
