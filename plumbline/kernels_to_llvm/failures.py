"""Failures of a running program: early returns that tell the caller, and give all memory back.

What can fail is an allocation, for which there may be no memory, a requirement, which may not hold
(`plumbline/requirement.py`), and the call of a function that can fail. Each function that can fail
takes one argument more, a pointer to a failure:

    struct { const char *format; int64_t values[]; }

Its caller has set `format` to null. A function that fails writes a format of printf's there and
the numbers that it is about, gives back what it has allocated, and returns at once; what it
returns then has no meaning.

A function keeps the allocations that are to be given back in a table on its stack, an entry for
each place in it that allocates. In a loop, an entry is written again and again: of what an earlier
round allocated and a later one was to free, a failure in between loses the memory.
"""

from collections.abc import Container, Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.pipeline import Pass
from plumbline.requirement import MESSAGE, MOST_VALUES, REQUIRE
from plumbline.walk import all_operations

_ALLOCATE = "aligned_alloc"
_FREE = "free"
_NO_MEMORY = "there is no memory for {} bytes"
_FAILING = frozenset({_ALLOCATE, REQUIRE})
_POINTER_BYTES = 8
_RARELY = (2000, 1)
"""The weights of a branch whose second way is hardly ever taken."""

_RELEASE = "plumbline_release"
_FORGET = "plumbline_forget"

# A loop over the entries of a table: `work` is done for each, of which `%place` is the address and
# `%allocated` the content. The table's address is handed to a function, so that LLVM does not keep
# each entry in a register: for hundreds of allocations, each of hundreds of failures would move
# hundreds of registers.
_EACH_ENTRY = """
llvm.func internal @{name}({parameters}) attributes {{no_inline}} {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^next(%zero : i64)
^next(%index: i64):
  %more = llvm.icmp "slt" %index, %count : i64
  llvm.cond_br %more, ^entry, ^done
^entry:
  %place = llvm.getelementptr %table[%index] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %allocated = llvm.load %place : !llvm.ptr -> !llvm.ptr
  {work}
  %following = llvm.add %index, %one : i64
  llvm.br ^next(%following : i64)
^done:
  llvm.return
}}
"""

_TABLE_FUNCTIONS = (
    f"llvm.func @{_FREE}(!llvm.ptr)\n"
    + _EACH_ENTRY.format(
        name=_RELEASE,
        parameters="%table: !llvm.ptr, %count: i64",
        work=f"llvm.call @{_FREE}(%allocated) : (!llvm.ptr) -> ()",
    )
    + _EACH_ENTRY.format(
        name=_FORGET,
        parameters="%table: !llvm.ptr, %count: i64, %freed: !llvm.ptr",
        work="""%null = llvm.mlir.zero : !llvm.ptr
  %same = llvm.icmp "eq" %allocated, %freed : !llvm.ptr
  %left = llvm.select %same, %null, %allocated : i1, !llvm.ptr
  llvm.store %left, %place : !llvm.ptr, !llvm.ptr""",
    )
)


def printf_format(message: str, most_values: int) -> str:
    """`message` as a format, the first `most_values` of its `{}` numbers of 64 bits."""
    return message.replace("%", "%%").replace("{}", "%lld", most_values)


def append_missing(module: ir.Operation, definitions: str, before: ir.OpView | None = None) -> None:
    """Adds those operations of the text `definitions` to `module` whose names it lacks.

    They go to its end, or before one of its operations.
    """
    block = module.regions[0].blocks[0]
    known = {op.attributes["sym_name"] for op in block.operations if "sym_name" in op.attributes}
    place = ir.InsertionPoint(block) if before is None else ir.InsertionPoint(before)
    for operation in ir.Module.parse(definitions).body.operations:
        if operation.attributes["sym_name"] not in known:
            # A clone, since an operation outlives its own module only in C++.
            place.insert(operation.operation.clone())


def string_global(symbol: str, text: str) -> str:
    """The definition of a string of C's, which the module alone sees."""
    value = ir.StringAttr.get(text + "\0")
    return f'llvm.mlir.global internal constant @"{symbol}"({value}) {{addr_space = 0 : i32}}\n'


def _return_failures(operation: ir.Operation) -> None:
    with operation.context:
        functions = {
            ir.StringAttr(op.attributes["sym_name"]).value: op
            for op in operation.regions[0].blocks[0].operations
            if op.operation.name == "llvm.func" and len(op.regions[0].blocks) > 0
        }
        calls = {name: list(_calls(function)) for name, function in functions.items()}
        failing = _failing(functions, calls)
        formats = _Formats()
        rewritten = [_Function(functions[n], calls[n], failing, formats) for n in failing]
        for function in rewritten:
            function.rewrite()
        tables = _TABLE_FUNCTIONS if any(function.has_table for function in rewritten) else ""
        append_missing(operation, tables + formats.definitions)
        for op in list(operation.regions[0].blocks[0].operations):
            if op.attributes.get("sym_name") == ir.StringAttr.get(REQUIRE):
                op.erase()


def _calls(function: ir.OpView) -> Iterator[ir.Operation]:
    return (op for op in all_operations(function.operation) if op.name == "llvm.call")


def _callee(call: ir.Operation) -> str:
    if "callee" not in call.attributes:
        return ""
    return str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)


def _failing(
    functions: dict[str, ir.OpView], calls: dict[str, list[ir.Operation]]
) -> dict[str, None]:
    """The functions that can fail, in order.

    Public ones count as such, so that they all look alike to those who call them.
    """
    callees = {name: set(map(_callee, own)) for name, own in calls.items()}
    can_fail = set(_FAILING)
    can_fail |= {
        name
        for name, function in functions.items()
        if str(function.attributes["linkage"]) != "#llvm.linkage<internal>"
    }
    while more := {name for name in functions if callees[name] & can_fail} - can_fail:
        can_fail |= more
    return dict.fromkeys(name for name in functions if name in can_fail)


class _Formats:
    """The formats of a module's messages, as strings of C's."""

    def __init__(self) -> None:
        self._symbols: dict[str, str] = {}

    def symbol(self, message: str) -> str:
        """The name of the string for `message`."""
        return self._symbols.setdefault(message, f"plumbline_message_{len(self._symbols)}")

    @property
    def definitions(self) -> str:
        """All strings."""
        return "".join(
            string_global(symbol, printf_format(message, MOST_VALUES))
            for message, symbol in self._symbols.items()
        )


class _Function:
    """A function that can fail, and what its failures need."""

    def __init__(
        self,
        function: ir.OpView,
        calls: Sequence[ir.Operation],
        failing: Container[str],
        formats: _Formats,
    ) -> None:
        self._function, self._formats = function, formats
        self._pointer = llvm.PointerType.get()
        self._i64 = ir.IntegerType.get_signless(64)
        self._points = {c for c in calls if (name := _callee(c)) in _FAILING or name in failing}
        allocations = (call for call in calls if _callee(call) == _ALLOCATE)
        self._entries = {call: number for number, call in enumerate(allocations)}
        self._frees = [call for call in calls if _callee(call) == _FREE]
        self.has_table = self._may_fail_after_allocating(calls)
        """Whether there may be something to give back when something fails."""

    def rewrite(self) -> None:
        """Has the function take a failure, and return early after each that occurs."""
        blocks = self._function.regions[0].blocks
        entry = blocks[0]
        type_ = llvm.FunctionType(ir.TypeAttr(self._function.attributes["function_type"]).value)
        self._function.attributes["function_type"] = ir.TypeAttr.get(
            llvm.FunctionType.get(type_.return_type, [*type_.inputs, self._pointer])
        )
        location = self._function.location
        with location:
            self._failure = entry.add_argument(self._pointer, location)
            if not self._points:
                return
            types = [self._pointer, *[self._i64] * MOST_VALUES]
            old = list(blocks)
            self._fail = blocks.append(*types, arg_locs=[location] * len(types))
            self._return = blocks.append()
            if self.has_table:
                self._make_table(entry)
            for block in old:
                self._split(block)
            with ir.InsertionPoint(self._fail):
                self._write_failure(list(self._fail.arguments))
                llvm.BrOp([], self._return)
            with ir.InsertionPoint(self._return):
                if self.has_table:
                    count = self._integer(len(self._entries))
                    _call(_RELEASE, [self._table, count])
                self._return_nothing(type_.return_type)

    def _may_fail_after_allocating(self, calls: Sequence[ir.Operation]) -> bool:
        if not self._entries:
            return False
        if len(self._function.regions[0].blocks) > 1:
            return True
        last = [call for call in calls if call in self._points][-1]
        return last not in self._entries or len(self._entries) > 1

    # -- the table of allocations ------------------------------------------------------------------

    def _make_table(self, entry: ir.Block) -> None:
        count = len(self._entries)
        with ir.InsertionPoint.at_block_begin(entry):
            self._table = llvm.AllocaOp(self._pointer, self._integer(count), self._pointer).result
            llvm.MemsetOp(
                self._table,
                self._integer(0, 8),
                self._integer(count * _POINTER_BYTES),
                isVolatile=False,
            )
        for call in self._frees:
            (freed,) = call.operands
            with ir.InsertionPoint(call), call.location:
                owner = freed.owner
                if not isinstance(owner, ir.Block) and owner in self._entries:
                    self._enter(llvm.ZeroOp(self._pointer).result, owner)
                else:
                    _call(_FORGET, [self._table, self._integer(count), freed])

    def _enter(self, pointer: ir.Value, allocation: ir.Operation) -> None:
        """Writes the entry of a place that allocates."""
        place = llvm.GEPOp(
            self._pointer,
            self._table,
            [],
            [self._entries[allocation]],
            self._pointer,
            llvm.GEPNoWrapFlags.inbounds,
        ).result
        llvm.StoreOp(pointer, place)

    # -- what follows a call that can fail ---------------------------------------------------------

    def _split(self, block: ir.Block) -> None:
        """Has what follows each call that can fail in a block of its own."""
        call: ir.Operation | None = None
        for view in list(block.operations):
            operation = view.operation
            if call is not None:
                rest = block.create_after()
                with call.location:
                    self._go_on_unless_failed(call, block, rest)
                block, call = rest, None
            block.append(operation)
            if operation in self._points:
                call = operation

    def _go_on_unless_failed(self, call: ir.Operation, block: ir.Block, rest: ir.Block) -> None:
        callee = _callee(call)
        with ir.InsertionPoint(block):
            if callee == REQUIRE:
                holds, *values = call.operands
                message = ir.StringAttr(call.attributes[MESSAGE]).value
                self._branch(holds, rest, self._fail, [self._message(message), *values])
                call.erase()
            elif callee == _ALLOCATE:
                allocated = call.results[0]
                values = [call.operands[1], *[self._integer(0)] * (MOST_VALUES - 1)]
                self._branch(
                    self._is_null(allocated, negated=True),
                    rest,
                    self._fail,
                    [self._message(_NO_MEMORY), *values],
                )
                if self.has_table:
                    with ir.InsertionPoint.at_block_begin(rest):
                        self._enter(allocated, call)
            else:
                again = _call(
                    callee,
                    [*call.operands, self._failure],
                    [result.type for result in call.results],
                )
                for old, new in zip(call.results, again.results, strict=True):
                    old.replace_all_uses_with(new)
                call.erase()
                format_ = llvm.LoadOp(self._pointer, self._failure).result
                self._branch(self._is_null(format_), rest, self._return, [])

    def _branch(
        self, holds: ir.Value, go_on: ir.Block, fail: ir.Block, values: Sequence[ir.Value]
    ) -> None:
        llvm.CondBrOp(holds, [], list(values), go_on, fail, branch_weights=_RARELY)

    def _write_failure(self, values: Sequence[ir.Value]) -> None:
        for number, value in enumerate(values):
            place = llvm.GEPOp(
                self._pointer,
                self._failure,
                [],
                [number],
                self._i64,
                llvm.GEPNoWrapFlags.inbounds,
            ).result
            llvm.StoreOp(value, place)

    def _return_nothing(self, type_: ir.Type) -> None:
        if type_ == ir.Type.parse("!llvm.void"):
            llvm.ReturnOp()
        else:
            llvm.ReturnOp(arg=llvm.PoisonOp(type_).result)

    # -- values --------------------------------------------------------------------------------

    def _message(self, message: str) -> ir.Value:
        return llvm.AddressOfOp(self._pointer, self._formats.symbol(message)).result

    def _is_null(self, pointer: ir.Value, *, negated: bool = False) -> ir.Value:
        null = llvm.ZeroOp(self._pointer).result
        predicate = llvm.ICmpPredicate.ne if negated else llvm.ICmpPredicate.eq
        return llvm.ICmpOp(predicate, pointer, null).result

    def _integer(self, number: int, bits: int = 64) -> ir.Value:
        type_ = ir.IntegerType.get_signless(bits)
        return llvm.ConstantOp(type_, ir.IntegerAttr.get(type_, number)).result


def _call(
    callee: str, operands: Sequence[ir.Value], results: Sequence[ir.Type] = ()
) -> ir.Operation:
    return llvm.CallOp(
        results[0] if results else None, list(operands), [], [], callee=callee
    ).operation


RETURN_FAILURES = Pass(
    "return-failures",
    "Return early, and tell the caller, where there is no memory or a requirement does not hold",
    _return_failures,
)
