"""Sorts by merging: runs of sorted elements are merged two by two, until there is one.

Upstream's loops for `tm_tensor.sort` look at all neighbours as often as there are elements, which
takes 3 s for 40,000; here elements are looked at log2(n) times (Knuth, The Art of Computer
Programming, volume 3, 5.2.4), and no step has a branch, as no CPU foresees which of two elements
comes first. Where two runs have one length, they are merged from both ends at once: in as many
steps as a run has elements neither can be used up, so that no step asks, and the ends do not wait
for each other. A thousand floats and their places take 24 us, and in single steps with branches 92.
Equal elements keep their order, as the comparison says that they are in order.

Where only the first elements are read afterwards, as of `topk`, the first ones so far are held in
order, and each element of a row is compared with the last of them. Those that come before it are
gathered, and merged with the first ones as soon as they are as many.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.bindings.walk import defining_operation
from plumbline.linalg_to_kernels.building import either, for_each, index
from plumbline.linalg_to_kernels.sort_kernels import (
    Sort,
    call_sort_kernels,
    rounds_of_merging,
    sort_axis,
)

_FEWEST_GATHERED = 32
"""So that merging pays where few of the first elements are read."""

_Load = Callable[[ir.Value], list[ir.Value]]
"""Gives of each buffer the element with a number."""


def merge_sorts(module: ir.Operation) -> None:
    """Makes of each `tm_tensor.sort` on buffers the call of a kernel, which also takes scratch."""
    call_sort_kernels(module, _scratch, lambda sort: _MergeSort(sort, _read(sort.op)).build())


def _scratch(op: ir.Operation) -> list[ir.Value]:
    """Memory twice: where elements are, and where they are merged to.

    It is for a row of each buffer; or for those that are read of it, and those that are gathered.
    """
    axis, read = sort_axis(op), _read(op)
    scratch = []
    for buffer in op.operands:
        type_ = ir.MemRefType(buffer.type)
        is_dynamic = read is None and type_.is_dynamic_dim(axis)
        sizes = [memref.dim(buffer, index(axis))] if is_dynamic else []
        row = type_.shape[axis] if read is None else read + _gathered(read)
        scratch.append(memref.alloc(ir.MemRefType.get([2, row], type_.element_type), sizes, []))
    return scratch


def _gathered(read: int) -> int:
    """How many elements are gathered before they are merged with as many first ones as are read."""
    return max(read, _FEWEST_GATHERED)


def _read(op: ir.Operation) -> int | None:
    """How many of the first elements of rows are read after a sort, if they are not all."""
    axis = sort_axis(op)
    ops = [view.operation for view in op.block.operations]
    before = ops[: ops.index(op)]
    last = 0
    for buffer in op.operands:
        made = defining_operation(buffer)
        if made is None or made.name != "memref.alloc":
            return None
        for use in buffer.uses:
            user = use.owner.operation
            if (user in (op, *before) and not user.results) or user.name == "memref.dealloc":
                continue
            if user.name != "memref.subview" or user in before:
                return None
            offset, size, stride = (
                list(ir.DenseI64ArrayAttr(user.attributes[f"static_{name}"]))[axis]
                for name in ("offsets", "sizes", "strides")
            )
            # What is not known is a large negative number.
            if min(offset, size, stride) < 0:
                return None
            last = max(last, offset + (size - 1) * stride + 1)
    size = ir.MemRefType(op.operands[0].type).shape[axis]
    return last if last > 0 and (size < 0 or last < size) else None


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
    read: int | None
    """How many elements of each row are, if not all: the others may be any."""

    def build(self) -> None:
        """The loops over all rows."""
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

            for_each(index(0), sizes[len(place)], 1, rest)

    def _row(self, size: ir.Value, place: Sequence[ir.Value]) -> None:
        """Sorts the row of all elements that are at `place` but along the axis."""
        axis = self.sort.axis

        def at(number: ir.Value) -> list[ir.Value]:
            return [*place[:axis], number, *place[axis + 1 :]]

        def load(number: ir.Value) -> list[ir.Value]:
            return self.sort.load(at(number))

        if self.read is None:
            last, count = self._sorted(load, index(0), size, index(0)), size
        else:
            last, count = self._first(load, size, self.read), index(self.read)

        def give(number: ir.Value) -> list[ir.Value]:
            for buffer, value in zip(self.sort.buffers, self._load(last, number), strict=True):
                memref.store(value, buffer, at(number))
            return []

        for_each(index(0), count, 1, give)

    def _load(self, row: ir.Value, at: ir.Value) -> list[ir.Value]:
        return [memref.load(scratch, [row, at]) for scratch in self.sort.scratch]

    def _store(self, values: Sequence[ir.Value], row: ir.Value, at: ir.Value) -> None:
        for scratch, value in zip(self.sort.scratch, values, strict=True):
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
        keeps = _count(self.sort.in_order(early, late))
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
            keeps = self.sort.in_order(self._load(source, left), self._load(source, right))
            taken = _count(keeps)
            first = _one_of(taken, left, right)
            self._store(self._load(source, first), target, arith.addi(start, number))
            keep = self.sort.in_order(self._load(source, last_left), self._load(source, last))
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
            in_order = self.sort.in_order(
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

            return either(types, self.sort.in_order(bound, new), keep, take)

        row = self._sorted(load, zero, end, zero)
        row, gathered, *_ = for_each(end, size, 1, gather, [row, zero, *last(row)])
        return merge(row, gathered)


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
