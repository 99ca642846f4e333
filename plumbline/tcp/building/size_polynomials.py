"""Sizes as polynomials, by which they are compared.

What a polynomial is made of are sizes of tensors, counts of loops, and values that nothing is known
of. What rounds or chooses (a quotient, the lesser of two) is one of these, too, with what is known
of it: that the lesser of two is at most either.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from torch_mlir import ir

from plumbline.bindings.counts import upper_bound
from plumbline.bindings.walk import defining_operation
from plumbline.tcp.building.size_origins import Place, origin, origin_of_place
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.ops.data_movement import ConcatOp, PadOp
from plumbline.tcp.ops.symbolic_shape import SymbolicIntOp

_Atom: TypeAlias = "ir.Value | Place | _Rounded"

_Monomial: TypeAlias = frozenset[tuple[_Atom, int]]
"""What is multiplied, each with how often."""

_NONE: _Monomial = frozenset()

_STEPS = 3
"""How many bounds are put in the place of what they bound, one after the other."""

_MOST_ATOMS = 8
"""Of how many it is tried at most."""

_DEEPEST = 100
"""After how many sizes, each computed of the next, one is taken as it is."""

_MOST_TERMS = 64
"""A product of more is not multiplied out: that of n sums may have 2^n."""


@dataclass(frozen=True)
class Polynomial:
    """A sum of products, each times a number that is not 0."""

    terms: frozenset[tuple[_Monomial, int]]

    @staticmethod
    def of(coefficients: Mapping[_Monomial, int]) -> "Polynomial":
        """Of the number before each product."""
        return Polynomial(frozenset(entry for entry in coefficients.items() if entry[1]))

    @staticmethod
    def number(number: int) -> "Polynomial":
        """A number."""
        return Polynomial.of({_NONE: number})

    @staticmethod
    def atom(atom: _Atom) -> "Polynomial":
        """What is not made of others."""
        return Polynomial.of({frozenset({(atom, 1)}): 1})

    @property
    def constant(self) -> int | None:
        """The number that it is, if it is one."""
        if not self.terms:
            return 0
        ((product, number), *others) = self.terms
        return number if product == _NONE and not others else None

    def __add__(self, other: "Polynomial") -> "Polynomial":
        coefficients = Counter(dict(self.terms))
        coefficients.update(dict(other.terms))
        return Polynomial.of(coefficients)

    def __sub__(self, other: "Polynomial") -> "Polynomial":
        coefficients = Counter(dict(self.terms))
        coefficients.subtract(dict(other.terms))
        return Polynomial.of(coefficients)

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        if len(self.terms) * len(other.terms) > _MOST_TERMS:
            return _rounded("mul", self, other)
        coefficients: Counter[_Monomial] = Counter()
        for one, number in self.terms:
            for another, times in other.terms:
                counts = Counter(dict(one))
                counts.update(dict(another))
                coefficients[frozenset(counts.items())] += number * times
        return Polynomial.of(coefficients)

    def atoms(self) -> set[_Atom]:
        """What it is made of."""
        return {atom for product, _ in self.terms for atom, _ in product}

    def split(self, atom: _Atom) -> "tuple[Polynomial, Polynomial] | None":
        """What `atom` is multiplied by, and the rest; None where it is multiplied by itself."""
        factor, rest = {}, {}
        for product, number in self.terms:
            counts = dict(product)
            times = counts.pop(atom, 0)
            if times > 1:
                return None
            if times:
                factor[frozenset(counts.items())] = number
            else:
                rest[product] = number
        return Polynomial.of(factor), Polynomial.of(rest)

    def divided(self, number: int) -> "Polynomial | None":
        """The quotient, where each term can be divided."""
        if any(times % number for _, times in self.terms):
            return None
        return Polynomial(frozenset((product, times // number) for product, times in self.terms))


@dataclass(frozen=True)
class _Rounded:
    """What an operation makes of two sizes that is no polynomial of them."""

    operation: str
    left: Polynomial
    right: Polynomial


def same(left: Size, right: Size) -> bool:
    """Whether two sizes are certainly the same."""
    sizes = SizePolynomials()
    return sizes.of(left) == sizes.of(right)


@dataclass
class SizePolynomials:
    """What is known of the sizes in a module, and what was read already."""

    _read: dict[ir.Value, Polynomial] = field(default_factory=dict)
    _seen: dict[tuple[Polynomial, int], bool] = field(default_factory=dict)
    _depth: int = 0

    def of(self, value: Size) -> Polynomial:
        """A number, or a value of type index or another integer."""
        if isinstance(value, int):
            return Polynomial.number(value)
        if value not in self._read:
            self._read[value] = self._deeper(value, lambda: self._of(value))
        return self._read[value]

    def of_dimension(self, tensor: ir.Value, axis: int) -> Polynomial:
        """The size of a tensor along an axis."""
        place = tensor, axis
        return self._deeper(place, lambda: self._of_origin(origin_of_place(place)))

    def _deeper(self, size: ir.Value | Place, read: Callable[[], Polynomial]) -> Polynomial:
        if self._depth == _DEEPEST:
            return Polynomial.atom(size)
        self._depth += 1
        try:
            return read()
        finally:
            self._depth -= 1

    def is_natural(self, size: Polynomial, steps: int = _STEPS) -> bool:
        """Whether a size is seen to be at least 0."""
        # What is made of others, again and again, would be asked for as often as there are ways.
        if (size, steps) not in self._seen:
            self._seen[size, steps] = self._is_natural(size, steps)
        return self._seen[size, steps]

    def _is_natural(self, size: Polynomial, steps: int) -> bool:
        if all(number > 0 and self._is_natural_product(key) for key, number in size.terms):
            return True
        is_hopeless = not any(number > 0 for _, number in size.terms)
        if not steps or is_hopeless or len(size.atoms()) > _MOST_ATOMS:
            return False
        return any(self.is_natural(least, steps - 1) for least in self._at_least(size))

    def _at_least(self, size: Polynomial) -> Iterator[Polynomial]:
        """What a size is not less than: with a bound of it in the place of an atom."""
        for atom in size.atoms():
            parts = size.split(atom)
            if parts is None:
                continue
            factor, rest = parts
            least, most = self._bounds(atom)
            if least and self.is_natural(factor, 0):
                yield from (factor * bound + rest for bound in least)
            elif most and self.is_natural(Polynomial.number(0) - factor, 0):
                yield from (factor * bound + rest for bound in most)

    def _is_natural_product(self, product: _Monomial) -> bool:
        return all(self._is_natural_atom(atom) for atom, _ in product)

    def _is_natural_atom(self, atom: _Atom) -> bool:
        match atom:
            case ir.Value():
                op = defining_operation(atom)
                # A symbol is read as the size of an argument only.
                is_symbol = op is not None and op.name == SymbolicIntOp.OPERATION_NAME
                return is_symbol or upper_bound(atom) is not None
            case _Rounded("max", left, right):
                return self.is_natural(left) or self.is_natural(right)
            case _Rounded(_, left, right):
                return self.is_natural(left) and self.is_natural(right)
        return True

    def _bounds(self, atom: _Atom) -> tuple[list[Polynomial], list[Polynomial]]:
        """What an atom is not less, and not greater than."""
        match atom:
            case ir.Value():
                upper = upper_bound(atom)
                last = [] if upper is None else [self.of(upper) - Polynomial.number(1)]
                least = [Polynomial.number(0)] if self._is_natural_atom(atom) else []
                return least, last
            case _Rounded("max", left, right):
                return [left, right], []
            case _Rounded(operation, left, right):
                least = [Polynomial.number(0)] if self._is_natural_atom(atom) else []
                if operation == "min":
                    return least, [left, right]
                if operation == "mul":
                    return least, []
                # A quotient by a number from 1, and a remainder.
                return least, [left] if least else []
        return [Polynomial.number(0)], []

    def _of(self, value: ir.Value) -> Polynomial:
        op = defining_operation(value)
        if op is None or op.name not in COMPUTED:
            return self._of_origin(origin(value))
        return COMPUTED[op.name](self, *map(self.of, op.operands))

    def _of_origin(self, found: int | ir.Value | Place) -> Polynomial:
        match found:
            case int():
                return Polynomial.number(found)
            case ir.Value():
                op = defining_operation(found)
                if op is not None and op.name in COMPUTED:
                    return self.of(found)
                return Polynomial.atom(found)
        tensor, axis = found
        op = defining_operation(tensor)
        if op is not None and op.name == "tensor.collapse_shape":
            merged = [entry.value for entry in ir.ArrayAttr(op.attributes["reassociation"])[axis]]
            result = Polynomial.number(1)
            for inner in merged:
                result *= self.of_dimension(op.operands[0], inner)
            return result
        match op and op.opview:
            case ConcatOp() as concat:
                if axis != concat.dim.value:
                    return self.of_dimension(concat.inputs[0], axis)
                result = Polynomial.number(0)
                for part in concat.inputs:
                    result += self.of_dimension(part, axis)
                return result
            case PadOp() as pad:
                inner = self.of_dimension(pad.input, axis)
                return inner + self.of(pad.low[axis]) + self.of(pad.high[axis])
        return Polynomial.atom(found)

    def lesser(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """The lesser of two."""
        if self.is_natural(right - left):
            return left
        return right if self.is_natural(left - right) else _rounded("min", left, right)

    def greater(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """The greater of two."""
        if self.is_natural(left - right):
            return left
        return right if self.is_natural(right - left) else _rounded("max", left, right)


def _rounded(operation: str, left: Polynomial, right: Polynomial) -> Polynomial:
    return Polynomial.atom(_Rounded(operation, left, right))


def _quotient(operation: str) -> Callable[..., Polynomial]:
    def of(_: SizePolynomials, left: Polynomial, right: Polynomial) -> Polynomial:
        number = right.constant
        exact = left.divided(number) if number else None
        return exact or _rounded(operation, left, right)

    return of


COMPUTED: Mapping[str, Callable[..., Polynomial]] = {
    "arith.addi": lambda _, left, right: left + right,
    "arith.ceildivsi": _quotient("ceildiv"),
    "arith.divsi": _quotient("div"),
    "arith.floordivsi": _quotient("floordiv"),
    "arith.index_cast": lambda _, number: number,
    "arith.maxsi": SizePolynomials.greater,
    "arith.minsi": SizePolynomials.lesser,
    "arith.muli": lambda _, left, right: left * right,
    "arith.remsi": lambda _, left, right: _rounded("rem", left, right),
    "arith.subi": lambda _, left, right: left - right,
}
"""What operations that sizes are computed by make of those of their operands."""
