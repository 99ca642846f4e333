"""Loops that add up, in f64, the squares of how much numbers of f32 deviate from their mean.

To widen each element, and do the rest at half the lanes, takes a CPU twice as long as to do it in
f32. By that the mean is rounded, to within d, and the sum of n squares grows by n d^2: of numbers
that are a thousand times as large as they deviate, by a hundred-millionth. Differences of numbers
that are alike are exact in f32, and squares are rounded as products are.

Squares of f32 may be too large for it, or too small. Where their sum says so, they are added up
anew, in f64.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.bindings.views import root
from plumbline.bindings.walk import (
    clone_operations,
    constant_integer,
    defining_operation,
    is_inside,
    operations_named,
)
from plumbline.linalg_to_kernels.reassociation import is_reassociable

_LOAD = "memref.load"

_LEAST = 2.0**-60
"""A sum from which on squares that f32 rounds to zero, below 2**-149, are nothing to it: those of
2**60 elements."""


@dataclass(frozen=True)
class Deviations:
    """A loop that adds up such squares."""

    loop: scf.ForOp
    element: ir.Value
    """A number of f32."""
    mean: ir.Value
    """From outside of the loop, or a load of the loop that could be there."""
    add: ir.Operation
    before: list[ir.Operation]
    """What of an iteration computes the element."""

    def narrow_mean(self) -> ir.Value:
        """Builds the mean in f32, before the loop."""
        mean = self.mean
        if is_inside(mean, self.loop.operation):
            mean = mean.owner.clone(ip=ir.InsertionPoint.current).results[0]
        return arith.truncf(ir.F32Type.get(), mean)

    def square(self, mean: ir.Value, at: ir.Value) -> ir.Value:
        """Builds the square of an element, in f32, less the mean in f32."""
        known = {self.loop.induction_variable: at}
        clone_operations(self.before, known)
        deviation = arith.subf(known.get(self.element, self.element), mean)
        return arith.mulf(deviation, deviation)


def holds(total: ir.Value) -> ir.Value:
    """Builds whether a sum of squares of f32 is as exact as one of f64."""
    least, infinity = (arith.constant(total.type, bound) for bound in (_LEAST, math.inf))
    is_enough = arith.cmpf(arith.CmpFPredicate.OGE, total, least)
    return arith.andi(is_enough, arith.cmpf(arith.CmpFPredicate.OLT, total, infinity))


def deviations(loop: scf.ForOp) -> Deviations | None:
    """What a loop adds up, if it is that, and does nothing else."""
    if len(loop.results) != 1 or constant_integer(loop.step) != 1:
        return None
    *ops, end = (view.operation for view in loop.body.operations)
    add = _only(end.operands[0], "arith.addf", loop, uses=1)
    if add is None or not is_reassociable(add):
        return None
    terms = [operand for operand in add.operands if operand != loop.inner_iter_args[0]]
    square = _only(terms[0], "arith.mulf", loop, uses=1) if len(terms) == 1 else None
    if square is None or square.operands[0] != square.operands[1]:
        return None
    difference = _only(square.operands[0], "arith.subf", loop, uses=2)
    if difference is None:
        return None
    widened, mean = difference.operands
    widen = _only(widened, "arith.extf", loop, uses=1)
    if widen is None or not isinstance(widen.operands[0].type, ir.F32Type):
        return None
    apart = {add, square, difference, widen}
    if is_inside(mean, loop.operation):
        load = _only(mean, _LOAD, loop, uses=1)
        if load is None or any(is_inside(operand, loop.operation) for operand in load.operands):
            return None
        apart.add(load)
    before = [op for op in ops if op not in apart]
    if not all(op.name == _LOAD or op.name.startswith("arith.") for op in before):
        return None
    read = _read(before)
    return Deviations(loop, widen.operands[0], mean, add, before) if _is_mean(mean, read) else None


def _only(value: ir.Value, name: str, loop: scf.ForOp, *, uses: int) -> ir.Operation | None:
    """The operation of a loop that gives a value which so many read, if it is called `name`."""
    op = defining_operation(value)
    is_such = op is not None and op.name == name and op.block == loop.body
    return op if is_such and len(list(value.uses)) == uses else None


def _is_mean(number: ir.Value, buffers: set[ir.Value]) -> bool:
    """Whether a number is a part of what a loop adds up that reads the same buffers."""
    quotient = _made_by(number)
    if quotient is None or quotient.name != "arith.divf":
        return False
    total = _made_by(quotient.operands[0])
    return (
        total is not None
        and total.name == "scf.for"
        and buffers == _read(operations_named(total, _LOAD))
    )


def _read(ops: list[ir.Operation]) -> set[ir.Value]:
    """The buffers that operations read, whatever views they read them by."""
    return {root(op.operands[0]) for op in ops if op.name == _LOAD}


def _made_by(number: ir.Value) -> ir.Operation | None:
    """What gives a number, or stores the one that is loaded."""
    op = defining_operation(number)
    if op is None or op.name != _LOAD:
        return op
    stores = [use.owner for use in op.operands[0].uses if use.owner.name == "memref.store"]
    return defining_operation(stores[0].operands[0]) if len(stores) == 1 else None
