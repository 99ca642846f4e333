"""Splits the outermost loops of kernels between threads.

Which iterations are independent the builders of kernels say: they mark such loops
(`building.PARALLEL`). Of loops that nobody has built it is found out (`independent_loops.py`).
Iterations of the outermost one, and of those within it if it is too short,
are counted through. Each thread has a share of them, in pieces; a chunk is one piece of one share,
from one number to another:

    %threads = func.call @plumbline_threads(%c2) : (index) -> index
    %shares = arith.minsi %threads, %most : index
    scf.forall (%share, %piece) in (%shares, 4) {
      %buffer = memref.alloca() : memref<...>
      %first = ...
      %last = ...
      scf.for %i = %first to %last step %c1 {

Who has done his own share goes on with pieces of others (`kernels_to_llvm/forks.py`). Buffers that
are used nowhere but in the loop are each chunk's own; of those that several loops use, or that the
kernel is given, each has one of its own if builders say that it may (`building.SCRATCH`). No sum is
split, nor what LLVM makes one vector of: results are the same bits whoever does a chunk, for every
number of threads above one, and for one thread but at the ends of rows (docs/threads.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf

from plumbline.bindings.views import NEW_MEMORY, VIEWS, root
from plumbline.bindings.walk import all_operations, constant_integer
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.building import (
    ARGUMENTS,
    PARALLEL,
    SCRATCH,
    index,
    least,
    product,
)
from plumbline.linalg_to_kernels.independent_loops import mark_independent_loops
from plumbline.linalg_to_kernels.work import (
    Invariants,
    Trips,
    Work,
    trips,
    work,
    work_inside,
)
from plumbline.runtime.threads import check_threads, threads_to_use

LEAST_WORK = 1 << 20
"""Of a share. To wake a thread that sleeps takes some ten microseconds, in which a core with
vectors of 512 bits does about as many operations; within a program threads rarely sleep. With twice
as many, the layer norm of 128 rows of 768 takes 1.5 times as long by two threads, MobileNetV2 1.1
times; with half as many it makes no difference (AMD Zen 3)."""

_PIECES = 4
"""Of a share, at most: the first is half of it, each other half of what is left, the last as long
as the one before. The longer pieces are, the less is done twice, as packing; the shorter the last
ones, the less do threads wait for each other."""

_EVEN = 8
"""From how many iterations for each thread on it is of no account whether they come out even."""

_AT_ONCE = 64
"""At multiples of how many iterations of a loop that may become one of vectors pieces begin. It is
as many as are done at once; what is left LLVM does one by one, and may round products there by
themselves that it rounds together with sums in vectors. So that is at the end of rows alone, as it
is for one thread: of a matrix of 2x2 by one of 2x640 else 33 elements differ in their last bit on
seven threads."""

_LITTLE = 1 << 10
"""How much an iteration does at most of which no piece has fewer than `_AT_ONCE`."""

_LOADS = frozenset({"memref.load", "vector.gather", "vector.load", "vector.maskedload"})
_STORES = frozenset({"memref.store", "vector.maskedstore", "vector.scatter", "vector.store"})
_PURE_DIALECTS = frozenset({"arith", "math", "ub", "vector"})
_PURE = VIEWS | {
    "llvm.inline_asm",
    "memref.dim",
    "memref.extract_strided_metadata",
    "memref.prefetch",
    "scf.for",
    "scf.if",
    "scf.yield",
}


def parallelise(module: ir.Operation, threads: Sequence[str]) -> None:
    """Splits the marked loops of each kernel of `module` that are worth it, for so many threads.

    Takes off the marks of all, and of buffers.

    Raises:
      UserError: that is no number of threads.
    """
    count = _number(threads)
    with module.context:
        for view in list(module.regions[0].blocks[0].operations):
            kernel = view.operation
            if count > 1 and KERNEL in kernel.attributes:
                mark_loops(kernel)
                mark_independent_loops(kernel)
                for op in list(kernel.regions[0].blocks[0].operations):
                    if PARALLEL in op.attributes:
                        _split(op.operation, count)
        for op in all_operations(module):
            for mark in (PARALLEL, SCRATCH):
                if mark in op.attributes:
                    del op.attributes[mark]
            if ARGUMENTS in op.attributes:
                marks = map(_without_scratch, ir.ArrayAttr(op.attributes[ARGUMENTS]))
                op.attributes[ARGUMENTS] = ir.ArrayAttr.get(list(marks))


def mark_loops(kernel: ir.Operation) -> None:
    """Marks the loops of a kernel that says how many of those of its nest are parallel."""
    if PARALLEL in kernel.attributes:
        _mark(kernel, ir.IntegerAttr(kernel.attributes[PARALLEL]).value)


def _mark(op: ir.Operation, depth: int) -> None:
    """Marks the loops of a nest, the one that is in `op`, as deep as they are parallel."""
    loops = [
        view.operation for view in op.regions[0].blocks[0].operations if view.name == "scf.for"
    ]
    if depth > 0 and loops:
        (loop,) = loops
        loop.attributes[PARALLEL] = ir.UnitAttr.get()
        _mark(loop, depth - 1)


def _number(threads: Sequence[str]) -> int:
    if not threads:
        return 1
    text = ",".join(threads)
    number = int(text) if text.isdecimal() else text
    check_threads("parallelise", number)
    return int(number)


@dataclass(frozen=True)
class _Level:
    """A loop of a nest, and how often it runs each time."""

    loop: ir.Operation
    trips: Trips


def _split(loop: ir.Operation, threads: int) -> None:
    """Splits a loop of a kernel's own block, if that is worth it."""
    invariants = Invariants(loop)
    buffers = _Buffers(loop)
    levels = _levels(loop, threads, invariants, buffers)
    amount = work(loop, invariants)
    known = _known_shares(levels, amount)
    if not levels or (known is not None and known < 2):
        return
    with ir.InsertionPoint(loop), loop.location:
        counts = [level.trips.build(invariants) for level in levels]
        all_ = product(counts)
        if known is None:
            worth = arith.divui(amount.build(invariants), index(LEAST_WORK))
            # None where there are no iterations: their counts, by which is divided, may be 0 then.
            most = least(all_, arith.maxsi(worth, index(1)))
        else:
            most = index(known)
        shares = least(threads_to_use(index(threads)), most)
        pieces = _pieces(levels, threads)
        forall = scf.ForallOp([0, 0], [shares, pieces], [1, 1])
        with ir.InsertionPoint(forall.body):
            buffers.move_here()
            share, piece = forall.induction_variables
            after = arith.addi(piece, index(1))
            first, end = (_begin(all_, shares, pieces, share, number) for number in (piece, after))
            if _may_be_vectors(levels[-1].loop, invariants):
                first, end = (_begin_of_vector(counts[-1], number) for number in (first, end))
            _bound(levels, counts, first, end)
            _move_here(loop)
            buffers.release_here()
            scf.InParallelOp()


def _known_iterations(levels: Sequence[_Level]) -> int | None:
    """How many iterations of loops there are in all, if that is known."""
    iterations = 1
    for level in levels:
        if level.trips.known is None:
            return None
        iterations *= level.trips.known
    return iterations


def _pieces(levels: Sequence[_Level], threads: int) -> int:
    """In how many pieces a share is done: none is empty, as far as is known."""
    iterations = _known_iterations(levels)
    if iterations is None:
        return _PIECES
    return min(_PIECES, max(iterations // threads, 1).bit_length())


def _begin(
    all_: ir.Value, shares: ir.Value, pieces: int, share: ir.Value, piece: ir.Value
) -> ir.Value:
    """The iteration at which a piece of a share begins, or what follows on the last piece."""
    # A share is as many parts as the last piece is one of.
    parts = index(1 << (pieces - 1))
    left = arith.shrui(parts, piece)
    done = arith.subi(product([arith.addi(share, index(1)), parts]), left)
    return arith.divui(product([done, all_]), product([shares, parts]))


def _may_be_vectors(loop: ir.Operation, invariants: Invariants) -> bool:
    """Whether LLVM may do several iterations of a loop at once, and they are little."""
    each = work_inside(loop, invariants).known
    return constant_integer(loop.operands[2]) == 1 and each is not None and each <= _LITTLE


def _begin_of_vector(count: ir.Value, number: ir.Value) -> ir.Value:
    """The last iteration up to one at which a vector begins, of loops the innermost of so many."""
    within = arith.remui(number, count)
    return arith.subi(number, arith.remui(within, index(_AT_ONCE)))


def _known_shares(levels: Sequence[_Level], amount: Work) -> int | None:
    """How many shares are worth it at most, if that is known: 1 where one known factor says so."""
    iterations = _known_iterations(levels)
    worth = None if amount.known is None else amount.known // LEAST_WORK
    if iterations is None or worth is None:
        return 1 if 1 in (iterations, worth) or worth == 0 else None
    return min(iterations, worth)


def _move_here(op: ir.Operation) -> None:
    op.detach_from_parent()
    ir.InsertionPoint.current.insert(op)


# -- which loops are split -------------------------------------------------------------------------


def _levels(
    loop: ir.Operation, threads: int, invariants: Invariants, buffers: "_Buffers"
) -> list[_Level]:
    """The loop and, as long as iterations may be too few and too long, that alone inside of it."""
    levels: list[_Level] = []
    inner: ir.Operation | None = loop
    while inner is not None:
        count = trips(inner, invariants)
        if count is None or constant_integer(inner.operands[0]) != 0:
            break
        levels.append(_Level(inner, count))
        each = work_inside(inner, invariants).known
        if _are_enough(levels, threads) or (each is not None and each < LEAST_WORK):
            break
        inner = _only_loop(inner, buffers)
    return levels


def _are_enough(levels: Sequence[_Level], threads: int) -> bool:
    iterations = _known_iterations(levels)
    return iterations is not None and iterations >= _EVEN * threads


def _only_loop(loop: ir.Operation, buffers: "_Buffers") -> ir.Operation | None:
    """The marked loop in the body of another, if all beside it may be done once more.

    Chunks that share an iteration of the outer loop each do what comes before the inner one, as the
    packing of a panel, in buffers of their own.
    """
    operations = [view.operation for view in loop.regions[0].blocks[0].operations]
    marked = [op for op in operations if PARALLEL in op.attributes]
    if len(marked) != 1:
        return None
    place = operations.index(marked[0])
    before, after = operations[:place], operations[place + 1 : -1]
    if after or not all(map(buffers.may_repeat, before)):
        return None
    return marked[0]


class _Buffers:
    """What a loop does to memory."""

    def __init__(self, loop: ir.Operation) -> None:
        self._loop = loop
        self._own: list[ir.Operation] = []
        """The allocations of buffers that the loop alone uses, and views of these."""
        self._scratch: list[ir.Value] = []
        """Scratch that other loops use as well, or that the kernel is given."""
        self._releases: list[ir.Operation] = []
        """The operations that give back the loop's own."""
        self._given_back: list[ir.Value] = []
        """What else is to be given back."""
        block = loop.block
        for view in block.operations:
            op = view.operation
            if op == loop:
                break
            if op.name in NEW_MEMORY:
                self._take(op)
        self._scratch += _given_scratch(block)
        self._own_roots = {op.results[0] for op in self._own if op.name in NEW_MEMORY}
        self._own_roots.update(self._scratch)
        self._written = {
            root(_buffer(op)) for op in all_operations(loop) if op.name in _STORES
        } - self._own_roots

    def may_repeat(self, op: ir.Operation) -> bool:
        """Whether it makes no difference that several chunks do what `op` does."""
        for inner in all_operations(op):
            if inner.name in _STORES:
                if root(_buffer(inner)) not in self._own_roots:
                    return False
            elif inner.name in _LOADS:
                if root(_buffer(inner)) in self._written:
                    return False
            elif inner.name not in _PURE and inner.name.partition(".")[0] not in _PURE_DIALECTS:
                return False
        return True

    def _take(self, allocation: ir.Operation) -> None:
        """Takes a buffer for the loop's own, if nothing else uses it."""
        views, releases = [allocation], []
        for view in views:
            for use in view.results[0].uses:
                user = use.owner.operation
                if self._is_inside(user):
                    continue
                if user.name == "memref.dealloc":
                    releases.append(user)
                elif user.name in VIEWS and user.block == self._loop.block:
                    views.append(user)
                elif SCRATCH in allocation.attributes:
                    self._scratch.append(allocation.results[0])
                    return
                else:
                    return
        self._own += views
        self._releases += releases

    def move_here(self) -> None:
        """Moves the loop's own to the insertion point, and allocates there what is scratch."""
        for op in self._own:
            _move_here(op)
        for scratch in self._scratch:
            self._use_instead(scratch, self._allocated_like(scratch))

    def _use_instead(self, buffer: ir.Value, own: ir.Value) -> None:
        """Has the loop use `own` in place of a buffer, and its views in place of that one's."""
        for use in list(buffer.uses):
            user = use.owner.operation
            if self._is_inside(user):
                user.operands[use.operand_number] = own
            elif user.name in VIEWS and user.block == self._loop.block:
                view = user.clone().operation
                view.operands[use.operand_number] = own
                self._use_instead(user.results[0], view.results[0])

    def _allocated_like(self, scratch: ir.Value) -> ir.Value:
        if not isinstance(scratch.owner, ir.Block):
            return scratch.owner.clone().operation.results[0]
        type_ = ir.MemRefType(scratch.type)
        axes = [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]
        sizes = [memref.dim(scratch, index(axis)) for axis in axes]
        new = ir.MemRefType.get(type_.shape, type_.element_type, memory_space=type_.memory_space)
        own = memref.alloc(new, sizes, [])
        self._given_back.append(own)
        return own if new == type_ else memref.cast(type_, own)

    def release_here(self) -> None:
        """Gives back at the insertion point what `move_here` has moved or allocated."""
        for op in self._releases:
            _move_here(op)
        for buffer in self._given_back:
            memref.dealloc(buffer)

    def _is_inside(self, op: ir.Operation) -> bool:
        while op.block != self._loop.block:
            op = op.parent.operation
        return bool(op == self._loop)


def _given_scratch(block: ir.Block) -> list[ir.Value]:
    """The arguments of a kernel, whose body is `block`, that are marked as scratch."""
    attributes = block.owner.operation.attributes
    marks = ir.ArrayAttr(attributes[ARGUMENTS]) if ARGUMENTS in attributes else []
    return [
        given
        for given, of_it in zip(block.arguments, marks, strict=False)
        if SCRATCH in ir.DictAttr(of_it)
    ]


def _without_scratch(marks: ir.Attribute) -> ir.Attribute:
    """The marks of an argument but that of scratch."""
    kept = {each.name: each.attr for each in ir.DictAttr(marks) if each.name != SCRATCH}
    return ir.DictAttr.get(kept)


def _buffer(op: ir.Operation) -> ir.Value:
    """The buffer that an operation loads from or stores to."""
    return next(value for value in op.operands if isinstance(value.type, ir.MemRefType))


# -- what a chunk does of them ---------------------------------------------------------------------


def _bound(
    levels: Sequence[_Level], counts: Sequence[ir.Value], first: ir.Value, end: ir.Value
) -> None:
    """Has a nest run from iteration `first` to `end`, counted through all levels in order."""
    level, *rest = levels
    loop, step = level.loop, level.trips.step
    if not rest:
        _set_bounds(loop, step, first, end)
        return
    inside = product(counts[1:])
    _set_bounds(loop, step, arith.divui(first, inside), arith.ceildivui(end, inside))
    block = loop.regions[0].blocks[0]
    with ir.InsertionPoint(rest[0].loop):
        at = block.arguments[0]
        done = product([arith.divui(at, index(step)) if step > 1 else at, inside])
        from_ = arith.maxsi(arith.subi(first, done), index(0))
        _bound(rest, counts[1:], from_, least(arith.subi(end, done), inside))


def _set_bounds(loop: ir.Operation, step: int, first: ir.Value, end: ir.Value) -> None:
    """Has a loop run from one iteration to another."""
    if step == 1:
        loop.operands[0], loop.operands[1] = first, end
        return
    loop.operands[0] = arith.muli(first, index(step))
    loop.operands[1] = least(arith.muli(end, index(step)), loop.operands[1])
