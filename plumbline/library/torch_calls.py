"""Calls of a program with PyTorch's tensors that are machine code from Python's call to its return.

What Python does around a call of a few elements takes several times as long as the program. Of a
call with the same shapes as one before, nothing is left to find out but that they are: a function
for Python, which LLVM makes once in a process, reads the tensors by the C functions that PyTorch
has for DLPack (`DLPackExchangeAPI` in `ATen/dlpack.h`), compares them with a record of the call
before, has PyTorch make the results, or takes those that are given, and enters the program. Where
anything is not as in the record it answers None, and `NativeFunction` looks closer.
"""

import ctypes
import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import llvmlite.binding as llvm
import numpy as np
import torch
from llvmlite import ir

from plumbline.library.call_plan import CallPlan
from plumbline.library.new_arrays import MAPPED
from plumbline.library.tensor_arguments import Repeat, Repeats
from plumbline.library.torch_arguments import PLAIN_TYPES
from plumbline.signature.signature import AxisOrder, Signature, TensorSpec

_MOST_WORDS = 64
"""With so many words at most a program is entered: they lie on the stack."""

_WORD, _INT = ir.IntType(64), ir.IntType(32)
_POINTER, _VOID = ir.PointerType(), ir.VoidType()
_NULL = ir.Constant(_POINTER, None)

# As dlpack.h lays them out. The element type is one word here: a code, bits and lanes.
_TENSOR = ir.LiteralStructType(
    (_POINTER, _INT, _INT, _INT, _INT, _POINTER, _POINTER, _WORD),
)
_DATA, _DEVICE, _DEVICE_NUMBER, _RANK, _TYPE, _SIZES, _STRIDES, _OFFSET = range(8)
_MANAGED_TENSOR = ir.LiteralStructType((_WORD, _POINTER, _POINTER, _WORD, _TENSOR))
_CPU = 1

_COMPLEX = 5
"""DLPack's code for complex numbers."""

_IS_NEG, _IS_CONJ = "is_neg", "is_conj"

_ALLOCATE, _WRAP, _READ = 2, 4, 5
"""Places of functions in PyTorch's table, in pointers: managed_tensor_allocator,
managed_tensor_to_py_object_no_sync and dltensor_from_py_object_no_sync."""


def calls_of(signature: Signature, entry: int, plan: CallPlan) -> Repeats:
    """Functions for calls as `plan` says of the program whose packed entry lies at `entry`.

    They take the program's arguments, and give a tuple of its results, which are tensors. Where the
    program fails, they give the address of the message, which is then the caller's to free. They
    give None, and have done nothing, unless all arguments are CPU tensors of PyTorch's of the
    element types and sizes of the record, which lie without gaps with their axes in the order in
    which the program has them, and none that is written shares memory with another. The entry stays
    for as long as they are called.

    Returns:
      None of them for programs that are not called so: those that take numbers, or have results
      whose sizes depend on values. None for large new results.
    """
    tensors = (*signature.inputs, *signature.outputs)
    types = [*map(_type_of, tensors)]
    if (
        None in types
        or signature.unbacked
        or plan.workspace is not None
        or len(tensors) + len(plan.sizes) > _MOST_WORDS
    ):
        return Repeats()
    inputs, outputs = len(signature.inputs), len(signature.outputs)
    shapes = (*plan.shapes, *plan.result_shapes)
    bytes_ = (*plan.argument_bytes, *plan.result_bytes)
    record = [len(plan.sizes), entry]
    for number, (type_, spec, sizes) in enumerate(zip(types, tensors, shapes, strict=True)):
        record += [type_ or 0, bytes_[number], number >= inputs or number in signature.inout]
        record += [len(sizes), *sizes, *_strides(sizes, spec.order)]
    record += plan.sizes

    def call(*, into: bool) -> Repeat:
        own = [inputs, outputs, into, into or bool(signature.inout)]
        # The function holds the record, and who calls it the function.
        new: Repeat = _new_function(
            ctypes.byref(_method()), np.array([*own, *record], np.int64).tobytes(), None
        )
        return new

    # Memory for large results is used again, which PyTorch does not do.
    are_large = max(plan.result_bytes, default=0) >= MAPPED
    return Repeats(None if are_large else call(into=False), call(into=True))


def _strides(sizes: Sequence[int], order: AxisOrder | None) -> list[int]:
    """Those of a tensor that has its axes in an order in memory, without gaps; None: row-major."""
    strides, so_far = [0] * len(sizes), 1
    for axis in reversed(range(len(sizes)) if order is None else order):
        strides[axis] = so_far
        so_far *= sizes[axis]
    return strides


_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.restype = ctypes.py_object
_new_function.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]


class _Method(ctypes.Structure):
    """A PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_FASTCALL = 0x80
"""METH_FASTCALL: arguments come as an array and its length."""


@functools.cache
def _method() -> _Method:
    return _Method(b"call_of_tensors", _machine_code()["call"], _FASTCALL, None)


@functools.cache
def _machine_code() -> llvm.ResourceTracker:
    module = ir.Module()
    module.triple = llvm.get_process_triple()
    ignored = ir.Function(module, ir.FunctionType(_VOID, (_POINTER,) * 3), "ignore_error")
    ir.IRBuilder(ignored.append_basic_block()).ret_void()
    call = ir.Function(module, ir.FunctionType(_POINTER, (_POINTER, _POINTER, _WORD)), "call")
    _CallOfTensors(call, ignored).write()
    return (
        llvm.JITLibraryBuilder().add_ir(str(module)).export_symbol("call").link(_compiler(), "call")
    )


@functools.cache
def _compiler() -> llvm.LLJIT:
    # Nobody else may have done so: a process that loads a library compiles nothing.
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.create_lljit_compiler(use_jit_link=True)


@functools.cache
def _exchange_functions() -> list[int]:
    """PyTorch's table of C functions for DLPack."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
    table = pointer_of(torch.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
    return [*(ctypes.c_size_t * 8).from_address(table)]


def _type_of(spec: TensorSpec) -> int | None:
    """DLPack's word for an element type; None for numbers, which are no tensors."""
    if spec.is_scalar:
        return None
    dtype = getattr(torch, spec.element_type.torch_name)
    tensor = (ctypes.c_uint32 * 12)()
    read = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
    read(_exchange_functions()[_READ])(torch.empty((), dtype=dtype), tensor)
    # Behind a pointer and three words of half its size.
    return tensor[5]


class _CallOfTensors:
    """Writes the function: `PyObject *call(PyObject *record, PyObject **arguments, intptr_t n)`."""

    def __init__(self, function: ir.Function, ignore_error: ir.Function) -> None:
        self._record, self._arguments, self._count = function.args
        self._ignore_error = ignore_error
        self._builder = ir.IRBuilder(function.append_basic_block("entry"))
        self._otherwise = function.append_basic_block("otherwise")
        self._words = self._memory(ir.ArrayType(_WORD, _MOST_WORDS))
        self._tensor = self._memory(_TENSOR)
        self._made = self._memory(_POINTER)
        # Of each tensor that has been taken: the address after its last byte, and whether it is
        # written.
        self._ends, self._written = (
            self._memory(ir.ArrayType(_WORD, _MOST_WORDS)) for _ in range(2)
        )
        self._taken = self._variable(_WORD(0))
        self._next_word = self._variable(self._words)
        self._results = self._variable(_NULL)
        self._read_next = self._variable(_NULL)

    def write(self) -> None:
        """All of it."""
        builder = self._builder
        builder.store(self._python(_POINTER, "PyBytes_AsString", self._record), self._read_next)
        inputs, outputs, into, self._writes, others, entry = (self._next() for _ in range(6))
        self._go_on_if(builder.icmp_signed("==", self._count, builder.add(inputs, into)))
        with self._each(inputs) as index:
            self._take(self._element(_POINTER, self._arguments, index))
        is_into = builder.icmp_unsigned("!=", into, _WORD(0))
        with builder.if_else(is_into) as (given, new):
            with given:
                self._take_results(self._element(_POINTER, self._arguments, inputs), outputs)
            with new:
                self._make_results(outputs)
        results = self._load(_POINTER, self._results)
        with self._each(others):
            self._hand_over(self._next())
        # Other threads may run while the program does.
        thread = self._python(_POINTER, "PyEval_SaveThread")
        message = self._call(_POINTER, entry, self._words)
        self._python(_VOID, "PyEval_RestoreThread", thread)
        with builder.if_then(builder.icmp_unsigned("!=", message, _NULL), likely=False):
            self._python(_VOID, "Py_DecRef", results)
            builder.ret(self._python(_POINTER, "PyLong_FromVoidPtr", message))
        builder.ret(results)

        builder.position_at_end(self._otherwise)
        self._python(_VOID, "PyErr_Clear")
        self._python(_VOID, "Py_DecRef", self._load(_POINTER, self._results))
        self._python(_VOID, "Py_IncRef", _object(None))
        builder.ret(_object(None))

    def _take_results(self, place: ir.Value, count: ir.Value) -> None:
        """Takes the tuple of so many tensors at a place for the results."""
        builder = self._builder
        given = self._load(_POINTER, place)
        self._go_on_if(builder.icmp_unsigned("==", self._type_of(given), _object(tuple)))
        size = self._python(_WORD, "PyTuple_Size", given)
        self._go_on_if(builder.icmp_signed("==", size, count))
        self._python(_VOID, "Py_IncRef", given)
        builder.store(given, self._results)
        with self._each(count) as index:
            builder.store(self._python(_POINTER, "PyTuple_GetItem", given, index), self._made)
            self._take(self._made)

    def _make_results(self, count: ir.Value) -> None:
        results = self._python(_POINTER, "PyTuple_New", count)
        self._go_on_if(self._builder.icmp_unsigned("!=", results, _NULL))
        self._builder.store(results, self._results)
        with self._each(count) as index:
            self._python(_INT, "PyTuple_SetItem", results, index, self._new_result())

    def _type_of(self, object_: ir.Value) -> ir.Value:
        type_ = self._python(_POINTER, "PyObject_Type", object_)
        # The object has one, too.
        self._python(_VOID, "Py_DecRef", type_)
        return type_

    def _take(self, place: ir.Value) -> None:
        """Hands the argument at a place over, if it is as in the record."""
        builder = self._builder
        argument = self._load(_POINTER, place)
        type_ = self._type_of(argument)
        is_plain = [builder.icmp_unsigned("==", type_, _object(plain)) for plain in PLAIN_TYPES]
        self._go_on_if(functools.reduce(builder.or_, is_plain))
        type_, bytes_, is_written, rank = (self._next() for _ in range(4))
        self._go_on_unless(_IS_NEG, place)
        is_complex = builder.icmp_unsigned("==", builder.and_(type_, _WORD(0xFF)), _WORD(_COMPLEX))
        with builder.if_then(is_complex, likely=False):
            self._go_on_unless(_IS_CONJ, place)

        read = self._call(_INT, _exchange_functions()[_READ], argument, self._tensor)
        self._go_on_if(builder.icmp_signed("==", read, _INT(0)))
        for field, value in {
            _DEVICE: _INT(_CPU),
            _TYPE: builder.trunc(type_, _INT),
            _RANK: builder.trunc(rank, _INT),
        }.items():
            self._go_on_if(builder.icmp_signed("==", self._field(field), value))
        sizes, strides = self._field(_SIZES), self._field(_STRIDES)
        expected = self._load(_POINTER, self._read_next)
        expected_strides = self._element(_WORD, expected, rank)
        with self._each(rank) as index:
            size = self._load(_WORD, sizes, index)
            self._go_on_if(builder.icmp_signed("==", size, self._load(_WORD, expected, index)))
            stride = self._load(_WORD, strides, index)
            in_place = builder.icmp_signed("==", stride, self._load(_WORD, expected_strides, index))
            # It then has one element there.
            alone = builder.icmp_signed("==", size, _WORD(1))
            self._go_on_if(builder.or_(in_place, alone))
        self._skip(rank)
        self._skip(rank)
        data = builder.ptrtoint(self._field(_DATA), _WORD)
        # There are tensors of zeros without memory.
        self._go_on_if(builder.icmp_unsigned("!=", data, _WORD(0)))
        start = builder.add(data, self._field(_OFFSET))
        self._keep_apart(start, builder.add(start, bytes_), is_written)
        self._hand_over(start)

    def _keep_apart(self, start: ir.Value, end: ir.Value, is_written: ir.Value) -> None:
        """Goes on if a tensor shares no memory with one before it, where either is written."""
        builder = self._builder
        number = self._load(_WORD, self._taken)
        # None is to be compared with where none is written.
        with self._each(builder.mul(number, self._writes)) as other:
            other_start, other_end, other_is_written = (
                self._load(_WORD, words, other)
                for words in (self._words, self._ends, self._written)
            )
            are_apart = builder.or_(
                builder.icmp_unsigned(">=", start, other_end),
                builder.icmp_unsigned(">=", other_start, end),
            )
            are_read = builder.icmp_signed(
                "==", builder.or_(is_written, other_is_written), _WORD(0)
            )
            self._go_on_if(builder.or_(are_apart, are_read))
        builder.store(end, self._element(_WORD, self._ends, number))
        builder.store(is_written, self._element(_WORD, self._written, number))
        builder.store(builder.add(number, _WORD(1)), self._taken)

    def _go_on_unless(self, question: str, place: ir.Value) -> None:
        """Leaves the function if the tensor at a place answers yes, which DLPack does not tell."""
        builder = self._builder
        answer = self._python(
            _POINTER, "PyObject_VectorcallMethod", _object(question), place, _WORD(1), _NULL
        )
        self._go_on_if(builder.icmp_unsigned("!=", answer, _NULL))
        self._python(_VOID, "Py_DecRef", answer)
        self._go_on_if(builder.icmp_unsigned("==", answer, _object(False)))

    def _new_result(self) -> ir.Value:
        """A tensor for a result as in the record, which is handed over."""
        builder = self._builder
        type_, _, _, rank = (self._next() for _ in range(4))
        for field, value in {
            _DATA: _NULL,
            _DEVICE: _INT(_CPU),
            _DEVICE_NUMBER: _INT(0),
            _RANK: builder.trunc(rank, _INT),
            _TYPE: builder.trunc(type_, _INT),
            _SIZES: self._load(_POINTER, self._read_next),
            _STRIDES: _NULL,
            _OFFSET: _WORD(0),
        }.items():
            builder.store(value, self._place(_TENSOR, self._tensor, field))
        self._skip(rank)
        strides = self._load(_POINTER, self._read_next)
        self._skip(rank)
        functions = _exchange_functions()
        allocated = self._call(
            _INT, functions[_ALLOCATE], self._tensor, self._made, _NULL, self._ignore_error
        )
        self._go_on_if(builder.icmp_signed("==", allocated, _INT(0)))
        managed = self._load(_POINTER, self._made)
        tensor = self._place(_MANAGED_TENSOR, managed, len(_MANAGED_TENSOR.elements) - 1)
        data = self._load(_WORD, self._place(_TENSOR, tensor, _DATA))
        offset = self._load(_WORD, self._place(_TENSOR, tensor, _OFFSET))
        self._hand_over(builder.add(data, offset))
        # PyTorch allocates row-major, whatever it is asked for, and copies what it wraps.
        builder.store(strides, self._place(_TENSOR, tensor, _STRIDES))
        wrapped = self._call(_INT, functions[_WRAP], managed, self._made)
        self._go_on_if(builder.icmp_signed("==", wrapped, _INT(0)))
        return self._load(_POINTER, self._made)

    def _hand_over(self, word: ir.Value) -> None:
        """Makes `word` the next that the program is entered with."""
        place = self._load(_POINTER, self._next_word)
        self._builder.store(word, place)
        self._builder.store(self._element(_WORD, place, _WORD(1)), self._next_word)

    def _next(self) -> ir.Value:
        """The next word of the record."""
        word = self._load(_WORD, self._load(_POINTER, self._read_next))
        self._skip(_WORD(1))
        return word

    def _skip(self, words: ir.Value) -> None:
        place = self._load(_POINTER, self._read_next)
        self._builder.store(self._element(_WORD, place, words), self._read_next)

    def _go_on_if(self, condition: ir.Value) -> None:
        """Leaves the function otherwise."""
        further = self._builder.append_basic_block("further")
        self._builder.cbranch(condition, further, self._otherwise)
        self._builder.position_at_end(further)

    @contextmanager
    def _each(self, count: ir.Value) -> Iterator[ir.Value]:
        """Does what is written within so many times, each with its number."""
        builder = self._builder
        number = self._variable(_WORD(0))
        again, within, done = (builder.append_basic_block(n) for n in ("again", "within", "done"))
        builder.branch(again)
        builder.position_at_end(again)
        present = self._load(_WORD, number)
        builder.cbranch(builder.icmp_signed("<", present, count), within, done)
        builder.position_at_end(within)
        yield present
        builder.store(builder.add(present, _WORD(1)), number)
        builder.branch(again)
        builder.position_at_end(done)

    def _variable(self, value: ir.Value) -> ir.Value:
        variable = self._memory(value.type)
        self._builder.store(value, variable)
        return variable

    def _memory(self, type_: ir.Type) -> ir.Value:
        """Memory on the stack."""
        with self._builder.goto_entry_block():
            return self._untyped(self._builder.alloca(type_))

    def _field(self, number: int) -> ir.Value:
        """A field of the tensor that has been read."""
        place = self._place(_TENSOR, self._tensor, number)
        return self._load(_TENSOR.elements[number], place)

    def _place(self, struct: ir.Type, pointer: ir.Value, field: int) -> ir.Value:
        at = self._builder.gep(pointer, (_INT(0), _INT(field)), source_etype=struct)
        return self._untyped(at)

    def _element(self, type_: ir.Type, array: ir.Value, index: ir.Value) -> ir.Value:
        return self._untyped(self._builder.gep(array, (index,), source_etype=type_))

    def _untyped(self, pointer: ir.Value) -> ir.Value:
        """As llvmlite takes some pointers to be to types, and LLVM does not."""
        pointer.type = _POINTER
        return pointer

    def _load(self, type_: ir.Type, pointer: ir.Value, index: ir.Value | None = None) -> ir.Value:
        place = pointer if index is None else self._element(type_, pointer, index)
        return self._builder.load(place, typ=type_)

    def _python(self, result: ir.Type, name: str, *arguments: ir.Value) -> ir.Value:
        """Calls a function of Python's."""
        function = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        return self._call(result, function, *arguments)

    def _call(self, result: ir.Type, function: int | ir.Value, *arguments: ir.Value) -> ir.Value:
        """Calls what lies at an address."""
        type_ = ir.FunctionType(result, [argument.type for argument in arguments])
        address = _WORD(function) if isinstance(function, int) else function
        return self._builder.call(self._builder.inttoptr(address, type_.as_pointer()), arguments)


def _object(value: object) -> ir.Value:
    """An object of Python's that is there for as long as the process."""
    return _WORD(id(value)).inttoptr(_POINTER)
