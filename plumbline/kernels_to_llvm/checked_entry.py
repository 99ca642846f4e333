"""The checked entry of a program, which refuses what the program cannot work on.

Beside `foo`, a library has

    char* foo_checked(foo_results* results, <the arguments of foo>)

which holds all sizes, strides and offsets against what is known of them before it does what `foo`
does. It returns null, and has then written `*results`; or a message that the caller gives back with
free(), which is also what comes of a failure on the way.
"""

import itertools
from collections.abc import Sequence

from plumbline.argument_shapes import (
    ArgumentShapes,
    Definition,
    Operation,
    Place,
    Requirement,
    Size,
    SymbolUse,
)
from plumbline.function_name import CHECKED_SUFFIX
from plumbline.kernels_to_llvm.entries import Body, failure_type
from plumbline.kernels_to_llvm.failures import printf_format, string_global


class _Text:
    """Lines of the LLVM dialect, with names for their values, blocks and strings."""

    def __init__(self, program: str, most_values: int) -> None:
        """`most_values` is how many numbers the messages have at most."""
        self._program = program
        self._most_values = most_values
        self._lines: list[str] = []
        self._constants: dict[int, str] = {}
        self._messages: dict[str, str] = {}
        self._names = itertools.count()

    def line(self, line: str) -> None:
        """Adds a line."""
        self._lines.append(line)

    def value(self, operation: str) -> str:
        """The name of a new value, of what `operation` computes."""
        name = f"%v{next(self._names)}"
        self.line(f"{name} = {operation}")
        return name

    def binary(self, operation: str, left: str, right: str) -> str:
        """A new value of two others."""
        return self.value(f"llvm.{operation} {left}, {right} : i64")

    def constant(self, number: int) -> str:
        """The name of a number."""
        return self._constants.setdefault(number, f"%c{len(self._constants)}")

    def require(self, condition: str, message: str, values: Sequence[str]) -> None:
        """Goes on where `condition` holds; else fails with `message`, its `{}` the `values`."""
        symbol = self._messages.setdefault(
            message, f"{self._program}{CHECKED_SUFFIX}.message{len(self._messages)}"
        )
        address = self.value(f'llvm.mlir.addressof @"{symbol}" : !llvm.ptr')
        label = f"^next{next(self._names)}"
        padded = [*values, *[self.constant(0)] * (self._most_values - len(values))]
        types = ", ".join(["!llvm.ptr", *["i64"] * self._most_values])
        self.line(
            f"llvm.cond_br {condition} weights([2000, 1]), {label}, "
            f"^refuse({', '.join([address, *padded])} : {types})"
        )
        self.line(f"{label}:")

    def refuse(self) -> None:
        """Adds the block that makes a failure of a message and its values."""
        values = [f"%r{index}" for index in range(self._most_values)]
        parameters = ", ".join(["%refusal: !llvm.ptr", *(f"{value}: i64" for value in values)])
        self.line(f"^refuse({parameters}):")
        self.line("llvm.store %refusal, %failure : !llvm.ptr, !llvm.ptr")
        for index, value in enumerate(values):
            place = self.value(
                f"llvm.getelementptr inbounds %failure[0, 1, {index}] : (!llvm.ptr) -> !llvm.ptr, "
                + failure_type(self._most_values)
            )
            self.line(f"llvm.store {value}, {place} : i64, !llvm.ptr")
        self.line("llvm.br ^failed")

    def globals(self) -> str:
        """The definitions of the messages."""
        return "".join(
            string_global(symbol, printf_format(message, self._most_values))
            for message, symbol in self._messages.items()
        )

    def lines(self) -> list[str]:
        """All lines, the constants first."""
        constants = [
            f"{name} = llvm.mlir.constant({number} : i64) : i64"
            for number, name in self._constants.items()
        ]
        return [*constants, *self._lines]


class _Arguments:
    """The values that the arguments of a function are taken apart into, one after another."""

    def __init__(self, shapes: ArgumentShapes) -> None:
        # Two pointers and an offset, then sizes and strides.
        counts = [3 + 2 * len(shape) for shape in shapes.shapes]
        self._first = [0, *itertools.accumulate(counts)]
        self._shapes = shapes.shapes

    def offset(self, argument: int) -> str:
        """The name of an argument's offset."""
        return f"%a{self._first[argument] + 2}"

    def size(self, place: Place) -> str:
        """The name of an argument's size."""
        return f"%a{self._first[place.argument] + 3 + place.axis}"

    def stride(self, place: Place) -> str:
        """The name of an argument's stride."""
        rank = len(self._shapes[place.argument])
        return f"%a{self._first[place.argument] + 3 + rank + place.axis}"


def most_values(shapes: ArgumentShapes) -> int:
    """How many numbers there are at most in what the checked entry says of such arguments."""
    steps = (step for step in shapes.steps if isinstance(step, Requirement))
    return max((len(step.values) for step in steps), default=1)


def checked_entry(body: Body, failure_values: int) -> str:
    """The entry that checks its arguments; a failure has room for so many numbers."""
    text = _Text(body.name, failure_values)
    for line in body.failure(failure_values):
        text.line(line)
    shapes = body.shapes
    arguments = _Arguments(shapes)
    _check_sizes(text, arguments, shapes)
    for index, shape in enumerate(shapes.shapes):
        _check_layout(text, arguments, index, len(shape))
    for line in [
        *body.call(),
        "llvm.return %null : !llvm.ptr",
        "^failed:",
        "%message = llvm.call @plumbline_message(%failure, %program) "
        ": (!llvm.ptr, !llvm.ptr) -> !llvm.ptr",
        '%unsaid = llvm.icmp "eq" %message, %null : !llvm.ptr',
        "llvm.cond_br %unsaid, ^end, ^say",
        "^say:",
        "llvm.return %message : !llvm.ptr",
        "^end:",
        "llvm.call @plumbline_end(%failure, %program) : (!llvm.ptr, !llvm.ptr) -> ()",
        "llvm.unreachable",
    ]:
        text.line(line)
    text.refuse()
    entry = body.entry(
        body.name + CHECKED_SUFFIX, text.lines(), results="", returned=" -> !llvm.ptr"
    )
    return text.globals() + entry


def _check_sizes(text: _Text, arguments: _Arguments, shapes: ArgumentShapes) -> None:
    symbols: dict[int, str] = {}

    def value(of: Size | Place) -> str:
        match of:
            case Place():
                return arguments.size(of)
            case SymbolUse(index):
                return symbols[index]
            case Operation(operator, left, right):
                return _arithmetic(text, operator, value(left), value(right))
            case _:
                return text.constant(of)

    for step in shapes.steps:
        if isinstance(step, Definition):
            difference = value(step.place)
            if step.rest != 0:
                difference = text.binary("sub", difference, value(step.rest))
            if step.scale != 1:
                difference = _arithmetic(text, "floordiv", difference, text.constant(step.scale))
            symbols[step.symbol] = difference
            continue
        holds = _all(
            text,
            [
                text.value(f'llvm.icmp "{relation}" {value(step.actual)}, {value(bound)} : i64')
                for relation, bound in _relations(step)
            ],
        )
        text.require(holds, step.message, [value(of) for of in step.values])


def _relations(step: Requirement) -> list[tuple[str, Size]]:
    if step.low is not None and step.low == step.high:
        return [("eq", step.low)]
    bounds = (("sge", step.low), ("sle", step.high))
    return [(relation, bound) for relation, bound in bounds if bound is not None]


def _check_layout(text: _Text, arguments: _Arguments, index: int, rank: int) -> None:
    """Requires what the function takes for granted: row-major without gaps, from offset 0."""
    zero, one = text.constant(0), text.constant(1)
    empty = []
    fits = [text.value(f'llvm.icmp "eq" {arguments.offset(index)}, {zero} : i64')]
    stride = one
    for axis in reversed(range(rank)):
        place = Place(index, axis)
        size = arguments.size(place)
        # A step that is never taken may be of any length.
        single = text.value(f'llvm.icmp "eq" {size}, {one} : i64')
        same = text.value(f'llvm.icmp "eq" {arguments.stride(place)}, {stride} : i64')
        fits.append(text.value(f"llvm.or {single}, {same} : i1"))
        empty.append(text.value(f'llvm.icmp "eq" {size}, {zero} : i64'))
        stride = text.binary("mul", stride, size)
    holds = _all(text, fits)
    for size_is_zero in empty:
        holds = text.value(f"llvm.or {holds}, {size_is_zero} : i1")
    text.require(
        holds,
        "the strides or the offset of argument {} are not those of row-major memory without gaps; "
        "copy it into such memory",
        [text.constant(index)],
    )


def _all(text: _Text, conditions: Sequence[str]) -> str:
    holds = conditions[0]
    for condition in conditions[1:]:
        holds = text.value(f"llvm.and {holds}, {condition} : i1")
    return holds


def _arithmetic(text: _Text, operator: str, left: str, right: str) -> str:
    """The operators of `plumbline.argument_shapes`."""
    if operator == "+":
        return text.binary("add", left, right)
    if operator == "*":
        return text.binary("mul", left, right)
    zero = text.constant(0)
    divisor = text.value(f"llvm.intr.smax({right}, {text.constant(1)}) : (i64, i64) -> i64")
    if operator == "ceildiv":
        negated = text.binary("sub", zero, left)
        return text.binary("sub", zero, _arithmetic(text, "floordiv", negated, divisor))
    # LLVM's division rounds towards zero.
    remainder = text.binary("srem", left, divisor)
    below = text.value(f'llvm.icmp "slt" {remainder}, {zero} : i64')
    if operator == "mod":
        positive = text.binary("add", remainder, divisor)
        return text.value(f"llvm.select {below}, {positive}, {remainder} : i1, i64")
    quotient = text.binary("sdiv", left, divisor)
    lower = text.binary("sub", quotient, text.constant(1))
    return text.value(f"llvm.select {below}, {lower}, {quotient} : i1, i64")
