"""The ops of TCP, a module for each family.

Importing this package defines all of them.
"""

from plumbline.tcp.ops import (
    contraction,
    convolution,
    data_movement,
    elementwise,
    indexing,
    pooling,
    reduction,
    structure,
    symbolic_shape,
)

__all__ = [
    "contraction",
    "convolution",
    "data_movement",
    "elementwise",
    "indexing",
    "pooling",
    "reduction",
    "structure",
    "symbolic_shape",
]
