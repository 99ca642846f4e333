"""Sorts by merging: runs of sorted elements are merged two by two, until there is one.

Upstream's loops for `tm_tensor.sort` look at all neighbours as often as there are elements, which
takes 3 s for 40,000; here elements are looked at log2(n) times, 4 ms. (Knuth, The Art of Computer
Programming, volume 3, 5.2.4.) A step takes one of two elements without a branch, as no CPU foresees
which one. Equal elements keep their order, as the comparison says that they are in order.

Where only a few of the first elements are read afterwards, as of `topk`, these are held in order,
and each element of a row is compared with the last of them: few go in between. The first five of
rows of 1000 take a fortieth of the time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.bindings.walk import defining_operation
from plumbline.linalg_to_kernels.building import for_each, if_else, index
from plumbline.linalg_to_kernels.sort_kernels import (
    Sort,
    call_sort_kernels,
    rounds_of_merging,
    sort_axis,
)

_FEW = 16
"""How many elements are held in order: one that goes in between is compared with each."""


def merge_sorts(module: ir.Operation) -> None:
    """Makes of each `tm_tensor.sort` on buffers the call of a kernel, which also takes scratch."""
    call_sort_kernels(module, _scratch, lambda sort: _MergeSort(sort, _read(sort.op)).build())


def _scratch(op: ir.Operation) -> list[ir.Value]:
    """Memory for a row twice of each buffer: where elements are, and where they are merged to."""
    axis = sort_axis(op)
    scratch = []
    for buffer in op.operands:
        type_ = ir.MemRefType(buffer.type)
        sizes = [memref.dim(buffer, index(axis))] if type_.is_dynamic_dim(axis) else []
        shape = [2, type_.shape[axis]]
        scratch.append(memref.alloc(ir.MemRefType.get(shape, type_.element_type), sizes, []))
    return scratch


def _read(op: ir.Operation) -> int | None:
    """How many of the first elements of rows are read after a sort, if they are few."""
    axis = sort_axis(op)
    ops = [view.operation for view in op.block.operations]
    before = ops[: ops.index(op)]
    counts = set()
    for buffer in op.operands:
        made = defining_operation(buffer)
        if made is None or made.name != "memref.alloc":
            return None
        for use in buffer.uses:
            user = use.owner.operation
            if (user in (op, *before) and not user.results) or user.name == "memref.dealloc":
                continue
            if user.name != "memref.subview":
                return None
            offset, size, stride = (
                list(ir.DenseI64ArrayAttr(user.attributes[f"static_{name}"]))[axis]
                for name in ("offsets", "sizes", "strides")
            )
            if (offset, stride) != (0, 1) or user in before:
                return None
            counts.add(size)
    # A size that is not known is a large negative number.
    return max(counts) if counts and min(counts) > 0 and max(counts) <= _FEW else None


@dataclass(frozen=True)
class _MergeSort:
    """What is built of a sort."""

    sort: Sort
    read: int | None
    """How many elements of each row are, if they are few: the others may lie in any order."""

    def build(self) -> None:
        """The loops over all rows."""
        self._each_row(self.sort.sizes(), self.sort.axis, [])

    def _each_row(self, sizes: Sequence[ir.Value], axis: int, place: list[ir.Value]) -> None:
        if len(place) == len(sizes):
            self._row(sizes[axis], place, axis)
        elif len(place) == axis:
            self._each_row(sizes, axis, [*place, index(0)])
        else:

            def rest(at: ir.Value) -> list[ir.Value]:
                self._each_row(sizes, axis, [*place, at])
                return []

            for_each(index(0), sizes[len(place)], 1, rest)

    def _row(self, size: ir.Value, place: Sequence[ir.Value], axis: int) -> None:
        """Sorts the row of all elements that are at `place` but along the `axis`."""

        def at(number: ir.Value) -> list[ir.Value]:
            return [*place[:axis], number, *place[axis + 1 :]]

        if self.read is not None:
            self._first(size, at, self.read)
            return

        def take(number: ir.Value) -> list[ir.Value]:
            for buffer, scratch in zip(self.sort.buffers, self.sort.scratch, strict=True):
                memref.store(memref.load(buffer, at(number)), scratch, [index(0), number])
            return []

        for_each(index(0), size, 1, take)

        def merge_all(round_: ir.Value, source: ir.Value) -> list[ir.Value]:
            run = arith.shli(index(1), round_)
            target = arith.subi(index(1), source)
            pair = arith.shli(run, index(1))

            def merge(number: ir.Value) -> list[ir.Value]:
                start = arith.muli(number, pair)
                middle = arith.minsi(arith.addi(start, run), size)
                end = arith.minsi(arith.addi(start, pair), size)
                self._merge(source, target, start, middle, end)
                return []

            for_each(index(0), arith.ceildivsi(size, pair), 1, merge)
            return [target]

        (last,) = for_each(index(0), rounds_of_merging(size), 1, merge_all, [index(0)])

        def give(number: ir.Value) -> list[ir.Value]:
            for buffer, scratch in zip(self.sort.buffers, self.sort.scratch, strict=True):
                memref.store(memref.load(scratch, [last, number]), buffer, at(number))
            return []

        for_each(index(0), size, 1, give)

    def _first(self, size: ir.Value, at: Callable[[ir.Value], list[ir.Value]], count: int) -> None:
        """Puts the first elements of a row, which has as many, in order where the row begins."""
        firsts, last = self.sort.scratch, index(count - 1)

        def consider(number: ir.Value) -> list[ir.Value]:
            new = [memref.load(buffer, at(number)) for buffer in self.sort.buffers]
            lasts = [memref.load(first, [index(0), last]) for first in firsts]
            is_among = arith.cmpi(arith.CmpIPredicate.ult, number, index(count))
            comes_later = self.sort.in_order(lasts, new)
            true = arith.constant(ir.IntegerType.get_signless(1), 1)
            goes_in = arith.ori(is_among, arith.xori(comes_later, true))
            if_else(goes_in, lambda: self._insert(new, number, is_among, count))
            return []

        # What is compared before there are as many is of no account, but for that it is a number.
        for buffer, first in zip(self.sort.buffers, firsts, strict=True):
            memref.store(memref.load(buffer, at(index(0))), first, [index(0), last])
        for_each(index(0), size, 1, consider)

        def give(number: ir.Value) -> list[ir.Value]:
            for buffer, first in zip(self.sort.buffers, firsts, strict=True):
                memref.store(memref.load(first, [index(0), number]), buffer, at(number))
            return []

        for_each(index(0), index(count), 1, give)

    def _insert(
        self, new: Sequence[ir.Value], number: ir.Value, is_among: ir.Value, count: int
    ) -> None:
        """Puts an element where it belongs among the first ones; those after it move on."""
        firsts = self.sort.scratch
        present = arith.minsi(number, index(count))
        bit = ir.IntegerType.get_signless(1)

        def slot(place: ir.Value, has_passed: ir.Value, *moving: ir.Value) -> list[ir.Value]:
            here = [memref.load(first, [index(0), place]) for first in firsts]
            stays = arith.andi(self.sort.in_order(here, moving), has_passed)
            left = []
            for first, one, other in zip(firsts, here, moving, strict=True):
                memref.store(arith.select(stays, one, other), first, [index(0), place])
                left.append(arith.select(stays, other, one))
            return [stays, *left]

        true = arith.constant(bit, 1)
        _, *left = for_each(index(0), present, 1, slot, [true, *new])

        def append() -> None:
            for first, value in zip(firsts, left, strict=True):
                memref.store(value, first, [index(0), number])

        if_else(is_among, append)

    def _merge(
        self,
        source: ir.Value,
        target: ir.Value,
        start: ir.Value,
        middle: ir.Value,
        end: ir.Value,
    ) -> None:
        """Merges two runs of the source, from `start` and `middle`, to the same place elsewhere."""
        last_left = arith.subi(middle, index(1))
        last_right = arith.subi(end, index(1))
        less = arith.CmpIPredicate.slt

        def step(place: ir.Value, left: ir.Value, right: ir.Value) -> list[ir.Value]:
            # What is read of a run that is used up is of no account.
            of_left = arith.minsi(left, last_left)
            of_right = arith.minsi(right, last_right)
            lefts = [memref.load(scratch, [source, of_left]) for scratch in self.sort.scratch]
            rights = [memref.load(scratch, [source, of_right]) for scratch in self.sort.scratch]
            in_order = arith.ori(
                self.sort.in_order(lefts, rights), arith.cmpi(arith.CmpIPredicate.sge, right, end)
            )
            takes_left = arith.andi(arith.cmpi(less, left, middle), in_order)
            for scratch, of_one, of_other in zip(self.sort.scratch, lefts, rights, strict=True):
                memref.store(arith.select(takes_left, of_one, of_other), scratch, [target, place])
            taken = arith.index_castui(ir.IndexType.get(), takes_left)
            next_left = arith.addi(left, taken)
            return [next_left, arith.subi(arith.addi(right, index(1)), taken)]

        for_each(start, end, 1, step, [start, middle])
