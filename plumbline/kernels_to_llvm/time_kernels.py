"""Has a program add up how long the calls take that say that they are to be timed.

`plumbline_times` is memory of the caller's: for each timer how often it ran, and for how many
nanoseconds. Two more timers follow on those of the module: of nothing, once for each call of a
public function, which tells what a timer takes itself, and of that function as a whole. Calls that
run at once spoil one another's times, but nothing else.
"""

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.bindings.pipeline import Pass
from plumbline.kernels_to_llvm.building import (
    address_of,
    call,
    declare,
    define,
    element,
    integer,
    integer_type,
    pointer_type,
)
from plumbline.linalg_to_kernels.timed_calls import timed_operations
from plumbline.signature.c_signature import functions_with_bodies

TIMES = "plumbline_times"
"""The symbol: an array of pairs of 64-bit integers."""

_CLOCK, _ADD = "plumbline_nanoseconds", "plumbline_add_time"
_MONOTONIC = 1
"""CLOCK_MONOTONIC of Linux's <time.h>."""
_NANOSECONDS = 10**9


def _time_kernels(module: ir.Operation) -> None:
    with module.context, module.location:
        functions = functions_with_bodies(module, "func.func", public=True)
        timed = timed_operations(module)
        with ir.InsertionPoint(module.regions[0].blocks[0]):
            _define(ir.SymbolTable(module), 2 * (len(timed) + 2))
        for number, op in enumerate(timed):
            with op.location:
                with ir.InsertionPoint(op):
                    begin = _now()
                with ir.InsertionPoint.after(op):
                    call(_ADD, [integer(number), begin])
        for function in functions:
            _time_whole(function.operation, len(timed))


def _time_whole(function: ir.Operation, nothing: int) -> None:
    block = function.regions[0].blocks[0]
    with function.location:
        with ir.InsertionPoint.at_block_begin(block):
            begin = _now()
            call(_ADD, [integer(nothing), begin])
        with ir.InsertionPoint(block.operations[len(block.operations) - 1]):
            call(_ADD, [integer(nothing + 1), begin])


def _now() -> ir.Value:
    return call(_CLOCK, [], integer_type()).result


def _define(symbols: ir.SymbolTable, words: int) -> None:
    word, number = integer_type(), integer_type(32)
    llvm.GlobalOp(
        llvm.ArrayType.get(word, words),
        TIMES,
        ir.Attribute.parse("#llvm.linkage<external>"),
        alignment=8,
        addr_space=0,
    )
    declare(symbols, "clock_gettime", [number, pointer_type()], number)
    entry = define(_CLOCK, [], word)
    with ir.InsertionPoint(entry):
        time = llvm.AllocaOp(pointer_type(), integer(2), word).result
        call("clock_gettime", [integer(_MONOTONIC, 32), time], number)
        seconds, rest = (_load(element(time, place, word)) for place in (0, 1))
        llvm.ReturnOp(arg=_add(_times(seconds, _NANOSECONDS), rest))
    entry = define(_ADD, [word, word])
    timer, begin = entry.arguments
    with ir.InsertionPoint(entry):
        flags = llvm.IntegerOverflowFlags.none
        taken = llvm.SubOp(_now(), begin, flags).result
        count = element(address_of(TIMES), _times(timer, 2), word)
        for place, more in ((count, integer(1)), (element(count, 1, word), taken)):
            llvm.StoreOp(_add(_load(place), more), place)
        llvm.ReturnOp()


def _load(place: ir.Value) -> ir.Value:
    return llvm.LoadOp(integer_type(), place).result


def _add(*terms: ir.Value) -> ir.Value:
    return llvm.AddOp(*terms, llvm.IntegerOverflowFlags.none).result


def _times(value: ir.Value, factor: int) -> ir.Value:
    return llvm.MulOp(value, integer(factor), llvm.IntegerOverflowFlags.none).result


TIME_KERNELS = Pass(
    "time-kernels",
    "Add up how long the calls take that are to be timed",
    _time_kernels,
)
