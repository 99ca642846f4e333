"""What the host does to the device: calls of the runtime in `plumbline/runtime/cuda`.

The runtime keeps what a call of the program has allocated and what went wrong first; after that it
does nothing more. So nothing is asked after each of its functions, but where the host reads what
the device has computed, and at the end. The end of a call, and its failure, give everything back.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func, gpu, llvm, memref

from plumbline.c_signature import functions_with_bodies
from plumbline.kernels_to_llvm.building import (
    INTERNAL,
    address_of,
    call,
    declare,
    define_string,
    element,
    integer,
    integer_type,
    pointer_type,
)
from plumbline.kernels_to_llvm.failures import ON_FAILURE
from plumbline.kernels_to_llvm.pointer_entries import buffer_at
from plumbline.linalg_to_gpu.device_memory import TO_DEVICE
from plumbline.linalg_to_kernels.building import index, product
from plumbline.llvm_to_asm.ptx import PTX
from plumbline.planned_memory import element_bytes
from plumbline.requirement import require
from plumbline.walk import all_operations, defining_operation

BEGIN = "plumbline_cuda_begin"
ALLOCATE = "plumbline_cuda_allocate"
FREE = "plumbline_cuda_free"
COPY_TO_DEVICE = "plumbline_cuda_copy_to_device"
COPY_TO_HOST = "plumbline_cuda_copy_to_host"
LAUNCH = "plumbline_cuda_launch"
FAILURE = "plumbline_cuda_failure"
END = "plumbline_cuda_end"

_STATE = "plumbline_cuda_state"
"""What the runtime remembers of the program from one call to the next: its module, once loaded."""

_STATE_WORDS = 2

FAILURES = (
    "no NVIDIA driver was found: there is no library libcuda.so.1 that can be loaded here",
    "the NVIDIA driver is too old: its library lacks a function that CUDA 11 has",
    "the NVIDIA driver gives no GPU that can be used: CUDA error {}",
    "the NVIDIA driver does not take the kernels of this program: CUDA error {}",
    "there is no device memory: CUDA error {} for {} bytes",
    "a kernel could not be launched: CUDA error {}",
    "a copy to or from device memory failed, or a kernel before it: CUDA error {}, {} bytes",
)
"""What may go wrong, by the numbers from 1 on that the runtime has for it."""


def lower_device_calls(module: ir.Operation) -> None:
    """Puts calls of the runtime in the place of what functions of `module` do to the device."""
    with module.context, module.location:
        functions = [
            function
            for public in (True, False)
            for function in functions_with_bodies(module, "func.func", public=public)
            if any(op.name.startswith("gpu.") for op in all_operations(function.operation))
        ]
        if not functions:
            return
        with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
            _declare(ir.SymbolTable(module))
        names = _Names(module)
        check = _define_check(module)
        for function in functions:
            with function.location:
                _Lowering(function, names, check).run()
                if "sym_visibility" not in function.attributes:
                    _begin_and_end(function, check)


def _declare(symbols: ir.SymbolTable) -> None:
    pointer, word = pointer_type(), integer_type()
    declare(symbols, BEGIN, [pointer, pointer])
    declare(symbols, ALLOCATE, [word], pointer)
    declare(symbols, FREE, [pointer])
    declare(symbols, COPY_TO_DEVICE, [pointer, pointer, word])
    declare(symbols, COPY_TO_HOST, [pointer, pointer, word])
    declare(symbols, LAUNCH, [pointer, word, word, pointer, word])
    declare(symbols, FAILURE, [integer_type(32)], word)
    declare(symbols, END, [])
    bytes_ = llvm.ArrayType.get(integer_type(8), 0)
    llvm.GlobalOp(bytes_, PTX, ir.Attribute.parse("#llvm.linkage<external>"), constant=True)
    state = llvm.ArrayType.get(integer_type(), _STATE_WORDS)
    zero = ir.DenseElementsAttr.get_splat(
        ir.RankedTensorType.get([_STATE_WORDS], integer_type()),
        ir.IntegerAttr.get(integer_type(), 0),
    )
    llvm.GlobalOp(state, _STATE, ir.Attribute.parse(INTERNAL), value=zero)


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
            word = integer_type()
            kind, *numbers = (
                call(FAILURE, [integer(number, 32)], word).result for number in range(3)
            )
            for code, message in enumerate(FAILURES, start=1):
                holds = arith.cmpi(arith.CmpIPredicate.ne, kind, arith.constant(word, code))
                require(holds, message, numbers)
            func.ReturnOp([])
    return str(ir.SymbolTable(module).insert(function).value)


def _begin_and_end(function: ir.OpView, check: str) -> None:
    """Has a public function begin a call of the runtime's, and end it whatever happens."""
    function.attributes[ON_FAILURE] = ir.FlatSymbolRefAttr.get(END)
    block = function.regions[0].blocks[0]
    with ir.InsertionPoint.at_block_begin(block):
        call(BEGIN, [address_of(PTX), address_of(_STATE)])
    end = block.operations[len(block.operations) - 1]
    with ir.InsertionPoint(end), end.location:
        func.CallOp([], ir.FlatSymbolRefAttr.get(check), [])
        call(END, [])


class _Lowering:
    """The operations of one function."""

    def __init__(self, function: ir.OpView, names: _Names, check: str) -> None:
        self._names, self._check = names, check
        self._ops = all_operations(function.operation)
        self._entry = function.regions[0].blocks[0]

    def run(self) -> None:
        """Replaces all of them."""
        launches = [op.opview for op in self._ops if op.name == "gpu.launch_func"]
        words = [sum(map(_count_words, launch.kernelOperands)) for launch in launches]
        with ir.InsertionPoint.at_block_begin(self._entry):
            # One for all: the runtime has read it when a launch returns.
            memory = llvm.AllocaOp(pointer_type(), integer(max(words, default=1)), integer_type())
        for op in self._ops:
            with op.location:
                match op.name:
                    case "gpu.alloc":
                        self._allocate(op)
                    case "gpu.dealloc":
                        with ir.InsertionPoint(op):
                            call(FREE, [_address(op.operands[0])])
                        op.erase()
                    case "gpu.memcpy":
                        self._copy(op)
                    case "gpu.launch_func":
                        self._launch(op, memory.result)

    def _allocate(self, op: ir.Operation) -> None:
        type_ = ir.MemRefType(op.results[0].type)
        with ir.InsertionPoint(op):
            dynamic = iter(op.operands)
            sizes = [
                next(dynamic) if type_.is_dynamic_dim(axis) else index(type_.shape[axis])
                for axis in range(type_.rank)
            ]
            pointer = call(ALLOCATE, [_bytes(type_, sizes)], pointer_type()).result
            op.results[0].replace_all_uses_with(buffer_at(pointer, type_, sizes))
        op.erase()

    def _copy(self, op: ir.Operation) -> None:
        target, source = op.operands
        with ir.InsertionPoint(op):
            type_ = ir.MemRefType(target.type)
            metadata = memref.ExtractStridedMetadataOp(target).results
            bytes_ = _bytes(type_, list(metadata[2 : 2 + type_.rank]))
            to_device = TO_DEVICE in op.attributes
            function = COPY_TO_DEVICE if to_device else COPY_TO_HOST
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
            call(LAUNCH, [name, blocks, threads, memory, integer(len(words))])
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
