"""Kernels that are loops over elements of buffers: which of their iterations are independent.

These are kernels of what is no `linalg.generic`: scans, and writes to places that are computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import scf

from plumbline.bindings.views import is_apart
from plumbline.bindings.walk import all_operations, constant_integer, enclosing_in

BEFORE_LOOPS = frozenset({"arith.constant", "memref.dim"})
"""What stands before a nest of loops, and says how often these run."""

HAS_MEMORY = "plumbline.has_memory"
"""The attribute of a kernel that is given memory of its own, besides what its loops are of."""

_ACCESSES = {"memref.load": 0, "memref.store": 1}
"""What reads or writes an element, and which operand its buffer is; the places come after it."""


@dataclass(frozen=True)
class LoopKernel:
    """A kernel that is one nest of loops."""

    loops: list[scf.ForOp]
    """From the outermost on, each the only thing that the one before does."""
    body: list[ir.Operation]
    """What the last of them does."""
    written: frozenset[ir.Value]
    """The buffers that are stored to, each in memory of its own."""
    memory: ir.Value | None
    """What it is given for itself (`give_scans_memory`), its last argument."""

    def accesses(self, buffer: ir.Value) -> list[tuple[ir.Value, ...]]:
        """Where elements of a buffer are read and written."""
        return [places for read, places in _accesses_in(self.body) if read == buffer]

    def is_independent(self, loop: scf.ForOp) -> bool:
        """Whether iterations of a loop touch other elements of what is written than the others."""
        return all(
            self._runs_along_axis(buffer, loop.induction_variable) for buffer in self.written
        )

    def reads(self, buffer: ir.Value) -> bool:
        """Whether something that is written is read too."""
        return any(op.operands[0] == buffer for op in _all(self.body) if op.name == "memref.load")

    def _runs_along_axis(self, buffer: ir.Value, place: ir.Value) -> bool:
        accesses = self.accesses(buffer)
        return any(all(at == place for at in axis) for axis in zip(*accesses, strict=True))


def loop_kernel(kernel: ir.Operation) -> LoopKernel | None:
    """The nest that a kernel is, if nothing else touches memory, and it is known what this does."""
    _hoist(kernel)
    operations = [view.operation for view in kernel.regions[0].blocks[0].operations][:-1]
    loops: list[scf.ForOp] = []
    body = [op for op in operations if op.name not in BEFORE_LOOPS]
    while len(body) == 1 and body[0].name == "scf.for" and not body[0].results:
        loop = body[0].opview
        if constant_integer(loop.lowerBound) != 0 or constant_integer(loop.step) != 1:
            break
        loops.append(loop)
        body = operations_in(loop)
    known = (*_ACCESSES, "scf.for", "scf.yield")
    if any(
        op.name not in known and op.name.partition(".")[0] not in ("arith", "math")
        for op in _all(body)
    ):
        return None
    written = frozenset(op.operands[1] for op in _all(body) if op.name == "memref.store")
    if not written or not all(map(is_apart, written)):
        return None
    memory = kernel.regions[0].blocks[0].arguments[-1] if HAS_MEMORY in kernel.attributes else None
    return LoopKernel(loops, body, written, memory)


def operations_in(loop: scf.ForOp) -> list[ir.Operation]:
    """What an iteration does, but for its terminator."""
    return [view.operation for view in loop.body.operations][:-1]


def _hoist(kernel: ir.Operation) -> None:
    """Moves out of loops what says how often these run."""
    block = kernel.regions[0].blocks[0]
    for op in all_operations(kernel)[1:]:
        if op.name in BEFORE_LOOPS and op.block != block:
            outside = [
                value.owner if isinstance(value.owner, ir.Block) else value.owner.block
                for value in op.operands
            ]
            if all(defined == block for defined in outside):
                op.move_before(enclosing_in(block, op))


def _all(operations: Sequence[ir.Operation]) -> list[ir.Operation]:
    return [inner for op in operations for inner in all_operations(op)]


def _accesses_in(
    operations: Sequence[ir.Operation],
) -> list[tuple[ir.Value, tuple[ir.Value, ...]]]:
    """What is read or written of which buffers, and where."""
    found = []
    for op in _all(operations):
        if op.name in _ACCESSES:
            buffer, *places = list(op.operands)[_ACCESSES[op.name] :]
            found.append((buffer, tuple(places)))
    return found
