"""New numpy arrays for machine code to write to."""

import collections
import ctypes
import functools
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plumbline.archives.reference_archive import Tensor
from plumbline.library.tensor_arguments import address
from plumbline.signature.axis_orders import inverse
from plumbline.signature.signature import WORKSPACE_ALIGNMENT, AxisOrder

_LARGE = 1 << 16
"""From so many bytes on an array is worth being aligned."""

MAPPED = 32 << 20
"""From so many bytes on the C library asks the system for memory, whatever is free, and gives it
back at once (M_MMAP_THRESHOLD). The system fills it with zeros when it is first written: in a
softmax of 64 MB, a quarter of the time."""

_MOST_SPARE = 256 << 20
"""More bytes are not kept for the next result."""

_spare: collections.deque[Tensor] = collections.deque(maxlen=2)
"""Memory of large results that are no longer in use."""


def byte_count(shape: Sequence[int], dtype: "np.dtype[np.generic]") -> int:
    """The bytes of an array."""
    return math.prod(shape) * dtype.itemsize


def maker_of(
    shape: tuple[int, ...], dtype: "np.dtype[np.generic]", order: AxisOrder | None = None
) -> Callable[[], Tensor]:
    """What makes arrays of that shape, whose axes lie in memory in an order; None: row-major."""
    if order is not None:
        make = maker_of(tuple(shape[axis] for axis in order), dtype)
        own = inverse(order)
        return lambda: make().transpose(own)
    bytes_ = byte_count(shape, dtype)
    if bytes_ < _LARGE:
        return functools.partial(np.empty, shape, dtype)
    if bytes_ < MAPPED or bytes_ > _MOST_SPARE:
        return lambda: aligned_bytes(bytes_).view(dtype).reshape(shape)
    return lambda: _lent(_spare_bytes(bytes_)).view(dtype).reshape(shape)


def _spare_bytes(count: int) -> Tensor:
    """Bytes of a former result, or else new ones."""
    try:
        # Each step is one of the deque's, as other threads take from it and add to it.
        for _ in range(len(_spare)):
            memory = _spare.popleft()
            if memory.nbytes == count:
                return memory
            _spare.append(memory)
    except IndexError:  # Another thread took the last one.
        pass
    return aligned_bytes(count)


def _lent(memory: Tensor) -> Tensor:
    """An array of the same memory, which is spare once nothing refers to that array or a view."""
    # All views of an array refer to what it is of, if that is no array itself.
    owner = (ctypes.c_char * memory.nbytes).from_buffer(memory)  # type: ignore[arg-type]
    # Results may be in use for as long as the process runs.
    weakref.finalize(owner, _spare.append, memory).atexit = False
    return np.frombuffer(memoryview(owner), np.uint8)


def beginning(tensor: Any, shape: Sequence[int]) -> Any:
    """A view of the first elements of an array, or a torch tensor, that is row-major without gaps.

    They have that shape; it has place for more, or for just these.
    """
    if tuple(tensor.shape) == tuple(shape):
        return tensor
    return tensor.reshape(-1)[: math.prod(shape)].reshape(tuple(shape))


def aligned_bytes(count: int, alignment: int = WORKSPACE_ALIGNMENT) -> Tensor:
    """Bytes that are aligned, to so many; else as a workspace is to be."""
    memory = np.empty(count + alignment, np.uint8)
    start = -address(memory) % alignment
    return memory[start : start + count]
