"""Has a function write its results to memory that its caller brings along.

Each result of a `func.func` on memrefs becomes one argument more, its bytes (`memref<?xi8>`). What
the function has allocated for a result alone is put there. Any other result is copied: one that
comes out of a branch or a loop, or of a called function, or that shares memory with another. What
the function returns then is the sizes of its results that no caller knows.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func, memref, scf

from plumbline.kernels_to_llvm.size_building import index_constant
from plumbline.linalg_to_kernels.own_results import is_own, memory_of, origin_of
from plumbline.signature.unbacked_size import UnbackedSize


def take_results_as_arguments(function: func.FuncOp, unbacked: Sequence[UnbackedSize]) -> None:
    """Rewrites a private function without branches to other blocks, whose results are its own.

    That is, each is memory that the caller would have to free, once. It then returns those of their
    sizes that are `unbacked`, in order.
    """
    block = function.entry_block
    (*_, returned) = block.operations
    count = len(returned.operands)
    bytes_ = bytes_type()
    places = [block.add_argument(bytes_, function.location) for _ in range(count)]
    type_ = function.type
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(
            [*type_.inputs, *[bytes_] * count], [ir.IndexType.get()] * len(unbacked)
        )
    )
    copied: list[int] = []
    taken: set[ir.Value] = set()
    for number, place in enumerate(places):
        # What it was before, it need not be any more: an earlier result may be the same.
        result = returned.operands[number]
        origin = origin_of(result)
        if origin not in taken and is_own(origin, block, "memref.alloc"):
            taken.add(_put(origin, place))
        else:
            with ir.InsertionPoint(returned), returned.location:
                _copy(result, _view(result, place), [])
            copied.append(number)
    with ir.InsertionPoint(returned), returned.location:
        sizes = [
            memref.dim(returned.operands[size.output], index_constant(size.axis))
            for size in unbacked
        ]
        # One that is a part of a later result is the caller's by now.
        memories = dict.fromkeys(memory_of(returned.operands[number]) for number in copied)
        _release([memory for memory in memories if memory not in taken])
        func.ReturnOp(sizes)
    returned.operation.erase()


def _put(allocated: ir.Value, place: ir.Value) -> ir.Value:
    """Puts what is allocated somewhere else; gives it as it is there."""
    allocation = allocated.owner.operation
    with ir.InsertionPoint(allocation), allocation.location:
        placed = memref.view(allocated.type, place, index_constant(0), list(allocation.operands))
    allocated.replace_all_uses_with(placed)
    allocation.erase()
    return placed


def _view(result: ir.Value, place: ir.Value) -> ir.Value:
    type_ = ir.MemRefType(result.type)
    sizes = [
        memref.dim(result, index_constant(axis))
        for axis in range(type_.rank)
        if type_.is_dynamic_dim(axis)
    ]
    return memref.view(type_, place, index_constant(0), sizes)


def _copy(source: ir.Value, target: ir.Value, at: Sequence[ir.Value]) -> None:
    """Copies element by element below `at`.

    Of a memref.copy between layouts that it cannot see through MLIR makes a call of a function that
    no library here has.
    """
    if len(at) == ir.MemRefType(source.type).rank:
        memref.store(memref.load(source, at), target, at)
        return
    size = memref.dim(source, index_constant(len(at)))
    loop = scf.ForOp(index_constant(0), size, index_constant(1))
    with ir.InsertionPoint(loop.body):
        _copy(source, target, [*at, loop.induction_variable])
        scf.YieldOp([])


def _release(buffers: Sequence[ir.Value]) -> None:
    """Frees buffers that may share memory with one another."""
    addresses = [memref.extract_aligned_pointer_as_index(buffer) for buffer in buffers]
    for number, buffer in enumerate(buffers):
        if number == 0:
            memref.dealloc(buffer)
            continue
        is_new = None
        for other in addresses[:number]:
            differs = arith.cmpi(arith.CmpIPredicate.ne, addresses[number], other)
            is_new = differs if is_new is None else arith.andi(is_new, differs)
        branch = scf.IfOp(is_new)
        with ir.InsertionPoint(branch.then_block):
            memref.dealloc(buffer)
            scf.YieldOp([])


def bytes_type() -> ir.MemRefType:
    """The type of memory that a caller brings along."""
    return ir.MemRefType.get([ir.ShapedType.get_dynamic_size()], ir.IntegerType.get_signless(8))
