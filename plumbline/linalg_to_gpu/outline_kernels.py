"""What comes after launches are built, and before kernels are functions of their own."""

from collections.abc import Callable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith, gpu, memref

from plumbline.bindings.walk import all_operations, callee
from plumbline.linalg_to_gpu.contraction_tiles import VECTOR_BYTES
from plumbline.linalg_to_gpu.launch_loops import LAUNCH
from plumbline.linalg_to_gpu.launches import STAND_INS, WORKGROUP, buffer_bytes
from plumbline.linalg_to_gpu.warp_groups import PRODUCT_STAND_INS
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.building import index
from plumbline.target.gpu_chip import DECLARED_BYTES, SHARED_ALIGNMENT

MODULE = "kernels"
"""The `gpu.module` of all kernels of a program."""

STORE = "store_kernel"
"""What a kernel is called that is launched for a number which the host has computed."""

_STAND_INS: Mapping[str, Callable[..., ir.OpView]] = {**STAND_INS, **PRODUCT_STAND_INS}


def name_launches(module: ir.Operation) -> None:
    """Says of each launch what its kernel is to be called: as the function that it is in.

    That one may then be inlined. What buffer deallocation could not have seen takes its form: calls
    become what they stand for, and shared buffers attributions of the launch.
    """
    with module.context:
        for view in list(module.regions[0].blocks[0].operations):
            function = view.operation
            if function.name != "func.func":
                continue
            name = ir.StringAttr(function.attributes["sym_name"]).value
            if name in _STAND_INS:
                function.erase()
                continue
            if KERNEL in function.attributes:
                del function.attributes[KERNEL]
            else:
                name = STORE
            for op in all_operations(function):
                if op.name == LAUNCH:
                    op.attributes["module"] = ir.FlatSymbolRefAttr.get(MODULE)
                    op.attributes["function"] = ir.FlatSymbolRefAttr.get(name)
                    attribute_buffers(op)
                elif op.name == "func.call" and callee(op) in _STAND_INS:
                    with ir.InsertionPoint(op), op.location:
                        made = _STAND_INS[callee(op)](*op.operands)
                    for old, new in zip(op.results, made.operation.results, strict=True):
                        old.replace_all_uses_with(new)
                    op.erase()


def share_at_launch(module: ir.Operation) -> None:
    """Has launches give kernels the memory that these share, where they may not declare as much."""
    with module.context:
        kernels = [op for op in all_operations(module) if op.name == "gpu.func"]
        given = {
            ir.StringAttr(op.attributes["sym_name"]).value: _take_dynamically(op)
            for op in kernels
            if _shared_bytes(op) > DECLARED_BYTES
        }
        for op in all_operations(module):
            if op.name == "gpu.launch_func":
                name = ir.SymbolRefAttr(op.opview.kernel).value[-1]
                if name in given:
                    _give(op, given[name])


def align_shared_buffers(module: ir.Operation) -> None:
    """Has the shared buffers of kernels begin where a thread can read or write the most at once.

    Tiles begin where tensor cores can read them.
    """
    with module.context:
        i64 = ir.IntegerType.get_signless(64)
        for op in all_operations(module):
            if types := shared_types(op):
                op.attributes["workgroup_attrib_attrs"] = ir.ArrayAttr.get(
                    [
                        ir.DictAttr.get({"llvm.align": ir.IntegerAttr.get(i64, _alignment(type_))})
                        for type_ in types
                    ]
                )


def keep_tiles_in_registers(module: ir.Operation) -> None:
    """Says of kernels with tiles in shared memory that one of their blocks at a time is enough.

    So that several have room in a multiprocessor, ptxas has a thread do with 128 registers, and
    puts what it has of a tile beyond these into memory. Kernels that share a few numbers, as those
    of rows do, are the better for several blocks; those that are a loop have one.
    """
    with module.context:
        one = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
        for op in all_operations(module):
            if _shared_bytes(op) >= _LEAST_TILE or _has_dynamic_memory(op) or _has_one_block(op):
                op.attributes["nvvm.minctasm"] = one


_LEAST_TILE = 2048
"""Bytes. What warps tell each other takes 8 for each of 32."""


def _shared_buffers(op: ir.Operation) -> int:
    """How many buffers the threads of a block share, of a kernel or a launch; 0 of others."""
    has_some = op.name in ("gpu.func", LAUNCH)
    count = op.attributes.get("workgroup_attributions") if has_some else None
    return 0 if count is None else int(ir.IntegerAttr(count).value)


def shared_types(op: ir.Operation) -> list[ir.MemRefType]:
    """The types of these."""
    count = _shared_buffers(op)
    arguments = list(op.regions[0].blocks[0].arguments)[-count:] if count else []
    return [ir.MemRefType(argument.type) for argument in arguments]


def _shared_bytes(op: ir.Operation) -> int:
    """How much memory the threads of a block share, of a kernel; 0 of other operations."""
    return sum(map(buffer_bytes, shared_types(op)))


def _alignment(type_: ir.MemRefType) -> int:
    """Where a buffer in shared memory is to begin: at a multiple of so many bytes."""
    return SHARED_ALIGNMENT if buffer_bytes(type_) >= _LEAST_TILE else VECTOR_BYTES


def _has_dynamic_memory(op: ir.Operation) -> bool:
    """Whether it is a kernel to which its launches give shared memory."""
    inside = all_operations(op) if op.name == "gpu.func" else []
    return any(inner.name == "gpu.dynamic_shared_memory" for inner in inside)


def attribute_buffers(launch: ir.Operation) -> None:
    """Makes the shared buffers of a launch arguments of its body, which is how it has them."""
    body = launch.regions[0].blocks[0]
    buffers = [view.operation for view in body.operations if _is_shared(view.operation)]
    for op in buffers:
        argument = body.add_argument(op.results[0].type, op.location)
        op.results[0].replace_all_uses_with(argument)
        op.erase()
    count = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(buffers))
    launch.attributes["workgroup_attributions"] = count


def _take_dynamically(kernel: ir.Operation) -> int:
    """Makes views of dynamic shared memory of a kernel's shared buffers; gives its size."""
    body = kernel.regions[0].blocks[0]
    count = _shared_buffers(kernel)
    first = len(body.arguments) - count
    space = ir.Attribute.parse(WORKGROUP)
    unknown = ir.ShapedType.get_dynamic_size()
    bytes_ = ir.IntegerType.get_signless(8)
    taken = 0
    with ir.InsertionPoint.at_block_begin(body), kernel.location:
        raw = ir.MemRefType.get([unknown], bytes_, memory_space=space)
        memory = gpu.dynamic_shared_memory(raw)
        for argument in list(body.arguments)[first:]:
            type_ = ir.MemRefType(argument.type)
            alignment = _alignment(type_)
            taken = -(-taken // alignment) * alignment
            argument.replace_all_uses_with(memref.ViewOp(type_, memory, index(taken), []).result)
            taken += buffer_bytes(type_)
    for _ in range(count):
        body.erase_argument(first)
    del kernel.attributes["workgroup_attributions"]
    return taken


def _give(op: ir.Operation, bytes_: int) -> None:
    """Has a launch give its kernel so much shared memory."""
    launch = op.opview
    assert isinstance(launch, gpu.LaunchFuncOp)
    with ir.InsertionPoint(op), op.location:
        given = arith.constant(ir.IntegerType.get_signless(32), bytes_)
        gpu.LaunchFuncOp(
            ir.SymbolRefAttr(launch.kernel).value,
            (launch.gridSizeX, launch.gridSizeY, launch.gridSizeZ),
            (launch.blockSizeX, launch.blockSizeY, launch.blockSizeZ),
            list(launch.kernelOperands),
            dynamic_shared_memory_size=given,
        )
    op.erase()


def _is_shared(op: ir.Operation) -> bool:
    if op.name != "memref.alloca":
        return False
    space = ir.MemRefType(op.results[0].type).memory_space
    return bool(space == ir.Attribute.parse(WORKGROUP))


def _has_one_block(op: ir.Operation) -> bool:
    """Whether it is a kernel of which there is never more than one block."""
    return op.name == "gpu.func" and list(op.opview.known_grid_size or ()) == [1, 1, 1]
