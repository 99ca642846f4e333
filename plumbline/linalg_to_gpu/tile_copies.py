"""Copies tiles of an operand from global to shared memory, while others are computed.

Where elements lie so that 4 bytes or more can be copied at once they go by themselves (`cp.async`);
others pass through registers: they are loaded before the products of the tile before, and stored
after these.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, nvgpu, scf

from plumbline.linalg_to_gpu.contraction_tiles import ASYNCHRONOUS_BYTES, VECTOR_BYTES, Operand
from plumbline.linalg_to_gpu.launches import Thread, buffer_bytes, delinearized, shared_type
from plumbline.linalg_to_kernels.building import FlatView, for_each, if_else, index, least, total
from plumbline.linalg_to_kernels.computations import loops_in
from plumbline.linalg_to_kernels.evaluation import index_value
from plumbline.linalg_to_kernels.planned_memory import element_bytes

Loops = Mapping[int, ir.Value]

LEAST_STAGES = 2
"""One that is computed of, and one that is copied to."""

MOST_STAGES = 4
"""A block of large tiles is alone on its multiprocessor, and computes of a stage for less time than
memory takes to answer: so three are on their way. CUTLASS and cuBLAS have 3 to 5 stages of this
size for such tiles."""


@dataclass(frozen=True)
class SharedTile:
    """How a tile of an operand lies in shared memory: a stage, and of it lines or summed rows."""

    lines: int
    depth: int
    """How many summed elements there are of each line."""
    along_sums: bool
    """Whether those of a line are contiguous, or else those of all lines for one summed element."""
    padding: int
    """Elements between one and the next, so that warps find them in different banks."""
    element: ir.Type

    def type(self, stages: int) -> ir.MemRefType:
        """Of the buffer."""
        outer, inner = self.lines, self.depth
        if not self.along_sums:
            outer, inner = inner, outer
        shape = [stages, outer, inner + self.padding]
        return shared_type(shape, self.element)

    def place(self, line: ir.Value, depth: ir.Value) -> list[ir.Value]:
        """Where an element lies in a stage."""
        return [line, depth] if self.along_sums else [depth, line]

    def parted(self, depth: int) -> tuple[int, int]:
        """Of a number of summed elements those that `moved` can move by, and the others."""
        return depth, 0

    def moved(self, buffer: ir.Value, line: int, depth: int) -> ir.Value:
        """The stages from a line and a summed element on, by which places are told then.

        So what is known of an address is a part of the instruction, and not each in a register.
        """
        return moved_by(buffer, [0, *((line, depth) if self.along_sums else (depth, line))])


def moved_by(buffer: ir.Value, offsets: Sequence[int]) -> ir.Value:
    """A buffer from known places on."""
    if not any(offsets):
        return buffer
    type_ = ir.MemRefType(buffer.type)
    sizes = [size - offset for size, offset in zip(type_.shape, offsets, strict=True)]
    strides, _ = type_.get_strides_and_offset()
    offset = sum(at * stride for at, stride in zip(offsets, strides, strict=True))
    layout = ir.StridedLayoutAttr.get(offset, list(strides))
    moved = ir.MemRefType.get(sizes, type_.element_type, layout, type_.memory_space)
    return memref.SubViewOp(
        moved, buffer, [], [], [], list(offsets), sizes, [1] * len(sizes)
    ).result


@dataclass(frozen=True)
class _Place:
    """A place in a tile, as what is known of it and what is not."""

    line: ir.Value
    depth: ir.Value
    """The first of a thread's."""
    lines: int
    depths: int
    """How far on from there."""
    has_part: ir.Value | None
    """Whether the thread has a chunk there; None: each of them has one."""


@dataclass(frozen=True)
class _Chunk:
    """Elements of a tile that a thread copies at once, again for each part of the sums."""

    at: _Place
    """The first of them, in the tile."""
    first: ir.Value
    """Where the line begins in the operand, apart from what the sums add."""
    is_there: ir.Value


class TileCopy:
    """The part of a thread in copying an operand's tiles, one after the other.

    Args:
      operand: what is copied.
      buffer: where it lies.
      tile: how a tile lies in shared memory.
      shared: the stages of that.
      thread: who copies.
      summed: the loops along sums, and how often each of them runs.
    """

    def __init__(
        self,
        operand: Operand,
        buffer: ir.Value,
        tile: SharedTile,
        shared: ir.Value,
        thread: Thread,
        summed: tuple[Sequence[int], Sequence[ir.Value]],
    ) -> None:
        self._operand, self._tile, self._shared, self._thread = operand, tile, shared, thread
        self._summed_loops, self._summed_sizes = summed
        self._count = index(1)
        for size in self._summed_sizes:
            self._count = arith.muli(self._count, size)
        self._flat = FlatView(buffer)
        offsets = zip(operand.offsets, self._flat.strides, strict=True)
        self._offset = total([arith.muli(index(at), stride) for at, stride in offsets])
        self._vector = _elements_at_once(operand, tile)
        self._chunks: list[_Chunk] = []

    @property
    def is_asynchronous(self) -> bool:
        """Whether elements go by themselves."""
        return is_asynchronous(self._operand, self._tile)

    def start(self, loops: Loops, first: ir.Value, sizes: Sequence[ir.Value]) -> None:
        """Finds what the thread copies of the lines from `first` on.

        Args:
          loops: the batch.
          first: the number of the first line.
          sizes: of the loops along lines.
        """
        operand = self._operand
        every = index(1)
        for size in sizes:
            every = arith.muli(every, size)
        batch = arith.addi(self._offset, self._distance(loops))
        self._chunks = []
        for place in self._places():
            own = arith.addi(first, place.line)
            distance = arith.addi(batch, self._way(operand.lines, sizes, own, place.lines))
            number = arith.addi(own, index(place.lines))
            is_there = arith.cmpi(arith.CmpIPredicate.ult, number, every)
            if place.has_part is not None:
                is_there = arith.andi(is_there, place.has_part)
            self._chunks.append(_Chunk(place, distance, is_there))

    def begin(self, first: ir.Value, end: ir.Value, stage: ir.Value) -> list[ir.Value]:
        """Begins to copy the part of the sums from `first` on to a stage; from `end` on zeros.

        Gives what goes through registers.
        """
        loaded = []
        end = least(end, self._count)
        for chunk in self._chunks:
            own = arith.addi(first, chunk.at.depth)
            further = self._way(self._summed_loops, self._summed_sizes, own, chunk.at.depths)
            place = arith.addi(chunk.first, further)
            summed = arith.addi(own, index(chunk.at.depths))
            is_summed = arith.cmpi(arith.CmpIPredicate.ult, summed, end)
            is_there = arith.andi(chunk.is_there, is_summed)
            if self.is_asynchronous:
                self._copy(chunk, place, is_there, stage)
            else:
                loaded.append(self._loaded(place, is_there))
        return loaded

    def finish(self, loaded: Sequence[ir.Value], stage: ir.Value) -> None:
        """Stores what `begin` has loaded."""
        for chunk, value in zip(self._chunks, loaded, strict=False):
            _if_part(
                chunk,
                lambda chunk=chunk, value=value: memref.store(  # type: ignore[misc]
                    value, *self._to(chunk, stage)
                ),
            )

    def _to(self, chunk: _Chunk, stage: ir.Value) -> tuple[ir.Value, list[ir.Value]]:
        """Where a chunk goes: a buffer, and indices."""
        at = chunk.at
        buffer = self._tile.moved(self._shared, at.lines, at.depths)
        return buffer, [stage, *self._tile.place(at.line, at.depth)]

    def _places(self) -> list[_Place]:
        """Where in the tile each chunk of the thread begins."""
        tile, vector, threads = self._tile, self._vector, self._thread.threads
        along_sums = self._operand.along_sums
        fast, slow = (tile.depth, tile.lines) if along_sums else (tile.lines, tile.depth)
        chunks = fast // vector
        # The elements of a warp are contiguous, first of all. Some threads have no part where they
        # would begin elsewhere in each turn.
        across = min(1 << (chunks - 1).bit_length(), threads)
        outer, inner = delinearized(self._thread.number, [index(slow), index(across)])
        own = outer, arith.muli(inner, index(vector))
        places = []
        for line in range(0, slow, threads // across):
            for chunk in range(0, chunks, across):
                limits = [(outer, slow - line, threads // across), (inner, chunks - chunk, across)]
                has_part = None
                for at, count, all_ in limits:
                    if count < all_:
                        is_part = arith.cmpi(arith.CmpIPredicate.ult, at, index(count))
                        has_part = is_part if has_part is None else arith.andi(has_part, is_part)
                further = line, chunk * vector
                if along_sums:
                    places.append(_Place(*own, *further, has_part))
                else:
                    places.append(_Place(*own[::-1], *further[::-1], has_part))
        return places

    def _way(
        self, loops: Sequence[int], sizes: Sequence[ir.Value], number: ir.Value, further: int
    ) -> ir.Value:
        """By how many elements nested loops move in so many iterations, and some further ones."""
        if len(loops) != 1 or not further or not self._operand.scattered.isdisjoint(loops):
            at = delinearized(arith.addi(number, index(further)), sizes)
            return self._distance(dict(zip(loops, at, strict=True)))
        # What is known is a part of the address.
        (loop,) = loops
        to, from_ = (self._distance({loop: index(at)}) for at in (further, 0))
        return arith.addi(self._distance({loop: number}), arith.subi(to, from_))

    def _distance(self, loops: Loops) -> ir.Value:
        """By how many elements loops move."""
        count = max(loops, default=0) + 1
        at: dict[int, ir.Value] = dict.fromkeys(range(count), index(0))
        terms = []
        for expression, stride in zip(self._operand.indices, self._flat.strides, strict=True):
            if part := _part(expression, loops):
                terms.append(arith.muli(index_value(part, {**at, **loops}), stride))
        return total(terms)

    def _copy(self, chunk: _Chunk, place: ir.Value, is_there: ir.Value, stage: ir.Value) -> None:
        elements = arith.select(is_there, index(self._vector), index(0))
        _if_part(
            chunk,
            lambda: nvgpu.DeviceAsyncCopyOp(
                *self._to(chunk, stage),
                self._flat.elements,
                [place],
                self._vector,
                srcElements=elements,
                bypassL1=_bytes_at_once(self._operand, self._tile) == VECTOR_BYTES or None,
                results=[ir.Type.parse("!nvgpu.device.async.token")],
            ),
        )

    def _loaded(self, place: ir.Value, is_there: ir.Value) -> ir.Value:
        """An element, or zero."""
        element = self._operand.element
        op = scf.IfOp(is_there, [element], has_else=True)
        with ir.InsertionPoint(op.then_block):
            scf.YieldOp([memref.load(self._flat.elements, [place])])
        with ir.InsertionPoint(op.else_block):
            zero = 0.0 if isinstance(element, ir.FloatType) else 0
            scf.YieldOp([arith.constant(element, zero)])
        return op.results[0]


def _if_part(chunk: _Chunk, work: Callable[[], object]) -> None:
    """Has only those threads do work that have a part in it."""
    if chunk.at.has_part is None:
        work()
    else:
        if_else(chunk.at.has_part, work)


def _elements_at_once(operand: Operand, tile: SharedTile) -> int:
    """How many a thread copies as one."""
    return operand.vector if operand.along_sums == tile.along_sums else 1


def _bytes_at_once(operand: Operand, tile: SharedTile) -> int:
    return _elements_at_once(operand, tile) * element_bytes(operand.element)


def is_asynchronous(operand: Operand, tile: SharedTile) -> bool:
    """Whether elements go to a tile by themselves, rather than through registers."""
    return _bytes_at_once(operand, tile) in ASYNCHRONOUS_BYTES


def stages_of(
    copied: Sequence[tuple[Operand, SharedTile]],
    shared_bytes: int,
    rounds: int | None,
    behind: int = 0,
) -> int:
    """How many stages a pipeline has.

    Args:
      copied: its operands, and how tiles of these lie in shared memory.
      shared_bytes: how much of that a block may take.
      rounds: how often it goes round, where that is known.
      behind: as `pipelined` takes it.
    """
    if not any(is_asynchronous(*each) for each in copied):
        # What goes through registers is there only when the products of a stage are done.
        return LEAST_STAGES + behind
    stage = sum(buffer_bytes(tile.type(1)) for _, tile in copied)
    most = MOST_STAGES + behind
    if rounds is not None:
        most = min(most, rounds)
    return max(min(most, shared_bytes // stage), LEAST_STAGES + behind)


Add = Callable[[ir.Value, ir.Value, Sequence[ir.Value]], list[ir.Value]]
"""Adds the products of a stage to sums: it takes the number of the part of the sums, and the stage
that it is in."""


def pipelined(
    copies: Sequence[TileCopy],
    stages: int,
    thread: Thread,
    extent: tuple[ir.Value, ir.Value, int],
    add: Add,
    sums: Sequence[ir.Value],
    behind: int = 0,
) -> list[ir.Value]:
    """Goes along sums: while the products of one stage are added up, the next ones are copied.

    Args:
      copies: what is copied; they have been told of their lines.
      stages: how many there are, of which one is computed of.
      thread: who does it.
      extent: the first summed element, how many there are, and how many a stage has.
      add: what is done to a stage.
      sums: what there is before; the result is what there is then.
      behind: how many stages before may still be read as one is computed of, by what does so for
        itself.
    """
    first, count, depth = extent
    end = arith.addi(first, count)
    ahead = stages - 1 - behind

    asynchronous = [copy for copy in copies if copy.is_asynchronous]
    through_registers = [copy for copy in copies if not copy.is_asynchronous]

    def begin(some: Sequence[TileCopy], at: ir.Value, stage: ir.Value) -> list[list[ir.Value]]:
        return [copy.begin(arith.addi(first, at), end, stage) for copy in some]

    def finish(loaded: list[list[ir.Value]], stage: ir.Value) -> None:
        for copy, values in zip(through_registers, loaded, strict=True):
            copy.finish(values, stage)

    for number in range(ahead):
        at, stage = index(number * depth), index(number)
        begin(asynchronous, at, stage)
        thread.commit()
        finish(begin(through_registers, at, stage), stage)

    def body(at: ir.Value, stage: ir.Value, *sums: ir.Value) -> list[ir.Value]:
        def stage_after(steps: int) -> ir.Value:
            """Round and round."""
            goes_round = arith.cmpi(arith.CmpIPredicate.uge, stage, index(stages - steps))
            return arith.addi(stage, arith.select(goes_round, index(steps - stages), index(steps)))

        following = stage_after(ahead)
        ahead_of = arith.addi(at, index(ahead * depth))
        thread.wait_for_copies(ahead - 1)
        if behind:
            thread.show_copies()
        # What was copied is there for all. Nobody computes any more of the stage that is copied to
        # next, which is the one before those that may still be read.
        thread.wait()
        loaded = begin(through_registers, ahead_of, following)

        def copy() -> None:
            begin(asynchronous, ahead_of, following)
            thread.commit()

        # What is multiplied first is read first, as nothing else can be done meanwhile; unless the
        # next stage is to be there when this one is done.
        if ahead == 1:
            copy()
        results = add(arith.divui(at, index(depth)), stage, sums)
        if ahead > 1:
            copy()
        finish(loaded, following)
        return [stage_after(1), *results]

    _, *results = for_each(index(0), count, depth, body, [index(0), *sums])
    if behind:
        thread.wait_for_products()
    # Who comes next may put something else where the stages were.
    thread.wait_for_copies()
    thread.wait()
    return results


def _part(expression: ir.AffineExpr, loops: Loops) -> ir.AffineExpr | None:
    """The terms of a sum in which one of `loops` is; None if there are none."""
    used = loops_in(expression)
    if used and used <= loops.keys():
        return expression
    match expression.maybe_downcast():
        case ir.AffineAddExpr() as both:
            left, right = _part(both.lhs, loops), _part(both.rhs, loops)
            return left + right if left and right else left or right
    return None
