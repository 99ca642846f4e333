"""Defines how a program finds out how many threads to use: `runtime/threads.py` says what of.

The environment is asked once. What it said is kept in a variable: 0 where it was not yet asked, -1
where it said nothing. Several threads that ask at once keep the same. Where it says something that
is no number of threads, a line on standard error says so, as OpenMP's runtime libraries do.
"""

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.bindings.pipeline import Pass
from plumbline.kernels_to_llvm.building import (
    address_of,
    call,
    declare,
    declare_variadic,
    define,
    define_kept,
    define_string,
    integer,
    integer_type,
    is_null,
    keep,
    kept,
    pointer_type,
)
from plumbline.runtime.threads import ENVIRONMENT_VARIABLE, MOST_THREADS, THREADS

_KEPT, _NAME, _MISTAKE = "plumbline_threads_kept", "plumbline_threads_name", "plumbline_no_threads"
_NOTHING = -1
_STANDARD_ERROR = 2


def _define_thread_count(module: ir.Operation) -> None:
    with module.context, module.location:
        symbols = ir.SymbolTable(module)
        if THREADS not in symbols:
            return
        symbols.erase(symbols[THREADS])
        with ir.InsertionPoint(module.regions[0].blocks[0]):
            _define(symbols)


def _define(symbols: ir.SymbolTable) -> None:
    pointer, word, number = pointer_type(), integer_type(), integer_type(32)
    define_string(_NAME, ENVIRONMENT_VARIABLE)
    define_string(
        _MISTAKE,
        f"{ENVIRONMENT_VARIABLE} is '%s', which is no number from 1 to {MOST_THREADS}: "
        "the program runs on as many threads as it was compiled for\n",
    )
    define_kept(_KEPT)
    declare(symbols, "getenv", [pointer], pointer)
    declare(symbols, "strtol", [pointer, pointer, number], word)
    dprintf = declare_variadic(symbols, "dprintf", [number, pointer])
    entry = define(THREADS, [word], word)
    location = ir.Location.current
    told = entry.create_after(word, arg_locs=[location])
    keeps = entry.create_after(word, arg_locs=[location])
    refuse, read, ask = (entry.create_after() for _ in range(3))
    with ir.InsertionPoint(entry):
        before = kept(_KEPT)
        is_new = llvm.ICmpOp(llvm.ICmpPredicate.eq, before, integer(0)).result
        llvm.CondBrOp(is_new, [], [before], ask, told)
    with ir.InsertionPoint(ask):
        text = call("getenv", [address_of(_NAME)], pointer).result
        llvm.CondBrOp(is_null(text), [integer(_NOTHING)], [], keeps, read)
    with ir.InsertionPoint(read):
        end = llvm.AllocaOp(pointer, integer(1), pointer).result
        given = call("strtol", [text, end, integer(10, 32)], word).result
        after = llvm.LoadOp(integer_type(8), llvm.LoadOp(pointer, end).result).result
        all_read = llvm.ICmpOp(llvm.ICmpPredicate.eq, after, integer(0, 8)).result
        # As a number without a sign, what is below 0 is beyond all.
        less_one = llvm.SubOp(given, integer(1), llvm.IntegerOverflowFlags.none).result
        within = llvm.ICmpOp(llvm.ICmpPredicate.ult, less_one, integer(MOST_THREADS)).result
        llvm.CondBrOp(llvm.AndOp(all_read, within).result, [given], [], keeps, refuse)
    with ir.InsertionPoint(refuse):
        dprintf(integer(_STANDARD_ERROR, 32), address_of(_MISTAKE), text)
        llvm.BrOp([integer(_NOTHING)], keeps)
    with ir.InsertionPoint(keeps):
        (found,) = keeps.arguments
        keep(found, _KEPT)
        llvm.BrOp([found], told)
    with ir.InsertionPoint(told):
        (said,) = told.arguments
        is_nothing = llvm.ICmpOp(llvm.ICmpPredicate.slt, said, integer(0)).result
        llvm.ReturnOp(arg=llvm.SelectOp(is_nothing, entry.arguments[0], said).result)


DEFINE_THREAD_COUNT = Pass(
    "define-thread-count",
    "Have a program ask the environment how many threads to use",
    _define_thread_count,
)
