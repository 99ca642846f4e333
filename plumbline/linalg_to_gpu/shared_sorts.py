"""Sorts and merges elements in the memory that the threads of a block share.

A thread puts a few elements in order by itself. Runs of these are then merged, to runs that are
twice as long each time: of the elements of two runs in order a thread finds as many that follow one
another, from where a binary search tells how many of each run come before them. (Green, McColl and
Bader, "GPU merge path", 2012.) Equal elements keep their order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_gpu.launches import Thread, strided
from plumbline.linalg_to_kernels.building import for_each, if_else, index, least
from plumbline.linalg_to_kernels.sort_kernels import Sort, rounds_of_merging

EACH = 4
"""Elements that a thread puts in order, and merges at a time; a power of two."""

_EACH_BITS = EACH.bit_length() - 1

Load = Callable[[ir.Value], list[ir.Value]]
"""Gives of each buffer the element at a place of a row."""

Store = Callable[[ir.Value, Sequence[ir.Value]], None]


@dataclass(frozen=True)
class Runs:
    """Two sorted runs, one after the other, of which the second one may be empty."""

    start: ir.Value
    middle: ir.Value
    """Where the second one begins."""
    end: ir.Value

    @staticmethod
    def around(at: ir.Value, count: ir.Value, round_: ir.Value) -> "Runs":
        """Those of two to the power of `round_` that have a place between them, of `count`."""
        run = arith.shli(index(1), round_)
        pair = arith.addi(round_, index(1))
        start = arith.shli(arith.shrui(at, pair), pair)
        middle = least(arith.addi(start, run), count)
        return Runs(start, middle, least(arith.addi(middle, run), count))

    def taken(
        self, sort: Sort, load: Load, befores: Sequence[ir.Value], halvings: ir.Value
    ) -> list[ir.Value]:
        """Of so many elements that come first when both are merged, how many are of the first run.

        Args:
          sort: whose order it is.
          load: gives their elements.
          befores: how many come first; it is found for each of these at once.
          halvings: after how many of them nothing is left of a run.
        """
        lefts = arith.subi(self.middle, self.start)
        rights = arith.subi(self.end, self.middle)
        last = arith.subi(self.end, index(1))
        # The second run's last one of those that come first, if none of the first run were.
        behinds = [
            arith.maxsi(arith.subi(arith.addi(self.middle, before), index(1)), index(0))
            for before in befores
        ]

        def halve(_: ir.Value, *bounds: ir.Value) -> list[ir.Value]:
            halved = []
            for behind, low, high in zip(behinds, bounds[::2], bounds[1::2], strict=True):
                middle = arith.shrui(arith.addi(low, high), index(1))
                # What is read when the search has ended already is of no account.
                left = load(least(arith.addi(self.start, middle), last))
                right = load(arith.subi(behind, middle))
                is_open = arith.cmpi(arith.CmpIPredicate.ult, low, high)
                moves = arith.andi(sort.in_order(left, right), is_open)
                halved.append(arith.select(moves, arith.addi(middle, index(1)), low))
                halved.append(arith.select(moves, high, middle))
            return halved

        bounds = []
        for before in befores:
            bounds.append(arith.maxsi(arith.subi(before, rights), index(0)))
            bounds.append(least(before, lefts))
        return for_each(index(0), halvings, 1, halve, bounds)[::2]


class Shared:
    """Elements of each buffer that is sorted, in memory that the threads of a block share."""

    def __init__(self, sort: Sort, thread: Thread, tile: int) -> None:
        self._sort, self._thread, self._tile = sort, thread, tile
        self.buffers = [
            thread.shared([2, tile], ir.MemRefType(buffer.type).element_type)
            for buffer in sort.buffers
        ]
        """Twice: where elements are, and where they are merged to."""
        self._side = index(0)

    def store(self, at: ir.Value, values: Sequence[ir.Value]) -> None:
        """Puts an element there, before they are sorted or merged."""
        self._store(index(0), at, values)

    def load(self, at: ir.Value) -> list[ir.Value]:
        """What is there once they are."""
        return self._load(self._side, at)

    def each(self, count: ir.Value, work: Callable[[ir.Value], object]) -> None:
        """Does work for each of so many elements, and waits until it has been done for all."""
        strided(self._thread.number, count, index(self._thread.threads), work)
        self._thread.wait()

    def sort(self, count: ir.Value) -> None:
        """Sorts so many elements."""
        self._each_few(count, lambda first: self._sort_few(first, count))

        def merge_runs(round_: ir.Value, source: ir.Value) -> list[ir.Value]:
            target = arith.subi(index(1), source)

            def work(first: ir.Value) -> None:
                runs = Runs.around(first, count, round_)
                self._merge_few(runs, first, arith.addi(round_, index(1)), (source, target))

            self._each_few(count, work)
            return [target]

        rounds = rounds_of_merging(count)
        (self._side,) = for_each(index(_EACH_BITS), rounds, 1, merge_runs, [index(0)])

    def merge(self, middle: ir.Value, count: ir.Value) -> None:
        """Merges elements of which those before a place are sorted, and those from there on."""
        runs = Runs(index(0), middle, count)
        halvings, sides = index(self._tile.bit_length()), (index(0), index(1))
        self._each_few(count, lambda first: self._merge_few(runs, first, halvings, sides))
        self._side = index(1)

    def _each_few(self, count: ir.Value, work: Callable[[ir.Value], None]) -> None:
        """Does work for the elements that a thread has, given the place of the first one."""
        few = arith.ceildivui(count, index(EACH))
        self.each(few, lambda number: work(arith.muli(number, index(EACH))))

    def _sort_few(self, first: ir.Value, count: ir.Value) -> None:
        """Puts neighbours in order that are not, as often as there are elements."""
        last = arith.subi(count, index(1))
        places = [arith.addi(first, index(number)) for number in range(EACH)]
        are_there = [arith.cmpi(arith.CmpIPredicate.ult, place, count) for place in places]
        elements = [self._load(index(0), least(place, last)) for place in places]
        true = arith.constant(ir.IntegerType.get_signless(1), 1)
        for turn in range(EACH):
            for right in range(1 + turn % 2, EACH, 2):
                pair = elements[right - 1], elements[right]
                is_turned = arith.xori(self._sort.in_order(*pair), true)
                swaps = arith.andi(is_turned, are_there[right])
                elements[right - 1], elements[right] = _swapped(swaps, *pair)
        for place, is_there, element in zip(places, are_there, elements, strict=True):
            self._store_if(is_there, index(0), place, element)

    def _merge_few(
        self, runs: Runs, first: ir.Value, halvings: ir.Value, sides: tuple[ir.Value, ir.Value]
    ) -> None:
        """Finds the elements that come at some places of two runs, from one side to the other."""
        source, target = sides
        before = arith.subi(first, runs.start)

        def load(at: ir.Value) -> list[ir.Value]:
            return self._load(source, at)

        (taken,) = runs.taken(self._sort, load, [before], halvings)
        last = arith.subi(runs.end, index(1))
        left = arith.addi(runs.start, taken)
        right = arith.addi(runs.middle, arith.subi(before, taken))
        lefts, rights = load(least(left, last)), load(least(right, last))
        for number in range(EACH):
            has_left = arith.cmpi(arith.CmpIPredicate.ult, left, runs.middle)
            has_no_right = arith.cmpi(arith.CmpIPredicate.uge, right, runs.end)
            comes_first = arith.andi(has_left, self._sort.in_order(lefts, rights))
            is_left = arith.ori(comes_first, has_no_right)
            place = arith.addi(first, index(number))
            is_there = arith.cmpi(arith.CmpIPredicate.ult, place, runs.end)
            self._store_if(is_there, target, place, _either(is_left, lefts, rights))
            if number + 1 < EACH:
                more = arith.addi(arith.select(is_left, left, right), index(1))
                following = load(least(more, last))
                left = arith.select(is_left, more, left)
                right = arith.select(is_left, right, more)
                lefts, rights = (
                    _either(is_left, following, lefts),
                    _either(is_left, rights, following),
                )

    def _load(self, side: ir.Value, at: ir.Value) -> list[ir.Value]:
        return [memref.load(own, [side, at]) for own in self.buffers]

    def _store(self, side: ir.Value, at: ir.Value, values: Sequence[ir.Value]) -> None:
        for own, value in zip(self.buffers, values, strict=True):
            memref.store(value, own, [side, at])

    def _store_if(
        self, is_there: ir.Value, side: ir.Value, at: ir.Value, values: Sequence[ir.Value]
    ) -> None:
        if_else(is_there, lambda: self._store(side, at, values))


def _swapped(
    swaps: ir.Value, left: Sequence[ir.Value], right: Sequence[ir.Value]
) -> tuple[list[ir.Value], list[ir.Value]]:
    return _either(swaps, right, left), _either(swaps, left, right)


def _either(
    condition: ir.Value, then: Sequence[ir.Value], otherwise: Sequence[ir.Value]
) -> list[ir.Value]:
    """The elements of each buffer of one of two."""
    return [arith.select(condition, *pair) for pair in zip(then, otherwise, strict=True)]
