"""Puts the ops of tm_tensor (scatter, scan, sort, top-k) on buffers, before all other ops are.

`one-shot-bufferize` knows nothing of them. Upstream's `tm-tensor-bufferize` runs before it, too,
but takes the buffer of a tensor where that is computed, so that a write in place could come between
this and the op that reads it. Here a buffer is taken just before the op, and each result is new
memory, so that what the ops on buffers say to `one-shot-bufferize` is true.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith, bufferization, memref, tensor

from plumbline.bindings.walk import operations_of


def bufferize_tm_tensor(module: ir.Operation) -> None:
    """Replaces each op of tm_tensor on tensors by one on buffers."""
    with module.context:
        # Without what is in them, which is gone where they are erased.
        ops = [op for op in operations_of(module, "tm_tensor") if len(op.results) > 0]
        for op in ops:
            with ir.InsertionPoint(op), op.location:
                _bufferize(op)


def _bufferize(op: ir.Operation) -> None:
    # What an op writes are its last operands, as many as there are results.
    first_written = len(op.operands) - len(op.results)
    read = [_buffer(value) for value in list(op.operands)[:first_written]]
    written = [_new_buffer(value) for value in list(op.operands)[first_written:]]
    attributes = {name: op.attributes[name] for name in op.attributes}
    on_buffers = ir.Operation.create(
        op.name,
        operands=[*read, *written],
        attributes=attributes,
        regions=len(op.regions),
    )
    for region, body in zip(on_buffers.regions, op.regions, strict=True):
        for block in list(body.blocks):
            block.append_to(region)
    for result, buffer in zip(op.results, written, strict=True):
        new = bufferization.to_tensor(result.type, buffer, restrict=True, writable=True)
        result.replace_all_uses_with(new)
    op.erase()


def _new_buffer(value: ir.Value) -> ir.Value:
    """A buffer of its own that has the content of a tensor."""
    type_ = ir.RankedTensorType(value.type)
    sizes = [
        tensor.dim(value, arith.constant(ir.IndexType.get(), axis))
        for axis in range(type_.rank)
        if type_.is_dynamic_dim(axis)
    ]
    buffer = memref.alloc(_memref(type_), sizes, [])
    if isinstance(value.owner, ir.Block) or value.owner.name != "tensor.empty":
        memref.copy(_buffer(value), buffer)
    return buffer


def _buffer(value: ir.Value) -> ir.Value:
    """The buffer of a tensor, to be read here."""
    return bufferization.to_buffer(_memref(value.type), value, read_only=True)


def _memref(type_: ir.Type) -> ir.MemRefType:
    tensor_type = ir.RankedTensorType(type_)
    return ir.MemRefType.get(tensor_type.shape, tensor_type.element_type)
