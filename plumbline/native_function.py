"""Calls compiled machine code from Python, by the C ABI that `tools/aot/abi.h` describes."""

import ctypes
from collections.abc import Mapping
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from plumbline import runtime_library
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

        Raises:
          UserError: the process lacks functions that the program calls.
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
        if runtime_library.PARALLEL.encode() in object_file:
            for name, address in runtime_library.addresses(signature.name).items():
                library.import_symbol(name, address)
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

        The results lie where the function has put them; that memory is given back with the last
        array that lies there. One that would share memory with an argument is a copy.

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
        memrefs = [getattr(results, f"_{index}") for index in range(len(self._signature.outputs))]
        # Results may share memory.
        bases = {memref.base for memref in memrefs} - {array.ctypes.data for array in kept}
        allocations = {base: _Allocation(base) for base in bases}
        return tuple(
            _array(memref, spec, allocations.get(memref.base))
            for memref, spec in zip(memrefs, self._signature.outputs, strict=True)
        )


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


class _Allocation:
    """Memory that the program has allocated, given back when nothing refers to this any more."""

    def __init__(self, pointer: int | None) -> None:
        self._pointer = pointer

    def __del__(self) -> None:
        _free(self._pointer)


class _Elements:
    """A result as numpy asks for it."""

    def __init__(self, interface: dict[str, Any], allocation: _Allocation | None) -> None:
        self.__array_interface__ = interface
        self._allocation = allocation


def _array(memref: Any, spec: TensorSpec, allocation: _Allocation | None) -> Tensor:
    """The array of a result; without an allocation of its own, a copy."""
    dtype = spec.element_type.numpy_dtype
    sizes = tuple(memref.sizes) if spec.rank else ()
    if 0 in sizes:
        return np.empty(sizes, dtype)
    interface = {
        "version": 3,
        "shape": sizes,
        "typestr": dtype.str,
        "data": (memref.data + memref.offset * dtype.itemsize, False),
        "strides": tuple(stride * dtype.itemsize for stride in memref.strides) if spec.rank else (),
    }
    array = np.asarray(_Elements(interface, allocation))
    return array if allocation else array.copy()
