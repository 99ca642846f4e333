"""Calls a program by memrefs, through an entry of `kernels_to_llvm/memref_entries.py`.

Each tensor is handed over as words: its allocated and its aligned pointer, an offset of 0, its
sizes and its strides. The program allocates its results, which the arrays made of them give back.
"""

import ctypes
import itertools
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plumbline.archives.reference_archive import Tensor
from plumbline.errors import UserError
from plumbline.library.call_plan import CallPlan, Shapes
from plumbline.library.heap import free
from plumbline.library.packed_entry import failure
from plumbline.signature.function_name import ERROR_SUFFIX
from plumbline.signature.signature import Signature, TensorSpec

_POINTERS = 3
"""The words of a memref before its sizes: two pointers and an offset."""


def status_entry(signature: Signature, library: ctypes.CDLL) -> "MemrefEntry":
    """The entry of a library to ship, which gives a status.

    Raises:
      AttributeError: it is not there.
    """
    entry = _function(signature, ctypes.c_int)((signature.name, library))
    error = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int)(
        (signature.name + ERROR_SUFFIX, library)
    )

    def run(words: Sequence[int]) -> None:
        code = entry(*words)
        if code != 0:
            raise UserError(f"{signature.name}: {error(code).decode()}")

    return MemrefEntry(signature, run)


def checked_entry(signature: Signature, address: int) -> "MemrefEntry":
    """The entry at an address that gives a message where it fails."""
    entry = _function(signature, ctypes.c_void_p)(address)

    def run(words: Sequence[int]) -> None:
        message = entry(*words)
        if message is not None:
            raise failure(message)

    return MemrefEntry(signature, run)


def _function(signature: Signature, status: Any) -> Any:
    """The type of an entry that takes where results go, if there are any, and arguments."""
    count = sum(_POINTERS + 2 * _rank(spec) for spec in signature.inputs)
    results = [ctypes.c_void_p] * bool(signature.outputs)
    return ctypes.CFUNCTYPE(status, *results, *[ctypes.c_int64] * count)


class MemrefEntry:
    """The entry of one program."""

    def __init__(self, signature: Signature, run: Callable[[Sequence[int]], None]) -> None:
        """`run` calls it, and raises a UserError where it fails."""
        self._signature = signature
        self._result_words = [_POINTERS + 2 * _rank(spec) for spec in signature.outputs]
        self._results = ctypes.c_int64 * sum(self._result_words)
        self._numbers = [spec.is_scalar for spec in signature.inputs]
        self._enter = run
        self._layouts: tuple[CallPlan | None, list[list[int]]] = (None, [])
        """Of the arguments of the last call's plan, which most calls have again."""

    def compute(self, words: list[int], plan: CallPlan) -> list[Tensor]:
        """Runs the program on inputs that lie where `words` say; gives its results.

        Raises:
          UserError: the program fails.
        """
        # What two results share, only one can give back; and what is an input's, none.
        taken = set(words)
        arrays = []
        for memref, spec in zip(self._run(words, plan), self._signature.outputs, strict=True):
            allocated = memref[0]
            memory, array = _array(memref, spec)
            if allocated in taken:
                array = array.copy()
            else:
                taken.add(allocated)
                # Arrays may be in use for as long as the process runs.
                weakref.finalize(memory, free, allocated).atexit = False
            arrays.append(array)
        return arrays

    def compute_into(self, words: list[int], plan: CallPlan, places: Sequence[int]) -> Shapes:
        """Runs the program on inputs that lie where `words` say; copies its results to `places`.

        Returns:
          The shapes of the results.

        Raises:
          UserError: the program fails.
        """
        results = self.compute(words, plan)
        for result, place in zip(results, places, strict=True):
            source = np.ascontiguousarray(result)
            ctypes.memmove(place, source.ctypes.data, source.nbytes)
        return tuple(result.shape for result in results)

    def _run(self, words: Sequence[int], plan: CallPlan) -> list[list[int]]:
        """The words of each result's memref."""
        # As one, since several threads may call at once.
        planned, layouts = self._layouts
        if planned is not plan:
            layouts = [
                [0, *_layout(spec, shape)]
                for spec, shape in zip(self._signature.inputs, plan.shapes, strict=True)
            ]
            self._layouts = plan, layouts
        if any(self._numbers):
            # A number lies in memory too.
            numbers = (ctypes.c_int64 * len(words))(*map(_signed, words))
            first = ctypes.addressof(numbers)
            words = [
                first + 8 * index if is_number else word
                for index, (word, is_number) in enumerate(zip(words, self._numbers, strict=True))
            ]
        results = self._results()
        passed = [ctypes.addressof(results)] * bool(self._result_words)
        for word, layout in zip(words, layouts, strict=True):
            passed += (word, word, *layout)
        self._enter(passed)
        ends = itertools.accumulate(self._result_words)
        return [
            results[end - count : end] for end, count in zip(ends, self._result_words, strict=True)
        ]


def _signed(word: int) -> int:
    """The word's bits as a signed number, as ctypes has them."""
    return (word & (2**64 - 1)) - (word >> 63 << 64)


def _rank(spec: TensorSpec) -> int:
    """That of the memref: the parts of complex numbers are one dimension more."""
    return spec.rank + spec.element_type.is_complex


def _layout(spec: TensorSpec, shape: Sequence[int]) -> list[int]:
    """Sizes, and strides in elements, of memory without gaps, with its axes as they lie there."""
    axes = range(len(shape)) if spec.order is None else spec.order
    sizes = [*(shape[axis] for axis in axes), *[2] * spec.element_type.is_complex]
    return [*sizes, *(math.prod(sizes[axis + 1 :]) for axis in range(len(sizes)))]


def _array(memref: Sequence[int], spec: TensorSpec) -> tuple[ctypes.Array[ctypes.c_char], Tensor]:
    """The memory of a result, for as long as which that is there, and an array of it."""
    _, start, offset, *layout = memref
    rank, dtype = _rank(spec), spec.element_type.numpy_dtype
    # Of a part, where an element is a complex number.
    unit = dtype.itemsize // 2 if spec.element_type.is_complex else dtype.itemsize
    shape, strides = layout[: spec.rank], [unit * stride for stride in layout[rank:]]
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=False))
    bytes_ = 0 if 0 in shape else last + dtype.itemsize
    memory = (ctypes.c_char * bytes_).from_address(start + unit * offset)
    array = np.ndarray(shape, dtype, memoryview(memory), 0, strides[: spec.rank])
    return memory, array if spec.order is None else array.transpose(np.argsort(spec.order))
