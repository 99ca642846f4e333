"""Sizes that are known when a program runs only: numbers, symbols, and expressions of these."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


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
    """One of `OPERATORS`; a comparison is 1 or 0."""
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
    # Of the sizes of results only, which follow from those of arguments by these as well.
    "min": min,
    "max": max,
    "<": lambda left, right: int(left < right),
    "==": lambda left, right: int(left == right),
}


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


def operation(operator: str, left: Size, right: Size) -> Size:
    """What an operator makes of two sizes, as simple as it is without any thought."""
    if isinstance(left, int) and isinstance(right, int):
        return OPERATORS[operator](left, right)
    match operator, left, right:
        case ("+", 0, size) | ("+", size, 0) | ("*", 1, size) | ("*", size, 1):
            return size
        case ("*", 0, _) | ("*", _, 0):
            return 0
        case ("floordiv" | "ceildiv", size, 1):
            return size
        case ("+" | "*", int(), size):
            # Numbers stand last, where they meet.
            return operation(operator, size, left)
        case ("+" | "*", Operation(inner, size, int(number)), int()) if inner == operator:
            return operation(operator, size, OPERATORS[operator](number, right))
        case ("+", Operation("+", size, int(number)), _):
            return operation("+", operation("+", size, right), number)
        case ("+", _, Operation("+", size, int(number))):
            return operation("+", operation("+", left, size), number)
        case ("+", _, _) if _opposite(left) == right:
            return 0
    return Operation(operator, left, right)


def difference(left: Size, right: Size) -> Size:
    """The first size without the second."""
    return operation("+", left, _opposite(right))


def _opposite(size: Size) -> Size:
    if isinstance(size, Operation) and size.operator == "+":
        return operation("+", _opposite(size.left), _opposite(size.right))
    return operation("*", size, -1)


def lower_bound(size: Size, symbols: Sequence[Symbol]) -> int | None:
    """What `size` is at least, as far as that is plain from the bounds of symbols."""
    return _bounds(size, symbols)[0]


def _bounds(size: Size, symbols: Sequence[Symbol]) -> tuple[int | None, int | None]:
    """What a size is at least and at most; None where that is not plain."""
    match size:
        case int():
            return size, size
        case SymbolUse(index):
            return symbols[index].min, symbols[index].max
        case Operation("<" | "=="):
            return 0, 1
        case Operation("*", inner, int(factor)):
            ends = [None if end is None else end * factor for end in _bounds(inner, symbols)]
            return (ends[0], ends[1]) if factor >= 0 else (ends[1], ends[0])
    assert isinstance(size, Operation)
    low, high = _bounds(size.left, symbols)
    right_low, right_high = _bounds(size.right, symbols)
    match size.operator:
        case "+":
            return _both(low, right_low, "+"), _both(high, right_high, "+")
        case "min":
            return _both(low, right_low, "min"), min(
                (end for end in (high, right_high) if end is not None), default=None
            )
        case "max":
            return max((end for end in (low, right_low) if end is not None), default=None), _both(
                high, right_high, "max"
            )
        case "mod":
            return 0, None if right_high is None else max(right_high, 1) - 1
        case _:
            natural = low is not None and low >= 0 and right_low is not None and right_low >= 0
            return 0 if natural else None, None


def _both(left: int | None, right: int | None, operator: str) -> int | None:
    return None if left is None or right is None else OPERATORS[operator](left, right)


def symbols_of(size: Size) -> set[int]:
    """The symbols in an expression, by their index."""
    if isinstance(size, int):
        return set()
    if isinstance(size, SymbolUse):
        return {size.index}
    return symbols_of(size.left) | symbols_of(size.right)


def renumbered(size: Size, place: Mapping[int, int]) -> Size:
    """A size with each symbol under the index that `place` has for its own."""
    match size:
        case SymbolUse(index):
            return SymbolUse(place[index])
        case Operation(operator, left, right):
            return Operation(operator, renumbered(left, place), renumbered(right, place))
        case _:
            return size


def linear(size: Size, symbol: int) -> tuple[int, Size] | None:
    """The numbers a and b for which `size` is a * symbol + b, where there are such.

    Of these, a is a number and b an expression of other symbols.
    """
    if symbol not in symbols_of(size):
        return 0, size
    match size:
        case SymbolUse():
            return 1, 0
        case Operation("+", left, right):
            first, second = linear(left, symbol), linear(right, symbol)
            if first is None or second is None:
                return None
            return first[0] + second[0], operation("+", first[1], second[1])
        case Operation("*", left, int(factor)) | Operation("*", int(factor), left):
            inner = linear(left, symbol)
            return None if inner is None else (inner[0] * factor, operation("*", inner[1], factor))
        case _:
            return None
