"""Builds scans: a block of threads does a row, a chunk of it at a time.

A thread combines some elements that follow one another. What those of a warp come to is combined by
exchanging registers, what the warps come to by shared memory, and each thread then goes through its
elements once more, from what all before them are combined to. The last of a chunk is what the next
one begins with. (Sengupta, Harris and Garland, "Efficient parallel scan algorithms for GPUs",
2008.) The order is the same each time, and so are the bits of the result.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf

from plumbline.bindings.walk import clone_operations, constant_integer
from plumbline.linalg_to_gpu.combinations import of_lane_below
from plumbline.linalg_to_gpu.launches import THREADS, WARP, Thread, delinearized, launch, strided
from plumbline.linalg_to_gpu.loop_kernels import LoopKernel, operations_in
from plumbline.linalg_to_kernels.building import PARALLEL, for_each, if_else, index, least, product
from plumbline.tcp_to_linalg.loop_nest import SCAN

_EACH = 4
"""Elements that a thread has of a chunk."""

_SHORT = 32
"""A row of fewer elements is for a thread."""

_MANY_ROWS = 2048
"""From how many rows on these are for a thread each, where elements are not contiguous along them:
they are so from row to row, and there are threads enough."""

Values = Mapping[ir.Value, ir.Value]


@dataclass(frozen=True)
class _Scan:
    """A loop that combines one element more in each iteration."""

    loop: scf.ForOp
    before: list[ir.Operation]
    """What gives the element."""
    element: ir.Value
    combine: list[ir.Operation]
    """What combines it with what was combined so far."""
    after: list[ir.Operation]
    """What is done with that."""
    stays_last: bool
    """Whether stores are to what was combined so far, as a place: of several there the last counts.

    That is the one after which what was combined is another, as it does not go back."""

    def combined(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """What two such values become, the first of which comes first."""
        values = _cloned(self.combine, {self._so_far: left, self.element: right})
        return values[self._next]

    @property
    def _so_far(self) -> ir.Value:
        return self.loop.inner_iter_args[0]

    @property
    def _next(self) -> ir.Value:
        return _yielded(self.loop)

    def element_at(self, at: ir.Value) -> tuple[ir.Value, Values]:
        """Builds the element of an iteration; also gives all that was computed for it."""
        values = _cloned(self.before, {self.loop.induction_variable: at})
        return values[self.element], values

    def finish(self, values: Values, so_far: ir.Value, is_last: ir.Value) -> ir.Value:
        """Does the rest of an iteration; gives what was combined until it."""
        combined = self.combined(so_far, values[self.element])

        def store() -> None:
            _cloned(self.after, {**values, self._so_far: so_far, self._next: combined})

        if self.stays_last:
            goes_on = arith.cmpi(arith.CmpIPredicate.ne, combined, so_far)
            if_else(arith.ori(goes_on, is_last), store)
        else:
            store()
        return combined


def _yielded(loop: scf.ForOp) -> ir.Value:
    return loop.body.operations[len(loop.body.operations) - 1].operands[0]


def _cloned(operations: list[ir.Operation], values: Values) -> dict[ir.Value, ir.Value]:
    """Builds operations anew, with other values in place of some; gives what stands for all."""
    known = dict(values)
    clone_operations(operations, known)
    return known


def build_scan(kernel: LoopKernel) -> bool:
    """Builds the launch of a kernel that scans rows; says whether it is such.

    Rows for a thread each are marked so (`building.PARALLEL`), and left to whoever launches these.
    """
    scan = _scan(kernel)
    if scan is None or not all(map(kernel.is_independent, kernel.loops)):
        return False
    if any(map(kernel.reads, kernel.written)):
        return False
    if not (scan.stays_last or kernel.is_independent(scan.loop)):
        return False
    if _is_for_threads(kernel, scan):
        for loop in kernel.loops:
            loop.operation.attributes[PARALLEL] = ir.UnitAttr.get()
        return False
    counts = [loop.upperBound for loop in kernel.loops]
    size = scan.loop.upperBound
    rows = product(counts)
    threads = _threads(size)

    def build(thread: Thread) -> None:
        def row(number: ir.Value) -> None:
            for loop, place in zip(kernel.loops, delinearized(number, counts), strict=True):
                loop.induction_variable.replace_all_uses_with(place)
            _build_row(scan, size, thread)

        strided(thread.block, rows, thread.blocks, row)

    launch(rows, threads, build)
    (kernel.loops[0] if kernel.loops else scan.loop).operation.erase()
    return True


def _is_for_threads(kernel: LoopKernel, scan: _Scan) -> bool:
    """Whether a row is for a thread, rather than for a block."""
    size = constant_integer(scan.loop.upperBound)
    if size is not None and size < _SHORT:
        return bool(kernel.loops)
    (places, *_) = [places for buffer in kernel.written for places in kernel.accesses(buffer)]
    if places[-1] == scan.loop.induction_variable or scan.stays_last:
        return False
    rows = 1
    for loop in kernel.loops:
        rows *= constant_integer(loop.upperBound) or _MANY_ROWS
    return rows >= _MANY_ROWS


def _threads(size: ir.Value) -> int:
    """Of a block: as many as have something to do."""
    known = constant_integer(size)
    if known is None:
        return THREADS
    return min(-(-known // (_EACH * WARP)) * WARP, THREADS)


def _build_row(scan: _Scan, size: ir.Value, thread: Thread) -> None:
    type_ = scan.loop.initArgs[0].type
    warps = thread.threads // WARP
    shared = thread.shared([warps], type_) if warps > 1 else None
    own = arith.muli(thread.number, index(_EACH))
    last = arith.subi(size, index(1))

    def chunk(start: ir.Value, carried: ir.Value) -> list[ir.Value]:
        first = arith.addi(start, own)
        places = [arith.addi(first, index(number)) for number in range(_EACH)]
        # Behind the end of a row comes nothing that is of account.
        elements = [scan.element_at(least(at, last)) for at in places]
        sum_ = elements[0][0]
        for element, _ in elements[1:]:
            sum_ = scan.combined(sum_, element)
        before, carried = _before_thread(scan, thread, shared, sum_, carried)
        for at, (_, values) in zip(places, elements, strict=True):
            is_there = arith.cmpi(arith.CmpIPredicate.ult, at, size)
            is_last = arith.cmpi(arith.CmpIPredicate.eq, at, last)
            before = _if_there(is_there, before, _finish(scan, values, before, is_last))
        return [carried]

    for_each(index(0), size, _EACH * thread.threads, chunk, [scan.loop.initArgs[0]])


def _finish(
    scan: _Scan, values: Values, so_far: ir.Value, is_last: ir.Value
) -> Callable[[], ir.Value]:
    return lambda: scan.finish(values, so_far, is_last)


def _if_there(is_there: ir.Value, otherwise: ir.Value, build: Callable[[], ir.Value]) -> ir.Value:
    op = scf.IfOp(is_there, [otherwise.type], has_else=True)
    with ir.InsertionPoint(op.then_block):
        scf.YieldOp([build()])
    with ir.InsertionPoint(op.else_block):
        scf.YieldOp([otherwise])
    return op.results[0]


def _before_thread(
    scan: _Scan, thread: Thread, shared: ir.Value | None, sum_: ir.Value, carried: ir.Value
) -> tuple[ir.Value, ir.Value]:
    """What all before a thread come to, and what all of its block do."""
    lane = arith.remui(thread.number, index(WARP))
    warp = arith.divui(thread.number, index(WARP))
    distance = 1
    while distance < WARP:
        below = of_lane_below(sum_, distance)
        has_one = arith.cmpi(arith.CmpIPredicate.uge, lane, index(distance))
        sum_ = arith.select(has_one, scan.combined(below, sum_), sum_)
        distance *= 2
    in_warp = of_lane_below(sum_, 1)
    if shared is None:
        shared = thread.shared([1], sum_.type)
    warps = ir.MemRefType(shared.type).shape[0]
    is_last_lane = arith.cmpi(arith.CmpIPredicate.eq, lane, index(WARP - 1))
    if_else(is_last_lane, lambda: memref.store(sum_, shared, [warp]))
    thread.wait()
    before = carried
    for number in range(warps):
        of_warp = memref.load(shared, [index(number)])
        carried = scan.combined(carried, of_warp)
        comes_later = arith.cmpi(arith.CmpIPredicate.ugt, warp, index(number))
        before = arith.select(comes_later, carried, before)
    # Before any of them writes there again.
    thread.wait()
    is_first = arith.cmpi(arith.CmpIPredicate.eq, lane, index(0))
    return arith.select(is_first, before, scan.combined(before, in_warp)), carried


def _scan(kernel: LoopKernel) -> _Scan | None:
    """The scan that the innermost loop of a kernel is."""
    if len(kernel.body) != 1 or SCAN not in kernel.body[0].attributes:
        return None
    loop = kernel.body[0].opview
    ops = operations_in(loop)
    if len(loop.inner_iter_args) != 1 or any(op.regions for op in ops):
        return None
    if constant_integer(loop.lowerBound) != 0 or constant_integer(loop.step) != 1:
        return None
    so_far, next_ = loop.inner_iter_args[0], _yielded(loop)
    waiting = {so_far}
    for op in ops:
        if waiting.intersection(op.operands):
            waiting |= set(op.results)
    needed = {next_}
    combine: list[ir.Operation] = []
    for op in reversed(ops):
        if needed.intersection(op.results) and waiting.intersection(op.results):
            combine.insert(0, op)
            needed |= set(op.operands)
    inside = {result for op in combine for result in op.results}
    taken = {
        operand
        for op in combine
        for operand in op.operands
        if operand not in inside and operand != so_far and _is_in(operand, loop)
    }
    before = [op for op in ops if not waiting.intersection([*op.operands, *op.results])]
    after = [op for op in ops if op not in before and op not in combine]
    if len(taken) != 1 or not combine or any(op.name == "memref.store" for op in before):
        return None
    (element,) = taken
    if element.type != so_far.type:
        return None
    stores = [op for op in after if op.name == "memref.store"]
    scanned = {place for op in stores for place in list(op.operands)[2:] if place in waiting}
    if scanned - {so_far} or (scanned and not isinstance(so_far.type, ir.IndexType)):
        return None
    return _Scan(loop, before, element, combine, after, bool(scanned))


def _is_in(value: ir.Value, loop: scf.ForOp) -> bool:
    if isinstance(value.owner, ir.Block):
        return bool(value.owner == loop.body)
    return bool(value.owner.operation.block == loop.body)
