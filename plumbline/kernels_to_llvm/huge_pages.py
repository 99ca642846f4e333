"""Asks Linux for huge pages beneath large allocations.

The C library takes each allocation of 32 MB or more anew from the system, and gives it back when
it is freed. The system fills it with zeros as it is first touched, page by page: of 4 KiB each that
takes 0.45 ms for a megabyte, of 2 MiB 0.06 ms (measured, 64 MB), which can be more than the whole
program takes. Where huge pages are not to be had, what is asked for here has no effect.
"""

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_named
from plumbline.kernels_to_llvm.allocation_table import ALLOCATE
from plumbline.kernels_to_llvm.building import (
    call,
    declare,
    define,
    integer,
    integer_type,
    pointer_type,
)

LEAST_BYTES = 4 << 20
"""Of less than two huge pages, none may lie in it whole."""

_FUNCTION = "plumbline_use_huge_pages"
_PAGE_BYTES = 4096
_HUGE_PAGES = 14
"""MADV_HUGEPAGE of Linux's <sys/mman.h>."""


def _use_huge_pages(module: ir.Operation) -> None:
    with module.context, module.location:
        allocations = [*filter(_may_be_large, operations_named(module, "llvm.call"))]
        if not allocations:
            return
        with ir.InsertionPoint(module.regions[0].blocks[0]):
            _define(ir.SymbolTable(module))
        for op in allocations:
            with ir.InsertionPoint(op), op.location:
                advice = call(_FUNCTION, [op.results[0], op.operands[1]])
            advice.move_after(op)


def _may_be_large(op: ir.Operation) -> bool:
    if op.opview.callee is None or op.opview.callee.value != ALLOCATE:
        return False
    size = op.operands[1].owner
    if isinstance(size, ir.Block) or size.name != "llvm.mlir.constant":
        return True
    return int(ir.IntegerAttr(size.attributes["value"]).value) >= LEAST_BYTES


def _define(symbols: ir.SymbolTable) -> None:
    word, number = integer_type(), integer_type(32)
    declare(symbols, "madvise", [pointer_type(), word, number], number)
    entry = define(_FUNCTION, [pointer_type(), word])
    pointer, size = entry.arguments
    done, ask = entry.create_after(), entry.create_after()
    with ir.InsertionPoint(entry):
        is_large = llvm.ICmpOp(llvm.ICmpPredicate.uge, size, integer(LEAST_BYTES)).result
        llvm.CondBrOp(is_large, [], [], ask, done)
    with ir.InsertionPoint(ask):
        # From the first whole page on; of no memory, a null pointer, Linux refuses to be told.
        flags = llvm.IntegerOverflowFlags.none
        beyond = llvm.AddOp(llvm.PtrToIntOp(word, pointer).result, integer(_PAGE_BYTES - 1), flags)
        first = llvm.AndOp(beyond.result, integer(-_PAGE_BYTES)).result
        length = llvm.SubOp(size, integer(_PAGE_BYTES), flags).result
        call(
            "madvise",
            [llvm.IntToPtrOp(pointer_type(), first).result, length, integer(_HUGE_PAGES, 32)],
            number,
        )
        llvm.BrOp([], done)
    with ir.InsertionPoint(done):
        llvm.ReturnOp()


USE_HUGE_PAGES = Pass(
    "use-huge-pages",
    "Ask the system for huge pages beneath large allocations",
    _use_huge_pages,
)
