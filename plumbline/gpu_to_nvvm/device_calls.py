"""What the host does to the device: calls of the runtime in `plumbline/runtime/cuda`.

The runtime keeps what a call of the program has allocated and what went wrong first; after that it
does nothing more. So nothing is asked after each of its functions, but where the host reads what
the device has computed, and at the end. The end of a call, and its failure, give everything back.
"""

import math
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func, gpu, llvm, memref

from plumbline.bindings.pipeline import PassFailure
from plumbline.bindings.walk import all_operations, defining_operation
from plumbline.errors import UserError
from plumbline.kernels_to_llvm.building import (
    address_of,
    call,
    declare,
    define_string,
    element,
    integer,
    integer_type,
    is_null,
    null,
    pointer_type,
)
from plumbline.kernels_to_llvm.device_arguments import DEVICE_BEGIN
from plumbline.kernels_to_llvm.device_workspace import allocate_by_memrefs
from plumbline.kernels_to_llvm.failures import ON_FAILURE
from plumbline.kernels_to_llvm.pointer_entries import buffer_at
from plumbline.linalg_to_gpu.device_memory import ON_DEVICE, TO_DEVICE
from plumbline.linalg_to_kernels.building import index, product
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.llvm_to_asm.ptx import IMAGE, PROGRAM, PROGRAM_WORDS
from plumbline.runtime.requirement import TEXT, require
from plumbline.signature.c_signature import functions_with_bodies, is_public
from plumbline.signature.device_tensors import RESIDENT, has_device_tensors
from plumbline.target.choices import MEMORIES, QUEUES, one_of

_BEGIN = DEVICE_BEGIN
_ALLOCATE = "plumbline_cuda_allocate"
_FREE = "plumbline_cuda_free"
_RESIDENT = "plumbline_cuda_resident"
_COPY_TO_DEVICE = "plumbline_cuda_copy_to_device"
_PUT_ON_DEVICE = "plumbline_cuda_put_on_device"
_COPY_ON_DEVICE = "plumbline_cuda_copy_on_device"
_COPY_TO_HOST = "plumbline_cuda_copy_to_host"
_LAUNCH = "plumbline_cuda_launch"
_SUBMIT = "plumbline_cuda_submit"
_FAILURE = "plumbline_cuda_failure"
_END = "plumbline_cuda_end"


def lower_device_calls(
    module: ir.Operation, memory: Sequence[str] = (), queue: Sequence[str] = ()
) -> None:
    """Puts calls of the runtime in the place of what functions of `module` do to the device.

    Args:
      module: what it is done to.
      memory: where temporaries come from, one of `choices.MEMORIES`. With "pool" they become
        allocations that `workspace.py` places, in device memory as well.
      queue: what the work is queued on, one of `choices.QUEUES`.

    Raises:
      UserError: there is no such choice, or it does not go with the program.
      PassFailure: the host waits for the device, and has a stream of the caller's; that has been
        reported.
    """
    is_pool = one_of(MEMORIES, "memory", memory) == "pool"
    is_stream = one_of(QUEUES, "queue", queue) == "stream"
    with module.context, module.location:
        functions = [
            function
            for public in (True, False)
            for function in functions_with_bodies(module, "func.func", public=public)
            if any(op.name.startswith("gpu.") for op in all_operations(function.operation))
            or has_device_tensors(function)
        ]
        if not functions:
            return
        if is_stream:
            _refuse_waiting(functions)
        if is_pool:
            allocate_by_memrefs(module)
        with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
            _declare(ir.SymbolTable(module))
        program = _Program(module)
        check = _define_check(module)
        for function in functions:
            with function.location:
                program.lower(function, check)
        for function in functions:
            if is_public(function):
                with function.location:
                    waits = has_device_tensors(function) and not is_stream
                    program.begin_and_end(function, check, waits=waits)


def _refuse_waiting(functions: Sequence[ir.OpView]) -> None:
    """Refuses what has the host wait for the device."""
    waits = False
    for function in functions:
        if is_public(function) and not has_device_tensors(function):
            raise UserError("stream: it goes with tensors on the device (on_gpu_tensors)")
        for op in all_operations(function.operation):
            if _is_to_host(op):
                op.location.emit_error(
                    "stream = True: the host looks at what the device computes here, for which a "
                    "call has to wait. Where that is a check of values (an index, a divisor), "
                    "compile without these (runtime_checks=off); else without stream"
                )
                waits = True
    if waits:
        raise PassFailure


def _is_to_host(op: ir.Operation) -> bool:
    return op.name == "gpu.memcpy" and not {TO_DEVICE, ON_DEVICE} & set(op.attributes)


def _declare(symbols: ir.SymbolTable) -> None:
    pointer, word, number = pointer_type(), integer_type(), integer_type(32)
    declare(symbols, _BEGIN, [pointer, pointer, word, word, number, pointer, pointer, word])
    declare(symbols, _ALLOCATE, [word], pointer)
    declare(symbols, _FREE, [pointer])
    declare(symbols, _RESIDENT, [word, pointer, word], pointer)
    for copy in (_COPY_TO_DEVICE, _PUT_ON_DEVICE, _COPY_ON_DEVICE, _COPY_TO_HOST):
        declare(symbols, copy, [pointer, pointer, word])
    declare(symbols, _LAUNCH, [pointer, word, word, word, pointer, word])
    declare(symbols, _SUBMIT, [number])
    declare(symbols, _FAILURE, [], pointer)
    declare(symbols, _END, [])
    external = ir.Attribute.parse("#llvm.linkage<external>")
    bytes_ = llvm.ArrayType.get(integer_type(8), 0)
    llvm.GlobalOp(bytes_, IMAGE, external, constant=True)
    llvm.GlobalOp(llvm.ArrayType.get(word, PROGRAM_WORDS), PROGRAM, external)


class _Names:
    """The names of kernels, as strings of C's."""

    def __init__(self, module: ir.Operation) -> None:
        self._block = module.regions[0].blocks[0]
        self._known: set[str] = set()

    def of(self, name: str) -> ir.Value:
        """The address of a name."""
        symbol = f"plumbline_kernel_{name}"
        if name not in self._known:
            with ir.InsertionPoint.at_block_begin(self._block):
                define_string(symbol, name)
            self._known.add(name)
        return address_of(symbol)


def _define_check(module: ir.Operation) -> str:
    """Defines a function that fails if something has gone wrong on the device; gives its name."""
    with ir.InsertionPoint(module.regions[0].blocks[0]):
        function = func.FuncOp("check_device", ([], []), visibility="private")
        with ir.InsertionPoint(function.add_entry_block()):
            text = call(_FAILURE, [], pointer_type()).result
            require(is_null(text), TEXT, [llvm.PtrToIntOp(integer_type(), text).result])
            func.ReturnOp([])
    return str(ir.SymbolTable(module).insert(function).value)


class _Program:
    """What is lowered of a module, and what it then keeps and takes on the device."""

    def __init__(self, module: ir.Operation) -> None:
        self._names = _Names(module)
        self._residents = 0
        self._planned = 0
        """How many bytes calls allocate, as far as types tell."""

    def lower(self, function: ir.OpView, check: str) -> None:
        """Replaces the operations of a function."""
        for op in all_operations(function.operation):
            if op.name == "gpu.alloc" and RESIDENT not in op.attributes:
                type_ = ir.MemRefType(op.results[0].type)
                if type_.has_static_shape:
                    self._planned += math.prod(type_.shape) * element_bytes(type_.element_type)
        self._residents += _Lowering(function, self._names, check, self._residents).run()

    def begin_and_end(self, function: ir.OpView, check: str, *, waits: bool) -> None:
        """Has a public function begin a call of the runtime's, and end it whatever happens."""
        function.attributes[ON_FAILURE] = ir.FlatSymbolRefAttr.get(_END)
        block = function.regions[0].blocks[0]
        with ir.InsertionPoint.at_block_begin(block):
            counts = [integer(self._residents), integer(self._planned)]
            of_call = [integer(0, 32), null(), null(), integer(0)]
            call(_BEGIN, [address_of(PROGRAM), address_of(IMAGE), *counts, *of_call])
        end = block.operations[len(block.operations) - 1]
        with ir.InsertionPoint(end), end.location:
            call(_SUBMIT, [integer(int(waits), 32)])
            func.CallOp([], ir.FlatSymbolRefAttr.get(check), [])
            call(_END, [])


class _Lowering:
    """The operations of one function."""

    def __init__(self, function: ir.OpView, names: _Names, check: str, residents: int) -> None:
        """So many `residents` there are of other functions."""
        self._function, self._names, self._check = function.operation, names, check
        self._first, self._residents = residents, 0

    def run(self) -> int:
        """Replaces all of them; gives how many tensors of theirs stay on the device."""
        self._upload_residents()
        ops = all_operations(self._function)
        launches = [op.opview for op in ops if op.name == "gpu.launch_func"]
        words = [sum(map(_count_words, launch.kernelOperands)) for launch in launches]
        with ir.InsertionPoint.at_block_begin(self._function.regions[0].blocks[0]):
            # One for all: the runtime has read it when a launch returns.
            memory = llvm.AllocaOp(pointer_type(), integer(max(words, default=1)), integer_type())
        for op in ops:
            with op.location:
                match op.name:
                    case "gpu.alloc":
                        self._allocate(op)
                    case "gpu.dealloc":
                        with ir.InsertionPoint(op):
                            call(_FREE, [_address(op.operands[0])])
                        op.erase()
                    case "gpu.memcpy":
                        self._copy(op)
                    case "gpu.launch_func":
                        self._launch(op, memory.result)
        return self._residents

    def _upload_residents(self) -> None:
        """Has the runtime copy what stays on the device, where it is to be copied there."""
        ops = all_operations(self._function)
        for op in [op for op in ops if op.name == "gpu.alloc" and RESIDENT in op.attributes]:
            (resident,) = op.results
            (copy,) = (
                use.owner.operation
                for use in resident.uses
                if use.owner.operation.name == "gpu.memcpy" and use.operand_number == 0
            )
            source = copy.operands[1]
            type_ = ir.MemRefType(resident.type)
            with ir.InsertionPoint(copy), op.location:
                sizes = [index(size) for size in type_.shape]
                number = integer(self._first + self._residents)
                operands = [number, _address(source), _bytes(type_, sizes)]
                pointer = call(_RESIDENT, operands, pointer_type()).result
                place = buffer_at(pointer, type_, sizes)
            self._residents += 1
            copy.erase()
            resident.replace_all_uses_with(place)
            op.erase()

    def _allocate(self, op: ir.Operation) -> None:
        type_ = ir.MemRefType(op.results[0].type)
        with ir.InsertionPoint(op):
            dynamic = iter(op.operands)
            sizes = [
                next(dynamic) if type_.is_dynamic_dim(axis) else index(type_.shape[axis])
                for axis in range(type_.rank)
            ]
            pointer = call(_ALLOCATE, [_bytes(type_, sizes)], pointer_type()).result
            op.results[0].replace_all_uses_with(buffer_at(pointer, type_, sizes))
        op.erase()

    def _copy(self, op: ir.Operation) -> None:
        target, source = op.operands
        with ir.InsertionPoint(op):
            type_ = ir.MemRefType(target.type)
            metadata = memref.ExtractStridedMetadataOp(target).results
            bytes_ = _bytes(type_, list(metadata[2 : 2 + type_.rank]))
            function = _COPY_TO_HOST
            if TO_DEVICE in op.attributes:
                # Where tensors are on the device, what is not there is a number given by value.
                is_number = has_device_tensors(self._function.opview)
                function = _PUT_ON_DEVICE if is_number else _COPY_TO_DEVICE
            elif ON_DEVICE in op.attributes:
                function = _COPY_ON_DEVICE
            call(function, [_address(target), _address(source), bytes_])
            owner = defining_operation(target)
            if owner is not None and owner.name == "memref.alloca":
                # The host is about to look at it.
                func.CallOp([], ir.FlatSymbolRefAttr.get(self._check), [])
        op.erase()

    def _launch(self, op: ir.Operation, memory: ir.Value) -> None:
        launch = op.opview
        assert isinstance(launch, gpu.LaunchFuncOp)
        with ir.InsertionPoint(op):
            words = [word for value in launch.kernelOperands for word in _words(value)]
            for number, word in enumerate(words):
                llvm.StoreOp(word, element(memory, number, integer_type()))
            name = self._names.of(ir.SymbolRefAttr(launch.kernel).value[-1])
            blocks, threads = _word(launch.gridSizeX), _word(launch.blockSizeX)
            shared = launch.dynamicSharedMemorySize
            bytes_ = integer(0) if shared is None else _word(shared)
            call(_LAUNCH, [name, blocks, threads, bytes_, memory, integer(len(words))])
        op.erase()


def _count_words(value: ir.Value) -> int:
    if isinstance(value.type, ir.MemRefType):
        return 3 + 2 * int(ir.MemRefType(value.type).rank)
    return 1


def _words(value: ir.Value) -> list[ir.Value]:
    """An operand of a kernel, as NVVM takes it, in words of 64 bits, whose first bytes it is."""
    type_ = value.type
    if isinstance(type_, ir.MemRefType):
        base = memref.extract_aligned_pointer_as_index(value)
        _, *numbers = memref.ExtractStridedMetadataOp(value).results
        return [_word(part) for part in (base, base, *numbers)]
    if isinstance(type_, ir.FloatType):
        value = arith.bitcast(integer_type(type_.width), value)
    return [_word(value)]


def _word(value: ir.Value) -> ir.Value:
    if isinstance(value.type, ir.IndexType):
        return arith.index_cast(integer_type(), value)
    return value if value.type == integer_type() else arith.extui(integer_type(), value)


def _address(buffer: ir.Value) -> ir.Value:
    """The address of a buffer's first element."""
    base = memref.extract_aligned_pointer_as_index(buffer)
    offset = memref.ExtractStridedMetadataOp(buffer).results[1]
    size = index(element_bytes(ir.MemRefType(buffer.type).element_type))
    address = arith.addi(base, arith.muli(offset, size))
    return llvm.IntToPtrOp(pointer_type(), _word(address)).result


def _bytes(type_: ir.MemRefType, sizes: Sequence[ir.Value]) -> ir.Value:
    return _word(product([*sizes, index(element_bytes(type_.element_type))]))
