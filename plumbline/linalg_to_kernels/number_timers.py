"""Numbers the calls of kernels that are to be timed.

The timer of a call takes as long as fifty operations. So a loop that calls none but kernels that do
little, which are inlined into it, is timed as one.
"""

from collections.abc import Iterator

from torch_mlir import ir

from plumbline.bindings.walk import all_operations, callee
from plumbline.linalg_to_kernels.build_kernels import INLINED, KERNEL
from plumbline.linalg_to_kernels.timed_calls import TIMER
from plumbline.signature.c_signature import functions_with_bodies


def number_timers(module: ir.Operation) -> None:
    """Numbers them in the order of the program."""
    with module.context:
        symbols = ir.SymbolTable(module)
        timed = [
            op
            for function in functions_with_bodies(module, "func.func", public=True)
            for op in _timed_in(function.operation, symbols)
        ]
        word = ir.IntegerType.get_signless(64)
        for number, op in enumerate(timed):
            op.attributes[TIMER] = ir.IntegerAttr.get(word, number)


def _timed_in(parent: ir.Operation, symbols: ir.SymbolTable) -> Iterator[ir.Operation]:
    for region in parent.regions:
        for block in region.blocks:
            for view in block.operations:
                op = view.operation
                called = [
                    symbols[callee(inner)].attributes
                    for inner in all_operations(op)
                    if inner.name == "func.call"
                ]
                if any(KERNEL in attributes for attributes in called):
                    if op.name == "func.call":
                        yield op
                    else:
                        yield from _timed_in(op, symbols)
                elif any(INLINED in attributes for attributes in called):
                    yield op
