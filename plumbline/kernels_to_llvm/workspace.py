"""Has a program find the memory of its temporaries in a workspace that its caller brings along.

A function that allocates, or calls one that does, takes the bytes of its workspace as one argument
more. What is of a static size lies at its beginning; what is not, behind that, one after the other;
and what a function that it calls takes, behind all that is allocated until then. The latter is free
again when the call returns.

The chunks of a parallel loop (`parallel_loops.py`) run at once: wherever one of them allocates,
there is as much for each. There are no more chunks than threads that the program was compiled for:
it uses no more then.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir.dialects import arith, func, memref

from plumbline.argument_shapes import ArgumentShapes
from plumbline.errors import UserError
from plumbline.kernels_to_llvm.parallel_loops import FORK
from plumbline.kernels_to_llvm.result_arguments import bytes_type
from plumbline.kernels_to_llvm.result_sizes import SizeReader, UnknownSize
from plumbline.kernels_to_llvm.size_building import index_constant
from plumbline.planned_memory import PLAN, element_bytes
from plumbline.signature import WORKSPACE_ALIGNMENT as ALIGNMENT
from plumbline.signature import Workspace
from plumbline.size_expressions import Size, operation
from plumbline.threads import calls_of_threads, compiled_for
from plumbline.walk import all_operations, enclosing_in

_VIEWS = frozenset(
    {
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        # Its first result.
        "memref.extract_strided_metadata",
        "memref.reinterpret_cast",
        "memref.subview",
        "memref.view",
    }
)
_TERMINATORS = frozenset({"cf.br", "cf.cond_br", "func.return", "scf.condition", "scf.yield"})


_LIVES_ON = (
    'memory "pool": a temporary lives on beyond the loop or the branch that makes it; use '
    'memory "malloc"'
)


@dataclass
class _Needs:
    """What a function takes of its workspace, in the order in which it takes it."""

    static: int = 0
    """In bytes."""
    steps: list[ir.Operation] = field(default_factory=list)
    """Allocations of dynamic sizes, and calls of functions that need a workspace."""


def workspace_of(function: func.FuncOp, shapes: ArgumentShapes) -> Workspace:
    """What the temporaries of a program take, whose results are not among them any more.

    The first arguments of `function` may be weights; then come those that `shapes` are of.

    Raises:
      UserError: it does not follow from the sizes of the arguments.
    """
    arguments = list(function.entry_block.arguments)
    places = [argument.type == bytes_type() for argument in arguments].count(True)
    weights = len(arguments) - places - len(shapes.shapes)
    known: list[Sequence[Size | None]] = [
        *(list(argument.type.shape) for argument in arguments[:weights]),
        *shapes.shapes,
        *[[None]] * places,
    ]
    try:
        return _workspace(function, SizeReader(function, known, shapes))
    except UnknownSize as unknown:
        raise UserError(
            f'memory "pool": the size of a temporary does not follow from those of the arguments '
            f'by a formula ({unknown}); use memory "malloc"'
        ) from None


def take_workspace(body: func.FuncOp) -> None:
    """Rewrites a private function, and those that it calls; each has a workspace then.

    Raises:
      UserError: a temporary lives on from one round of a loop to the next.
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
    return ir.SymbolTable(module)[ir.FlatSymbolRefAttr(call.attributes["callee"]).value]


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
        elif op.name == "func.call" and _has_body(callee := _called(module, op)):
            inner = _needs(callee)
            if inner.static or inner.steps:
                needs.steps.append(op)
    return needs


def _has_body(function: func.FuncOp) -> bool:
    return bool(function.regions[0].blocks)


def _workspace(function: func.FuncOp, reader: SizeReader) -> Workspace:
    needs = _needs(function)
    module = function.operation.parent.operation
    # Of a loop over chunks, all at once.
    copies = compiled_for(module) if FORK in function.attributes else 1
    taken: Size = needs.static
    lifetimes = [*_lifetimes(function)] if needs.steps else []
    found = Workspace(needs.static, *_planned(function))
    for op in needs.steps:
        if op.name == "memref.alloc":
            bytes_: Size = _static_bytes(op)
            for operand in op.operands:
                bytes_ = operation("*", bytes_, reader.of_number(operand))
            blocks = operation("ceildiv", bytes_, ALIGNMENT)
            taken = operation("+", taken, operation("*", blocks, ALIGNMENT))
            found = found.beside(Workspace(taken, bytes_, bytes_))
        else:
            callee = _called(module, op)
            inner = _workspace(callee, reader.of_callee(callee, op))
            call = enclosing_in(function.entry_block, op)
            live = sum(each.bytes for each in lifetimes if each.covers(call))
            found = found.beside(inner.times(copies).behind(taken, live))
    return found


@dataclass(frozen=True, eq=False)
class _Lifetime:
    """When a temporary of a static size is in use, by operations of its function's block."""

    bytes: int
    first: ir.Operation
    last: ir.Operation

    def covers(self, op: ir.Operation) -> bool:
        """Whether it is in use at an operation of that block."""
        return not (op.is_before_in_block(self.first) or self.last.is_before_in_block(op))


def _lifetimes(function: func.FuncOp) -> Iterator[_Lifetime]:
    """Of all temporaries of static sizes, those within arenas among them."""
    block = function.entry_block
    for op in all_operations(function.operation):
        if op.name != "memref.alloc" or op.operands:
            continue
        is_arena = PLAN in op.attributes
        for temporary in _users(op.results[0], through=frozenset()) if is_arena else [op]:
            if temporary.name == "memref.dealloc":
                continue
            first = last = enclosing_in(block, temporary)
            for user in _users(temporary.results[0]):
                outer = enclosing_in(block, user)
                if user.name != "memref.dealloc" and last.is_before_in_block(outer):
                    last = outer
            yield _Lifetime(_static_bytes(temporary), first, last)


def _planned(function: func.FuncOp) -> tuple[int, int]:
    """The sum of all temporaries of static sizes, and what lives of them at once at least."""
    together, most = 0, 0
    for op in all_operations(function.operation):
        if op.name == "memref.alloc" and not op.operands:
            bytes_ = bound = _static_bytes(op)
            if PLAN in op.attributes:
                plan = ir.DictAttr(op.attributes[PLAN])
                bytes_ = ir.IntegerAttr(plan["sum"]).value
                bound = ir.IntegerAttr(plan["lower_bound"]).value
            together, most = together + bytes_, max(most, bound)
    return together, most


def _rewrite(function: func.FuncOp, module: ir.Operation, rewritten: dict[str, bool]) -> None:
    """Gives a function a workspace if it needs one, after those that it calls."""
    name = function.sym_name.value
    if name in rewritten:
        return
    operations = all_operations(function.operation)
    for op in operations:
        if op.name == "func.call" and _has_body(callee := _called(module, op)):
            _rewrite(callee, module, rewritten)
    takes = [
        op
        for op in operations
        if op.name == "memref.alloc"
        or (
            op.name == "func.call"
            and rewritten.get(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
        )
    ]
    rewritten[name] = bool(takes)
    if takes:
        chunk = _Chunk.of(function, module)
        _place(function, takes, _add_workspace(function), chunk)


def _add_workspace(function: func.FuncOp) -> ir.Value:
    bytes_ = bytes_type()
    type_ = function.type
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([*type_.inputs, bytes_], type_.results)
    )
    if "arg_attrs" in function.attributes:
        # Nothing else is in it.
        alone = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()})
        given = ir.ArrayAttr(function.attributes["arg_attrs"])
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([*given, alone])
    return function.entry_block.add_argument(bytes_, function.location)


@dataclass(frozen=True)
class _Chunk:
    """Which of how many chunks a function does."""

    number: ir.Value
    count: ir.Value

    @staticmethod
    def of(function: func.FuncOp, module: ir.Operation) -> "_Chunk | None":
        """None of a function that is called once at a time."""
        chunks = {
            ir.StringAttr(view.operation.attributes[FORK]).value
            for view in module.regions[0].blocks[0].operations
            if FORK in view.operation.attributes
        }
        if function.sym_name.value not in chunks:
            return None
        number, count, *_ = function.entry_block.arguments
        return _Chunk(number, count)

    def place(self, offset: ir.Value, bytes_: ir.Value) -> ir.Value:
        """Where its own bytes lie of those that all chunks have from an offset on."""
        return arith.addi(offset, arith.muli(self.number, bytes_))

    def all(self, bytes_: ir.Value) -> ir.Value:
        """The bytes of all chunks."""
        return arith.muli(self.count, bytes_)


def _place(
    function: func.FuncOp, takes: list[ir.Operation], workspace: ir.Value, chunk: _Chunk | None
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
            if chunk is not None:
                place = chunk.place(chunk.all(place), index_constant(bytes_))
            placed = memref.view(op.results[0].type, workspace, place, [])
        _replace(op, placed)
        static += bytes_
    with ir.InsertionPoint.at_block_begin(block), function.location:
        offset = index_constant(static)
        if chunk is not None:
            offset = chunk.all(offset)
        none = index_constant(0)
    for op in later:
        outer = enclosing_in(block, op)
        with ir.InsertionPoint(outer), op.location:
            if op.name == "memref.alloc":
                offset = _place_dynamic(op, block, workspace, offset, chunk)
            else:
                own = memref.view(workspace.type, workspace, offset, [none])
                _hand_over(op, own)


def _place_dynamic(
    op: ir.Operation,
    block: ir.Block,
    workspace: ir.Value,
    offset: ir.Value,
    chunk: _Chunk | None,
) -> ir.Value:
    """Puts an allocation at an offset; gives that of what comes next."""
    operands = list(op.operands)
    if any(_block_of(operand) != block for operand in operands):
        raise UserError(
            'memory "pool": a temporary within a loop has a size that the loop computes; use '
            'memory "malloc"'
        )
    bytes_ = index_constant(_static_bytes(op))
    for operand in operands:
        bytes_ = arith.muli(bytes_, operand)
    # All offsets are multiples of the alignment.
    alignment = index_constant(ALIGNMENT)
    bytes_ = arith.muli(arith.ceildivui(bytes_, alignment), alignment)
    place = offset if chunk is None else chunk.place(offset, bytes_)
    following = arith.addi(offset, bytes_ if chunk is None else chunk.all(bytes_))
    _replace(op, memref.view(op.results[0].type, workspace, place, operands))
    return following


def _block_of(value: ir.Value) -> ir.Block:
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


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
    for user in [*_users(op.results[0])]:
        if user.name == "memref.dealloc":
            user.erase()
    op.results[0].replace_all_uses_with(placed)
    op.erase()


def _refuse_what_lives_on(op: ir.Operation) -> None:
    for user in _users(op.results[0]):
        if user.name in _TERMINATORS:
            raise UserError(_LIVES_ON)


def _refuse_what_is_left(function: func.FuncOp) -> None:
    """Refuses what would be given back to the heap, though it need not be from there."""
    for op in all_operations(function.operation):
        if op.name in ("memref.alloc", "memref.dealloc"):
            raise UserError(_LIVES_ON)


def _users(buffer: ir.Value, *, through: frozenset[str] = _VIEWS) -> Iterator[ir.Operation]:
    """The operations that use a buffer, also by way of views of these kinds."""
    for use in buffer.uses:
        user = use.owner.operation
        yield user
        if user.name in through:
            yield from _users(user.results[0])


def _aligned(bytes_: int) -> int:
    return -(-bytes_ // ALIGNMENT) * ALIGNMENT


def _static_bytes(op: ir.Operation) -> int:
    """The bytes of an allocation for 1 in each dynamic dimension."""
    type_ = ir.MemRefType(op.results[0].type)
    sizes = [
        type_.get_dim_size(axis) for axis in range(type_.rank) if not type_.is_dynamic_dim(axis)
    ]
    return int(math.prod(sizes)) * element_bytes(type_.element_type)
