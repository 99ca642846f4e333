"""What is known of the sizes of a function's arguments, and how a call is held against it.

A size is a number, a symbol, or an expression of symbols: the first argument of a function may be
of the shape (n, 4), and its second of the shape (2*n). From this follows, without any guess, in
which order a call's sizes give the symbols their values, and what must then hold.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from plumbline.errors import UserError


@dataclass(frozen=True)
class Symbol:
    """A size that is known when the program runs only."""

    name: str
    min: int
    max: int | None
    """None where there is no bound."""

    @property
    def range(self) -> str:
        """The bounds, as a message says them: "at least 2 and at most 64"."""
        return f"at least {self.min}" + ("" if self.max is None else f" and at most {self.max}")


@dataclass(frozen=True)
class SymbolUse:
    """A symbol in an expression."""

    index: int
    """Which of the function's symbols it is."""


@dataclass(frozen=True)
class Operation:
    """Two expressions and what is done with them, as in MLIR's affine expressions."""

    operator: str
    """One of `OPERATORS`."""
    left: "Size"
    right: "Size"


Size: TypeAlias = int | SymbolUse | Operation

OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "*": lambda left, right: left * right,
    # A divisor below 1, which a symbol may be before it is checked, counts as 1.
    "mod": lambda left, right: left % max(right, 1),
    "floordiv": lambda left, right: left // max(right, 1),
    "ceildiv": lambda left, right: -(-left // max(right, 1)),
}


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

    def sizes(self, values: Mapping[int, int]) -> list[list[int | None]]:
        """The sizes where the symbols have these values; None where they do not say."""
        return [
            [None if size is None else evaluate(size, values) for size in shape]
            for shape in self.shapes
        ]

    def text(self, size: Size | None) -> str:
        """`size` as a message spells it: "2*n + 1"."""
        match size:
            case None:
                return "?"
            case SymbolUse(index):
                return self.symbols[index].name
            case Operation("+", left, int(right)) if right < 0:
                return f"{self.text(left)} - {-right}"
            case Operation("+", left, right):
                return f"{self.text(left)} + {self.text(right)}"
            case Operation("*", left, int(right)):
                return f"{right}*{self._factor(left)}"
            case Operation("*", left, right):
                return f"{self._factor(left)}*{self._factor(right)}"
            case Operation(operator, left, right):
                return f"{self._factor(left)} {operator} {self._factor(right)}"
            case _:
                return str(size)

    def _factor(self, size: Size) -> str:
        text = self.text(size)
        return f"({text})" if isinstance(size, Operation) else text

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
        linear = _linear(size, symbol)
        if linear is None or linear[0] <= 0:
            return None
        scale, rest = linear
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


def evaluate(size: Size, values: Mapping[int, int]) -> int | None:
    """What `size` is where the symbols have these values; None where one has none."""
    if isinstance(size, int):
        return size
    if isinstance(size, SymbolUse):
        return values.get(size.index)
    left, right = evaluate(size.left, values), evaluate(size.right, values)
    if left is None or right is None:
        return None
    return OPERATORS[size.operator](left, right)


def symbols_of(size: Size) -> set[int]:
    """The symbols in an expression, by their index."""
    if isinstance(size, int):
        return set()
    if isinstance(size, SymbolUse):
        return {size.index}
    return symbols_of(size.left) | symbols_of(size.right)


def _value(of: Size | Place, sizes: Sequence[Sequence[int]], values: Mapping[int, int]) -> int:
    if isinstance(of, Place):
        return sizes[of.argument][of.axis]
    found = evaluate(of, values)
    assert found is not None, "steps use symbols only after their definition"
    return found


def _size_of(place: Place) -> tuple[Size | Place, ...]:
    """The values of `_SIZE`."""
    return place.argument, place, place.axis


def _linear(size: Size, symbol: int) -> tuple[int, Size] | None:
    """The numbers a and b for which `size` is a * symbol + b, where there are such.

    Of these, a is a number and b an expression of other symbols.
    """
    if symbol not in symbols_of(size):
        return 0, size
    match size:
        case SymbolUse():
            return 1, 0
        case Operation("+", left, right):
            first, second = _linear(left, symbol), _linear(right, symbol)
            if first is None or second is None:
                return None
            return first[0] + second[0], _sum(first[1], second[1])
        case Operation("*", left, int(factor)) | Operation("*", int(factor), left):
            inner = _linear(left, symbol)
            return None if inner is None else (inner[0] * factor, _product(inner[1], factor))
        case _:
            return None


def _sum(left: Size, right: Size) -> Size:
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    if left == 0:
        return right
    return left if right == 0 else Operation("+", left, right)


def _product(left: Size, factor: int) -> Size:
    return left * factor if isinstance(left, int) else Operation("*", left, factor)
