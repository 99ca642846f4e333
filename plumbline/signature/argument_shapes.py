"""What is known of the sizes of a function's arguments, and how a call is held against it.

The first argument of a function may be of the shape (n, 4), and its second of the shape (2*n). From
this follows, without any guess, in which order a call's sizes give the symbols their values, and
what must then hold.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from plumbline.errors import UserError
from plumbline.signature.size_expressions import (
    Operation,
    Size,
    Symbol,
    SymbolUse,
    evaluate,
    linear,
    renumbered,
    symbols_of,
    text,
)


@dataclass(frozen=True)
class Place:
    """A dimension of an argument."""

    argument: int
    axis: int


@dataclass(frozen=True)
class Definition:
    """The value of a symbol, from a size that is `scale` * symbol + `rest`, rounded down."""

    symbol: int
    place: Place
    scale: int
    rest: Size


@dataclass(frozen=True)
class Requirement:
    """What must hold once all definitions before it are made, and what to say where it does not.

    That is `low` <= `actual` <= `high`; a bound that is None always holds.
    """

    place: Place
    actual: Size | Place
    low: Size | None
    high: Size | None
    message: str
    """With `{}` for each of `values`, in order."""
    values: tuple[Size | Place, ...]


@dataclass(frozen=True)
class Violation:
    """Why a call is refused."""

    place: Place
    message: str


Step: TypeAlias = Definition | Requirement


_SIZE = "argument {} has size {} in dimension {}"


@dataclass(frozen=True)
class ArgumentShapes:
    """The shapes of all arguments of a function."""

    symbols: tuple[Symbol, ...]
    shapes: tuple[tuple[Size | None, ...], ...]
    """For each argument its sizes; None where nothing is known of one."""

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """How to hold the sizes of a call against the shapes.

        A size with a symbol that no size gives a value to (such as n*m, where neither n nor m is
        the size of anything) is held against nothing but 0.
        """
        return tuple(self._steps())

    def check(self, what: str, sizes: Sequence[Sequence[int]]) -> None:
        """Holds the sizes of a call against the shapes; the ranks are right.

        Raises:
          UserError: they do not fit; the message begins with `what`.
        """
        violation = self.violation(sizes)
        if violation is not None:
            raise UserError(f"{what}: {violation.message}")

    def violation(self, sizes: Sequence[Sequence[int]]) -> "Violation | None":
        """Where and why the sizes of a call do not fit, if they do not."""
        values: dict[int, int] = {}
        for step in self.steps:
            if isinstance(step, Definition):
                values[step.symbol] = self._defined(step, sizes, values)
                continue
            actual = _value(step.actual, sizes, values)
            low = None if step.low is None else _value(step.low, sizes, values)
            high = None if step.high is None else _value(step.high, sizes, values)
            if (low is not None and actual < low) or (high is not None and actual > high):
                said = (_value(value, sizes, values) for value in step.values)
                return Violation(step.place, step.message.format(*said))
        return None

    def solve(self, sizes: Sequence[Sequence[int]]) -> dict[int, int]:
        """The values of the symbols in a call of these sizes, which fit, by their index.

        Those that no size gives a value to are left out.
        """
        values: dict[int, int] = {}
        for step in self.steps:
            if isinstance(step, Definition):
                values[step.symbol] = self._defined(step, sizes, values)
        return values

    def closed(self) -> "ArgumentShapes":
        """These shapes with a symbol of its own for each size that no call's sizes explain.

        Of such sizes nothing is known, or they have a symbol that no size gives a value to. The
        symbols of the result are those that sizes of a call give values to, all of them.
        """
        given = sorted({step.symbol for step in self.steps if isinstance(step, Definition)})
        place = {index: number for number, index in enumerate(given)}
        symbols = [self.symbols[index] for index in given]
        shapes = []
        for argument, shape in enumerate(self.shapes):
            sizes: list[Size | None] = []
            for axis, size in enumerate(shape):
                if size is not None and symbols_of(size) <= place.keys():
                    sizes.append(renumbered(size, place))
                else:
                    sizes.append(SymbolUse(len(symbols)))
                    symbols.append(Symbol(f"argument{argument}_size{axis}", 0, None))
            shapes.append(tuple(sizes))
        return ArgumentShapes(tuple(symbols), tuple(shapes))

    def sizes(self, values: Mapping[int, int]) -> list[list[int | None]]:
        """The sizes where the symbols have these values; None where they do not say."""
        return [
            [None if size is None else evaluate(size, values) for size in shape]
            for shape in self.shapes
        ]

    def text(self, size: Size | None) -> str:
        """`size` as a message spells it: "2*n + 1"."""
        return "?" if size is None else text(size, [symbol.name for symbol in self.symbols])

    @staticmethod
    def _defined(
        step: Definition, sizes: Sequence[Sequence[int]], values: Mapping[int, int]
    ) -> int:
        return (_value(step.place, sizes, values) - _value(step.rest, sizes, values)) // step.scale

    def _steps(self) -> Iterator[Step]:
        where = {
            Place(argument, axis): size
            for argument, shape in enumerate(self.shapes)
            for axis, size in enumerate(shape)
        }
        for place, size in where.items():
            if not self._implies_a_sign(size):
                text = f"{_SIZE}, which must be at least 0"
                yield Requirement(place, place, 0, None, text, _size_of(place))
        defined: dict[int, Place] = {}
        # Sizes that are a symbol give it its value before sizes that a value would follow from, so
        # that a message is about the derived one.
        open_ = [place for place, size in where.items() if isinstance(size, SymbolUse)]
        open_ += [place for place, size in where.items() if isinstance(size, Operation | int)]
        while True:
            left = []
            for place in open_:
                size = where[place]
                assert size is not None
                steps = self._held(place, size, defined)
                if steps is None:
                    left.append(place)
                else:
                    yield from steps
            if len(left) == len(open_):
                return
            open_ = left

    def _implies_a_sign(self, size: Size | None) -> bool:
        """Whether a size that is held against `size` cannot be below 0."""
        if isinstance(size, SymbolUse):
            return self.symbols[size.index].min >= 0
        return isinstance(size, int)

    def _held(self, place: Place, size: Size, defined: dict[int, Place]) -> list[Step] | None:
        """The steps for one size, or None where symbols stand in the way."""
        unknown = symbols_of(size) - set(defined)
        if not unknown:
            return [self._equality(place, size, defined)]
        if len(unknown) > 1:
            return None
        (symbol,) = unknown
        known = linear(size, symbol)
        if known is None or known[0] <= 0:
            return None
        scale, rest = known
        steps: list[Step] = [Definition(symbol, place, scale, rest)]
        if scale != 1:
            name = self.symbols[symbol].name
            text = f"{_SIZE}, which is {self.text(size)} for no {name}"
            steps.append(Requirement(place, place, size, size, text, _size_of(place)))
        defined[symbol] = place
        return [*steps, self._range(place, size, symbol)]

    def _equality(self, place: Place, size: Size, defined: Mapping[int, Place]) -> Requirement:
        values: list[Size | Place] = [*_size_of(place), size]
        if isinstance(size, int):
            return Requirement(place, place, size, size, f"{_SIZE}, not {{}}", tuple(values))
        message = f"{_SIZE}, not {self.text(size)} = {{}}"
        reasons = []
        for symbol in sorted(symbols_of(size)):
            origin = defined[symbol]
            reasons.append(
                f"{self.symbols[symbol].name} is {{}} by dimension {origin.axis} of "
                f"argument {origin.argument}"
            )
            values.append(SymbolUse(symbol))
        message += "".join(f"; {reason}" for reason in reasons)
        return Requirement(place, place, size, size, message, tuple(values))

    def _range(self, place: Place, size: Size, index: int) -> Requirement:
        symbol = self.symbols[index]
        use = SymbolUse(index)
        message = f"{_SIZE}, which is {self.text(size)}"
        values = _size_of(place)
        if size != use:
            message += f" for {symbol.name} = {{}}"
            values += (use,)
        message += f"; {symbol.name} must be {symbol.range}"
        return Requirement(place, use, symbol.min, symbol.max, message, values)


def _value(of: Size | Place, sizes: Sequence[Sequence[int]], values: Mapping[int, int]) -> int:
    if isinstance(of, Place):
        return sizes[of.argument][of.axis]
    found: int | None = evaluate(of, values)
    assert found is not None, "steps use symbols only after their definition"
    return found


def _size_of(place: Place) -> tuple[Size | Place, ...]:
    """The values of `_SIZE`."""
    return place.argument, place, place.axis
