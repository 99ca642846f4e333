"""The table of allocations of a function that can fail (`failures.py`), and what is done with one.

Its entries are pointers, or null, each in a word of 64 bits, whatever a pointer has.
plumbline_release frees all of them, and plumbline_forget sets those to null that are equal to a
pointer which is freed. The table's address is handed to a function, so that LLVM does not keep each
entry in a register: for hundreds of allocations, each of hundreds of failures would move hundreds
of registers.
"""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.kernels_to_llvm.building import (
    call,
    counted_loop,
    declare,
    define,
    element,
    integer,
    integer_type,
    null,
    pointer_type,
)

ALLOCATE, FREE = "aligned_alloc", "free"
"""The C library's functions; the first takes an alignment and a size."""

RELEASE = "plumbline_release"
"""Takes a table and its length."""

FORGET = "plumbline_forget"
"""Takes a table, its length, and the pointer."""

ENTRY_BYTES = 8


def entry_of(table: ir.Value, index: ir.Value | int) -> ir.Value:
    """The address of an entry."""
    return element(table, index, integer_type())


def define_table_functions(symbols: ir.SymbolTable) -> None:
    """Defines both functions, at the insertion point."""
    declare(symbols, FREE, [pointer_type()])
    _for_each_entry(define(RELEASE, [pointer_type(), integer_type()]), _free)
    _for_each_entry(define(FORGET, [pointer_type(), integer_type(), pointer_type()]), _forget)


def _free(place: ir.Value) -> None:
    call(FREE, [llvm.LoadOp(pointer_type(), place).result])


def _forget(place: ir.Value, freed: ir.Value) -> None:
    allocated = llvm.LoadOp(pointer_type(), place).result
    same = llvm.ICmpOp(llvm.ICmpPredicate.eq, allocated, freed).result
    llvm.StoreOp(llvm.SelectOp(same, null(), allocated).result, place)


def _for_each_entry(entry: ir.Block, work: Callable[..., None]) -> None:
    """The body of a function: a loop over the entries of the table that it takes."""
    table, count, *others = entry.arguments
    with ir.InsertionPoint(entry):
        first, one = integer(0), integer(1)

    def work_on(index: ir.Value) -> None:
        work(entry_of(table, index), *others)

    with ir.InsertionPoint(counted_loop(entry, first, count, one, work_on)):
        llvm.ReturnOp()
