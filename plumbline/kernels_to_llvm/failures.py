"""Failures of a running program: early returns that tell the caller, and give all memory back.

What can fail is an allocation, for which there may be no memory, a requirement, which may not hold
(`runtime/requirement.py`), and the call of a function that can fail. Each function that can fail
takes one argument more, a pointer to a failure:

    struct { const char *format; int64_t values[]; }

Its caller has set `format` to null. A function that fails writes a format of printf's there and
the numbers that it is about, gives back what it has allocated, and returns at once; what it
returns then has no meaning. The entries of a program (`c_abi.py`) have the failure on their stack,
and make a report of it (`reports.py`).

A function keeps the allocations that are to be given back in a table on its stack
(`allocation_table.py`), an entry for each place in it that allocates. In a loop, an entry is
written again and again: of what an earlier round allocated and a later one was to free, a failure
in between loses the memory.
"""

import itertools
import re
from collections.abc import Container, Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func, llvm

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_named
from plumbline.kernels_to_llvm.allocation_table import (
    ALLOCATE,
    ENTRY_BYTES,
    FORGET,
    FREE,
    RELEASE,
    define_table_functions,
    entry_of,
)
from plumbline.kernels_to_llvm.building import (
    address_of,
    call,
    declare,
    define_string,
    element,
    integer,
    integer_type,
    is_null,
    null,
    pointer_type,
)
from plumbline.kernels_to_llvm.parallel_loops import FORK
from plumbline.kernels_to_llvm.reports import END, MESSAGE, define_reports
from plumbline.kernels_to_llvm.status_codes import (
    LAST_TEXT,
    STATUS,
    TEXT_FORMAT,
    define_errors,
    define_status,
)
from plumbline.runtime.requirement import BRACES, MOST_VALUES, TEXT, is_requirement
from plumbline.runtime.requirement import MESSAGE as REQUIREMENT_MESSAGE
from plumbline.signature.function_name import ERROR_SUFFIX

_PLACES = re.compile(rf"{re.escape(BRACES)}|{{}}")

PROGRAM = "plumbline.program"
"""The attribute of an entry: what its program is called. One that returns a pointer returns the
message of a failure, one that returns an integer its code; one that returns nothing ends the
process with the message."""

ON_FAILURE = "plumbline.on_failure"
"""The attribute of a function: what other one, which takes and gives nothing, it calls when it, or
what it calls, has failed. That gives back what is not memory of the C library's."""

ERRORS = "plumbline.errors"
"""The attribute of a function without a body that is to give the text of a code."""

CAN_FAIL = "plumbline.can_fail"
"""The attribute of a function with a `FORK` that has come to take a failure, its last argument."""

_NO_MEMORY = "there is no memory for {} bytes"
_RARELY = (2000, 1)
"""The weights of a branch whose second way is hardly ever taken."""


def declare_errors(program: str) -> None:
    """Declares the function that is to give the text of a program's codes."""
    errors = func.FuncOp(program + ERROR_SUFFIX, ([integer_type(32)], [pointer_type()]))
    errors.attributes[ERRORS] = ir.UnitAttr.get()
    # As MLIR wants it of what has no body.
    errors.sym_visibility = ir.StringAttr.get("private")


def _return_failures(module: ir.Operation) -> None:
    with module.context, module.location:
        block = module.regions[0].blocks[0]
        functions = {
            op.sym_name.value: op for op in block.operations if isinstance(op, llvm.LLVMFuncOp)
        }
        calls = {name: list(_calls(function)) for name, function in functions.items()}
        failing = _failing(calls)
        programs = {name: _take_program(function) for name, function in functions.items()}
        strings = _Strings()
        rewritten = [
            _Function(functions[name], calls[name], failing, programs[name], strings)
            for name in failing
        ]
        forks = [functions[name] for name in failing if FORK in functions[name].attributes]
        for fork in forks:
            fork.attributes[CAN_FAIL] = ir.UnitAttr.get()
        # What a fork hands on is a failure of the greatest length that a kernel has.
        values = [function.most_values for function in rewritten] + [MOST_VALUES] * len(forks)
        most_values = max(values, default=0)
        for function in rewritten:
            function.rewrite(most_values)
        symbols = ir.SymbolTable(module)
        with ir.InsertionPoint(block):
            if any(function.has_table for function in rewritten):
                define_table_functions(symbols)
            if any(function.program is not None for function in rewritten):
                define_reports(symbols, most_values)
            strings.define()
            errors = [op for op in functions.values() if ERRORS in op.attributes]
            if errors:
                define_status(strings.formats)
                if TEXT_FORMAT in strings.formats:
                    declare(symbols, LAST_TEXT, [], pointer_type())
            for function in errors:
                for name in (ERRORS, "sym_visibility"):
                    del function.attributes[name]
                define_errors(function, strings.formats)
        for name in filter(is_requirement, functions):
            functions[name].erase()


def _take_program(function: llvm.LLVMFuncOp) -> str | None:
    """What program a function is an entry of, which it then does not say any more."""
    if PROGRAM not in function.attributes:
        return None
    name = ir.StringAttr(function.attributes[PROGRAM]).value
    del function.attributes[PROGRAM]
    return str(name)


def _calls(function: llvm.LLVMFuncOp) -> Iterator[llvm.CallOp]:
    return (op.opview for op in operations_named(function.operation, "llvm.call"))


def _callee(call_: llvm.CallOp) -> str:
    return call_.callee.value if call_.callee is not None else ""


def _failing(calls: dict[str, list[llvm.CallOp]]) -> list[str]:
    """The functions that can fail, in order."""
    callees = {name: set(map(_callee, own)) for name, own in calls.items()}
    failing: set[str] = set()
    while (
        more := {
            name
            for name, called in callees.items()
            if any(_can_fail(callee, failing) for callee in called)
        }
        - failing
    ):
        failing |= more
    return [name for name in calls if name in failing]


class _Strings:
    """The strings of C's that a module comes to need."""

    def __init__(self) -> None:
        self._symbols: dict[str, str] = {}
        self._programs: dict[str, str] = {}

    def format(self, message: str, count: int) -> ir.Value:
        """`message` as a format of printf's, its first `count` `{}` numbers of 64 bits."""
        if message == TEXT:
            text = TEXT_FORMAT
        else:
            numbers = itertools.repeat("%lld", count)
            text = _PLACES.sub(
                lambda found: "{}" if found[0] == BRACES else next(numbers, "{}"),
                message.replace("%", "%%"),
            )
        return address_of(self._symbols.setdefault(text, f"plumbline_message_{len(self._symbols)}"))

    def program(self, name: str) -> ir.Value:
        """The name of a program."""
        return address_of(self._programs.setdefault(name, f"plumbline_program_{name}"))

    @property
    def formats(self) -> dict[str, str]:
        """The formats of all failures, each with the symbol that it is under."""
        return self._symbols

    def define(self) -> None:
        """Defines all of them, at the insertion point."""
        for strings in (self._symbols, self._programs):
            for text, symbol in strings.items():
                define_string(symbol, text)


class _Function:
    """A function that can fail, and what its failures need."""

    def __init__(
        self,
        function: llvm.LLVMFuncOp,
        calls: Sequence[llvm.CallOp],
        failing: Container[str],
        program: str | None,
        strings: _Strings,
    ) -> None:
        self._function, self._strings = function, strings
        self.program = program
        """What program it is an entry of, if it is one."""
        self._points = dict.fromkeys(c for c in calls if _can_fail(_callee(c), failing))
        allocations = (call_ for call_ in calls if _callee(call_) == ALLOCATE)
        self._entries = {call_: number for number, call_ in enumerate(allocations)}
        self._frees = [call_ for call_ in calls if _callee(call_) == FREE]
        self.has_table = self._may_fail_after_allocating()
        """Whether there may be something to give back when something fails."""
        self.most_values = max((len(_numbers(call_)) for call_ in self._points), default=0)
        """How many numbers its failures have at most, if they are its own."""

    def rewrite(self, most_values: int) -> None:
        """Has the function return early after each failure, of at most so many numbers."""
        blocks = self._function.regions[0].blocks
        entry, old = blocks[0], list(blocks)
        with self._function.location as location:
            if self.program is not None:
                self._make_failure(entry, most_values)
            else:
                self._take_failure(entry)
            if self.most_values > 0:
                types = [pointer_type(), *[integer_type()] * self.most_values]
                self._fail = blocks.append(*types, arg_locs=[location] * len(types))
            self._return = blocks.append()
            if self.has_table:
                self._make_table(entry)
            for block in old:
                self._split(block)
            if self.most_values > 0:
                with ir.InsertionPoint(self._fail):
                    for number, value in enumerate(self._fail.arguments):
                        llvm.StoreOp(value, element(self._failure, number, integer_type()))
                    llvm.BrOp([], self._return)
            with ir.InsertionPoint(self._return):
                if self.has_table:
                    call(RELEASE, [self._table, integer(len(self._entries))])
                if ON_FAILURE in self._function.attributes:
                    call(ir.FlatSymbolRefAttr(self._function.attributes[ON_FAILURE]).value, [])
                    del self._function.attributes[ON_FAILURE]
                if self.program is not None:
                    self._report(self.program)
                else:
                    self._return_nothing()

    def _may_fail_after_allocating(self) -> bool:
        if not self._entries:
            return False
        if len(self._function.regions[0].blocks) > 1:
            return True
        return next(reversed(self._points)) not in self._entries or len(self._entries) > 1

    # -- the failure, and what becomes of it -------------------------------------------------------

    def _take_failure(self, entry: ir.Block) -> None:
        type_ = self._function_type
        self._function.attributes["function_type"] = ir.TypeAttr.get(
            llvm.FunctionType.get(type_.return_type, [*type_.inputs, pointer_type()])
        )
        if self._function.arg_attrs is not None:
            attributes = [*self._function.arg_attrs, ir.DictAttr.get({})]
            self._function.arg_attrs = ir.ArrayAttr.get(attributes)
        self._failure = entry.add_argument(pointer_type(), ir.Location.current)

    def _make_failure(self, entry: ir.Block, most_values: int) -> None:
        with ir.InsertionPoint.at_block_begin(entry):
            size = integer(1 + most_values)
            self._failure = llvm.AllocaOp(pointer_type(), size, integer_type()).result
            llvm.StoreOp(null(), self._failure)

    def _report(self, program: str) -> None:
        operands = [self._failure, self._strings.program(program)]
        type_ = self._function_type.return_type
        if type_ == pointer_type():
            llvm.ReturnOp(arg=call(MESSAGE, operands, pointer_type()).result)
        elif type_ == integer_type(32):
            llvm.ReturnOp(arg=call(STATUS, [self._failure], integer_type(32)).result)
        else:
            call(END, operands)
            llvm.UnreachableOp()

    def _return_nothing(self) -> None:
        type_ = self._function_type.return_type
        if type_ == ir.Type.parse("!llvm.void"):
            llvm.ReturnOp()
        else:
            llvm.ReturnOp(arg=llvm.PoisonOp(type_).result)

    @property
    def _function_type(self) -> llvm.FunctionType:
        return llvm.FunctionType(self._function.function_type.value)

    # -- the table of allocations ------------------------------------------------------------------

    def _make_table(self, entry: ir.Block) -> None:
        count = len(self._entries)
        with ir.InsertionPoint.at_block_begin(entry):
            self._table = llvm.AllocaOp(pointer_type(), integer(count), integer_type()).result
            size = integer(count * ENTRY_BYTES)
            llvm.MemsetOp(self._table, integer(0, 8), size, isVolatile=False)
        for free in self._frees:
            (freed,) = free.operands
            with ir.InsertionPoint(free), free.location:
                owner = freed.owner
                if not isinstance(owner, ir.Block) and owner.opview in self._entries:
                    self._enter(null(), owner.opview)
                else:
                    call(FORGET, [self._table, integer(count), freed])

    def _enter(self, pointer: ir.Value, allocation: llvm.CallOp) -> None:
        """Writes the entry of a place that allocates."""
        llvm.StoreOp(pointer, entry_of(self._table, self._entries[allocation]))

    # -- what follows a call that can fail ---------------------------------------------------------

    def _split(self, block: ir.Block) -> None:
        """Has what follows each call that can fail in a block of its own."""
        point: llvm.CallOp | None = None
        for op in list(block.operations):
            if point is not None:
                rest = block.create_after()
                with point.location:
                    self._go_on_unless_failed(point, block, rest)
                block, point = rest, None
            block.append(op)
            if op in self._points:
                point = op

    def _go_on_unless_failed(self, point: llvm.CallOp, block: ir.Block, rest: ir.Block) -> None:
        callee = _callee(point)
        with ir.InsertionPoint(block):
            if is_requirement(callee):
                message = ir.StringAttr(point.attributes[REQUIREMENT_MESSAGE]).value
                self._branch(point.operands[0], rest, message, _numbers(point))
                point.erase()
            elif callee == ALLOCATE:
                lives = llvm.ICmpOp(llvm.ICmpPredicate.ne, point.results[0], null()).result
                self._branch(lives, rest, _NO_MEMORY, _numbers(point))
                if self.has_table:
                    with ir.InsertionPoint.at_block_begin(rest):
                        self._enter(point.results[0], point)
            else:
                again = call(
                    callee,
                    [*point.operands, self._failure],
                    *(result.type for result in point.results),
                )
                for old, new in zip(point.results, again.results, strict=True):
                    old.replace_all_uses_with(new)
                point.erase()
                format_ = llvm.LoadOp(pointer_type(), self._failure).result
                fine = is_null(format_)
                llvm.CondBrOp(fine, [], [], rest, self._return, branch_weights=_RARELY)

    def _branch(
        self, holds: ir.Value, rest: ir.Block, message: str, numbers: Sequence[ir.Value]
    ) -> None:
        """Goes on where something holds, and else fails with a message and its numbers."""
        padding = [integer(0)] * (self.most_values - len(numbers))
        failure = [self._strings.format(message, len(numbers)), *numbers, *padding]
        llvm.CondBrOp(holds, [], failure, rest, self._fail, branch_weights=_RARELY)


def _can_fail(callee: str, failing: Container[str]) -> bool:
    return callee == ALLOCATE or is_requirement(callee) or callee in failing


def _numbers(point: llvm.CallOp) -> list[ir.Value]:
    """The numbers that the message is about of a call that fails by itself."""
    callee = _callee(point)
    if callee == ALLOCATE:
        return [point.operands[1]]
    return list(point.operands)[1:] if is_requirement(callee) else []


RETURN_FAILURES = Pass(
    "return-failures",
    "Return early, and tell the caller, where there is no memory or a requirement does not hold",
    _return_failures,
)
