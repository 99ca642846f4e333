"""What the entries of a program do with a failure (`failures.py`): its message, or its end.

The message is made up of the program's name and what the format makes of the numbers.
plumbline_message returns it in memory from malloc; plumbline_end writes it to standard error, and
ends the process. So does plumbline_message where there is no memory even for the message.
"""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.kernels_to_llvm.building import (
    address_of,
    call,
    declare,
    declare_variadic,
    define,
    define_string,
    element,
    integer,
    integer_type,
    is_null,
    null,
    pointer_type,
)

MESSAGE = "plumbline_message"
"""Takes a failure and the program's name, and returns the message."""

END = "plumbline_end"
"""Takes the same, and does not return."""

_PREFIX, _LINE_END = "plumbline_prefix", "plumbline_line_end"
_STANDARD_ERROR = 2

_Print = Callable[..., ir.Value]


def define_reports(symbols: ir.SymbolTable, most_values: int) -> None:
    """Defines both functions, at the insertion point, for failures of at most so many numbers."""
    pointer, word, number = pointer_type(), integer_type(), integer_type(32)
    define_string(_PREFIX, "%s: ")
    define_string(_LINE_END, "\n")
    declare(symbols, "malloc", [word], pointer)
    declare(symbols, "abort", [], noreturn=True)
    snprintf = declare_variadic(symbols, "snprintf", [pointer, word, pointer])
    dprintf = declare_variadic(symbols, "dprintf", [number, pointer])
    _define_message(snprintf, most_values)
    _define_end(dprintf, most_values)


def _define_message(snprintf: _Print, most_values: int) -> None:
    pointer, word = pointer_type(), integer_type()
    entry = define(MESSAGE, [pointer, pointer], pointer)
    lacking, write = entry.create_after(), entry.create_after()
    failure, program = entry.arguments
    with ir.InsertionPoint(entry):
        text = _text(failure, most_values)
        prefix = address_of(_PREFIX)
        none, nothing = null(), integer(0)
        counts = [snprintf(none, nothing, prefix, program), snprintf(none, nothing, *text)]
        first, second = (llvm.SExtOp(word, count).result for count in counts)
        rest = _sum(second, integer(1))
        size = _sum(first, rest)
        message = call("malloc", [size], pointer).result
        llvm.CondBrOp(is_null(message), [], [], lacking, write)
    with ir.InsertionPoint(lacking):
        call(END, [failure, program])
        llvm.UnreachableOp()
    with ir.InsertionPoint(write):
        snprintf(message, size, prefix, program)
        snprintf(element(message, first, integer_type(8)), rest, *text)
        llvm.ReturnOp(arg=message)


def _define_end(dprintf: _Print, most_values: int) -> None:
    entry = define(END, [pointer_type()] * 2, noreturn=True)
    failure, program = entry.arguments
    with ir.InsertionPoint(entry):
        to = integer(_STANDARD_ERROR, 32)
        dprintf(to, address_of(_PREFIX), program)
        dprintf(to, *_text(failure, most_values))
        dprintf(to, address_of(_LINE_END))
        call("abort", [])
        llvm.UnreachableOp()


def _text(failure: ir.Value, most_values: int) -> list[ir.Value]:
    """The format of a failure, and its numbers."""
    word = integer_type()
    numbers = [
        llvm.LoadOp(word, element(failure, index, word)).result
        for index in range(1, 1 + most_values)
    ]
    return [llvm.LoadOp(pointer_type(), failure).result, *numbers]


def _sum(left: ir.Value, right: ir.Value) -> ir.Value:
    return llvm.AddOp(left, right, llvm.IntegerOverflowFlags.none).result
