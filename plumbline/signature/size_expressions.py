"""Sizes that are known when a program runs only: numbers, symbols, and expressions of these."""

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


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
    """One of `OPERATORS`; a comparison is 1 or 0. Those with a dot take and give float64."""
    left: "Size"
    right: "Size"


Size: TypeAlias = int | float | SymbolUse | Operation
"""A float is a constant within an expression only."""


def _float32(number: float) -> float:
    (rounded,) = struct.unpack("f", struct.pack("f", number))
    return float(rounded)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
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
    "+.": lambda left, right: float(left) + float(right),
    "*.": lambda left, right: float(left) * float(right),
    "/.": lambda left, right: float(left) / float(right),
    # The same rounded to float32.
    "*.f32": lambda left, right: _float32(float(left) * float(right)),
    # Quotients of floats rounded to whole numbers.
    "floor/.": lambda left, right: math.floor(float(left) / float(right)),
    "ceil/.": lambda left, right: math.ceil(float(left) / float(right)),
}


def evaluate(size: Size, values: Mapping[int, int]) -> Any:
    """What `size` is where the symbols have these values; None where one has none."""
    if isinstance(size, int | float):
        return size
    if isinstance(size, SymbolUse):
        return values.get(size.index)
    left, right = evaluate(size.left, values), evaluate(size.right, values)
    if left is None or right is None:
        return None
    return OPERATORS[size.operator](left, right)


def text(size: Size, names: Sequence[str]) -> str:
    """A size as people write it, with such names of symbols: "2*n + 1"."""

    def factor(part: Size) -> str:
        spelled = text(part, names)
        is_word = not isinstance(part, Operation) or spelled.isidentifier()
        return spelled if is_word else f"({spelled})"

    match size:
        case SymbolUse(index):
            return names[index]
        case Operation("+", left, int(right)) if right < 0:
            return f"{text(left, names)} - {-right}"
        case Operation("+", left, Operation("*", right, -1)):
            return f"{text(left, names)} - {factor(right)}"
        case Operation("+", left, right):
            return f"{text(left, names)} + {text(right, names)}"
        case Operation("*", Operation("*") as left, int(right)):
            return f"{right}*{text(left, names)}"
        case Operation("*", left, int(right)):
            return f"{right}*{factor(left)}"
        case Operation("*", left, right):
            return f"{factor(left)}*{factor(right)}"
        case Operation("floor/." | "ceil/." as name, left, right):
            over = "" if right == 1.0 else f" / {factor(right)}"
            return f"{name[:-2]}({factor(left) if over else text(left, names)}{over})"
        case Operation("*." | "*.f32", left, 1.0):
            # The number itself, as a float.
            return text(left, names)
        case Operation("min" | "max" as name, left, right):
            return f"{name}({text(left, names)}, {text(right, names)})"
        case Operation(operator, left, right):
            return f"{factor(left)} {operator[:1] if '.' in operator else operator} {factor(right)}"
        case _:
            return str(size)


def c_expression(size: Size, names: Sequence[str]) -> str:
    """A size as an expression of C++, where no part of it is below 0."""
    match size:
        case SymbolUse(index):
            return names[index]
        case Operation(operator, left, right):
            first, second = c_expression(left, names), c_expression(right, names)
            return _C_SPELLINGS[operator].format(first, second)
        case _:
            return str(size)


_C_SPELLINGS = {
    "+": "({} + {})",
    "*": "({} * {})",
    "floordiv": "({} / {})",
    "mod": "({} % {})",
    "ceildiv": "(({0} + {1} - 1) / {1})",
}
"""Of the operators that sizes of arguments are made with."""


def operation(operator: str, left: Size, right: Size) -> Size:
    """What an operator makes of two sizes, as simple as it is without any thought."""
    return _operation(operator, left, right, cancels=True)


def _operation(operator: str, left: Size, right: Size, *, cancels: bool) -> Size:
    """The same; with `cancels` false, two sizes of which one is the other's opposite stay a sum."""

    def again(left: Size, right: Size) -> Size:
        return _operation(operator, left, right, cancels=cancels)

    if isinstance(left, int) and isinstance(right, int):
        number: int = OPERATORS[operator](left, right)
        return number
    match operator, left, right:
        case ("+", 0, size) | ("+", size, 0) | ("*", 1, size) | ("*", size, 1):
            return size
        case ("*", 0, _) | ("*", _, 0):
            return 0
        case ("floordiv" | "ceildiv", size, 1):
            return size
        case ("+" | "*", int(), size):
            # Numbers stand last, where they meet.
            return again(size, left)
        case ("+" | "*", Operation(inner, size, int(number)), int()) if inner == operator:
            return again(size, OPERATORS[operator](number, right))
        case ("+" | "*", Operation(inner, size, int(number)), _) if inner == operator:
            return again(again(size, right), number)
        case ("+" | "*", _, Operation(inner, size, int(number))) if inner == operator:
            return again(again(left, size), number)
        case ("+", _, _) if cancels and _opposite(left) == right:
            return 0
    return Operation(operator, left, right)


def difference(left: Size, right: Size) -> Size:
    """The first size without the second."""
    return operation("+", left, _opposite(right))


def _opposite(size: Size) -> Size:
    if isinstance(size, Operation) and size.operator == "+":
        # No parts cancel here that did not before. To look for them would double the time with
        # each part.
        return _operation("+", _opposite(size.left), _opposite(size.right), cancels=False)
    return _operation("*", size, -1, cancels=False)


def lower_bound(size: Size, symbols: Sequence[Symbol]) -> int | None:
    """What `size` is at least, as far as that is plain from the bounds of symbols."""
    return _bounds(size, symbols)[0]


def _bounds(size: Size, symbols: Sequence[Symbol]) -> tuple[int | None, int | None]:
    """What a size is at least and at most; None where that is not plain."""
    match size:
        case int():
            return size, size
        case float():
            return math.floor(size), math.ceil(size)
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
    if isinstance(size, int | float):
        return set()
    if isinstance(size, SymbolUse):
        return {size.index}
    return symbols_of(size.left) | symbols_of(size.right)


def renumbered(size: Size, place: Mapping[int, int]) -> Size:
    """A size with each symbol under the index that `place` has for its own."""
    return substituted(size, {index: SymbolUse(other) for index, other in place.items()})


def substituted(size: Size, values: Mapping[int, Size]) -> Size:
    """A size with a size for each symbol, by its index."""
    match size:
        case SymbolUse(index):
            return values[index]
        case Operation(operator, left, right):
            return Operation(operator, substituted(left, values), substituted(right, values))
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
