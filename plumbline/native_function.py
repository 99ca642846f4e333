"""Calls compiled machine code from Python, by the C ABI that `tools/aot/abi.h` describes."""

import ctypes
from collections.abc import Mapping
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from plumbline.errors import UserError
from plumbline.function_name import CHECKED_SUFFIX
from plumbline.reference_archive import Tensor
from plumbline.signature import Signature, TensorSpec

_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]
_free.restype = None


class NativeFunction:
    """A program of an object file, loaded into this process for as long as this lives.

    It is called by its checked entry, which tells what the program cannot work on.
    """

    def __init__(
        self, object_file: bytes, signature: Signature, data: Mapping[str, Tensor] | None = None
    ) -> None:
        """Links `object_file` against this process, which has the C library and libm.

        `data` has the elements of the symbols that the object file leaves open; they stay where
        they are in memory, and must not change.
        """
        self._signature = signature
        self._data = dict(data or {})
        self.code_bytes = len(object_file)
        self.data_bytes = sum(array.nbytes for array in self._data.values())
        entry = signature.name + CHECKED_SUFFIX
        self._jit = llvm.create_lljit_compiler(use_jit_link=False)
        library = (
            llvm.JITLibraryBuilder()
            .add_object_img(object_file)
            .add_current_process()
            .export_symbol(entry)
        )
        for name, array in self._data.items():
            library.import_symbol(name, array.ctypes.data)
        try:
            self._library = library.link(self._jit, entry)
        except RuntimeError as error:
            # LLVM tells on standard error which they are.
            raise UserError(
                f"{signature.name}: its machine code calls functions that this process does not "
                "have. Without F16C (the target_cpu x86-64 and x86-64-v2), float16 needs those of "
                "the C compiler's library, which C and C++ programs have: choose another target_cpu"
            ) from error
        self._result_type = _struct([_memref_type(output.rank) for output in signature.outputs])
        parameters = [
            field for spec in signature.inputs for _, field in _memref_fields(spec.rank, flat=True)
        ]
        results = ctypes.POINTER(self._result_type)
        prototype = ctypes.CFUNCTYPE(ctypes.c_void_p, results, *parameters)
        self._function = prototype(self._library[entry])

    def __call__(self, *arrays: Tensor) -> tuple[Tensor, ...]:
        """Calls the function; element types and ranks are those of the signature.

        The results are copies that numpy owns; the function's own memory is given back.

        Raises:
          UserError: the program refuses the arguments, or fails: a size does not fit, an index is
            out of range, there is no memory. The message says what and where.
        """
        # Row-major without gaps, which is what the function takes; `kept` outlives the call.
        kept = [np.ascontiguousarray(array).reshape(array.shape) for array in arrays]
        results = self._result_type()
        words = (field for array in kept for field in _flatten(array))
        message = self._function(results, *words)
        if message is not None:
            try:
                raise UserError(ctypes.string_at(message).decode())
            finally:
                _free(message)
        buffers: set[int | None] = set()
        try:
            outputs = []
            for index, spec in enumerate(self._signature.outputs):
                memref = getattr(results, f"_{index}")
                buffers.add(memref.base)
                outputs.append(_copy(memref, spec))
            return tuple(outputs)
        finally:
            for buffer in buffers - {array.ctypes.data for array in kept}:
                _free(buffer)


def _memref_fields(rank: int, *, flat: bool) -> list[tuple[str, Any]]:
    """The fields of a memref, its sizes and strides one by one or as arrays."""
    pointers = [("base", ctypes.c_void_p), ("data", ctypes.c_void_p), ("offset", ctypes.c_int64)]
    if flat:
        return [*pointers, *[("", ctypes.c_int64)] * (2 * rank)]
    if rank == 0:
        return pointers
    array = ctypes.c_int64 * rank
    return [*pointers, ("sizes", array), ("strides", array)]


def _memref_type(rank: int) -> type[ctypes.Structure]:
    return type("MemRef", (ctypes.Structure,), {"_fields_": _memref_fields(rank, flat=False)})


def _struct(types: list[type[ctypes.Structure]]) -> type[ctypes.Structure]:
    fields = [(f"_{index}", type_) for index, type_ in enumerate(types)]
    return type("Results", (ctypes.Structure,), {"_fields_": fields})


def _flatten(array: Tensor) -> list[int]:
    pointer = array.ctypes.data
    strides = [stride // array.itemsize for stride in array.strides]
    return [pointer, pointer, 0, *array.shape, *strides]


def _copy(memref: Any, spec: TensorSpec) -> Tensor:
    dtype = spec.element_type.numpy_dtype
    sizes = list(memref.sizes) if spec.rank else []
    strides = [stride * dtype.itemsize for stride in memref.strides] if spec.rank else []
    if 0 in sizes:
        return np.empty(sizes, dtype)
    last = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    begin = memref.data + memref.offset * dtype.itemsize
    raw = (ctypes.c_char * (last + dtype.itemsize)).from_address(begin)
    return np.ndarray(sizes, dtype, raw, 0, strides).copy()
