"""Whether of a sum in f64 nothing is seen but what is rounded to f32.

Such a sum may be less exact. Who asks for a sum of f32 in f64 is given that, as exact as it is.

What a kernel writes other kernels may read: a sum of all elements is rounded by the kernel after
the one that adds them up. So buffers are followed into calls, and from kernels to who calls them.
"""

import functools
from collections import defaultdict

from torch_mlir import ir

from plumbline.bindings.views import NEW_MEMORY
from plumbline.bindings.walk import callee, defining_operation, operations_named
from plumbline.signature.c_signature import is_public

_BOUNDS = 3
"""How many operands a loop has before what it carries."""

_MEMORY = NEW_MEMORY | {"memref.view"}
"""What gives temporaries: a part of an arena is one's own while it lives."""


class RoundedSums:
    """Tells it of values of a module's functions."""

    def __init__(self, module: ir.Operation) -> None:
        self._module = module

    def is_rounded(self, total: ir.Value) -> bool:
        """Whether nobody sees a value in f64, nor what is computed of it in that."""
        return self._is_rounded(total, set())

    @functools.cached_property
    def _functions(self) -> ir.SymbolTable:
        return ir.SymbolTable(self._module)

    @functools.cached_property
    def _calls(self) -> dict[str, list[ir.Operation]]:
        calls = defaultdict(list)
        for call in operations_named(self._module, "func.call"):
            calls[callee(call)].append(call)
        return calls

    def _is_rounded(self, total: ir.Value, seen: set[ir.Value]) -> bool:
        if total in seen:
            return True
        seen.add(total)
        return all(self._uses_rounded(use, seen) for use in total.uses)

    def _uses_rounded(self, use: ir.OpOperand, seen: set[ir.Value]) -> bool:
        user, number = use.owner.operation, use.operand_number
        if user.name == "arith.truncf":
            return True
        if user.name == "memref.store" and number == 0:
            return self._is_read_rounded(user.operands[1], seen)
        if user.name == "scf.yield":
            return self._is_carried_rounded(user.parent.operation, number, seen)
        if user.name == "scf.for":
            return self._is_carried_rounded(user, number - _BOUNDS, seen)
        if user.name.partition(".")[0] not in ("arith", "math"):
            return False
        types = [result.type for result in user.results]
        return all(isinstance(type_, ir.F64Type) for type_ in types) and all(
            self._is_rounded(result, seen) for result in user.results
        )

    def _is_carried_rounded(self, op: ir.Operation, number: int, seen: set[ir.Value]) -> bool:
        """Whether so is what a loop or a branch hands on, to its next round and to what follows."""
        if number < 0 or op.name not in ("scf.for", "scf.if"):
            return False
        values = [op.results[number]]
        if op.name == "scf.for":
            values.append(op.opview.inner_iter_args[number])
        return all(self._is_rounded(value, seen) for value in values)

    def _is_read_rounded(self, buffer: ir.Value, seen: set[ir.Value]) -> bool:
        """Whether so is all that is read of a buffer, which nobody else has."""
        if not self._are_reads_rounded(buffer, seen):
            return False
        made = defining_operation(buffer)
        if made is not None:
            return made.name in _MEMORY
        function = buffer.owner.owner.operation
        if function.name != "func.func" or is_public(function):
            return False
        number = ir.BlockArgument(buffer).arg_number
        calls = self._calls[ir.StringAttr(function.attributes["sym_name"]).value]
        # What is called by nobody here may be called by somebody who is not known.
        return bool(calls) and all(
            self._is_read_rounded(call.operands[number], seen) for call in calls
        )

    def _are_reads_rounded(self, buffer: ir.Value, seen: set[ir.Value]) -> bool:
        if buffer in seen:
            return True
        seen.add(buffer)
        return all(self._reads_rounded(use, seen) for use in buffer.uses)

    def _reads_rounded(self, use: ir.OpOperand, seen: set[ir.Value]) -> bool:
        user = use.owner.operation
        if user.name == "func.call":
            blocks = self._functions[callee(user)].operation.regions[0].blocks
            return len(blocks) == 1 and self._are_reads_rounded(
                blocks[0].arguments[use.operand_number], seen
            )
        return user.name in ("memref.store", "memref.dealloc") or (
            user.name == "memref.load" and self._is_rounded(user.results[0], seen)
        )
