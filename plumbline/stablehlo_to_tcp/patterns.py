"""The patterns of all families."""

from plumbline.stablehlo_to_tcp import (
    contraction,
    convolution,
    data_movement,
    elementwise,
    indexing,
    linear_algebra,
    normalization,
    pooling,
    reduction,
    refusals,
    sorting,
    structure,
)
from plumbline.stablehlo_to_tcp.pattern import Patterns

PATTERNS: Patterns = {
    **contraction.PATTERNS,
    **convolution.PATTERNS,
    **data_movement.PATTERNS,
    **elementwise.PATTERNS,
    **indexing.PATTERNS,
    **linear_algebra.PATTERNS,
    **normalization.PATTERNS,
    **pooling.PATTERNS,
    **reduction.PATTERNS,
    **refusals.PATTERNS,
    **sorting.PATTERNS,
    **structure.PATTERNS,
}
