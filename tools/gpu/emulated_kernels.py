"""Makes functions for the CPU of the kernels of a GPU, for the stand-in driver to run.

They are made of the gpu stage, of which the PTX is made too. A thread is a call of the function:
which one, and all that it does together with others, it asks the driver.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, builtin, func, gpu, llvm, memref, vector

from plumbline.bindings.pipeline import Pipeline
from plumbline.bindings.walk import all_operations, replace_operands
from plumbline.context import lent_context
from plumbline.kernels_to_llvm.building import (
    call,
    declare,
    element,
    integer,
    integer_type,
    memref_struct,
    pointer_type,
)
from plumbline.kernels_to_llvm.conversion import BUILD_C_ABI, KERNELS_TO_LLVM
from plumbline.kernels_to_llvm.failures import RETURN_FAILURES
from plumbline.linalg_to_kernels.building import index, total
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.llvm_to_asm.llvm_ir import GPU_MODULE, translate_to_llvm_ir

PREFIX = "plumbline_emulated_"
"""How the names begin of these functions, and of those that they call."""

CALLED = (
    *("barrier", "block_dim", "block_id", "commit_copies", "copy", "dynamic_shared", "grid_dim"),
    *("load_matrices", "multiply_matrices", "multiply_rows", "multiply_tiles", "shared"),
    *("shuffle_up", "shuffle_xor", "thread_id", "wait_for_copies"),
)
"""What they call, after that prefix."""

_TO_LLVM = Pipeline(
    "to-llvm",
    tuple(
        step
        for step in KERNELS_TO_LLVM.steps
        if getattr(step, "pass_", step) not in (BUILD_C_ABI, RETURN_FAILURES)
    ),
)


def emulated_kernels(gpu_stage: str) -> tuple[str, list[str]]:
    """LLVM IR of a function for each kernel in the text of a gpu stage, and the kernels' names.

    A function takes a pointer to pointers to the kernel's parameters, as `cuLaunchKernel` does.
    """
    with lent_context(torch=True) as context, context, ir.Location.unknown():
        return _translated(gpu_stage)


def _translated(gpu_stage: str) -> tuple[str, list[str]]:
    source = ir.Module.parse(gpu_stage)
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        _declare(ir.SymbolTable(module.operation))
        names = [
            _emulate(view.opview)
            for kernels in source.body.operations
            if kernels.operation.name == GPU_MODULE
            for view in kernels.regions[0].blocks[0].operations
            if view.operation.name == "gpu.func"
        ]
    _TO_LLVM.run(module)
    return translate_to_llvm_ir(module), names


def _declare(symbols: ir.SymbolTable) -> None:
    word = integer_type()
    declare(symbols, PREFIX + "dynamic_shared", [], pointer_type())
    for name in ("block_dim", "block_id", "grid_dim", "thread_id"):
        declare(symbols, PREFIX + name, [], word)
    declare(symbols, PREFIX + "barrier", [])
    declare(symbols, PREFIX + "commit_copies", [])
    declare(symbols, PREFIX + "copy", [word, word, word, word])
    declare(symbols, PREFIX + "load_matrices", [word, word, pointer_type()])
    declare(symbols, PREFIX + "multiply_matrices", [word, *[pointer_type()] * 3])
    declare(symbols, PREFIX + "multiply_rows", [*[word] * 3, pointer_type(), word, pointer_type()])
    declare(symbols, PREFIX + "multiply_tiles", [*[word] * 6, pointer_type()])
    declare(symbols, PREFIX + "wait_for_copies", [word])
    declare(symbols, PREFIX + "shared", [word, word], pointer_type())
    for mode in _SHUFFLES.values():
        declare(symbols, PREFIX + mode, [word, integer_type(32)], word)


def _emulate(kernel: gpu.GPUFuncOp) -> str:
    name = ir.StringAttr(kernel.attributes["sym_name"]).value
    body = kernel.regions[0].blocks[0]
    type_ = ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value)
    function = func.FuncOp(PREFIX + name, ([pointer_type()], []))
    with ir.InsertionPoint(function.add_entry_block()):
        parameters = _Parameters(function.arguments[0])
        count = len(type_.inputs)
        inside: dict[ir.Value, ir.Value] = {
            argument: parameters.take(argument.type) for argument in list(body.arguments)[:count]
        }
        offset = 0
        shared = list(body.arguments)[count:]
        told = kernel.attributes["workgroup_attrib_attrs"] if shared else []
        for argument, attributes in zip(shared, told, strict=True):
            alignment = ir.IntegerAttr(attributes["llvm.align"]).value
            offset = -(-offset // alignment) * alignment
            inside[argument], offset = _shared(ir.MemRefType(argument.type), offset)
        for view in body.operations:
            if view.operation.name == "gpu.return":
                func.ReturnOp([])
                continue
            clone = view.operation.clone(ip=ir.InsertionPoint.current).operation
            inside |= zip(view.operation.results, clone.results, strict=True)
            replace_operands(clone, inside)
    for op in all_operations(function.operation):
        for result in op.results:
            if isinstance(result.type, ir.MemRefType):
                result.set_type(_common(ir.MemRefType(result.type)))
    for op in all_operations(function.operation):
        if op.name in _EMULATED:
            with ir.InsertionPoint(op), op.location:
                results = _EMULATED[op.name](op)
            # Nobody asks for the token of a copy.
            for old, new in zip(op.results, results, strict=bool(results)):
                old.replace_all_uses_with(new)
            op.erase()
    return str(name)


class _Parameters:
    """The parameters of a kernel, taken one after the other."""

    def __init__(self, pointers: ir.Value) -> None:
        self._pointers, self._taken = pointers, 0

    def take(self, type_: ir.Type) -> ir.Value:
        """The next one."""
        if isinstance(type_, ir.IndexType):
            return arith.index_cast(type_, self._word(integer_type()))
        if not isinstance(type_, ir.MemRefType):
            return self._word(type_)
        words: list[Sequence[int]] = [[0], [1], [2]]
        words += [[field, axis] for field in (3, 4) for axis in range(type_.rank)]
        descriptor = llvm.UndefOp(memref_struct(type_)).result
        for place in words:
            word = self._word(pointer_type() if place in ([0], [1]) else integer_type())
            where = ir.DenseI64ArrayAttr.get(list(place))
            descriptor = llvm.InsertValueOp(descriptor, word, where).result
        return builtin.unrealized_conversion_cast([type_], [descriptor])

    def _word(self, type_: ir.Type) -> ir.Value:
        place = llvm.LoadOp(pointer_type(), element(self._pointers, self._taken, pointer_type()))
        self._taken += 1
        return llvm.LoadOp(type_, place.result).result


def _shared(type_: ir.MemRefType, offset: int) -> tuple[ir.Value, int]:
    """A shared buffer, as one of common memory, and where it ends."""
    bytes_ = element_bytes(type_.element_type)
    for size in type_.shape:
        bytes_ *= size
    pointer = call(PREFIX + "shared", [integer(offset), integer(bytes_)], pointer_type()).result
    return _at(pointer, _common(type_)), offset + bytes_


def _at(pointer: ir.Value, plain: ir.MemRefType) -> ir.Value:
    """A buffer of the host's memory; one of unknown size goes as far as whoever looks at it."""
    descriptor = llvm.UndefOp(memref_struct(plain)).result
    strides, _ = plain.get_strides_and_offset()
    words = [([0], pointer), ([1], pointer), ([2], integer(0))]
    words += [([3, axis], integer(max(size, 0))) for axis, size in enumerate(plain.shape)]
    words += [([4, axis], integer(stride)) for axis, stride in enumerate(strides)]
    for place, word in words:
        where = ir.DenseI64ArrayAttr.get(place)
        descriptor = llvm.InsertValueOp(descriptor, word, where).result
    return builtin.unrealized_conversion_cast([plain], [descriptor])


def _common(type_: ir.MemRefType) -> ir.MemRefType:
    """The type of such a buffer in memory of the host, of which there is one kind."""
    return ir.MemRefType.get(type_.shape, type_.element_type, type_.layout)


def _address(buffer: ir.Value, indices: Sequence[ir.Value]) -> ir.Value:
    """Where an element of a buffer lies, as a word."""
    type_ = ir.MemRefType(buffer.type)
    _, offset, *sizes_and_strides = memref.ExtractStridedMetadataOp(buffer).results
    strides = sizes_and_strides[type_.rank :]
    moved = [arith.muli(at, stride) for at, stride in zip(indices, strides, strict=True)]
    bytes_ = arith.muli(total([offset, *moved]), index(element_bytes(type_.element_type)))
    start = memref.extract_aligned_pointer_as_index(buffer)
    return arith.index_cast(integer_type(), arith.addi(start, bytes_))


def _number(name: str) -> Callable[[ir.Operation], list[ir.Value]]:
    def build(op: ir.Operation) -> list[ir.Value]:
        number = call(PREFIX + name, [], integer_type()).result
        return [arith.index_cast(ir.IndexType.get(), number)]

    return build


def _barrier(op: ir.Operation) -> list[ir.Value]:
    call(PREFIX + "barrier", [])
    return []


def _dynamic_shared(op: ir.Operation) -> list[ir.Value]:
    pointer = call(PREFIX + "dynamic_shared", [], pointer_type()).result
    return [_at(pointer, _common(ir.MemRefType(op.results[0].type)))]


_SHUFFLES = {gpu.ShuffleMode.UP: "shuffle_up", gpu.ShuffleMode.XOR: "shuffle_xor"}
"""What stands for `gpu.shuffle`, by its mode, where all lanes take part."""


def _shuffle(op: ir.Operation) -> list[ir.Value]:
    value, offset, _ = op.operands
    # The bindings have no class for this attribute.
    mode = next(mode for mode in _SHUFFLES if str(op.attributes["mode"]).endswith(f" {mode}>"))
    type_ = value.type
    bits = integer_type(type_.width)
    if isinstance(type_, ir.FloatType):
        value = arith.bitcast(bits, value)
    word = value if bits == integer_type() else arith.extui(integer_type(), value)
    there = call(PREFIX + _SHUFFLES[mode], [word, offset], integer_type()).result
    there = there if bits == integer_type() else arith.trunci(bits, there)
    if isinstance(type_, ir.FloatType):
        there = arith.bitcast(type_, there)
    return [there, arith.constant(integer_type(1), 1)]


def _copy(op: ir.Operation) -> list[ir.Value]:
    """Copies elements, and zeros after them; they are there when they have been waited for."""
    copy = op.opview
    element = element_bytes(ir.MemRefType(copy.dst.type).element_type)
    bytes_ = integer(ir.IntegerAttr(copy.dstElements).value * element)
    read = bytes_
    if copy.srcElements is not None:
        elements = arith.index_cast(integer_type(), copy.srcElements)
        read = arith.muli(elements, integer(element))
    to, from_ = (
        _address(buffer, list(indices))
        for buffer, indices in ((copy.dst, copy.dstIndices), (copy.src, copy.srcIndices))
    )
    call(PREFIX + "copy", [to, from_, bytes_, read])
    return []


def _commit(op: ir.Operation) -> list[ir.Value]:
    call(PREFIX + "commit_copies", [])
    return []


def _wait(op: ir.Operation) -> list[ir.Value]:
    call(PREFIX + "wait_for_copies", [integer(ir.IntegerAttr(op.attributes["n"]).value)])
    return []


def _load_matrices(op: ir.Operation) -> list[ir.Value]:
    load = op.opview
    address = _address(load.srcMemref, list(load.indices))
    place = _stack(op, op.results[0].type)
    transposes = integer(int(ir.BoolAttr(load.transpose).value))
    call(PREFIX + "load_matrices", [address, transposes, place])
    return [_loaded(place, op.results[0].type)]


_KINDS = {"f16": 0, "bf16": 1, "f32": 2, "i8": 3}
"""What `mma` multiplies, as the stand-in counts them."""


def _multiply_matrices(op: ir.Operation) -> list[ir.Value]:
    kind = integer(_KINDS[str(ir.VectorType(op.operands[0].type).element_type)])
    places = []
    for operand in op.operands:
        place = _stack(op, operand.type)
        flat = _flat(operand.type)
        llvm.StoreOp(vector.shape_cast(flat, operand), place)
        places.append(place)
    call(PREFIX + "multiply_matrices", [kind, *places])
    return [_loaded(places[-1], op.results[0].type)]


def _multiply_tiles(op: ir.Operation) -> list[ir.Value]:
    """Each thread does so by itself, as both operands are in shared memory."""
    sums, *descriptors = op.operands
    kind = str(op.attributes["typeA"]).split("<")[1].rstrip(">")
    along_sums = [
        layout in str(op.attributes[name])
        for name, layout in (("layoutA", "row"), ("layoutB", "col"))
    ]
    columns = 2 * len(llvm.StructType(sums.type).body)
    numbers = [_KINDS[kind], *along_sums, columns]
    place = _room(op, sums.type)
    llvm.StoreOp(sums, place)
    call(PREFIX + "multiply_tiles", [*map(integer, map(int, numbers)), *descriptors, place])
    return [llvm.LoadOp(sums.type, place).result]


_ROWS_BY_TILE = re.compile(
    r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k16\.f32\.(\w+)\.\w+ .*, ([01]);"
)


def _multiply_rows(op: ir.Operation) -> list[ir.Value]:
    """What a warp group multiplies of registers with a tile, which is told in PTX."""
    told = _ROWS_BY_TILE.fullmatch(ir.StringAttr(op.attributes["asm_string"]).value)
    if told is None:
        raise ValueError(f"nobody emulates {op}")
    columns, kind, is_across_sums = int(told[1]), told[2], int(told[3])
    *values, descriptor = op.operands
    sums, words = values[: columns // 2], values[columns // 2 :]
    places = []
    for given in (words, sums):
        type_ = ir.VectorType.get([len(given)], given[0].type)
        places.append(_stack(op, type_))
        llvm.StoreOp(vector.from_elements(type_, given), places[-1])
    numbers = [_KINDS[kind], 1 - is_across_sums, columns]
    call(PREFIX + "multiply_rows", [*map(integer, numbers), places[0], descriptor, places[1]])
    return [llvm.LoadOp(op.results[0].type, places[1]).result]


def _nothing(op: ir.Operation) -> list[ir.Value]:
    """What says when others are to see something, who see it at once."""
    return []


def _flat(type_: ir.Type) -> ir.VectorType:
    vector_type = ir.VectorType(type_)
    return ir.VectorType.get([math.prod(vector_type.shape)], vector_type.element_type)


def _loaded(place: ir.Value, type_: ir.Type) -> ir.Value:
    return vector.shape_cast(type_, llvm.LoadOp(_flat(type_), place).result)


def _stack(op: ir.Operation, type_: ir.Type) -> ir.Value:
    """Room for a vector."""
    return _room(op, _flat(type_))


def _room(op: ir.Operation, type_: ir.Type) -> ir.Value:
    """Room for a value, which is the function's: an operation may be in a loop."""
    while op.name != "func.func":
        op = op.parent.operation
    with ir.InsertionPoint.at_block_begin(op.regions[0].blocks[0]):
        return llvm.AllocaOp(pointer_type(), integer(1), ir.TypeAttr.get(type_)).result


_EMULATED: Mapping[str, Callable[[ir.Operation], list[ir.Value]]] = {
    "gpu.barrier": _barrier,
    "gpu.block_dim": _number("block_dim"),
    "gpu.block_id": _number("block_id"),
    "gpu.dynamic_shared_memory": _dynamic_shared,
    "gpu.grid_dim": _number("grid_dim"),
    "gpu.shuffle": _shuffle,
    "gpu.thread_id": _number("thread_id"),
    "llvm.inline_asm": _multiply_rows,
    "nvgpu.device_async_copy": _copy,
    "nvgpu.ldmatrix": _load_matrices,
    "nvgpu.mma.sync": _multiply_matrices,
    "nvvm.cp.async.commit.group": _commit,
    "nvvm.cp.async.wait.group": _wait,
    "nvvm.fence.proxy": _nothing,
    "nvvm.wgmma.commit.group.sync.aligned": _nothing,
    "nvvm.wgmma.fence.aligned": _nothing,
    "nvvm.wgmma.mma_async": _multiply_tiles,
    "nvvm.wgmma.wait.group.sync.aligned": _nothing,
}
