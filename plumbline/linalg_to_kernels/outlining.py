"""Moves what is done to buffers outside of kernels into kernels.

LLVM's optimiser takes more than twice as long for a function twice as long, so a model in one
function is out of its reach. In a function of its own a loop nest also knows which of its buffers
are apart in memory, which makes it a loop over vectors. Computations that are alike share a kernel.
"""

from collections.abc import Iterable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from plumbline.bindings.views import NOALIAS, root
from plumbline.bindings.walk import all_operations, captured_values, replace_operands
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.building import PARALLEL
from plumbline.linalg_to_kernels.computations import GENERIC
from plumbline.linalg_to_kernels.shared_functions import SharedFunctions
from plumbline.signature.c_signature import is_public

_LOOPS_ARE_OF = frozenset({"memref.load", "memref.store", "scf.for", "scf.if", "scf.yield"})
"""What loops over elements are made of, besides arithmetic."""


def outline_loops(module: ir.Operation) -> None:
    """Moves each `linalg.generic`, and each nest of loops over elements, into a kernel.

    The kernel is called in its place.
    """
    with module.context:
        functions = SharedFunctions(module)
        for op in [view.operation for view in module.regions[0].blocks[0].operations]:
            if op.name == "func.func" and KERNEL not in op.attributes:
                _outline_in(op.regions[0].blocks, functions)


def _outline_in(blocks: Iterable[ir.Block], functions: SharedFunctions) -> None:
    for block in blocks:
        for op in [view.operation for view in block.operations]:
            if op.name == GENERIC or _is_loop_over_elements(op):
                _outline(op, functions)
                continue
            for region in op.regions:
                _outline_in(region.blocks, functions)


def _is_loop_over_elements(op: ir.Operation) -> bool:
    if op.name != "scf.for" or any(True for result in op.results for _ in result.uses):
        return False
    return is_over_elements(op)


def is_over_elements(loop: ir.Operation) -> bool:
    """Whether all that a nest of loops does are loads, stores, branches and arithmetic."""
    return all(
        inner.name in _LOOPS_ARE_OF or inner.name.partition(".")[0] in ("arith", "math")
        for inner in all_operations(loop)
    )


def _outline(op: ir.Operation, functions: SharedFunctions) -> None:
    used = captured_values(op)
    captured = [value for value in used if not _is_constant(value)]
    noalias = _noalias(captured)
    with ir.InsertionPoint(op), op.location:
        call = func.CallOp([], ir.FlatSymbolRefAttr.get(functions.UNNAMED), captured)
    with functions.insertion_point, op.location:
        types = [value.type for value in captured]
        kernel = func.FuncOp(functions.UNNAMED, (types, []), visibility="private")
        kernel.attributes[KERNEL] = ir.UnitAttr.get()
        if op.name == GENERIC and _are_apart(op, captured, noalias):
            depth = ir.IntegerAttr.get(ir.IndexType.get(), _parallel_loops(op))
            kernel.attributes[PARALLEL] = depth
        kernel.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [ir.DictAttr.get({NOALIAS: ir.UnitAttr.get()} if known else {}) for known in noalias]
        )
        block = kernel.add_entry_block()
        replaced = dict(zip(captured, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            for constant in filter(_is_constant, used):
                clone = constant.owner.operation.clone(ip=ir.InsertionPoint.current)
                replaced[constant] = clone.operation.results[0]
            op.detach_from_parent()
            ir.InsertionPoint.current.insert(op)
            func.ReturnOp([])
        replace_operands(op, replaced)
    kind = "copy_kernel" if _only_copies(op) else "loops_kernel"
    name = functions.shared(kernel.operation, kind)
    call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)


def _only_copies(op: ir.Operation) -> bool:
    """Whether an operation stores elements as they are, and computes nothing but places."""
    if op.name == GENERIC:
        return len(op.regions[0].blocks[0].operations) == 1
    return all(
        inner.name in ("memref.load", "arith.constant")
        or all(isinstance(result.type, ir.IndexType) for result in inner.results)
        for inner in all_operations(op)
    )


def _are_apart(op: ir.Operation, captured: Sequence[ir.Value], noalias: Sequence[bool]) -> bool:
    """Whether no iteration of an operation reads what another one of its parallel loops writes."""
    buffers = [isinstance(value.type, ir.MemRefType) for value in captured]
    if any(is_buffer and not known for is_buffer, known in zip(buffers, noalias, strict=True)):
        return False
    maps = list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    written = dict(zip(reversed(op.operands), reversed(maps), strict=False))
    outputs = set(list(op.operands)[-len(op.opview.outputs) :])
    inside = {operand for inner in all_operations(op)[1:] for operand in inner.operands}
    return not outputs & inside and all(
        map_ == written[value]
        for value, map_ in zip(op.operands, maps, strict=True)
        if value in outputs
    )


def _parallel_loops(op: ir.Operation) -> int:
    """How many of an operation's loops, from the outermost on, are parallel."""
    kinds = [str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])]
    return next((place for place, kind in enumerate(kinds) if "parallel" not in kind), len(kinds))


def _is_constant(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name == "arith.constant"


def _noalias(values: Sequence[ir.Value]) -> list[bool]:
    """For each argument of a kernel whether it is a buffer that shares memory with no other."""
    roots = [root(value) if isinstance(value.type, ir.MemRefType) else None for value in values]
    buffers = [buffer for buffer in roots if buffer is not None]
    known = all(map(_is_known, buffers))
    return [buffer is not None and known and buffers.count(buffer) == 1 for buffer in roots]


def _is_known(buffer: ir.Value) -> bool:
    """Whether a buffer is new, a constant, or an argument of a public function.

    Arguments may be one buffer given twice, but not those that are written.
    """
    owner = buffer.owner
    if isinstance(owner, ir.Block):
        parent = owner.owner
        return (
            parent.operation.name == "func.func"
            and is_public(parent)
            and owner == parent.operation.regions[0].blocks[0]
        )
    # Of an `ir.OpView` the name may be an attribute: the constant's.
    return owner.operation.name in ("memref.alloc", "memref.alloca", "memref.get_global")
