"""Unrolls loops that divide their count by a small number, so that nothing is left to divide.

Where elements are dealt out in turns (a transposed convolution, a pixel shuffle, a nearest
neighbour), which row an element comes from is the rest of such a division. In a loop over whole
turns each element of a turn has a row of its own, which LLVM reads and interleaves as vectors.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.bindings.walk import clone_operations, constant_integer, operations_named
from plumbline.linalg_to_kernels.building import index

_MOST = 8
"""Copies of a loop's body."""


def unroll_quotients(module: ir.Operation) -> None:
    """Unrolls the innermost loops of `module` that divide their count, plus a constant."""
    with module.context:
        for op in operations_named(module, "scf.for"):
            if (turns := _turns(op.opview)) is not None:
                _unroll(turns)


@dataclass(frozen=True)
class _Turns:
    """A loop, and for each division in it what is added to the count before."""

    loop: scf.ForOp
    length: int
    """What is divided by."""
    divisions: list[tuple[ir.Operation, int]]


def _turns(loop: scf.ForOp) -> _Turns | None:
    ops = [op.operation for op in loop.body.operations]
    if loop.inner_iter_args or any(op.regions for op in ops):
        return None
    if (constant_integer(loop.lowerBound), constant_integer(loop.step)) != (0, 1):
        return None
    divisions, lengths = [], set()
    for op in ops:
        if op.name not in ("arith.divui", "arith.remui"):
            continue
        added, length = _added(op.operands[0], loop), constant_integer(op.operands[1])
        if added is not None and length is not None:
            divisions.append((op, added))
            lengths.add(length)
    if len(lengths) != 1:
        return None
    (length,) = lengths
    return _Turns(loop, length, divisions) if 1 < length <= _MOST else None


def _added(value: ir.Value, loop: scf.ForOp) -> int | None:
    """What is added to the loop's count to make `value`, if that is a constant of 0 or more."""
    if value == loop.induction_variable:
        return 0
    if isinstance(value.owner, ir.Block) or value.owner.name != "arith.addi":
        return None
    left, right = value.owner.operands
    added = constant_integer(right)
    return added if left == loop.induction_variable and added is not None and added >= 0 else None


def _unroll(turns: _Turns) -> None:
    """Puts a loop over whole turns before the loop, which is left with the rest."""
    loop, length = turns.loop, turns.length
    ops = [op.operation for op in loop.body.operations][:-1]
    added = {op.results[0]: more for op, more in turns.divisions}
    with ir.InsertionPoint(loop), loop.location:
        count = arith.divui(loop.upperBound, index(length))
        whole = scf.ForOp(index(0), count, index(1))
        with ir.InsertionPoint(whole.body):
            first = arith.muli(whole.induction_variable, index(length))
            for number in range(length):
                values = {loop.induction_variable: arith.addi(first, index(number))}
                for op in ops:
                    if op.results and op.results[0] in added:
                        quotient, rest = divmod(number + added[op.results[0]], length)
                        values[op.results[0]] = (
                            arith.addi(whole.induction_variable, index(quotient))
                            if op.name == "arith.divui"
                            else index(rest)
                        )
                        continue
                    clone_operations([op], values)
            scf.YieldOp([])
        loop.operation.operands[0] = arith.muli(count, index(length))
