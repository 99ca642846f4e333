"""How many threads a program runs on: what it is compiled for, unless the environment says else.

A kernel asks as it runs, by a call of a function that has no body until the last lowering:

    %threads = func.call @plumbline_threads(%compiled_for) : (index) -> index
"""

from torch_mlir import ir
from torch_mlir.dialects import func

from plumbline.bindings.walk import all_operations, callee, constant_integer
from plumbline.errors import UserError

ENVIRONMENT_VARIABLE = "PLUMBLINE_THREADS"
"""Read once by each program; a number from 1 to `MOST_THREADS`."""

MOST_THREADS = 1024

THREADS = "plumbline_threads"
"""The function: takes the number that the program was compiled for, gives the one to use."""


def check_threads(who: str, threads: object) -> None:
    """Refuses what is no number of threads.

    Raises:
      UserError: it is none.
    """
    if isinstance(threads, int) and not isinstance(threads, bool) and 1 <= threads <= MOST_THREADS:
        return
    raise UserError(f"{who}: threads is {threads!r}; it is a number from 1 to {MOST_THREADS}")


def threads_type() -> ir.FunctionType:
    """The type of the function."""
    index = ir.IndexType.get()
    return ir.FunctionType.get([index], [index])


def calls_of_threads(operation: ir.Operation) -> list[ir.Operation]:
    """Where functions of a module ask how many threads to use."""
    return [
        op for op in all_operations(operation) if op.name == "func.call" and callee(op) == THREADS
    ]


def compiled_for(module: ir.Operation) -> int:
    """How many threads the functions of a module are compiled for."""
    asked = [constant_integer(op.operands[0]) for op in calls_of_threads(module)]
    return max((number for number in asked if number is not None), default=1)


def threads_to_use(compiled_for: ir.Value) -> ir.Value:
    """Builds the call at the insertion point."""
    module = ir.InsertionPoint.current.block.owner.operation
    while module.parent is not None:
        module = module.parent.operation
    if THREADS not in ir.SymbolTable(module):
        with ir.InsertionPoint(module.regions[0].blocks[0]), module.location:
            func.FuncOp(THREADS, threads_type(), visibility="private")
    return func.CallOp(
        [ir.IndexType.get()], ir.FlatSymbolRefAttr.get(THREADS), [compiled_for]
    ).result
