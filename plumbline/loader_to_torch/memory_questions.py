"""What PyTorch asks of sizes to find out how tensors lie in memory."""

from traceback import FrameSummary

import sympy
from torch.utils._sympy.functions import Max

_OF_MEMORY = frozenset(
    {
        # torch._prims_common:
        *("is_contiguous", "is_contiguous_or_false", "check_contiguous_sizes_strides"),
        *("is_channels_last_contiguous_2d", "is_channels_last_contiguous_3d"),
        *("are_strides_like_channels_last_or_false", "_is_non_overlapping_and_dense_or_false"),
        # There, what sorts dimensions by strides.
        *("__lt__", "ge", "should_swap"),
        # torch._refs, torch._prims: whether there is a view of another shape.
        *("_reshape_view_helper", "_reshape_view_helper_core_alg", "_collapse_view_helper"),
    }
)
"""Functions of PyTorch's that ask how tensors lie in memory, which by itself changes no result.

But what they find, PyTorch does not ask again: that a size is 1, say, and an op stretches it.
"""


def is_of_memory(frame: FrameSummary) -> bool:
    """Whether what asks there asks how tensors lie in memory."""
    return frame.name in _OF_MEMORY


def is_of_strides(condition: sympy.Basic) -> bool:
    """Whether a condition is one of strides, which PyTorch has count elements as if one is there.

    PyTorch's C++ asks of them as well, where no frame says what for.
    """
    return any(1 in greatest.args for greatest in condition.atoms(Max))
