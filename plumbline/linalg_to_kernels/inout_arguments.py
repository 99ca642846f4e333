"""Has functions write the new values of their in-out arguments where these lie.

`one-shot-bufferize` may write into them, and does so in place unless an old value is read later: a
scatter into a cache then touches the rows that it writes, and gives the argument itself. What it
has put elsewhere is copied there at the end. No in-out argument shares memory with another
argument: that is the caller's part.
"""

from collections.abc import Container

from torch_mlir import ir
from torch_mlir.dialects import arith, func, memref

from plumbline.bindings.views import root
from plumbline.linalg_to_kernels.buffer_sizes import uncast
from plumbline.signature.c_signature import functions_with_bodies
from plumbline.signature.inout_arguments import inout_arguments, inout_results, note_inout_arguments
from plumbline.signature.name_attributes import note_names, noted_names
from plumbline.signature.tensor_names import TensorNames

_NEW = frozenset({"memref.alloc", "memref.get_global"})
"""Operations whose memory is none of an argument's."""


def store_inout_arguments(module: ir.Operation) -> None:
    """Takes the new values of in-out arguments from the results of public functions on buffers."""
    with module.context:
        for function in functions_with_bodies(module, "func.func", public=True):
            if inout_arguments(function):
                with function.location:
                    _store(function)


def _store(function: func.FuncOp) -> None:
    block = function.entry_block
    (*_, returned) = block.operations
    values = list(returned.operands)
    results = inout_results(function)
    kept = [number for number in range(len(values)) if number not in results.values()]
    moved = {
        block.arguments[argument]: values[result]
        for argument, result in results.items()
        if uncast(values[result]) != block.arguments[argument]
    }
    with ir.InsertionPoint(returned), returned.location:
        # All are read before any is written, as they may be old values of each other.
        new = {argument: _apart(value, moved) for argument, value in moved.items()}
        returns = [_apart(values[number], moved) for number in kept]
        for argument, value in new.items():
            memref.copy(value, argument)
        func.ReturnOp(returns)
    returned.operation.erase()
    names = noted_names(function)
    type_ = ir.FunctionType.get(function.type.inputs, [value.type for value in returns])
    function.attributes["function_type"] = ir.TypeAttr.get(type_)
    note_names(function, TensorNames(names.inputs, tuple(names.outputs[number] for number in kept)))
    note_inout_arguments(function)


def _apart(buffer: ir.Value, written: Container[ir.Value]) -> ir.Value:
    """A buffer with the same values that shares no memory with arguments that are to be written."""
    source = root(buffer)
    if isinstance(source.owner, ir.Block) and source not in written:
        return buffer
    # Of an `ir.OpView` the name may be an attribute: the constant's.
    if not isinstance(source.owner, ir.Block) and source.owner.operation.name in _NEW:
        return buffer
    type_ = ir.MemRefType(buffer.type)
    sizes = [
        memref.dim(buffer, arith.constant(ir.IndexType.get(), axis))
        for axis in range(type_.rank)
        if type_.is_dynamic_dim(axis)
    ]
    copy = memref.alloc(ir.MemRefType.get(type_.shape, type_.element_type), sizes, [])
    memref.copy(buffer, copy)
    return copy
