"""Gives each parallel loop of a kernel functions of its own, which threads can be handed.

In place of a loop `scf.forall (%share, %piece) in (%shares, 4)` of a kernel `foo` stands a call of
`foo_chunks(%shares, ...)`. That calls `foo_chunk(%worker, %share, %piece, %shares, ...)` for each,
one after the other, as worker 0; `forks.py` has threads do so, once functions have the arguments
that they keep. Where each share is one piece, the loop may count shares alone.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func, scf

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.views import NOALIAS, VIEWS, is_apart
from plumbline.bindings.walk import captured_values, replace_operands

FORK = "plumbline.fork"
"""The attribute of a function whose calls of another may be done at once: that one's name."""

PIECES = "plumbline.pieces"
"""The attribute of such a function: in how many pieces each share is done."""

_KERNEL = "no_inline"
_REPEATED = VIEWS | {"memref.dim", "memref.extract_strided_metadata", "ub.poison"}
"""What each chunk does itself, beside arithmetic, rather than being handed what comes of it: then
all buffers that it is handed are apart in memory, which LLVM is told of arguments only."""


def outline_parallel_loops(module: ir.Operation) -> None:
    """Puts functions in the place of parallel loops."""
    with module.context:
        symbols = ir.SymbolTable(module)
        for view in list(module.regions[0].blocks[0].operations):
            kernel = view.operation
            if kernel.name == "func.func" and _KERNEL in kernel.attributes:
                for op in list(kernel.regions[0].blocks[0].operations):
                    if isinstance(op, scf.ForallOp) and _has_shares(op):
                        _outline(kernel, op, symbols)


def _has_shares(loop: scf.ForallOp) -> bool:
    """Whether a loop counts shares, whose number is known when it runs, and perhaps pieces."""
    static = [list(loop.staticLowerBound), list(loop.staticStep)]
    if static not in ([[0], [1]], [[0, 0], [1, 1]]) or len(loop.dynamicUpperBound) != 1:
        return False
    return bool(ir.ShapedType.is_dynamic_size(loop.staticUpperBound[0]))


def _outline(kernel: ir.Operation, forall: scf.ForallOp, symbols: ir.SymbolTable) -> None:
    loop = forall.operation
    (shares,) = loop.operands
    _, pieces = [*forall.staticUpperBound, 1][:2]
    _repeat_inside(loop)
    captured = [value for value in captured_values(loop) if value != shares]
    given = [shares, *captured]
    types = [value.type for value in given]
    name = ir.StringAttr(kernel.attributes["sym_name"]).value
    with loop.location, ir.InsertionPoint.after(kernel):
        chunk = _function(symbols, f"{name}_chunk", [*[ir.IndexType.get()] * 3, *types])
        chunk.attributes[_KERNEL] = ir.UnitAttr.get()
        noalias = ir.DictAttr.get({NOALIAS: ir.UnitAttr.get()})
        nothing = ir.DictAttr.get({})
        chunk.arg_attrs = ir.ArrayAttr.get(
            [*[nothing] * 3, *(noalias if is_apart(value) else nothing for value in given)]
        )
        all_chunks = _function(symbols, f"{name}_chunks", types)
        all_chunks.attributes[FORK] = ir.StringAttr.get(chunk.sym_name.value)
        all_chunks.attributes[PIECES] = ir.IntegerAttr.get(ir.IndexType.get(), pieces)
        with ir.InsertionPoint(all_chunks.add_entry_block()):
            none, one, all_pieces = (
                arith.constant(ir.IndexType.get(), number) for number in (0, 1, pieces)
            )
            share = scf.ForOp(none, all_chunks.arguments[0], one)
            with ir.InsertionPoint(share.body):
                piece = scf.ForOp(none, all_pieces, one)
                with ir.InsertionPoint(piece.body):
                    numbers = [none, share.induction_variable, piece.induction_variable]
                    func.CallOp(chunk, [*numbers, *all_chunks.arguments])
                    scf.YieldOp([])
                scf.YieldOp([])
            func.ReturnOp([])
        with ir.InsertionPoint(loop):
            func.CallOp(all_chunks, given)
        entry = chunk.add_entry_block()
        body = loop.regions[0].blocks[0]
        numbers, same = entry.arguments[1:3], entry.arguments[3:]
        values = dict(zip(body.arguments, numbers, strict=False))
        values |= zip(given, same, strict=True)
        with ir.InsertionPoint(entry):
            # All but the terminator.
            for op in list(body.operations)[:-1]:
                op.detach_from_parent()
                ir.InsertionPoint.current.insert(op)
                replace_operands(op.operation, values)
            func.ReturnOp([])
    loop.erase()


def _function(symbols: ir.SymbolTable, name: str, types: Sequence[ir.Type]) -> func.FuncOp:
    """A private function of a name like this, without a body yet."""
    function = func.FuncOp(name, (list(types), []), visibility="private")
    symbols.insert(function)
    return function


def _repeat_inside(loop: ir.Operation) -> None:
    """Has a loop do itself what it uses of that which is cheap, before it."""
    captured = set(captured_values(loop)) - set(loop.operands)
    body = loop.regions[0].blocks[0]
    before = []
    for view in loop.block.operations:
        if view.operation == loop:
            break
        before.append(view.operation)
    inside: dict[ir.Value, ir.Value] = {}
    for op in reversed(before):
        repeated = op.name in _REPEATED or op.name.startswith("arith.")
        if repeated and captured & set(op.results):
            copy = op.clone(ip=ir.InsertionPoint.at_block_begin(body)).operation
            inside |= zip(op.results, copy.results, strict=True)
            captured |= set(op.operands)
    for view in body.operations:
        replace_operands(view.operation, inside)


OUTLINE_PARALLEL_LOOPS = Pass(
    "outline-parallel-loops",
    "Give parallel loops of kernels functions of their own, which threads can be handed",
    outline_parallel_loops,
)
