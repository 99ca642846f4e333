"""Finds the first elements of rows, as of `topk`, without sorting all others.

A block finds of a row the last one that is to be taken, a digit of its rank at a time, from the
highest on: it counts which digits there are among those that have the digits found so far. What
comes before that one, and as many as are wanted of those that equal it, it gathers in shared memory
by their places, where they are sorted. (Alabi, Blanchard, Gordon and Steinbach, "Fast k-selection
algorithms for graphics processing units", 2012.) Few long rows are in parts, of which the first
elements are those of the row.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_gpu.combinations import scanned_by_block
from plumbline.linalg_to_gpu.launches import Thread, delinearized, launch, strided
from plumbline.linalg_to_gpu.shared_sorts import Load, Shared, Store
from plumbline.linalg_to_kernels.building import for_each, if_else, index, least, product
from plumbline.linalg_to_kernels.computations import DYNAMIC
from plumbline.linalg_to_kernels.digit_sorts import Order, order_of_sort
from plumbline.linalg_to_kernels.first_elements import first_elements
from plumbline.linalg_to_kernels.sort_kernels import Sort
from plumbline.linalg_to_kernels.trimmed_sorts import sort_axis

_THREADS = 512
"""Of a block, which has a row: with more they would have too few registers."""

_EACH = 4
"""Elements that a thread reads at once."""

_DIGIT_BITS = 11

_DIGITS = 1 << _DIGIT_BITS

_HALF_BITS = 16
"""Of a number of 32 bits, which is two: elements that come before the last one, and equal ones."""

_MOST_PARTS = 256
"""Of all rows: as many blocks as a large GPU has at once, about."""

_LEAST_LENGTH = 8192
"""Of a part."""


def selected_elements(op: ir.Operation, tile: int) -> int | None:
    """How many first elements of rows are to be found, if a sort is for that, of long rows.

    Args:
      op: a `tm_tensor.sort` on buffers.
      tile: how many elements a block can sort; rows of fewer are sorted as they are.
    """
    size = ir.MemRefType(op.operands[0].type).shape[sort_axis(op)]
    first = first_elements(op)
    if first is None or first > tile or order_of_sort(op) is None:
        return None
    return first if size == DYNAMIC or size > tile else None


def scratch_of_parts(op: ir.Operation, first: int) -> list[ir.Value]:
    """Builds memory for the first elements of parts, if rows are to be in parts."""
    axis, shape = sort_axis(op), list(ir.MemRefType(op.operands[0].type).shape)
    parts = _parts(shape, axis, first)
    if parts == 1:
        return []
    shape[axis] = parts * first
    elements = [ir.MemRefType(buffer.type).element_type for buffer in op.operands]
    return [memref.alloc(ir.MemRefType.get(shape, element), [], []) for element in elements]


def _parts(shape: Sequence[int], axis: int, first: int) -> int:
    """In how many parts a row is done."""
    if DYNAMIC in shape:
        return 1
    rows = math.prod(size for other, size in enumerate(shape) if other != axis)
    most = shape[axis] // max(_LEAST_LENGTH, _EACH * first)
    return max(min(_MOST_PARTS // max(rows, 1), most), 1)


@dataclass(frozen=True)
class FirstSelect:
    """What is built of a sort of which the first elements are read alone."""

    sort: Sort
    tile: int
    """How many elements a block sorts."""

    def build(self) -> None:
        """Finds the first elements of parts, if there are some, and then of rows."""
        sizes = self.sort.sizes()
        size = sizes.pop(self.sort.axis)
        if not self.sort.scratch:
            self._launch(sizes, size, 1, self.sort.load, self.sort.buffers)
            return
        scratch = self.sort.scratch
        found = ir.MemRefType(scratch[0].type).shape[self.sort.axis]
        self._launch(sizes, size, found // self._first, self.sort.load, scratch)

        def load(place: Sequence[ir.Value]) -> list[ir.Value]:
            return [memref.load(buffer, place) for buffer in scratch]

        self._launch(sizes, index(found), 1, load, self.sort.buffers)

    @property
    def _first(self) -> int:
        assert self.sort.first is not None
        return self.sort.first

    def _launch(
        self,
        rows: Sequence[ir.Value],
        size: ir.Value,
        parts: int,
        load: Callable[[Sequence[ir.Value]], list[ir.Value]],
        targets: Sequence[ir.Value],
    ) -> None:
        """A launch in which a block finds the first elements of a part of a row."""
        counts = [*rows, index(parts)]
        number = product(counts)
        axis = self.sort.axis

        def build(thread: Thread) -> None:
            select = _Select(self.sort, self._first, self.tile, thread)

            def work(at: ir.Value) -> None:
                *places, part = delinearized(at, counts)
                length = arith.ceildivui(size, index(parts))
                start = arith.muli(part, length)
                to = arith.muli(part, index(self._first))

                def load_at(own: ir.Value) -> list[ir.Value]:
                    return load([*places[:axis], arith.addi(start, own), *places[axis:]])

                def store(own: ir.Value, values: Sequence[ir.Value]) -> None:
                    place = [*places[:axis], arith.addi(to, own), *places[axis:]]
                    for value, target in zip(values, targets, strict=True):
                        memref.store(value, target, place)

                select.build(load_at, least(arith.subi(size, start), length), store)

            strided(thread.block, number, thread.blocks, work)

        launch(number, _THREADS, build)


class _Select:
    """What a block does."""

    def __init__(self, sort: Sort, first: int, tile: int, thread: Thread) -> None:
        order = order_of_sort(sort.op)
        assert order is not None
        self._order: Order = order
        self._first, self._thread = first, thread
        self._i32 = ir.IntegerType.get_signless(32)
        self._counts = thread.shared([_DIGITS], self._i32)
        self._found = thread.shared([2], self._i32)
        self._shared = Shared(sort, thread, tile)

    def build(
        self,
        load: Load,
        size: ir.Value,
        store: Store,
    ) -> None:
        """Finds the first of so many elements, and stores them in order."""
        count = least(size, index(self._first))
        last, equal = self._last(load, size, count)
        self._gather(load, size, last, equal)
        self._thread.wait()
        self._shared.sort(count)
        self._shared.each(count, lambda at: store(at, self._shared.load(at)))

    @cached_property
    def _width(self) -> int:
        """Bits of a rank."""
        type_ = ir.MemRefType(self._shared.buffers[0].type).element_type
        return int(type_.width)

    def _rank(self, value: ir.Value) -> ir.Value:
        """The rank of an element, as a number of 32 bits at least."""
        rank = self._order.rank(value)
        return arith.extui(self._i32, rank) if self._width < self._i32.width else rank

    def _last(self, load: Load, size: ir.Value, count: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The rank of the last element that is to be taken, and how many of that."""
        type_ = ir.IntegerType.get_signless(max(self._width, self._i32.width))
        found, wanted = arith.constant(type_, 0), arith.index_cast(self._i32, count)
        above = self._width
        while above > 0:
            low = max(above - _DIGIT_BITS, 0)
            self._count_digits(load, size, found, (low, above))
            digit, before = self._digit_of(wanted)
            digit = digit if type_ == self._i32 else arith.extui(type_, digit)
            shifted = arith.shli(digit, arith.constant(type_, low))
            found, wanted = arith.ori(found, shifted), arith.subi(wanted, before)
            above = low
        return found, arith.index_castui(ir.IndexType.get(), wanted)

    def _count_digits(
        self, load: Load, size: ir.Value, found: ir.Value, bits: tuple[int, int]
    ) -> None:
        """Counts the digits of such bits, of ranks whose bits above have been found."""
        low, above = bits
        thread = self._thread
        none = arith.constant(self._i32, 0)
        strided(
            thread.number,
            index(_DIGITS),
            index(_THREADS),
            lambda at: memref.store(none, self._counts, [at]),
        )
        thread.wait()

        def count(start: ir.Value) -> list[ir.Value]:
            first = arith.addi(start, thread.number)
            places = [arith.addi(first, index(number * _THREADS)) for number in range(_EACH)]
            for rank, is_there in self._ranks(load, size, places):
                counts = is_there
                if above < self._width:
                    unknown = arith.shrui(arith.xori(rank, found), arith.constant(rank.type, above))
                    zero = arith.constant(rank.type, 0)
                    is_known = arith.cmpi(arith.CmpIPredicate.eq, unknown, zero)
                    counts = arith.andi(is_there, is_known)
                if_else(counts, partial(self._add, rank, low, above))
            return []

        for_each(index(0), size, _EACH * _THREADS, count)
        thread.wait()

    def _add(self, rank: ir.Value, low: int, above: int) -> None:
        """Counts the digit of a rank. Of integers the sum is the same in any order."""
        shifted = arith.shrui(rank, arith.constant(rank.type, low))
        digit = arith.andi(shifted, arith.constant(rank.type, (1 << (above - low)) - 1))
        place = arith.index_cast(ir.IndexType.get(), digit)
        one = arith.constant(self._i32, 1)
        memref.atomic_rmw(arith.AtomicRMWKind.addi, one, self._counts, [place])

    def _digit_of(self, wanted: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The digit that the element with such a number has, and how many have lesser ones."""
        thread = self._thread
        each = _DIGITS // _THREADS
        own = arith.muli(thread.number, index(each))
        digits = [arith.addi(own, index(number)) for number in range(each)]
        counts = [memref.load(self._counts, [digit]) for digit in digits]
        sum_ = counts[0]
        for other in counts[1:]:
            sum_ = arith.addi(sum_, other)
        before, _ = scanned_by_block(thread, sum_, arith.addi, arith.constant(self._i32, 0))
        for digit, count in zip(digits, counts, strict=True):
            until = arith.addi(before, count)
            is_it = arith.andi(
                arith.cmpi(arith.CmpIPredicate.ult, before, wanted),
                arith.cmpi(arith.CmpIPredicate.uge, until, wanted),
            )

            def tell(digit: ir.Value = digit, before: ir.Value = before) -> None:
                memref.store(arith.index_cast(self._i32, digit), self._found, [index(0)])
                memref.store(before, self._found, [index(1)])

            if_else(is_it, tell)
            before = until
        thread.wait()
        digit, before = (memref.load(self._found, [index(number)]) for number in range(2))
        # Before it is written again.
        thread.wait()
        return digit, before

    def _gather(self, load: Load, size: ir.Value, last: ir.Value, equal: ir.Value) -> None:
        """Puts what is to be taken into shared memory, in the order of its places."""
        thread = self._thread
        zero = arith.constant(self._i32, 0)

        def chunk(start: ir.Value, lesser: ir.Value, same: ir.Value) -> list[ir.Value]:
            first = arith.addi(start, arith.muli(thread.number, index(_EACH)))
            places = [arith.addi(first, index(number)) for number in range(_EACH)]
            are = []
            for rank, is_there in self._ranks(load, size, places):
                is_lesser = arith.cmpi(arith.CmpIPredicate.ult, rank, last)
                is_same = arith.cmpi(arith.CmpIPredicate.eq, rank, last)
                are.append((arith.andi(is_lesser, is_there), arith.andi(is_same, is_there)))
            sum_ = zero
            for pair in are:
                sum_ = arith.addi(sum_, self._packed(*pair))
            before, all_ = scanned_by_block(thread, sum_, arith.addi, zero)
            before_lesser, before_same = self._added((lesser, same), before)
            for place, (is_lesser, is_same) in zip(places, are, strict=True):
                is_wanted = arith.cmpi(arith.CmpIPredicate.ult, before_same, equal)
                takes = arith.ori(is_lesser, arith.andi(is_same, is_wanted))
                to = arith.addi(before_lesser, least(before_same, equal))
                if_else(takes, partial(self._take, load, place, to))
                before_lesser, before_same = (
                    arith.addi(so_far, arith.index_castui(ir.IndexType.get(), more))
                    for so_far, more in ((before_lesser, is_lesser), (before_same, is_same))
                )
            return self._added((lesser, same), all_)

        for_each(index(0), size, _EACH * _THREADS, chunk, [index(0), index(0)])

    def _take(self, load: Load, place: ir.Value, to: ir.Value) -> None:
        self._shared.store(to, load(place))

    def _ranks(
        self, load: Load, size: ir.Value, places: Sequence[ir.Value]
    ) -> list[tuple[ir.Value, ir.Value]]:
        """The ranks at such places, and whether these are there."""
        last = arith.subi(size, index(1))
        return [
            (
                self._rank(load(least(place, last))[0]),
                arith.cmpi(arith.CmpIPredicate.ult, place, size),
            )
            for place in places
        ]

    def _packed(self, lesser: ir.Value, same: ir.Value) -> ir.Value:
        lesser, same = (arith.extui(self._i32, value) for value in (lesser, same))
        return arith.ori(lesser, arith.shli(same, arith.constant(self._i32, _HALF_BITS)))

    def _added(self, so_far: Sequence[ir.Value], both: ir.Value) -> list[ir.Value]:
        mask, bits = (
            arith.constant(self._i32, number) for number in ((1 << _HALF_BITS) - 1, _HALF_BITS)
        )
        lesser, same = arith.andi(both, mask), arith.shrui(both, bits)
        return [
            arith.addi(before, arith.index_castui(ir.IndexType.get(), more))
            for before, more in zip(so_far, (lesser, same), strict=True)
        ]
