"""Adds up in a narrower type what a loop computes in that, for a block of elements at a time.

To widen each exponential of a softmax and to add it up in f64, at half the lanes, takes a CPU half
as long as the exponential. A block is so short that its sum is rounded a few times only, and the
errors of many blocks cancel: those of softmax grow by a fiftieth, and stay below PyTorch's.

Of what takes next to nothing to compute, eight elements are added up in pairs of pairs, and their
sum is widened: it is rounded three times, and not at all where all elements are the same number.
Sums of 16 to 1,000,000 numbers, of mean 0 or 1000, then have at most the errors of PyTorch's, and
half of them as a rule.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.bindings.walk import (
    clone_operations,
    constant_float,
    constant_integer,
    defining_operation,
    operations_named,
)
from plumbline.linalg_to_kernels.building import either, for_each, index, least
from plumbline.linalg_to_kernels.deviations import Deviations, deviations, holds
from plumbline.linalg_to_kernels.reassociation import is_reassociable
from plumbline.linalg_to_kernels.rounded_sums import RoundedSums
from plumbline.linalg_to_kernels.vector_widths import is_mostly_narrow
from plumbline.linalg_to_kernels.work import known_trips

_BLOCK = 128
"""Elements: two vectors for each of four sums that do not wait for one another. Of 64, a softmax
takes a tenth longer; of 256, its error grows by a twentieth."""

_STRANDS = 8
"""How many elements of a loop that does little are added up before they are widened."""

_STRAND = 32
"""How many of them lie side by side."""

LONG = _STRANDS * _STRAND
"""Elements of a row, of fewer of which that is not done."""

_PLAIN = 5
"""How many operations such a loop has at most, which are done for each of these elements."""


def block_sums(module: ir.Operation) -> None:
    """Splits the loops of `module` that compute mostly in f32, and add that up in f64."""
    with module.context:
        loops = operations_named(module, "scf.for")
        rounded = RoundedSums(module)
        for op in loops:
            if any(view.operation.regions for view in op.opview.body.operations):
                continue
            if sums := _sums(op.opview):
                if not all(map(rounded.is_rounded, op.results)):
                    continue
                if is_mostly_narrow(op):
                    _split(op.opview, sums)
                elif _is_plain(op.opview, _ops(op.opview)):
                    adds = [sum_.add for sum_ in sums]
                    _replace(op.opview, _spread(op.opview, adds, _terms(op.opview, sums)))
            elif found := deviations(op.opview):
                if rounded.is_rounded(op.results[0]) and _is_plain(op.opview, found.before):
                    _square_in_f32(found)
            else:
                _add_terms_first(op.opview.body, rounded)


@dataclass(frozen=True)
class _Sum:
    """One of the sums that a loop carries."""

    so_far: ir.Value
    add: ir.Operation
    widen: ir.Operation
    """What makes an f64 of the term."""


def _sums(loop: scf.ForOp) -> list[_Sum]:
    """The sums of a loop, if all that it carries are such of f32."""
    if constant_integer(loop.step) != 1:
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
    values = [terms[0], total] if constant_float(so_far) is not None else [so_far, terms[0], total]
    is_only_for_it = all(len(list(value.uses)) == 1 for value in values)
    return _Sum(so_far, add, widen) if is_only_for_it else None


def _split(loop: scf.ForOp, sums: list[_Sum]) -> None:
    """Puts a loop over blocks, and in it one over a block's elements, in the place of the loop."""
    terms = _terms(loop, sums)

    def block(first: ir.Value, *totals: ir.Value) -> list[ir.Value]:
        def element(at: ir.Value, *so_far: ir.Value) -> list[ir.Value]:
            return [
                _added(sum_.add, before, term)
                for sum_, before, term in zip(sums, so_far, terms(at), strict=True)
            ]

        end = least(arith.addi(first, index(_BLOCK)), loop.upperBound)
        # What is added to it stays as it is, -0.0 too.
        none = arith.constant(ir.F32Type.get(), -0.0)
        narrow = for_each(first, end, 1, element, [none] * len(sums))
        return [
            _added(sum_.add, total, _widened(value))
            for sum_, total, value in zip(sums, totals, narrow, strict=True)
        ]

    with ir.InsertionPoint(loop), loop.location:
        results = for_each(loop.lowerBound, loop.upperBound, _BLOCK, block, list(loop.initArgs))
    _replace(loop, results)


def _ops(loop: scf.ForOp) -> list[ir.Operation]:
    """Those of an iteration, but for the one that ends it."""
    *ops, _ = (view.operation for view in loop.body.operations)
    return ops


def _is_plain(loop: scf.ForOp, ops: list[ir.Operation]) -> bool:
    """Whether `ops` are few and read only, and run so often that it pays to spread the loop."""
    known = known_trips(loop.operation)
    return (
        len(ops) <= _PLAIN
        and all(op.name != "memref.store" for op in ops)
        and (known is None or known >= LONG)
    )


def _square_in_f32(found: Deviations) -> None:
    """Has a loop square in f32, and again in f64 where that was too large or too small."""
    loop = found.loop
    with ir.InsertionPoint(loop), loop.location:
        mean = found.narrow_mean()
        (total,) = _spread(loop, [found.add], lambda at: [found.square(mean, at)])

        def again() -> list[ir.Value]:
            return list(loop.operation.clone(ip=ir.InsertionPoint.current).results)

        results = either([total.type], holds(total), lambda: [total], again)
    _replace(loop, results)


_Terms = Callable[[ir.Value], list[ir.Value]]
"""Builds, at an iteration, what it adds to each of the sums of a loop, in f32."""


def _terms(loop: scf.ForOp, sums: list[_Sum]) -> _Terms:
    apart = {op for sum_ in sums for op in (sum_.add, sum_.widen)}
    narrow = [op for op in _ops(loop) if op not in apart]

    def terms(at: ir.Value) -> list[ir.Value]:
        known = {loop.induction_variable: at}
        clone_operations(narrow, known)
        return [known.get(sum_.widen.operands[0], sum_.widen.operands[0]) for sum_ in sums]

    return terms


def _spread(loop: scf.ForOp, adds: list[ir.Operation], terms: _Terms) -> list[ir.Value]:
    """Has an iteration take an element of each eighth of a block, and a loop take what is left.

    What these add up is built before the loop, which stays.
    """
    with ir.InsertionPoint(loop), loop.location:
        count = arith.subi(loop.upperBound, loop.lowerBound)
        end = arith.subi(loop.upperBound, arith.remui(count, index(_STRANDS * _STRAND)))

        def block(first: ir.Value, *totals: ir.Value) -> list[ir.Value]:
            starts = [arith.addi(first, index(strand * _STRAND)) for strand in range(_STRANDS)]

            def several(at: ir.Value, *totals: ir.Value) -> list[ir.Value]:
                parts = zip(*(terms(arith.addi(start, at)) for start in starts), strict=True)
                return [
                    _added(add, total, _widened(_in_pairs(add, list(each))))
                    for add, total, each in zip(adds, totals, parts, strict=True)
                ]

            return for_each(index(0), index(_STRAND), 1, several, totals)

        def one(at: ir.Value, *totals: ir.Value) -> list[ir.Value]:
            return [
                _added(add, total, _widened(term))
                for add, total, term in zip(adds, totals, terms(at), strict=True)
            ]

        most = for_each(loop.lowerBound, end, _STRANDS * _STRAND, block, list(loop.initArgs))
        return for_each(end, loop.upperBound, 1, one, most)


def _replace(loop: scf.ForOp, results: list[ir.Value]) -> None:
    for old, new in zip(loop.results, results, strict=True):
        old.replace_all_uses_with(new)
    loop.operation.erase()


def _add_terms_first(body: ir.Block, rounded: RoundedSums) -> None:
    """Adds up in f32 the terms that are added, one after the other, to a sum in f64."""
    ops = [view.operation for view in body.operations]
    chains: dict[ir.Value, tuple[ir.Value, list[_Sum]]] = {}
    """By the sum so far what it began with, and what was added."""
    for op in ops:
        if op.name != "arith.addf" or not is_reassociable(op):
            continue
        # A constant that a sum begins with is the second operand of what has been canonicalized.
        begins = constant_float(op.operands[1]) is not None
        so_far = op.operands[1 if begins else 0]
        sum_ = _sum(so_far, op.results[0], body)
        if sum_ is None:
            continue
        start, added = chains.pop(so_far, (so_far, []))
        chains[op.results[0]] = start, [*added, sum_]
    for total, (start, added) in chains.items():
        if len(added) < 2 or not rounded.is_rounded(total):
            continue
        last = added[-1]
        with ir.InsertionPoint(last.add), last.add.location:
            narrow = _in_pairs(last.add, [sum_.widen.operands[0] for sum_ in added])
            total.replace_all_uses_with(_added(last.add, start, _widened(narrow)))
        for sum_ in reversed(added):
            sum_.add.erase()
            sum_.widen.erase()


def _in_pairs(add: ir.Operation, terms: list[ir.Value]) -> ir.Value:
    """The sum of terms that `add` adds up.

    Each is rounded as often as there are pairs of pairs: as few times as can be.
    """
    with add.location:
        while len(terms) > 1:
            # To be in this order is what keeps a sum of equal numbers exact.
            pairs = zip(terms[::2], terms[1::2], strict=False)
            sums = [arith.addf(left, right) for left, right in pairs]
            terms = [*sums, *terms[len(sums) * 2 :]]
    return terms[0]


def _widened(term: ir.Value) -> ir.Value:
    return arith.extf(ir.F64Type.get(), term)


def _added(add: ir.Operation, so_far: ir.Value, term: ir.Value) -> ir.Value:
    """Their sum, in any order as that of the loop is."""
    flags = arith.FastMathFlags.reassoc | arith.FastMathFlags.contract
    with add.location:
        return arith.addf(so_far, term, fastmath=flags)
