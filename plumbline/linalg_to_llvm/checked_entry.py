"""The checked entry of a compiled function, which refuses sizes that the function cannot work on.

Beside `foo`, a library has

    char* foo_checked(foo_results* results, <the arguments of foo>)

which holds all sizes, strides and offsets against what is known of them before it calls `foo`. It
returns null, and has then written `*results`; or a message that the caller gives back with free().
"""

import itertools
from collections.abc import Sequence

from torch_mlir import ir

from plumbline.argument_shapes import (
    ArgumentShapes,
    Definition,
    Operation,
    Place,
    Requirement,
    Size,
    SymbolUse,
)

CHECKED_SUFFIX = "_checked"

_DECLARATIONS = """\
llvm.func @malloc(i64) -> !llvm.ptr
llvm.func @abort() attributes {passthrough = ["noreturn"]}
llvm.func @snprintf(!llvm.ptr, i64, !llvm.ptr, ...) -> i32
"""

_LONGEST_NUMBER = 20
"""The decimal digits of an int64, and its sign."""


class _Text:
    """Lines of the LLVM dialect, with names for their values, blocks and strings."""

    def __init__(self, function: str, most_values: int) -> None:
        """`most_values` is how many numbers the messages have at most."""
        self._function = function
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
        """Goes on where `condition` holds; else ends with `message`, its `{}` the `values`."""
        text = f"{self._function}: {message}".replace("%", "%%").replace("{}", "%lld") + "\0"
        symbol = self._messages.setdefault(
            text, f"{self._function}{CHECKED_SUFFIX}.message{len(self._messages)}"
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
        """Adds the block that returns a message."""
        values = [f"%r{index}" for index in range(self._most_values)]
        longest = max((len(text) for text in self._messages), default=0)
        bytes_ = self.constant(longest + self._most_values * _LONGEST_NUMBER)
        parameters = ", ".join(["%format: !llvm.ptr", *(f"{value}: i64" for value in values)])
        types = ", ".join(["!llvm.ptr", "i64", "!llvm.ptr", *["i64"] * self._most_values])
        self.line(f"^refuse({parameters}):")
        message = self.value(f"llvm.call @malloc({bytes_}) : (i64) -> !llvm.ptr")
        null = self.value("llvm.mlir.zero : !llvm.ptr")
        failed = self.value(f'llvm.icmp "eq" {message}, {null} : !llvm.ptr')
        self.line(f"llvm.cond_br {failed}, ^no_memory, ^write")
        self.line("^write:")
        self.value(
            f"llvm.call @snprintf({', '.join([message, bytes_, '%format', *values])}) "
            f"vararg(!llvm.func<i32 (ptr, i64, ptr, ...)>) : ({types}) -> i32"
        )
        self.line(f"llvm.return {message} : !llvm.ptr")
        self.line("^no_memory:")
        self.line("llvm.call @abort() : () -> ()")
        self.line("llvm.unreachable")

    def globals(self) -> str:
        """The definitions of the messages."""
        return "".join(
            f'llvm.mlir.global internal constant @"{symbol}"({ir.StringAttr.get(text)}) '
            "{addr_space = 0 : i32}\n"
            for text, symbol in self._messages.items()
        )

    def body(self) -> str:
        """All lines, the constants first."""
        constants = [
            f"{name} = llvm.mlir.constant({number} : i64) : i64"
            for number, name in self._constants.items()
        ]
        return "".join(f"  {line}\n" for line in [*constants, *self._lines])


class _Arguments:
    """The values that the arguments of a function are taken apart into, one after another."""

    def __init__(self, shapes: ArgumentShapes) -> None:
        self._first = []
        self.types: list[str] = []
        for shape in shapes.shapes:
            self._first.append(len(self.types))
            self.types += ["!llvm.ptr", "!llvm.ptr", "i64", *["i64"] * (2 * len(shape))]
        self._shapes = shapes.shapes

    @property
    def names(self) -> list[str]:
        """The names of all values."""
        return [f"%a{index}" for index in range(len(self.types))]

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


def insert_checked_entry(
    module: ir.Module | ir.Operation, name: str, shapes: ArgumentShapes, result: str | None
) -> None:
    """Puts the checked entry of a function at the end of `module`.

    Args:
      module: a module of the LLVM dialect.
      name: of a function of the C ABI in it.
      shapes: of its arguments.
      result: the type of the struct that it returns through a pointer, if it returns any.
    """
    arguments = _Arguments(shapes)
    types, passed, declared = list(arguments.types), arguments.names, []
    if result is not None:
        types.insert(0, f"!llvm.ptr {{llvm.sret = {result}}}")
        passed.insert(0, "%results")
        declared.append("%results: !llvm.ptr")
    named = zip(arguments.names, arguments.types, strict=True)
    declared += [f"{value}: {type_}" for value, type_ in named]

    requirements = [step for step in shapes.steps if isinstance(step, Requirement)]
    text = _Text(name, max((len(step.values) for step in requirements), default=1))
    _check_sizes(text, arguments, shapes)
    for index, shape in enumerate(shapes.shapes):
        _check_layout(text, arguments, index, len(shape))
    # One copy of the function is enough.
    text.line(f"llvm.call @{name}({', '.join(passed)}) {{no_inline}} : ({', '.join(types)}) -> ()")
    text.line(f"llvm.return {text.value('llvm.mlir.zero : !llvm.ptr')} : !llvm.ptr")
    text.refuse()
    parsed = ir.Module.parse(
        f"llvm.func @{name}({', '.join(types)})\n"
        + _DECLARATIONS
        + text.globals()
        + f"llvm.func @{name}{CHECKED_SUFFIX}({', '.join(declared)}) -> !llvm.ptr {{\n"
        + text.body()
        + "}\n"
    )
    block = module.operation.regions[0].blocks[0]
    known = {op.attributes["sym_name"] for op in block.operations if "sym_name" in op.attributes}
    for operation in parsed.body.operations:
        if operation.attributes["sym_name"] not in known:
            # A clone, since an operation outlives its own module only in C++.
            block.append(operation.operation.clone())


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
