"""Sorts numbers by their digits, where these are few: from the last one on, by counting.

(Knuth, The Art of Computer Programming, volume 3, 5.2.5.) Equal elements keep their order. Digits
are of how far a number is from the first one in order: numbers of groups, or of bytes, have one,
whatever they begin with. Of floats they are those of the integers that have the same order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, math, memref

from plumbline.linalg_to_kernels.building import either, for_each, index
from plumbline.linalg_to_kernels.sort_kernels import Sort, rounds_of_merging

_DIGIT_BITS = 8

DIGITS = 1 << _DIGIT_BITS

_FEWEST = 64
"""Elements: fewer are merged in less time than it takes to add up counts."""

_WIDEST = 64

_INTEGERS = {
    arith.CmpIPredicate.sle: (False, True),
    arith.CmpIPredicate.sge: (False, False),
    arith.CmpIPredicate.ule: (True, True),
    arith.CmpIPredicate.uge: (True, False),
}
"""By what holds of two keys in order: whether they are unsigned, and whether they rise."""

_FLOATS = {arith.CmpFPredicate.OLE: True, arith.CmpFPredicate.OGE: False}
"""The same of floats: whether they rise."""

_Elements = Callable[[ir.Value], list[ir.Value]]
"""Gives of each buffer the element with a number."""


def has_digits(op: ir.Operation) -> bool:
    """Whether a sort is one by numbers, of rows that may have so many that digits pay."""
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    type_ = ir.ShapedType(op.operands[0].type)
    if not type_.is_dynamic_dim(axis) and type_.get_dim_size(axis) < _FEWEST:
        return False
    return order_of_sort(op) is not None


@dataclass(frozen=True)
class Order:
    """The order of a sort by integers, or by floats, of which a NaN is the greatest."""

    rises: bool
    unsigned: bool = False

    def key(self, value: ir.Value) -> ir.Value:
        """An integer of the same width as a number, of the same order."""
        if isinstance(value.type, ir.IntegerType):
            return value
        width = ir.FloatType(value.type).width
        type_ = ir.IntegerType.get_signless(width)
        greatest = arith.constant(type_, 2 ** (width - 1) - 1)
        bits = arith.bitcast(type_, value)
        # Of negative floats the greater ones have the lesser bits, and one of two zeros is one.
        magnitude = arith.andi(bits, greatest)
        zero = arith.constant(type_, 0)
        is_negative = arith.cmpi(arith.CmpIPredicate.slt, bits, zero)
        ordered = arith.select(is_negative, arith.subi(zero, magnitude), magnitude)
        # There are many NaNs.
        infinity = arith.bitcast(type_, arith.constant(value.type, float("inf")))
        is_nan = arith.cmpi(arith.CmpIPredicate.sgt, magnitude, infinity)
        return arith.select(is_nan, greatest, ordered)

    def holds(self, key: ir.Value, later: ir.Value) -> ir.Value:
        """Whether two keys are in order."""
        less, greater = (
            (arith.CmpIPredicate.ule, arith.CmpIPredicate.uge)
            if self.unsigned
            else (arith.CmpIPredicate.sle, arith.CmpIPredicate.sge)
        )
        return arith.cmpi(less if self.rises else greater, key, later)

    def rank(self, value: ir.Value) -> ir.Value:
        """An unsigned integer of the same width as a number, the lesser the earlier it comes."""
        key = self.key(value)
        width = key.type.width
        sign = 0 if self.unsigned else 1 << (width - 1)
        # What rises has the sign turned, and what falls all other bits.
        turned = sign if self.rises else sign ^ ((1 << width) - 1)
        if turned >= 1 << (width - 1):
            turned -= 1 << width
        return arith.xori(key, arith.constant(key.type, turned)) if turned else key

    def first(self, key: ir.Value, other: ir.Value) -> ir.Value:
        """The one of two keys that comes first."""
        return self._least(key, other) if self.rises else self._greatest(key, other)

    def last(self, key: ir.Value, other: ir.Value) -> ir.Value:
        """The one that comes last."""
        return self._greatest(key, other) if self.rises else self._least(key, other)

    def _least(self, key: ir.Value, other: ir.Value) -> ir.Value:
        return (arith.minui if self.unsigned else arith.minsi)(key, other)

    def _greatest(self, key: ir.Value, other: ir.Value) -> ir.Value:
        return (arith.maxui if self.unsigned else arith.maxsi)(key, other)

    def distance(self, first: ir.Value, key: ir.Value) -> ir.Value:
        """How far a key comes after the first one, as an unsigned number."""
        distance = arith.subi(key, first) if self.rises else arith.subi(first, key)
        widest = ir.IntegerType.get_signless(_WIDEST)
        return distance if distance.type == widest else arith.extui(widest, distance)


def order_of_sort(op: ir.Operation) -> Order | None:
    """The order of a sort, if it is one that is known."""
    body = op.regions[0].blocks[0]
    keys = [body.arguments[0], body.arguments[1]]
    compare, *others = [view.operation for view in body.operations]
    # That the second one has not to come first is what StableHLO's comparisons become.
    is_turned = list(compare.operands) == keys[::-1]
    if not is_turned and list(compare.operands) != keys:
        return None
    if compare.name == "arith.cmpi" and len(others) == 1:
        predicate = arith.CmpIPredicate(ir.IntegerAttr(compare.attributes["predicate"]).value)
        if predicate in _INTEGERS:
            unsigned, rises = _INTEGERS[predicate]
            return Order(rises != is_turned, unsigned)
    is_of_floats = compare.name == "arith.cmpf" and not is_turned
    if is_of_floats and [other.name for other in others] == _OR_NAN:
        rises_ = _FLOATS.get(_predicate_of_floats(compare))
        is_nan = others[0]
        if (
            rises_ is not None
            and _predicate_of_floats(is_nan) == arith.CmpFPredicate.UNO
            # Of two in order the greater one may be a NaN.
            and set(is_nan.operands) == {keys[1] if rises_ else keys[0]}
        ):
            return Order(rises_)
    return None


_OR_NAN = ["arith.cmpf", "arith.ori", "tm_tensor.yield"]
"""What follows a comparison of floats of which a NaN is in order too."""


def _predicate_of_floats(compare: ir.Operation) -> arith.CmpFPredicate:
    return arith.CmpFPredicate(ir.IntegerAttr(compare.attributes["predicate"]).value)


@dataclass(frozen=True)
class DigitSort:
    """What is built of such a sort."""

    sort: Sort
    rows: Sequence[ir.Value]
    """Memory twice, where elements of a row are and where they go to, of each buffer."""
    counts: ir.Value
    """Memory for as many numbers as there are digits."""

    def sorted(
        self, elements: _Elements, size: ir.Value, otherwise: Callable[[], ir.Value]
    ) -> ir.Value:
        """Sorts a row: gives the one of the two that has it then.

        Args:
          elements: what is sorted.
          size: how many they are.
          otherwise: sorts them in another way, where that takes less.
        """
        order = self._order

        def key_at(at: ir.Value) -> ir.Value:
            return order.key(elements(at)[0])

        def ends(at: ir.Value, first: ir.Value, last: ir.Value) -> list[ir.Value]:
            key = key_at(at)
            return [order.first(key, first), order.last(key, last)]

        is_many = arith.cmpi(arith.CmpIPredicate.sge, size, index(_FEWEST))

        def by_digits() -> list[ir.Value]:
            key = key_at(index(0))
            first, last = for_each(index(0), size, 1, ends, [key, key])
            unused = math.ctlz(order.distance(first, last))
            bits = arith.subi(index(_WIDEST), _as_index(unused))
            digits = arith.maxsi(arith.ceildivui(bits, index(_DIGIT_BITS)), index(1))
            # A digit takes no longer than a round of merging, and two counts than an element.
            takes_less = arith.cmpi(
                arith.CmpIPredicate.slt,
                arith.muli(digits, arith.addi(size, index(DIGITS // 2))),
                arith.muli(rounds_of_merging(size), size),
            )
            return either(
                [ir.IndexType.get()],
                takes_less,
                lambda: [self._by_each_digit(elements, size, first, digits)],
                lambda: [otherwise()],
            )

        (row,) = either([ir.IndexType.get()], is_many, by_digits, lambda: [otherwise()])
        return row

    def _by_each_digit(
        self, elements: _Elements, size: ir.Value, first: ir.Value, digits: ir.Value
    ) -> ir.Value:
        self._by_digit(elements, size, first, index(0), index(0))

        def by_digit(digit: ir.Value, row: ir.Value) -> list[ir.Value]:
            target = arith.subi(index(1), row)
            self._by_digit(
                lambda at: [memref.load(each, [row, at]) for each in self.rows],
                size,
                first,
                digit,
                target,
            )
            return [target]

        (row,) = for_each(index(1), digits, 1, by_digit, [index(0)])
        return row

    def _by_digit(
        self,
        elements: _Elements,
        size: ir.Value,
        first: ir.Value,
        digit: ir.Value,
        target: ir.Value,
    ) -> None:
        """Puts elements into a row in the order of one digit, of which 0 is the last one."""
        shift = arith.index_cast(
            ir.IntegerType.get_signless(_WIDEST), arith.muli(digit, index(_DIGIT_BITS))
        )

        def digit_of(value: ir.Value) -> ir.Value:
            distance = self._order.distance(first, self._order.key(value))
            return arith.andi(_as_index(arith.shrui(distance, shift)), index(DIGITS - 1))

        def clear(at: ir.Value) -> list[ir.Value]:
            memref.store(index(0), self.counts, [at])
            return []

        def count(at: ir.Value) -> list[ir.Value]:
            self._counted(digit_of(elements(at)[0]))
            return []

        def place(at: ir.Value, before: ir.Value) -> list[ir.Value]:
            found = memref.load(self.counts, [at])
            memref.store(before, self.counts, [at])
            return [arith.addi(before, found)]

        def put(at: ir.Value) -> list[ir.Value]:
            values = elements(at)
            to = self._counted(digit_of(values[0]))
            for value, row in zip(values, self.rows, strict=True):
                memref.store(value, row, [target, to])
            return []

        for_each(index(0), index(DIGITS), 1, clear)
        for_each(index(0), size, 1, count)
        for_each(index(0), index(DIGITS), 1, place, [index(0)])
        for_each(index(0), size, 1, put)

    @property
    def _order(self) -> Order:
        order = order_of_sort(self.sort.op)
        assert order is not None
        return order

    def _counted(self, digit: ir.Value) -> ir.Value:
        """How often there was a digit before, or where the next one goes; one more from now on."""
        before = memref.load(self.counts, [digit])
        memref.store(arith.addi(before, index(1)), self.counts, [digit])
        return before


def _as_index(value: ir.Value) -> ir.Value:
    return arith.index_cast(ir.IndexType.get(), value)
