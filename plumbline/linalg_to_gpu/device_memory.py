"""Moves what launches kernels over to device memory: the plan of who lies there, and when.

What a public function takes and gives stays memory of the host: arguments are copied to the device
where they are needed, and results back. All between them lies there, from `gpu.alloc` to
`gpu.dealloc`. A number that the host itself looks at, as a condition or a size, is copied to it.
"""

from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, gpu, memref

from plumbline.c_signature import functions_with_bodies
from plumbline.linalg_to_gpu.launches import launch
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.building import ALIGNMENT, index, total
from plumbline.pipeline import PassFailure
from plumbline.walk import all_operations

TO_DEVICE = "plumbline.to_device"
"""The attribute of a `gpu.memcpy` from host memory; one without it is to host memory."""


def place_on_device(module: ir.Operation) -> None:
    """Moves the buffers of each function of `module` that is no kernel.

    Raises:
      PassFailure: it does something to memory that only a kernel could; that has been reported.
    """
    with module.context:
        problems = 0
        for public in (True, False):
            for function in functions_with_bodies(module, "func.func", public=public):
                if KERNEL in function.attributes:
                    continue
                with function.location:
                    problems += _move_buffers(function.operation)
                    if public:
                        block = function.regions[0].blocks[0]
                        copied = _take_arguments(block)
                        _give_results(block, copied)
        if problems:
            raise PassFailure


def _move_buffers(function: ir.Operation) -> int:
    """Moves what a function allocates and touches; gives how much there is that cannot be."""
    problems = 0
    for op in all_operations(function)[1:]:
        if op.name in _NOT_MOVED:
            op.location.emit_error(f"{op.name}: no kernel of a GPU does this yet")
            problems += 1
        elif op.name in _MOVED and _is_of_elements(op):
            with ir.InsertionPoint(op), op.location:
                _MOVED[op.name](op)
    return problems


_NOT_MOVED = frozenset({"memref.alloca", "memref.atomic_rmw", "memref.copy", "memref.realloc"})


def _is_of_elements(op: ir.Operation) -> bool:
    """Whether a buffer is of elements of tensors, and not of sizes or addresses."""
    values = [*op.results, *op.operands]
    buffer = next(value for value in values if isinstance(value.type, ir.MemRefType))
    return not isinstance(ir.MemRefType(buffer.type).element_type, ir.IndexType)


def _move_alloc(op: ir.Operation) -> None:
    allocated = gpu.AllocOp(op.results[0].type, None, [], list(op.operands), [])
    for name in op.attributes:
        if name.startswith("plumbline."):
            allocated.operation.attributes[name] = op.attributes[name]
    op.results[0].replace_all_uses_with(allocated.results[0])
    op.erase()


def _move_dealloc(op: ir.Operation) -> None:
    gpu.DeallocOp(None, [], op.operands[0])
    op.erase()


def _move_load(op: ir.Operation) -> None:
    """Has the host look at one element, for which it waits for all that is launched."""
    buffer, *indices = op.operands
    element = memref.alloca(ir.MemRefType.get([], op.results[0].type), [], [])
    _copy(element, _element(buffer, indices), to_device=False)
    op.results[0].replace_all_uses_with(memref.load(element, []))
    op.erase()


def _move_store(op: ir.Operation) -> None:
    """Has a thread store what the host has computed."""
    value, buffer, *indices = op.operands
    launch(index(1), 1, lambda thread: memref.store(value, buffer, indices))
    op.erase()


def _move_constant(op: ir.Operation) -> None:
    """Copies a constant to the device."""
    (constant,) = op.results
    with ir.InsertionPoint.after(op):
        copy = _on_device(constant)
    for use in list(constant.uses):
        if use.owner.operation.name != "gpu.memcpy":
            use.owner.operation.operands[use.operand_number] = copy


_MOVED: Mapping[str, Callable[[ir.Operation], None]] = {
    "memref.alloc": _move_alloc,
    "memref.dealloc": _move_dealloc,
    "memref.get_global": _move_constant,
    "memref.load": _move_load,
    "memref.store": _move_store,
}


def _take_arguments(block: ir.Block) -> list[ir.Value]:
    """Copies the arguments of a function to the device that something there may read."""
    copies = []
    with ir.InsertionPoint.at_block_begin(block):
        for argument in block.arguments:
            uses = [use for use in argument.uses if use.owner.operation.name != "memref.dim"]
            if not uses or not isinstance(argument.type, ir.MemRefType):
                continue
            copy = _on_device(argument)
            copies.append(copy)
            for use in uses:
                use.owner.operation.operands[use.operand_number] = copy
    return copies


def _give_results(block: ir.Block, copies: Sequence[ir.Value]) -> None:
    """Copies the results of a function to new memory of the host, and gives device memory back.

    Of results that come out of branches or loops it is not known here who else has them: the end of
    the call gives those back.
    """
    returned = block.operations[len(block.operations) - 1].operation
    with ir.InsertionPoint(returned), returned.location:
        given: dict[ir.Value, ir.Value] = {}
        for number, result in enumerate(returned.operands):
            if result not in given:
                type_ = ir.MemRefType(result.type)
                place = memref.alloc(type_, _sizes(result), [], alignment=ALIGNMENT)
                _copy(place, result, to_device=False)
                given[result] = place
            returned.operands[number] = given[result]
        for buffer in (*copies, *filter(_is_allocated, given)):
            gpu.DeallocOp(None, [], buffer)


def _is_allocated(buffer: ir.Value) -> bool:
    return not isinstance(buffer.owner, ir.Block) and buffer.owner.name == "gpu.alloc"


def _on_device(buffer: ir.Value) -> ir.Value:
    """A copy on the device of a buffer of the host."""
    type_ = ir.MemRefType(buffer.type)
    copy = gpu.AllocOp(type_, None, [], _sizes(buffer), []).results[0]
    _copy(copy, buffer, to_device=True)
    return copy


def _sizes(buffer: ir.Value) -> list[ir.Value]:
    """The sizes of a buffer that its type does not tell."""
    type_ = ir.MemRefType(buffer.type)
    return [
        memref.dim(buffer, index(axis)) for axis in range(type_.rank) if type_.is_dynamic_dim(axis)
    ]


def _copy(target: ir.Value, source: ir.Value, *, to_device: bool) -> None:
    copy = gpu.MemcpyOp(None, [], target, source)
    if to_device:
        copy.operation.attributes[TO_DEVICE] = ir.UnitAttr.get()


def _element(buffer: ir.Value, indices: Sequence[ir.Value]) -> ir.Value:
    """One element of a buffer, as one of rank 0."""
    metadata = memref.ExtractStridedMetadataOp(buffer).results
    strides = metadata[2 + len(indices) : 2 + 2 * len(indices)]
    steps = [arith.muli(at, stride) for at, stride in zip(indices, strides, strict=True)]
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    layout = ir.StridedLayoutAttr.get(dynamic, [])
    element = ir.MemRefType.get([], ir.MemRefType(buffer.type).element_type, layout)
    offset = total([metadata[1], *steps])
    return memref.ReinterpretCastOp(
        element, metadata[0], [offset], [], [], [dynamic], [], []
    ).result
