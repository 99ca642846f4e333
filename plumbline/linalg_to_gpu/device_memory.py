"""Moves what launches kernels over to device memory: the plan of who lies there, and when.

What a public function takes and gives stays memory of the host: arguments are copied to the device
where they are needed, and results back. All between them lies there, from `gpu.alloc` to
`gpu.dealloc`. Where callers have their tensors on the device, nothing is copied: what a function
gives is the caller's memory then, `memref.alloc`, and the only one that is not `gpu.alloc`.

Weights and constants are uploaded once (`plumbline.resident`), and stay. A number that the host
itself looks at, as a condition or a size, is copied to it; one that callers give by value is on the
host.
"""

from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, gpu, memref

from plumbline.bindings.pipeline import PassFailure
from plumbline.bindings.walk import all_operations
from plumbline.linalg_to_gpu.launches import launch
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.building import ALIGNMENT, index, total
from plumbline.linalg_to_kernels.own_results import is_own, origin_of
from plumbline.signature.c_signature import embedded_weights, functions_with_bodies, is_public
from plumbline.signature.device_tensors import RESIDENT, note_device_tensors
from plumbline.signature.inout_arguments import inout_arguments
from plumbline.signature.name_attributes import scalar_arguments
from plumbline.target.choices import PLACES, one_of

TO_DEVICE = "plumbline.to_device"
"""The attribute of a `gpu.memcpy` from host memory; one without any is to host memory."""

ON_DEVICE = "plumbline.on_device"
"""The attribute of a `gpu.memcpy` from device memory to device memory."""


def place_on_device(module: ir.Operation, tensors: Sequence[str] = ()) -> None:
    """Moves the buffers of each function of `module` that is no kernel.

    Args:
      module: what it is done to.
      tensors: where callers have theirs, one of `choices.PLACES`; none: on the host.

    Raises:
      UserError: there is no such place.
      PassFailure: it does something to memory that only a kernel could; that has been reported.
    """
    on_device = one_of(PLACES, "tensors", tensors) == "device"
    with module.context:
        problems = 0
        for public in (True, False):
            for function in functions_with_bodies(module, "func.func", public=public):
                if KERNEL in function.attributes:
                    continue
                with function.location:
                    problems += _move_buffers(function.operation)
                    if not public:
                        continue
                    if on_device:
                        note_device_tensors(function)
                    stay = _arguments_that_stay(function) if on_device else frozenset()
                    block = function.regions[0].blocks[0]
                    copies = _take_arguments(function, stay)
                    if on_device:
                        _leave_results(block, copies)
                    else:
                        written = [block.arguments[at] for at in inout_arguments(function)]
                        _give_results(block, copies, written)
        if problems:
            raise PassFailure


def _move_buffers(function: ir.Operation) -> int:
    """Moves what a function allocates and touches; gives how much there is that cannot be."""
    problems = 0
    for op in all_operations(function)[1:]:
        if op.name in _NOT_MOVED:
            op.location.emit_error(f"{op.name}: no kernel of a GPU does this yet")
            problems += 1
        elif op.name == _ADDRESS:
            op.location.emit_error(
                "a loop or a branch hands on one buffer or another, of sizes that may differ: no "
                "program for a GPU does this yet"
            )
            return problems + 1
        elif op.name in _MOVED and _is_of_elements(op):
            with ir.InsertionPoint(op), op.location:
                _MOVED[op.name](op)
    return problems


_NOT_MOVED = frozenset({"memref.alloca", "memref.atomic_rmw", "memref.copy", "memref.realloc"})

_ADDRESS = "memref.extract_aligned_pointer_as_index"
"""What buffers are told apart by as they are released, of which the host of a GPU knows nothing."""


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
    if _is_number_of_caller(buffer):
        return
    element = memref.alloca(ir.MemRefType.get([], op.results[0].type), [], [])
    _copy(element, _element(buffer, indices))
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
        copy = _on_device(constant, is_resident=True)
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


def _is_number_of_caller(buffer: ir.Value) -> bool:
    """Whether callers give a buffer as a number, by value."""
    if not isinstance(buffer.owner, ir.Block):
        return False
    function = buffer.owner.owner.opview
    if function.operation.name != "func.func" or not is_public(function):
        return False
    return ir.BlockArgument(buffer).arg_number in scalar_arguments(function)


def _arguments_that_stay(function: ir.OpView) -> frozenset[ir.Value]:
    """Those that are on the device already: not weights of the library, and not numbers."""
    block = function.regions[0].blocks[0]
    weights = embedded_weights(function)
    return frozenset(
        argument
        for argument, weight in zip(block.arguments, weights, strict=True)
        if weight is None and not _is_number_of_caller(argument)
    )


def _take_arguments(function: ir.OpView, stay: frozenset[ir.Value]) -> dict[ir.Value, ir.Value]:
    """Copies arguments to the device that something there may touch, but for those that `stay`.

    Gives the copies that are the call's own, which those of weights are not.
    """
    block = function.regions[0].blocks[0]
    copies = {}
    with ir.InsertionPoint.at_block_begin(block):
        for argument, weight in zip(block.arguments, embedded_weights(function), strict=True):
            uses = [use for use in argument.uses if use.owner.operation.name not in _OF_HOST]
            if not uses or argument in stay or not isinstance(argument.type, ir.MemRefType):
                continue
            copy = _on_device(argument, is_resident=weight is not None)
            if weight is None:
                copies[argument] = copy
            for use in uses:
                use.owner.operation.operands[use.operand_number] = copy
    return copies


_OF_HOST = frozenset({"memref.dim", "memref.load"})
"""What is done to an argument where it is. Loads of all but numbers have become copies."""


def _leave_results(block: ir.Block, copies: Mapping[ir.Value, ir.Value]) -> None:
    """Has the results of a function be memory of the caller's, each its own, on the device.

    What is allocated for a result alone is allocated there; of all else there is a copy.
    """
    returned = block.operations[len(block.operations) - 1].operation
    taken: set[ir.Value] = set()
    left: set[ir.Value] = set()
    with returned.location:
        for number, result in enumerate(returned.operands):
            if not isinstance(result.type, ir.MemRefType):
                continue
            origin = origin_of(result)
            if origin not in taken and is_own(origin, block, "gpu.alloc"):
                taken.add(_as_callers(origin))
                continue
            with ir.InsertionPoint(returned):
                place = memref.alloc(
                    ir.MemRefType(result.type), _sizes(result), [], alignment=ALIGNMENT
                )
                _copy(place, result, ON_DEVICE)
            returned.operands[number] = place
            if _is_allocated(origin) and is_own(origin, block, "gpu.alloc"):
                left.add(origin)
        with ir.InsertionPoint(returned):
            for buffer in (*copies.values(), *left):
                gpu.DeallocOp(None, [], buffer)


def _as_callers(allocated: ir.Value) -> ir.Value:
    """Has what was allocated be the caller's; gives it."""
    allocation = allocated.owner.operation
    with ir.InsertionPoint(allocation), allocation.location:
        place = memref.alloc(allocated.type, list(allocation.operands), [], alignment=ALIGNMENT)
    allocated.replace_all_uses_with(place)
    allocation.erase()
    return place


def _give_results(
    block: ir.Block, copies: Mapping[ir.Value, ir.Value], written: Sequence[ir.Value]
) -> None:
    """Copies the results of a function to new memory of the host, and gives device memory back.

    What it has `written` of its arguments, the in-out ones, is copied back to these.
    Of results that come out of branches or loops it is not known here who else has them: the end of
    the call gives those back.
    """
    returned = block.operations[len(block.operations) - 1].operation
    with ir.InsertionPoint(returned), returned.location:
        given: dict[ir.Value, ir.Value] = {}
        for argument in written:
            if argument in copies:
                _copy(argument, copies[argument])
        for number, result in enumerate(returned.operands):
            if not isinstance(result.type, ir.MemRefType):
                continue
            if result not in given:
                type_ = ir.MemRefType(result.type)
                place = memref.alloc(type_, _sizes(result), [], alignment=ALIGNMENT)
                _copy(place, result)
                given[result] = place
            returned.operands[number] = given[result]
        for buffer in (*copies.values(), *filter(_is_allocated, given)):
            gpu.DeallocOp(None, [], buffer)


def _is_allocated(buffer: ir.Value) -> bool:
    return not isinstance(buffer.owner, ir.Block) and buffer.owner.name == "gpu.alloc"


def _on_device(buffer: ir.Value, *, is_resident: bool) -> ir.Value:
    """A copy on the device of a buffer of the host."""
    type_ = ir.MemRefType(buffer.type)
    allocated = gpu.AllocOp(type_, None, [], _sizes(buffer), [])
    if is_resident:
        allocated.operation.attributes[RESIDENT] = ir.UnitAttr.get()
    copy = allocated.results[0]
    _copy(copy, buffer, TO_DEVICE)
    return copy


def _sizes(buffer: ir.Value) -> list[ir.Value]:
    """The sizes of a buffer that its type does not tell."""
    type_ = ir.MemRefType(buffer.type)
    return [
        memref.dim(buffer, index(axis)) for axis in range(type_.rank) if type_.is_dynamic_dim(axis)
    ]


def _copy(target: ir.Value, source: ir.Value, direction: str | None = None) -> None:
    """Copies to host memory, unless the attribute `direction` says otherwise."""
    copy = gpu.MemcpyOp(None, [], target, source)
    if direction is not None:
        copy.operation.attributes[direction] = ir.UnitAttr.get()


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
