"""Has a program find the memory of its temporaries in a workspace that its caller brings along.

A function that allocates, or calls one that does, takes the bytes of its workspace as one argument
more. What is of a static size lies at its beginning; what is not, behind that, one after the other;
and what a function that it calls takes, behind all that is allocated until then. The latter is free
again when the call returns.

The chunks of a parallel loop (`parallel_loops.py`) are done by several threads at once: wherever
one of them allocates, there is as much for each thread. These are no more than the program was
compiled for: it uses no more then.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from torch_mlir import ir
from torch_mlir.dialects import arith, func, memref

from plumbline.bindings.pipeline import PassFailure
from plumbline.bindings.views import NOALIAS, VIEWS
from plumbline.bindings.walk import (
    all_operations,
    callee,
    defining_operation,
    enclosing_in,
    users_through,
)
from plumbline.errors import UserError
from plumbline.kernels_to_llvm.parallel_loops import FORK
from plumbline.kernels_to_llvm.result_arguments import bytes_type
from plumbline.kernels_to_llvm.size_bounds import SizeBoundReader
from plumbline.kernels_to_llvm.size_building import index_constant
from plumbline.kernels_to_llvm.size_reader import SizeReader, UnknownSize
from plumbline.linalg_to_kernels.planned_memory import LIVE, PLAN, buffer_bytes, planned_bytes
from plumbline.runtime.threads import calls_of_threads, compiled_for
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.signature import WORKSPACE_ALIGNMENT as ALIGNMENT
from plumbline.signature.signature import Workspace
from plumbline.signature.size_expressions import Size, operation

# Of `extract_strided_metadata` the first result. A `view` is what an arena is divided by.
_VIEWS = VIEWS | {"memref.extract_strided_metadata", "memref.view"}
_TERMINATORS = frozenset({"cf.br", "cf.cond_br", "func.return", "scf.condition", "scf.yield"})


_OF_SIZES = _VIEWS | frozenset(
    {
        "arith.addi",
        "arith.cmpi",
        "arith.constant",
        "arith.index_cast",
        "arith.maxsi",
        "arith.minsi",
        "arith.muli",
        "arith.select",
        "arith.subi",
        "memref.dim",
    }
)
"""What sizes are computed by, and may be where nobody asks for them, as no division may."""

_LIVES_ON = (
    'memory "pool": a temporary lives on beyond the loop or the branch that makes it; use '
    'memory "malloc"'
)
_SIZE_OF_LOOP = (
    'memory "pool": a temporary within a loop or a branch has a size that is computed there; use '
    'memory "malloc"'
)


@dataclass
class _Needs:
    """What a function takes of its workspace, in the order in which it takes it."""

    static: int = 0
    """In bytes."""
    steps: list[ir.Operation] = field(default_factory=list)
    """Allocations of dynamic sizes, and calls of functions that need a workspace."""


def workspace_of(function: func.FuncOp, shapes: ArgumentShapes, results: int) -> Workspace:
    """What the temporaries of a program take, whose results are not among them any more.

    The first arguments of `function` may be weights; then come those that `shapes` are of, and so
    many places for results.

    Raises:
      UserError: it does not follow from the sizes of the arguments.
    """
    arguments = list(function.entry_block.arguments)
    weights = len(arguments) - results - len(shapes.shapes)
    known: list[Sequence[Size | None]] = [
        *(list(argument.type.shape) for argument in arguments[:weights]),
        *shapes.shapes,
        *[[None]] * results,
    ]
    try:
        return _workspace(function, SizeBoundReader(function, known, shapes))
    except UnknownSize as unknown:
        raise UserError(
            'memory "pool": the size of a temporary neither follows from those of the arguments '
            f'by a formula, nor is it bounded by one ({unknown}); use memory "malloc", or say '
            "how large it can be with torch._check(n <= 64)"
        ) from None


def take_workspace(body: func.FuncOp) -> None:
    """Rewrites a private function, and those that it calls; each has a workspace then.

    Raises:
      PassFailure: a temporary lives on from one round of a loop to the next, or a loop computes its
        size. Its place has been reported.
    """
    module = body.operation.parent.operation
    _limit_threads(module)
    rewritten: dict[str, bool] = {}
    _rewrite(body, module, rewritten)
    if not rewritten[body.sym_name.value]:
        _add_workspace(body)
    for name in rewritten:
        _refuse_what_is_left(ir.SymbolTable(module)[name])


def _limit_threads(module: ir.Operation) -> None:
    for asked in calls_of_threads(module):
        with ir.InsertionPoint.after(asked), asked.location:
            at_most = arith.minui(asked.results[0], asked.operands[0])
        asked.results[0].replace_all_uses_except(at_most, at_most.owner.operation)


def _called(module: ir.Operation, call: ir.Operation) -> func.FuncOp:
    return ir.SymbolTable(module)[callee(call)]


def _needs(function: func.FuncOp) -> _Needs:
    """What a function needs, before it is rewritten."""
    needs = _Needs()
    module = function.operation.parent.operation
    for op in all_operations(function.operation):
        if op.name == "memref.alloc":
            if op.operands:
                needs.steps.append(op)
            else:
                needs.static += _aligned(_static_bytes(op))
        elif op.name == "func.call" and _has_body(called := _called(module, op)):
            inner = _needs(called)
            if inner.static or inner.steps:
                needs.steps.append(op)
    return needs


def _has_body(function: func.FuncOp) -> bool:
    return bool(function.regions[0].blocks)


def _workspace(function: func.FuncOp, reader: SizeReader) -> Workspace:
    needs = _needs(function)
    module = function.operation.parent.operation
    # Of a loop over chunks, of all threads at once.
    copies = compiled_for(module) if FORK in function.attributes else 1
    taken: Size = needs.static
    found = Workspace(needs.static, *_planned(function))
    for op in needs.steps:
        if op.name == "memref.alloc":
            count: Size = 1
            for operand in op.operands:
                count = operation("*", count, reader.of_number(operand))
            of_one = _static_bytes(op)
            blocks = operation("ceildiv", operation("*", of_one, count), ALIGNMENT)
            taken = operation("+", taken, operation("*", blocks, ALIGNMENT))
            together, most = (
                operation("*", planned_bytes(op, name, of_one), count)
                for name in ("sum", "lower_bound")
            )
            found = found.beside(Workspace(taken, together, most))
        else:
            called = _called(module, op)
            inner = _workspace(called, reader.of_callee(called, op))
            live = _live_bytes(function, op)
            found = found.beside(inner.times(copies).behind(taken, live))
    return found


def _live_bytes(function: func.FuncOp, op: ir.Operation) -> int:
    """The bytes of temporaries of static sizes that are in use when a function calls another."""
    block = function.entry_block
    call = enclosing_in(block, op)
    # Of those within an arena; what its parts are used for cannot be told any more, as one view may
    # serve several that lie at one place.
    live = ir.IntegerAttr(op.attributes[LIVE]).value if LIVE in op.attributes else 0
    for allocation in all_operations(function.operation):
        if allocation.name != "memref.alloc" or allocation.operands:
            continue
        used = users_through(allocation.results[0], _VIEWS)
        users = [user for user in used if user.name != "memref.dealloc"]
        if PLAN not in allocation.attributes and _is_between(block, allocation, call, users):
            live += _static_bytes(allocation)
    return live


def _is_between(
    block: ir.Block, first: ir.Operation, op: ir.Operation, later: Sequence[ir.Operation]
) -> bool:
    """Whether an operation of a block is neither before `first` nor behind all that are `later`."""
    return not op.is_before_in_block(enclosing_in(block, first)) and any(
        not enclosing_in(block, each).is_before_in_block(op) for each in later
    )


def _planned(function: func.FuncOp) -> tuple[int, int]:
    """The sum of all temporaries of static sizes, and what lives of them at once at least."""
    together, most = 0, 0
    for op in all_operations(function.operation):
        if op.name == "memref.alloc" and not op.operands:
            bytes_ = _static_bytes(op)
            together += planned_bytes(op, "sum", bytes_)
            most = max(most, planned_bytes(op, "lower_bound", bytes_))
    return together, most


def _rewrite(function: func.FuncOp, module: ir.Operation, rewritten: dict[str, bool]) -> None:
    """Gives a function a workspace if it needs one, after those that it calls."""
    name = function.sym_name.value
    if name in rewritten:
        return
    operations = all_operations(function.operation)
    for op in operations:
        if op.name == "func.call" and _has_body(called := _called(module, op)):
            _rewrite(called, module, rewritten)
    takes = [
        op
        for op in operations
        if op.name == "memref.alloc" or (op.name == "func.call" and rewritten.get(callee(op)))
    ]
    rewritten[name] = bool(takes)
    if takes:
        worker = _Worker.of(function, module)
        _place(function, takes, _add_workspace(function), worker)


def _add_workspace(function: func.FuncOp) -> ir.Value:
    bytes_ = bytes_type()
    type_ = function.type
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([*type_.inputs, bytes_], type_.results)
    )
    if "arg_attrs" in function.attributes:
        # Nothing else is in it.
        alone = ir.DictAttr.get({NOALIAS: ir.UnitAttr.get()})
        given = ir.ArrayAttr(function.attributes["arg_attrs"])
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([*given, alone])
    return function.entry_block.add_argument(bytes_, function.location)


@dataclass(frozen=True)
class _Worker:
    """Which of at most how many threads does what a function does."""

    number: ir.Value
    count: ir.Value

    @staticmethod
    def of(function: func.FuncOp, module: ir.Operation) -> "_Worker | None":
        """None of a function that is called once at a time."""
        chunks = {
            ir.StringAttr(view.operation.attributes[FORK]).value
            for view in module.regions[0].blocks[0].operations
            if FORK in view.operation.attributes
        }
        if function.sym_name.value not in chunks:
            return None
        number, _share, _piece, shares, *_ = function.entry_block.arguments
        return _Worker(number, shares)

    def place(self, offset: ir.Value, bytes_: ir.Value) -> ir.Value:
        """Where its own bytes lie of those that all workers have from an offset on."""
        return arith.addi(offset, arith.muli(self.number, bytes_))

    def all(self, bytes_: ir.Value) -> ir.Value:
        """The bytes of all workers."""
        return arith.muli(self.count, bytes_)


def _place(
    function: func.FuncOp, takes: list[ir.Operation], workspace: ir.Value, worker: _Worker | None
) -> None:
    block = function.entry_block
    allocations = [op for op in takes if op.name == "memref.alloc"]
    for op in allocations:
        _refuse_what_lives_on(op)
    later = [op for op in takes if op.name != "memref.alloc" or len(op.operands) > 0]
    static = 0
    for op in allocations:
        if len(op.operands) > 0:
            continue
        bytes_ = _aligned(_static_bytes(op))
        with ir.InsertionPoint(op), op.location:
            place = index_constant(static)
            if worker is not None:
                place = worker.place(worker.all(place), index_constant(bytes_))
            placed = memref.view(op.results[0].type, workspace, place, [])
        _replace(op, placed)
        static += bytes_
    with ir.InsertionPoint.at_block_begin(block), function.location:
        offset = index_constant(static)
        if worker is not None:
            offset = worker.all(offset)
        none = index_constant(0)
    for op in later:
        outer = enclosing_in(block, op)
        with ir.InsertionPoint(outer), op.location:
            if op.name == "memref.alloc":
                offset = _place_dynamic(op, block, workspace, offset, worker)
            else:
                own = memref.view(workspace.type, workspace, offset, [none])
                _hand_over(op, own)


def _place_dynamic(
    op: ir.Operation,
    block: ir.Block,
    workspace: ir.Value,
    offset: ir.Value,
    worker: _Worker | None,
) -> ir.Value:
    """Puts an allocation at an offset; gives that of what comes next."""
    operands = list(op.operands)
    outer = enclosing_in(block, op)
    if not all(_is_computed_before(outer, operand) for operand in operands):
        _refuse(op, _SIZE_OF_LOOP)
    bytes_ = index_constant(_static_bytes(op))
    for operand in operands:
        bytes_ = arith.muli(bytes_, operand)
    # All offsets are multiples of the alignment.
    alignment = index_constant(ALIGNMENT)
    bytes_ = arith.muli(arith.ceildivui(bytes_, alignment), alignment)
    place = offset if worker is None else worker.place(offset, bytes_)
    following = arith.addi(offset, bytes_ if worker is None else worker.all(bytes_))
    _replace(op, memref.view(op.results[0].type, workspace, place, operands))
    return following


def _is_computed_before(outer: ir.Operation, number: ir.Value) -> bool:
    """Whether a number, or a buffer, is known in front of an operation.

    If it is computed within that, and need not be, it is computed before from now on.
    """
    op = defining_operation(number)
    if op is None:
        return bool(number.owner == outer.block)
    if op.block == outer.block:
        return True
    if op.name not in _OF_SIZES:
        return False
    is_known = all(_is_computed_before(outer, operand) for operand in op.operands)
    if is_known:
        op.move_before(outer)
    return is_known


def _hand_over(call: ir.Operation, own: ir.Value) -> None:
    """Has a call hand over a workspace as its last argument."""
    callee = ir.FlatSymbolRefAttr(call.attributes["callee"])
    with ir.InsertionPoint(call), call.location:
        types = [result.type for result in call.results]
        new = func.CallOp(types, callee, [*call.operands, own])
    for old, result in zip(call.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    call.erase()


def _replace(op: ir.Operation, placed: ir.Value) -> None:
    for user in [*users_through(op.results[0], _VIEWS)]:
        if user.name == "memref.dealloc":
            user.erase()
    op.results[0].replace_all_uses_with(placed)
    op.erase()


def _refuse_what_lives_on(op: ir.Operation) -> None:
    for user in users_through(op.results[0], _VIEWS):
        if user.name in _TERMINATORS:
            _refuse(op, _LIVES_ON)


def _refuse_what_is_left(function: func.FuncOp) -> None:
    """Refuses what would be given back to the heap, though it need not be from there."""
    for op in all_operations(function.operation):
        if op.name in ("memref.alloc", "memref.dealloc"):
            _refuse(op, _LIVES_ON)


def _refuse(op: ir.Operation, message: str) -> NoReturn:
    op.location.emit_error(message)
    raise PassFailure


def _aligned(bytes_: int) -> int:
    return -(-bytes_ // ALIGNMENT) * ALIGNMENT


def _static_bytes(op: ir.Operation) -> int:
    """The bytes of an allocation for 1 in each dynamic dimension."""
    return buffer_bytes(ir.MemRefType(op.results[0].type))
