"""The C function that programs written in other languages call a program by.

    char *foo_packed(const int64_t *arguments);

It takes all arguments as words, one after the other: the address of each tensor, those of the
inputs before those of the results, and then the sizes that are known when the program runs only,
one for each symbol. All tensors are row-major without gaps, and memory of the caller's; no result
overlaps another tensor. It returns null, or a message that the caller gives back with free().
Types, shapes and addresses are the caller's to get right (`plumbline/native_function.py` does).
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, builtin, func, llvm

from plumbline.argument_shapes import ArgumentShapes
from plumbline.function_name import PACKED_SUFFIX
from plumbline.kernels_to_llvm.building import (
    element,
    integer,
    integer_type,
    memref_struct,
    null,
    pointer_type,
)
from plumbline.kernels_to_llvm.failures import PROGRAM
from plumbline.kernels_to_llvm.result_arguments import take_results_as_arguments
from plumbline.kernels_to_llvm.size_building import build_size, index_constant


def build_packed_entry(name: str, body: func.FuncOp, shapes: ArgumentShapes) -> None:
    """Defines the entry of the program `name`; `body` then writes its results where it is told.

    The sizes that the entry takes are the symbols of `shapes`, which are closed.
    """
    taken = body.type.inputs
    count = len(taken) + len(body.type.results)
    take_results_as_arguments(body)
    entry = func.FuncOp(name + PACKED_SUFFIX, ([pointer_type()], [pointer_type()]))
    entry.attributes[PROGRAM] = ir.StringAttr.get(name)
    with ir.InsertionPoint(entry.add_entry_block()):
        (words,) = entry.arguments
        pointers = [_load(words, number, pointer_type()) for number in range(count)]
        symbols = [
            arith.index_cast(ir.IndexType.get(), _load(words, count + number, integer_type()))
            for number in range(len(shapes.symbols))
        ]
        known = dict(enumerate(symbols))
        buffers = [
            _buffer(pointer, type_, [build_size(size, known) for size in shape if size is not None])
            for pointer, type_, shape in zip(pointers, taken, shapes.shapes, strict=False)
        ]
        for pointer, type_ in zip(
            pointers[len(taken) :], body.type.inputs[len(taken) :], strict=True
        ):
            # How many bytes there are is for nobody to look at.
            buffers.append(_buffer(pointer, type_, [index_constant(0)]))
        func.CallOp(body, buffers)
        func.ReturnOp([null()])


def _load(words: ir.Value, number: int, type_: ir.Type) -> ir.Value:
    return llvm.LoadOp(type_, element(words, number, integer_type())).result


def _buffer(pointer: ir.Value, type_: ir.MemRefType, sizes: Sequence[ir.Value]) -> ir.Value:
    """The memory at a pointer as a memref, row-major without gaps."""
    shape = [
        size if type_.is_dynamic_dim(axis) else index_constant(type_.get_dim_size(axis))
        for axis, size in enumerate(sizes)
    ]
    words = [pointer, pointer, integer(0)]
    stride = index_constant(1)
    strides: list[ir.Value] = []
    for size in reversed(shape):
        strides.insert(0, stride)
        stride = arith.muli(stride, size)
    struct = memref_struct(type_)
    descriptor = llvm.UndefOp(struct).result
    for number, word in enumerate(words):
        descriptor = _insert(descriptor, word, [number])
    for number, numbers in enumerate((shape, strides), start=3):
        for axis, value in enumerate(numbers):
            word = arith.index_cast(integer_type(), value)
            descriptor = _insert(descriptor, word, [number, axis])
    return builtin.unrealized_conversion_cast([type_], [descriptor])


def _insert(descriptor: ir.Value, word: ir.Value, position: list[int]) -> ir.Value:
    return llvm.InsertValueOp(descriptor, word, ir.DenseI64ArrayAttr.get(position)).result
