"""How a module says what must hold as the program runs, and what is to be said where it does not.

From linalg on, a requirement is a call of a function that has no body:

    func.call @plumbline_require(%holds, %index, %size, %zero)
        {plumbline.message = "model.py:7: error: index {} is out of range for a size of {}"}

The numbers take the places of the message's `{}`, in order; where there are fewer, zeros follow.
`{{}}` is what says `{}`.
Any tool of MLIR's reads it. The last lowering makes an early return of it
(`kernels_to_llvm/failures.py`), so that the caller is told and no memory is lost.
"""

from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func

from plumbline.bindings.walk import all_operations, callee, module_around
from plumbline.runtime.threads import THREADS, threads_type

REQUIRE = "plumbline_require"
"""The name of the function."""

_OWN_PREFIX = "plumbline_"
"""How the names begin of this and of all functions that the last lowering adds."""

MESSAGE = "plumbline.message"
"""The attribute of a call that has the message."""

MOST_VALUES = 3
"""How many numbers the function takes beside the condition."""


BRACES = "{{}}"
"""What a message has in the place of braces that are no number's."""

TEXT = "{text}"
"""The message that is a string of C's, whose address is the first of the values.

It is what a runtime library says, which then has `plumbline_last_text` as well: that gives the text
of the last failure of its thread.
"""


def is_requirement(callee: str) -> bool:
    """Whether a function is this one, or one like it with another count of numbers."""
    return callee.startswith(REQUIRE)


def require(holds: ir.Value, message: str, values: Sequence[ir.Value] = ()) -> None:
    """Builds a requirement, at the insertion point and of its location.

    Args:
      holds: an i1.
      message: with `{}` for each of `values`; or `TEXT`.
      values: of type index or i64. More than `MOST_VALUES`, which only the last lowering has, take
        a function of their own.
    """
    i64 = ir.IntegerType.get_signless(64)
    numbers = [
        arith.index_cast(i64, value) if isinstance(value.type, ir.IndexType) else value
        for value in values
    ]
    if len(numbers) < MOST_VALUES:
        numbers += [arith.constant(i64, 0)] * (MOST_VALUES - len(numbers))
    name = REQUIRE if len(numbers) == MOST_VALUES else f"{REQUIRE}_{len(numbers)}"
    _declare(name, len(numbers))
    call = func.CallOp([], ir.FlatSymbolRefAttr.get(name), [holds, *numbers])
    call.attributes[MESSAGE] = ir.StringAttr.get(message)


def misuses(module: ir.Operation) -> Iterator[tuple[ir.Operation, str]]:
    """What in `module` has a name such as requirements have and is none, and why."""
    for op in all_operations(module):
        if op.name == "func.func":
            name = ir.StringAttr(op.attributes["sym_name"]).value
            if name.startswith(_OWN_PREFIX) and not _is_declaration(op, name):
                yield op, f"func.func @{name}: names that begin so are those of Plumbline's own"
        elif op.name == "func.call" and _is_named(op) and not _has_message(op):
            yield op, f"a call of @{REQUIRE} has the string {MESSAGE}, which says what is wrong"


def _is_declaration(function: ir.Operation, name: str) -> bool:
    """Whether this is how a function of Plumbline's own is declared before the last lowering."""
    types = {REQUIRE: ir.FunctionType.get(_parameters(MOST_VALUES), []), THREADS: threads_type()}
    type_ = ir.TypeAttr(function.attributes["function_type"]).value
    return not function.regions[0].blocks and type_ == types.get(name)


def _is_named(call: ir.Operation) -> bool:
    return bool(callee(call) == REQUIRE)


def _has_message(call: ir.Operation) -> bool:
    return MESSAGE in call.attributes and isinstance(call.attributes[MESSAGE], ir.StringAttr)


def _parameters(count: int) -> list[ir.Type]:
    return [ir.IntegerType.get_signless(1), *[ir.IntegerType.get_signless(64)] * count]


def _declare(name: str, count: int) -> None:
    """Declares a function in the module around the insertion point, unless it is declared."""
    module = module_around(ir.InsertionPoint.current.block.owner.operation)
    if name not in ir.SymbolTable(module):
        with ir.InsertionPoint(module.regions[0].blocks[0]), module.location:
            func.FuncOp(name, (_parameters(count), []), visibility="private")
