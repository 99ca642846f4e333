"""Calls machine code by the convention of `tools/aot/abi.h`, through its checked entry.

Functions whose results have sizes that only the function knows, as StableHLO's can have, are called
by no other.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from plumbline.errors import UserError
from plumbline.library.linked_code import LinkedCode
from plumbline.signature.function_name import CHECKED_SUFFIX
from plumbline.signature.signature import TensorSpec

Array = np.ndarray[Any, np.dtype[Any]]

_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]


class MemrefFunction:
    """A function of an object file."""

    def __init__(self, object_file: bytes, name: str, outputs: Sequence[TensorSpec]) -> None:
        self._code = LinkedCode(object_file, name + CHECKED_SUFFIX)
        self._outputs = outputs

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """The results, copied; `arrays` have the types that the function takes.

        Raises:
          UserError: the function refuses the arguments, or fails.
        """
        kept = [np.ascontiguousarray(array).reshape(array.shape) for array in arrays]
        words = [word for array in kept for word in _words(array)]
        sizes = [3 + 2 * output.rank for output in self._outputs]
        results = (ctypes.c_int64 * sum(sizes))()
        types = [ctypes.c_void_p, *[ctypes.c_int64] * len(words)]
        function = ctypes.CFUNCTYPE(ctypes.c_void_p, *types)(self._code.address)
        message = function(ctypes.addressof(results), *words)
        if message is not None:
            text = ctypes.string_at(message).decode()
            _free(message)
            raise UserError(text)
        ends = np.cumsum(sizes)
        memrefs = [results[end - size : end] for end, size in zip(ends, sizes, strict=True)]
        answers = tuple(map(_copy, memrefs, self._outputs))
        for base in {memref[0] for memref in memrefs} - {array.ctypes.data for array in kept}:
            _free(base)
        return answers


def _words(array: Array) -> list[int]:
    strides = [stride // array.itemsize for stride in array.strides]
    return [array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides]


def _copy(memref: Sequence[int], spec: TensorSpec) -> Array:
    _, data, offset, *rest = memref
    dtype = spec.element_type.numpy_dtype
    sizes, strides = rest[: spec.rank], [stride * dtype.itemsize for stride in rest[spec.rank :]]
    if 0 in sizes:
        return np.empty(sizes, dtype)
    last = sum(stride * (size - 1) for size, stride in zip(sizes, strides, strict=True))
    memory = (ctypes.c_char * (last + dtype.itemsize)).from_address(data + offset * dtype.itemsize)
    return np.ndarray(sizes, dtype, memoryview(memory), strides=strides).copy()
