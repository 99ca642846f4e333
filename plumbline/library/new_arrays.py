"""New numpy arrays for machine code to write to."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plumbline.archives.reference_archive import Tensor
from plumbline.library.tensor_arguments import address
from plumbline.signature.signature import WORKSPACE_ALIGNMENT

_LARGE = 1 << 16
"""From so many bytes on an array is worth being aligned."""


def byte_count(shape: Sequence[int], dtype: "np.dtype[np.generic]") -> int:
    """The bytes of an array."""
    return math.prod(shape) * dtype.itemsize


def maker_of(shape: tuple[int, ...], dtype: "np.dtype[np.generic]") -> Callable[[], Tensor]:
    """What makes arrays of that shape."""
    bytes_ = byte_count(shape, dtype)
    if bytes_ < _LARGE:
        return functools.partial(np.empty, shape, dtype)
    return lambda: aligned_bytes(bytes_).view(dtype).reshape(shape)


def beginning(tensor: Any, shape: Sequence[int]) -> Any:
    """A view of the first elements of an array, or a torch tensor, that is row-major without gaps.

    They have that shape; it has place for more, or for just these.
    """
    if tuple(tensor.shape) == tuple(shape):
        return tensor
    return tensor.reshape(-1)[: math.prod(shape)].reshape(tuple(shape))


def aligned_bytes(count: int) -> Tensor:
    """Bytes as aligned as a workspace is to be."""
    memory = np.empty(count + WORKSPACE_ALIGNMENT, np.uint8)
    start = -address(memory) % WORKSPACE_ALIGNMENT
    return memory[start : start + count]
