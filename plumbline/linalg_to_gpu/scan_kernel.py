"""Builds scans: a block of threads does a row, a chunk of it at a time.

A thread combines some elements that follow one another. What those of a warp come to is combined by
exchanging registers, what the warps come to by shared memory, and each thread then goes through its
elements once more, from what all before them are combined to. The last of a chunk is what the next
one begins with. (Sengupta, Harris and Garland, "Efficient parallel scan algorithms for GPUs",
2008.) The order is the same each time, and so are the bits of the result.

Few long rows are scanned in parts: a launch has blocks say what each part comes to, a second one
scans these, and a third one the parts, each from what all before it come to.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf

from plumbline.bindings.walk import clone_operations, constant_integer
from plumbline.linalg_to_gpu.combinations import scanned_by_block
from plumbline.linalg_to_gpu.launches import THREADS, WARP, Thread, delinearized, launch, strided
from plumbline.linalg_to_gpu.loop_kernels import LoopKernel, operations_in
from plumbline.linalg_to_kernels.building import (
    PARALLEL,
    either,
    for_each,
    if_else,
    index,
    least,
    product,
)
from plumbline.tcp_to_linalg.loop_nest import SCAN

_EACH = 4
"""Elements that a thread has of a chunk."""

_SHORT = 32
"""A row of fewer elements is for a thread."""

_MANY_ROWS = 2048
"""From how many rows on these are for a thread each, where elements are not contiguous along them:
they are so from row to row, and there are threads enough."""

_CHUNK = _EACH * THREADS
"""Elements of a chunk of a row that is in parts, which are of whole chunks."""

_MOST_PARTS = 512
"""Of all rows: as many blocks as a large GPU has at once, about."""

_LEAST_PARTS = 4
"""Fewer are not worth two more launches."""

_LEAST_CHUNKS = 16
"""Nor are shorter rows, of which a block does a chunk in less than a microsecond."""

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
    row: Values
    """For the place along each loop around which row it is."""

    def combined(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """What two such values become, the first of which comes first."""
        values = self._cloned(self.combine, {self._so_far: left, self.element: right})
        return values[self._next]

    @property
    def _so_far(self) -> ir.Value:
        return self.loop.inner_iter_args[0]

    @property
    def _next(self) -> ir.Value:
        return _yielded(self.loop)

    def element_at(self, at: ir.Value) -> tuple[ir.Value, Values]:
        """Builds the element of an iteration; also gives all that was computed for it."""
        values = self._cloned(self.before, {self.loop.induction_variable: at})
        return values[self.element], values

    def finish(self, values: Values, so_far: ir.Value, is_last: ir.Value) -> ir.Value:
        """Does the rest of an iteration; gives what was combined until it."""
        combined = self.combined(so_far, values[self.element])

        def store() -> None:
            self._cloned(self.after, {**values, self._so_far: so_far, self._next: combined})

        if self.stays_last:
            goes_on = arith.cmpi(arith.CmpIPredicate.ne, combined, so_far)
            if_else(arith.ori(goes_on, is_last), store)
        else:
            store()
        return combined

    def _cloned(self, operations: list[ir.Operation], values: Values) -> dict[ir.Value, ir.Value]:
        """Builds operations anew, with other values in place of some; gives what stands for all."""
        known = {**self.row, **values}
        clone_operations(operations, known)
        return known


def _yielded(loop: scf.ForOp) -> ir.Value:
    return loop.body.operations[len(loop.body.operations) - 1].operands[0]


def build_scan(kernel: LoopKernel) -> bool:
    """Builds the launches of a kernel that scans rows; says whether it is such.

    Rows for a thread each are marked so (`building.PARALLEL`), and left to whoever launches these.
    """
    scan = _independent_scan(kernel)
    if scan is None:
        return False
    if _is_for_threads(kernel, scan):
        for loop in kernel.loops:
            loop.operation.attributes[PARALLEL] = ir.UnitAttr.get()
        return False
    build = _Build(kernel, scan)
    if kernel.memory is None:
        build.whole()
    else:
        parts, chunks = build.parts()
        build.in_parts_or_whole(parts, chunks, kernel.memory)
    (kernel.loops[0] if kernel.loops else scan.loop).operation.erase()
    return True


def memory_of_parts(kernel: LoopKernel) -> ir.MemRefType | None:
    """For what parts of rows come to, if a kernel is a scan that may be done in such."""
    scan = _independent_scan(kernel)
    if scan is None or _is_for_threads(kernel, scan):
        return None
    rows = math.prod(constant_integer(loop.upperBound) or 1 for loop in kernel.loops)
    size = constant_integer(scan.loop.upperBound)
    chunks = _MOST_PARTS if size is None else -(-size // _CHUNK)
    parts = min(_MOST_PARTS // rows, chunks) if rows else 0
    if chunks < _LEAST_CHUNKS or parts < _LEAST_PARTS:
        return None
    return ir.MemRefType.get([_MOST_PARTS], scan.element.type)


def _independent_scan(kernel: LoopKernel) -> _Scan | None:
    """The scan that a kernel is, if its rows may be done by anyone."""
    scan = _scan(kernel)
    if scan is None or not all(map(kernel.is_independent, kernel.loops)):
        return None
    if any(map(kernel.reads, kernel.written)):
        return None
    return scan if scan.stays_last or kernel.is_independent(scan.loop) else None


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


_ElementAt = Callable[[ir.Value], tuple[ir.Value, Values]]
"""Gives an element of a row by its place, and what `_Finish` is to have of it."""

_Finish = Callable[[ir.Value, Values, ir.Value], ir.Value]
"""Does what is done at a place, given what all before come to; gives what they do with it."""


def _if_there(is_there: ir.Value, otherwise: ir.Value, build: Callable[[], ir.Value]) -> ir.Value:
    return either([otherwise.type], is_there, lambda: [build()], lambda: [otherwise])[0]


@dataclass(frozen=True)
class _Build:
    """What launches are built of."""

    kernel: LoopKernel
    scan: _Scan

    @property
    def _counts(self) -> list[ir.Value]:
        return [loop.upperBound for loop in self.kernel.loops]

    @property
    def _size(self) -> ir.Value:
        return self.scan.loop.upperBound

    @property
    def _start(self) -> ir.Value:
        return self.scan.loop.initArgs[0]

    def _of_row(self, places: Sequence[ir.Value]) -> _Scan:
        inductions = [loop.induction_variable for loop in self.kernel.loops]
        return replace(self.scan, row=dict(zip(inductions, places, strict=True)))

    def whole(self) -> None:
        """A launch in which a block does a row."""
        rows = product(self._counts)

        def build(thread: Thread) -> None:
            def row(number: ir.Value) -> None:
                scan = self._of_row(delinearized(number, self._counts))
                block = _Block(scan, thread, scan.element_at)
                block.scan(index(0), self._size, self._start, self._finish(scan))

            strided(thread.block, rows, thread.blocks, row)

        launch(rows, _threads(self._size), build)

    def parts(self) -> tuple[ir.Value, ir.Value]:
        """Builds in how many parts a row would be, and how many chunks each has at most."""
        rows = arith.maxsi(product(self._counts), index(1))
        chunks = arith.ceildivui(self._size, index(_CHUNK))
        most = least(arith.divui(index(_MOST_PARTS), rows), chunks)
        each = arith.ceildivui(chunks, arith.maxsi(most, index(1)))
        return arith.ceildivui(chunks, arith.maxsi(each, index(1))), each

    def in_parts_or_whole(self, parts: ir.Value, each: ir.Value, memory: ir.Value) -> None:
        """Launches that do a row in parts, or one that does not where that would not pay."""
        chunks = arith.muli(parts, each)
        are_enough = arith.cmpi(arith.CmpIPredicate.sge, parts, index(_LEAST_PARTS))
        are_long = arith.cmpi(arith.CmpIPredicate.sge, chunks, index(_LEAST_CHUNKS))
        length = arith.muli(each, index(_CHUNK))
        if_else(
            arith.andi(are_enough, are_long),
            lambda: self._in_parts(parts, length, memory),
            self.whole,
        )

    def _in_parts(self, parts: ir.Value, length: ir.Value, memory: ir.Value) -> None:
        """Three launches: of what parts come to, of what all before each do, of the parts again."""
        rows = product(self._counts)

        def build_part(work: Callable[[_Block, ir.Value, ir.Value, ir.Value], None]) -> None:
            def build(thread: Thread) -> None:
                def part(number: ir.Value) -> None:
                    *places, place = delinearized(number, [*self._counts, parts])
                    scan = self._of_row(places)
                    begin = arith.muli(place, length)
                    end = least(arith.addi(begin, length), self._size)
                    work(_Block(scan, thread, scan.element_at), number, begin, end)

                strided(thread.block, total, thread.blocks, part)

            total = arith.muli(rows, parts)
            launch(total, THREADS, build)

        def add_up(block: _Block, number: ir.Value, begin: ir.Value, end: ir.Value) -> None:
            sum_ = block.total(begin, end)
            block.thread.once(lambda: memref.store(sum_, memory, [number]))

        def scan_part(block: _Block, number: ir.Value, begin: ir.Value, end: ir.Value) -> None:
            block.scan(begin, end, memref.load(memory, [number]), self._finish(block.of))

        build_part(add_up)
        self._scan_parts(rows, parts, memory)
        build_part(scan_part)

    def _scan_parts(self, rows: ir.Value, parts: ir.Value, memory: ir.Value) -> None:
        """A launch that puts in place of what a part comes to what all before it in its row do."""

        def build(thread: Thread) -> None:
            def row(number: ir.Value) -> None:
                first = arith.muli(number, parts)

                def element_at(at: ir.Value) -> tuple[ir.Value, Values]:
                    element = memref.load(memory, [arith.addi(first, at)])
                    return element, {self.scan.element: element}

                def finish(at: ir.Value, values: Values, before: ir.Value) -> ir.Value:
                    memref.store(before, memory, [arith.addi(first, at)])
                    return self.scan.combined(before, values[self.scan.element])

                block = _Block(self.scan, thread, element_at)
                block.scan(index(0), parts, self._start, finish)

            strided(thread.block, rows, thread.blocks, row)

        launch(rows, min(-(-_MOST_PARTS // (_EACH * WARP)) * WARP, THREADS), build)

    def _finish(self, scan: _Scan) -> _Finish:
        last = arith.subi(self._size, index(1))

        def finish(at: ir.Value, values: Values, before: ir.Value) -> ir.Value:
            is_last = arith.cmpi(arith.CmpIPredicate.eq, at, last)
            return scan.finish(values, before, is_last)

        return finish


@dataclass(frozen=True)
class _Block:
    """The threads of a block, which scan what is a row or a part of one."""

    of: _Scan
    thread: Thread
    element_at: _ElementAt

    def scan(self, begin: ir.Value, end: ir.Value, start: ir.Value, finish: _Finish) -> None:
        """Scans the elements of such places, from what those before them come to."""

        def chunk(first: ir.Value, carried: ir.Value) -> list[ir.Value]:
            places, elements = self._elements(first, end)
            before, carried = self._scanned(elements, carried)
            for at, (_, values) in zip(places, elements, strict=True):
                is_there = arith.cmpi(arith.CmpIPredicate.ult, at, end)
                before = _if_there(is_there, before, partial(finish, at, values, before))
            return [carried]

        for_each(begin, end, self._step, chunk, [start])

    def total(self, begin: ir.Value, end: ir.Value) -> ir.Value:
        """What the elements of such places come to, if these are whole chunks, and not none."""

        def chunk(first: ir.Value, carried: ir.Value | None) -> list[ir.Value]:
            _, elements = self._elements(first, end)
            return [self._scanned(elements, carried)[1]]

        second = arith.addi(begin, index(self._step))
        return for_each(second, end, self._step, chunk, chunk(begin, None))[0]

    @property
    def _step(self) -> int:
        return _EACH * self.thread.threads

    def _elements(
        self, first: ir.Value, end: ir.Value
    ) -> tuple[list[ir.Value], list[tuple[ir.Value, Values]]]:
        """The places of a thread's elements of a chunk, and these."""
        own = arith.addi(first, arith.muli(self.thread.number, index(_EACH)))
        places = [arith.addi(own, index(number)) for number in range(_EACH)]
        last = arith.subi(end, index(1))
        # Behind the end of a row comes nothing that is of account.
        return places, [self.element_at(least(at, last)) for at in places]

    def _scanned(
        self, elements: Sequence[tuple[ir.Value, Values]], carried: ir.Value | None
    ) -> tuple[ir.Value, ir.Value]:
        """What all before a thread's elements come to, and what all do."""
        sum_ = elements[0][0]
        for element, _ in elements[1:]:
            sum_ = self.of.combined(sum_, element)
        return scanned_by_block(self.thread, sum_, self.of.combined, carried)


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
    return _Scan(loop, before, element, combine, after, bool(scanned), {})


def _is_in(value: ir.Value, loop: scf.ForOp) -> bool:
    if isinstance(value.owner, ir.Block):
        return bool(value.owner == loop.body)
    return bool(value.owner.operation.block == loop.body)
