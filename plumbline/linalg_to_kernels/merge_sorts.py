"""Sorts by merging: runs of sorted elements are merged two by two, until there is one.

Upstream's loops for `tm_tensor.sort` look at all neighbours as often as there are elements, which
takes 3 s for 40,000; here elements are looked at log2(n) times (Knuth, The Art of Computer
Programming, volume 3, 5.2.4), and no step has a branch, as no CPU foresees which of two elements
comes first. Where two runs have one length, they are merged from both ends at once: in as many
steps as a run has elements neither can be used up, so that no step asks, and the ends do not wait
for each other. A thousand floats and their places take 24 us, and in single steps with branches 92.
Equal elements keep their order, as the comparison says that they are in order. Where their digits
are few, they are sorted by these (`digit_sorts.py`).

Where only a few first elements are read afterwards, as of `topk`, the first ones so far are held in
order, and each element of a row is compared with the last of them. Those that come before it are
gathered, and merged with the first ones as soon as they are as many.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_kernels.building import LoopBody, either, for_each, index, mark_scratch
from plumbline.linalg_to_kernels.digit_sorts import (
    DIGITS,
    DigitSort,
    Order,
    has_digits,
    order_of_sort,
)
from plumbline.linalg_to_kernels.first_elements import first_elements
from plumbline.linalg_to_kernels.sort_kernels import (
    Sort,
    call_sort_kernels,
    rounds_of_merging,
)
from plumbline.linalg_to_kernels.trimmed_sorts import sort_axis

_FEWEST_GATHERED = 32
"""So that merging pays where few of the first elements are read."""

_MOST_IN_REGISTERS = 16
"""So many first elements are held without memory, each new one being compared with all: 16 of 1000
take 0.75 of the time of gathering, 9 half. Of 20 the code takes twice as long to compile."""

_NARROW = 16
"""The bits of floats that CPUs have no comparison of: they make float32 of these first."""

_BLOCK = 16
"""So many elements of a row are looked at at once, to pass them over where none is of interest."""

_Load = Callable[[ir.Value], list[ir.Value]]
"""Gives of each buffer the element with a number."""


def merge_sorts(module: ir.Operation) -> None:
    """Makes of each `tm_tensor.sort` on buffers the call of a kernel, which also takes scratch."""
    call_sort_kernels(module, _scratch, lambda sort: _MergeSort(sort).build(), _first)


def _first(op: ir.Operation) -> int | None:
    """How many elements of each row are gathered; None if all are to be sorted."""
    first = first_elements(op)
    return first if first is not None and _pays(first, op) else None


def _pays(first: int, op: ir.Operation) -> bool:
    """Whether so many first elements are sooner gathered and merged than all are sorted.

    Those of random rows that come before the last one so far are first * ln(size / first) in all.
    Each takes log2(first) * 6 ns; a sort takes for each element 1/4 ns for each bit of its digits,
    or log2(size) * 2.7 ns by merging (AMD Zen 5, rows of 100 to 100,000).
    """
    type_ = ir.MemRefType(op.operands[0].type)
    size = type_.shape[sort_axis(op)]
    if first <= _MOST_IN_REGISTERS or size < 0:
        return True
    gathered = first * (1 + math.log(size / first)) * math.log2(first) * 6
    each = type_.element_type.width / 4 if has_digits(op) else math.log2(size) * 2.7
    return bool(gathered < size * each)


def _scratch(op: ir.Operation, first: int | None) -> list[ir.Value]:
    """Memory twice: where elements are, and where they are merged to.

    It is for a row of each buffer; or for its first elements, if no others are read, and those that
    are gathered. Few are in registers. Where elements may be sorted by digits, these are counted in
    what comes last.
    """
    axis = sort_axis(op)
    if first is not None and first <= _MOST_IN_REGISTERS:
        return []
    scratch = []
    for buffer in op.operands:
        type_ = ir.MemRefType(buffer.type)
        is_dynamic = first is None and type_.is_dynamic_dim(axis)
        sizes = [memref.dim(buffer, index(axis))] if is_dynamic else []
        row = type_.shape[axis] if first is None else first + _gathered(first)
        scratch.append(memref.alloc(ir.MemRefType.get([2, row], type_.element_type), sizes, []))
    if first is None and has_digits(op):
        scratch.append(memref.alloc(ir.MemRefType.get([DIGITS], ir.IndexType.get()), [], []))
    return scratch


def _gathered(first: int) -> int:
    """How many elements are gathered before they are merged with as many first ones as are read."""
    return max(first, _FEWEST_GATHERED)


@dataclass(frozen=True)
class _Run:
    """Sorted elements of a row of the scratch."""

    row: ir.Value
    start: ir.Value
    end: ir.Value


@dataclass(frozen=True)
class _MergeSort:
    """What is built of a sort."""

    sort: Sort

    def build(self) -> None:
        """The loops over all rows."""
        for scratch in self.sort.scratch:
            mark_scratch(scratch)
        self._each_row(self.sort.sizes(), self.sort.axis, [])

    def _each_row(self, sizes: Sequence[ir.Value], axis: int, place: list[ir.Value]) -> None:
        if len(place) == len(sizes):
            self._row(sizes[axis], place)
        elif len(place) == axis:
            self._each_row(sizes, axis, [*place, index(0)])
        else:

            def rest(at: ir.Value) -> list[ir.Value]:
                self._each_row(sizes, axis, [*place, at])
                return []

            for_each(index(0), sizes[len(place)], 1, rest, parallel=True)

    def _row(self, size: ir.Value, place: Sequence[ir.Value]) -> None:
        """Sorts the row of all elements that are at `place` but along the axis."""
        axis = self.sort.axis

        def at(number: ir.Value) -> list[ir.Value]:
            return [*place[:axis], number, *place[axis + 1 :]]

        def load(number: ir.Value) -> list[ir.Value]:
            return self.sort.load(at(number))

        def store(values: Sequence[ir.Value], number: ir.Value) -> None:
            for buffer, value in zip(self.sort.buffers, values, strict=True):
                memref.store(value, buffer, at(number))

        first = self.sort.first
        if first is not None and first <= _MOST_IN_REGISTERS:
            for number, values in enumerate(self._few(load, size, first)):
                store(values, index(number))
            return
        if first is None:
            last, count = self._all(load, size), size
        else:
            last, count = self._first(load, size, first), index(first)

        def give(number: ir.Value) -> list[ir.Value]:
            store(self._load(last, number), number)
            return []

        for_each(index(0), count, 1, give)

    def _all(self, load: _Load, size: ir.Value) -> ir.Value:
        """Sorts a row: gives the row of the scratch that has it."""

        def merged() -> ir.Value:
            return self._sorted(load, index(0), size, index(0))

        if not has_digits(self.sort.op):
            return merged()
        return DigitSort(self.sort, self._rows, self.sort.scratch[-1]).sorted(load, size, merged)

    def _in_order(self, lefts: Sequence[ir.Value], rights: Sequence[ir.Value]) -> ir.Value:
        """What the comparison of the sort says of two elements, the first of which comes first."""
        order = self._order_of_keys
        if order is None:
            return self.sort.in_order(lefts, rights)
        return order.holds(order.key(lefts[0]), order.key(rights[0]))

    @cached_property
    def _order_of_keys(self) -> Order | None:
        """By which integers elements are compared, if not as the sort spells it."""
        type_ = ir.MemRefType(self.sort.buffers[0].type).element_type
        is_narrow = isinstance(type_, ir.FloatType) and type_.width <= _NARROW
        return order_of_sort(self.sort.op) if is_narrow else None

    @property
    def _rows(self) -> Sequence[ir.Value]:
        """The rows of the scratch that have elements of each buffer."""
        return self.sort.scratch[: len(self.sort.buffers)]

    def _load(self, row: ir.Value, at: ir.Value) -> list[ir.Value]:
        return [memref.load(scratch, [row, at]) for scratch in self._rows]

    def _store(self, values: Sequence[ir.Value], row: ir.Value, at: ir.Value) -> None:
        for scratch, value in zip(self._rows, values, strict=True):
            memref.store(value, scratch, [row, at])

    def _sorted(self, load: _Load, start: ir.Value, count: ir.Value, row: ir.Value) -> ir.Value:
        """Sorts elements from number `start` on: gives the row of the scratch that has them there.

        Args:
          load: gives them. It may read the other row.
          start: the number of the first, and its place in the scratch.
          count: how many there are.
          row: that of the scratch that is written first.
        """
        end = arith.addi(start, count)
        pairs = arith.divui(count, index(2))

        def order(number: ir.Value) -> list[ir.Value]:
            self._order_pair(load, arith.addi(start, arith.muli(number, index(2))), row)
            return []

        def take(number: ir.Value) -> list[ir.Value]:
            self._store(load(number), row, number)
            return []

        for_each(index(0), pairs, 1, order)
        # The last one, where their number is odd.
        for_each(arith.addi(start, arith.muli(pairs, index(2))), end, 1, take)

        def merge_all(round_: ir.Value, source: ir.Value) -> list[ir.Value]:
            target = arith.subi(index(1), source)
            run = arith.shli(index(2), round_)
            pair = arith.shli(run, index(1))
            pairs = arith.divui(count, pair)

            def merge(number: ir.Value) -> list[ir.Value]:
                first = arith.addi(start, arith.muli(number, pair))
                self._merge_equal(source, target, first, run)
                return []

            for_each(index(0), pairs, 1, merge)
            first = arith.addi(start, arith.muli(pairs, pair))
            middle = arith.minsi(arith.addi(first, run), end)
            left, right = _Run(source, first, middle), _Run(source, middle, end)
            self._merge(left, right, target, first, arith.subi(end, first))
            return [target]

        rounds = rounds_of_merging(arith.ceildivui(count, index(2)))
        (last,) = for_each(index(0), rounds, 1, merge_all, [row])
        return last

    def _order_pair(self, load: _Load, first: ir.Value, row: ir.Value) -> None:
        """Sorts two elements, of which one has the number `first`, and the other the next one."""
        second = arith.addi(first, index(1))
        early, late = load(first), load(second)
        keeps = _count(self._in_order(early, late))
        self._store(early, row, arith.subi(second, keeps))
        self._store(late, row, arith.addi(first, keeps))

    def _merge_equal(
        self, source: ir.Value, target: ir.Value, start: ir.Value, run: ir.Value
    ) -> None:
        """Merges two runs of one length, of which the first is at `start`, into the other row."""
        one = index(1)
        middle = arith.addi(start, run)
        end = arith.addi(middle, run)

        def step(
            number: ir.Value, left: ir.Value, right: ir.Value, last_left: ir.Value, last: ir.Value
        ) -> list[ir.Value]:
            keeps = self._in_order(self._load(source, left), self._load(source, right))
            taken = _count(keeps)
            first = _one_of(taken, left, right)
            self._store(self._load(source, first), target, arith.addi(start, number))
            keep = self._in_order(self._load(source, last_left), self._load(source, last))
            kept = _count(keep)
            behind = _one_of(kept, last, last_left)
            place = arith.subi(arith.subi(end, one), number)
            self._store(self._load(source, behind), target, place)
            return [
                arith.addi(left, taken),
                arith.subi(arith.addi(right, one), taken),
                arith.addi(arith.subi(last_left, one), kept),
                arith.subi(last, kept),
            ]

        ends = [start, middle, arith.subi(middle, one), arith.subi(end, one)]
        for_each(index(0), run, 1, step, ends)

    def _merge(
        self, lefts: _Run, rights: _Run, target: ir.Value, start: ir.Value, count: ir.Value
    ) -> None:
        """Merges two runs of any length: the first `count` go to `start` in the row `target`."""
        last_left = arith.subi(lefts.end, index(1))
        last_right = arith.subi(rights.end, index(1))
        less = arith.CmpIPredicate.slt

        def step(number: ir.Value, left: ir.Value, right: ir.Value) -> list[ir.Value]:
            # What is read of a run that is used up is of no account.
            of_left = arith.minsi(left, last_left)
            of_right = arith.minsi(right, last_right)
            in_order = self._in_order(
                self._load(lefts.row, of_left), self._load(rights.row, of_right)
            )
            is_used_up = arith.cmpi(arith.CmpIPredicate.sge, right, rights.end)
            takes_left = arith.andi(
                arith.cmpi(less, left, lefts.end), arith.ori(in_order, is_used_up)
            )
            row = arith.select(takes_left, lefts.row, rights.row)
            place = arith.select(takes_left, of_left, of_right)
            self._store(self._load(row, place), target, arith.addi(start, number))
            taken = _count(takes_left)
            return [
                arith.addi(left, taken),
                arith.subi(arith.addi(right, index(1)), taken),
            ]

        for_each(index(0), count, 1, step, [lefts.start, rights.start])

    def _first(self, load: _Load, size: ir.Value, count: int) -> ir.Value:
        """Puts the first elements of a row, which has as many, in order where the scratch begins.

        Gives the row of the scratch that they are in. Those that are gathered lie behind them.
        """
        zero, end = index(0), index(count)
        most = _gathered(count)

        def merge(row: ir.Value, gathered: ir.Value) -> ir.Value:
            """Merges those that are gathered, in row 0, with the first ones: these change rows."""
            sorted_in = self._sorted(lambda at: self._load(zero, at), end, gathered, index(1))
            target = arith.subi(index(1), row)
            others = _Run(sorted_in, end, arith.addi(end, gathered))
            self._merge(_Run(row, zero, end), others, target, zero, end)
            return target

        def last(row: ir.Value) -> list[ir.Value]:
            return self._load(row, index(count - 1))

        def gather(
            number: ir.Value, row: ir.Value, gathered: ir.Value, *bound: ir.Value
        ) -> list[ir.Value]:
            new = load(number)
            types = [ir.IndexType.get(), ir.IndexType.get(), *(value.type for value in bound)]

            def keep() -> list[ir.Value]:
                return [row, gathered, *bound]

            def take() -> list[ir.Value]:
                self._store(new, zero, arith.addi(end, gathered))
                more = arith.addi(gathered, index(1))

                def merge_all() -> list[ir.Value]:
                    merged = merge(row, index(most))
                    return [merged, zero, *last(merged)]

                is_full = arith.cmpi(arith.CmpIPredicate.eq, more, index(most))
                return either(types, is_full, merge_all, lambda: [row, more, *bound])

            return either(types, self._in_order(bound, new), keep, take)

        row = self._sorted(load, zero, end, zero)
        held = [row, zero, *last(row)]
        row, gathered, *_ = self._rest(load, count, size, gather, held, lambda *held: held[2:])
        return merge(row, gathered)

    def _few(self, load: _Load, size: ir.Value, count: int) -> list[list[ir.Value]]:
        """The first elements of a row, which has as many, in order."""
        first: list[list[ir.Value]] = []
        for number in range(count):
            first = self._with(first, load(index(number)))
        buffers = len(self.sort.buffers)

        def grouped(values: Sequence[ir.Value]) -> list[list[ir.Value]]:
            return [[*values[start : start + buffers]] for start in range(0, len(values), buffers)]

        def insert(number: ir.Value, *carried: ir.Value) -> list[ir.Value]:
            *others, last = grouped(carried)
            new = load(number)
            types = [value.type for value in carried]

            def take() -> list[ir.Value]:
                return [*itertools.chain.from_iterable(self._with(others, new))]

            return either(types, self._in_order(last, new), lambda: carried, take)

        held = [*itertools.chain.from_iterable(first)]
        return grouped(self._rest(load, count, size, insert, held, lambda *held: held[-buffers:]))

    def _rest(
        self,
        load: _Load,
        start: int,
        size: ir.Value,
        take: LoopBody,
        carried: Sequence[ir.Value],
        last: Callable[..., Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """A loop over the elements of a row from `start` on, few of which are of interest.

        Args:
          load: gives them.
          start: the number of the first one.
          size: how many elements the row has.
          take: the body of the loop.
          carried: what it carries.
          last: gives of what is carried the element which those of interest come before.
        """
        type_ = ir.MemRefType(self.sort.buffers[0].type)
        if self.sort.axis != type_.rank - 1:
            return for_each(index(start), size, 1, take, carried)

        def block(number: ir.Value, *carried: ir.Value) -> list[ir.Value]:
            first = arith.addi(index(start), arith.muli(number, index(_BLOCK)))

            def stay(at: ir.Value, all_: ir.Value) -> list[ir.Value]:
                new = load(arith.addi(first, at))
                return [arith.andi(all_, self._in_order(last(*carried), new))]

            (is_done,) = for_each(index(0), index(_BLOCK), 1, stay, [_true()])

            def take_all() -> list[ir.Value]:
                return for_each(first, arith.addi(first, index(_BLOCK)), 1, take, carried)

            return either([value.type for value in carried], is_done, lambda: carried, take_all)

        blocks = arith.divui(arith.subi(size, index(start)), index(_BLOCK))
        carried = for_each(index(0), blocks, 1, block, carried)
        done = arith.addi(index(start), arith.muli(blocks, index(_BLOCK)))
        return for_each(done, size, 1, take, carried)

    def _with(self, held: list[list[ir.Value]], new: list[ir.Value]) -> list[list[ir.Value]]:
        """Elements in order, and a new one behind those that it does not come before."""
        stays = [self._in_order(each, new) for each in held]
        after = [_selected(stay, new, each) for stay, each in zip(stays, held, strict=True)]
        before = [
            _selected(stay, each, moved)
            for stay, each, moved in zip(stays, held, [new, *after], strict=False)
        ]
        return [*before, after[-1] if after else new]


def _selected(
    condition: ir.Value, lefts: Sequence[ir.Value], rights: Sequence[ir.Value]
) -> list[ir.Value]:
    """The first values if the condition holds, else the second ones."""
    pairs = zip(lefts, rights, strict=True)
    return [arith.select(condition, left, right) for left, right in pairs]


def _true() -> ir.Value:
    return arith.constant(ir.IntegerType.get_signless(1), True)


def _count(condition: ir.Value) -> ir.Value:
    """1 if the condition holds, else 0."""
    return arith.index_castui(ir.IndexType.get(), condition)


def _one_of(taken: ir.Value, first: ir.Value, second: ir.Value) -> ir.Value:
    """The first of two indices if `taken` is 1, the second if it is 0.

    LLVM would make a branch of a selection in a loop that waits for loads; of shifts it cannot.
    """
    half = arith.muli(arith.subi(index(1), taken), index(32))
    more = arith.shli(arith.shli(arith.subi(first, second), half), half)
    return arith.addi(second, more)
