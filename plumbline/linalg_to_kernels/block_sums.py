"""Adds up in a narrower type what a loop computes in that, for a block of elements at a time.

To widen each exponential of a softmax and to add it up in f64, at half the lanes, takes a CPU half
as long as the exponential. A block is so short that its sum is rounded a few times only, and the
errors of many blocks cancel: those of softmax grow by a fiftieth, and stay below PyTorch's.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.bindings.walk import (
    all_operations,
    clone_operations,
    constant_integer,
    defining_operation,
)
from plumbline.linalg_to_kernels.building import for_each, index, least
from plumbline.linalg_to_kernels.reassociation import is_reassociable
from plumbline.linalg_to_kernels.vector_widths import is_mostly_narrow

_BLOCK = 128
"""Elements: two vectors for each of four sums that do not wait for one another. Of 64, a softmax
takes a tenth longer; of 256, its error grows by a twentieth."""


def block_sums(module: ir.Operation) -> None:
    """Splits the loops of `module` that compute mostly in f32, and add that up in f64."""
    with module.context:
        for op in all_operations(module):
            if op.name == "scf.for" and (sums := _sums(op.opview)):
                _split(op.opview, sums)


@dataclass(frozen=True)
class _Sum:
    """One of the sums that a loop carries."""

    so_far: ir.Value
    add: ir.Operation
    widen: ir.Operation
    """What makes an f64 of the term."""


def _sums(loop: scf.ForOp) -> list[_Sum]:
    """The sums of a loop, if all that it carries are such of f32, and it stores nothing late."""
    if not is_mostly_narrow(loop.operation) or constant_integer(loop.step) != 1:
        return []
    ends = loop.body.operations[len(loop.body.operations) - 1].operands
    found = [
        _sum(so_far, total, loop.body)
        for so_far, total in zip(loop.inner_iter_args, ends, strict=True)
    ]
    sums = [sum_ for sum_ in found if sum_ is not None]
    return sums if len(sums) == len(found) else []


def _sum(so_far: ir.Value, total: ir.Value, body: ir.Block) -> _Sum | None:
    add = defining_operation(total)
    if add is None or add.name != "arith.addf" or not is_reassociable(add):
        return None
    terms = [operand for operand in add.operands if operand != so_far]
    widen = defining_operation(terms[0]) if len(terms) == 1 else None
    if widen is None or widen.name != "arith.extf" or widen.block != body:
        return None
    if not isinstance(widen.operands[0].type, ir.F32Type):
        return None
    # The sum so far is of no other use, and nor are the term and the sum as f64.
    used = [len(list(value.uses)) for value in (so_far, terms[0], total)]
    return _Sum(so_far, add, widen) if used == [1, 1, 1] else None


def _split(loop: scf.ForOp, sums: list[_Sum]) -> None:
    """Puts a loop over blocks, and in it one over a block's elements, in the place of the loop."""
    apart = {op for sum_ in sums for op in (sum_.add, sum_.widen)}
    *ops, _ = (op.operation for op in loop.body.operations)
    ops = [op for op in ops if op not in apart]

    def block(first: ir.Value, *totals: ir.Value) -> list[ir.Value]:
        def element(at: ir.Value, *so_far: ir.Value) -> list[ir.Value]:
            known = {loop.induction_variable: at}
            clone_operations(ops, known)
            return [
                _added(sum_, before, known.get(sum_.widen.operands[0], sum_.widen.operands[0]))
                for sum_, before in zip(sums, so_far, strict=True)
            ]

        end = least(arith.addi(first, index(_BLOCK)), loop.upperBound)
        # What is added to it stays as it is, -0.0 too.
        none = arith.constant(ir.F32Type.get(), -0.0)
        narrow = for_each(first, end, 1, element, [none] * len(sums))
        return [
            _added(sum_, total, arith.extf(ir.F64Type.get(), value))
            for sum_, total, value in zip(sums, totals, narrow, strict=True)
        ]

    with ir.InsertionPoint(loop), loop.location:
        results = for_each(loop.lowerBound, loop.upperBound, _BLOCK, block, list(loop.initArgs))
    for old, new in zip(loop.results, results, strict=True):
        old.replace_all_uses_with(new)
    loop.operation.erase()


def _added(sum_: _Sum, so_far: ir.Value, term: ir.Value) -> ir.Value:
    """Their sum, in any order as that of the loop is."""
    flags = arith.FastMathFlags.reassoc | arith.FastMathFlags.contract
    with sum_.add.location:
        return arith.addf(so_far, term, fastmath=flags)
