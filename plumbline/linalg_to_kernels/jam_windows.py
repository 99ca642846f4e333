"""Computes several neighbouring results at once, where their windows overlap.

Of an image that has its channels last, or of the rows of a plane, a loop over contiguous elements
loads all that a window has: nine vectors for each one that is stored, and as many of weights. Those
of neighbours are mostly the same. A loop over elements of several results at once loads them once;
on CPUs that load as much as they multiply that is what takes the time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.bindings.walk import (
    clone_operations,
    constant_integer,
    defining_operation,
    is_inside,
    operations_named,
)
from plumbline.linalg_to_kernels.building import index

_MOST = 4
"""Results at once: what they share is in registers then, besides a sum for each."""

_LEAST_LOADS = 4
_LEAST_SHARED = 0.2
"""The part of so many loads at least that is not done, for which it is worth code of its own."""

_LARGEST = 800
"""The operations of a loop's body that are copied at most: a window of 9x9 has seven for each of
its elements."""

_VIEWS = (
    "memref.cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.reinterpret_cast",
    "memref.subview",
)
_MEMORY = ("memref.alloc", "memref.alloca")


def jam_windows(module: ir.Operation) -> None:
    """Unrolls loops of `module` around innermost ones whose loads are mostly the same next time."""
    with module.context:
        for op in operations_named(module, "scf.for"):
            if (windows := _windows(op.opview)) is not None:
                _jam(windows)


@dataclass(frozen=True)
class _Windows:
    """A loop over results, with a loop over the contiguous elements of each."""

    outer: scf.ForOp
    before: list[ir.Operation]
    """What is computed of the place of a result, and no more."""
    inner: scf.ForOp
    at_once: Sequence[tuple[int, int | None]]
    """How many results at once, and of how many; None: of all that there are."""


def _windows(outer: scf.ForOp) -> _Windows | None:
    *steps, _ = (op.operation for op in outer.body.operations)
    if not steps:
        return None
    *before, inner = steps
    if outer.inner_iter_args or constant_integer(outer.step) != 1 or inner.name != "scf.for":
        return None
    body = [op.operation for op in inner.opview.body.operations][:-1]
    if inner.opview.inner_iter_args or len(body) > _LARGEST or not all(map(_is_plain, before)):
        return None
    if any(is_inside(bound, outer.operation) for bound in list(inner.operands)):
        return None
    loads = [op for op in body if op.name == "memref.load"]
    stores = [op for op in body if op.name == "memref.store"]
    others = [op for op in body if op not in loads and op not in stores]
    if not stores or not all(map(_is_plain, others)):
        return None
    written, read = (
        {_memory(op.operands[number]) for op in ops} for number, ops in ((1, stores), (0, loads))
    )
    if None in written | read or written & read:
        return None
    count = _count(outer)
    if count is not None and count < _MOST:
        return None
    at_once = _at_once(count)
    pays = _pays(outer, inner.opview, loads, min(number for number, _ in at_once))
    return _Windows(outer, before, inner.opview, at_once) if pays else None


def _at_once(count: int | None) -> list[tuple[int, int | None]]:
    """How many results are done at once of so many, and of how many of these.

    Some by one less, where that leaves no rest.
    """
    if count is None:
        return [(_MOST, None)]
    by_less = -count % _MOST * (_MOST - 1)
    if by_less > count:
        return [(_MOST, count - count % _MOST)]
    parts = [(_MOST, count - by_less), (_MOST - 1, by_less)]
    return [(number, of) for number, of in parts if of]


def _count(loop: scf.ForOp) -> int | None:
    """How often a loop of step 1 runs, if that is known."""
    lower, upper = constant_integer(loop.lowerBound), constant_integer(loop.upperBound)
    return None if lower is None or upper is None else upper - lower


def _is_plain(op: ir.Operation) -> bool:
    """Whether an operation computes numbers of numbers."""
    return op.name.startswith(("arith.", "math.")) and not op.regions


def _memory(buffer: ir.Value) -> ir.Value | None:
    """The argument or the allocation that a buffer is a view of; None if it may be part of one."""
    while (op := defining_operation(buffer)) is not None and op.name in _VIEWS:
        buffer = op.operands[0]
    is_whole = op is None or op.name in _MEMORY
    return buffer if is_whole else None


# -- what is loaded --------------------------------------------------------------------------------

_Place = tuple[frozenset[tuple[ir.Value, int]], int]
"""A sum of values, each some times, and a constant."""


def _pays(outer: scf.ForOp, inner: scf.ForOp, loads: Sequence[ir.Operation], at_once: int) -> bool:
    """Whether fewer vectors are loaded for so many results than for each by itself."""
    result, element = outer.induction_variable, inner.induction_variable
    one, all_ = set(), set()
    for load in loads:
        sums = [_sum(index_) for index_ in list(load.operands)[1:]]
        if not sums or sums[-1][0].get(element) != 1:
            # It is the same for all elements, or they are gathered.
            continue
        for number in range(at_once):
            place = (load.operands[0], *(_at(sum_, result, number) for sum_ in sums))
            all_.add(place)
            if number == 0:
                one.add(place)
    return len(one) >= _LEAST_LOADS and len(all_) <= (1 - _LEAST_SHARED) * at_once * len(one)


def _sum(value: ir.Value) -> tuple[dict[ir.Value, int], int]:
    """What an index is a sum of: values, each some times, and a constant."""
    constant = constant_integer(value)
    if constant is not None:
        return {}, constant
    op = defining_operation(value)
    if op is not None and op.name == "arith.addi":
        (left, more), (right, further) = map(_sum, op.operands)
        keys = {*left, *right}
        return {key: left.get(key, 0) + right.get(key, 0) for key in keys}, more + further
    if op is not None and op.name == "arith.muli":
        factor = constant_integer(op.operands[1])
        if factor is not None:
            terms, more = _sum(op.operands[0])
            return {key: times * factor for key, times in terms.items()}, more * factor
    return {value: 1}, 0


def _at(sum_: tuple[dict[ir.Value, int], int], loop: ir.Value, number: int) -> _Place:
    """An index where a loop is so many further."""
    terms, constant = sum_
    return frozenset(terms.items()), constant + number * terms.get(loop, 0)


# -- the loop --------------------------------------------------------------------------------------


def _jam(windows: _Windows) -> None:
    """Puts loops over several results at once before the loop, which is left with the rest."""
    for number, count in windows.at_once:
        _jam_some(windows, number, count)


def _jam_some(windows: _Windows, at_once: int, count: int | None) -> None:
    """Does so many of the first results at once, which the loop then leaves out."""
    outer, inner = windows.outer, windows.inner
    body = [op.operation for op in inner.body.operations][:-1]
    with ir.InsertionPoint(outer), outer.location:
        first, end = outer.lowerBound, outer.upperBound
        if count is None:
            whole = arith.divsi(arith.subi(end, first), index(at_once))
            length = arith.muli(whole, index(at_once))
        else:
            length = index(count)
        last = arith.addi(first, length)
        jammed = scf.ForOp(first, last, index(at_once))
        with ir.InsertionPoint(jammed.body):
            results = [
                {outer.induction_variable: arith.addi(jammed.induction_variable, index(number))}
                for number in range(at_once)
            ]
            for values in results:
                clone_operations(windows.before, values)
            elements = scf.ForOp(*list(inner.operation.operands))
            scf.YieldOp([])
            with ir.InsertionPoint(elements.body):
                for values in results:
                    values[inner.induction_variable] = elements.induction_variable
                # Loads before all stores, so that equal ones become one. What results share is
                # computed for one after the other, or a large window would not fit in registers.
                for is_store in (False, True):
                    ops = [op for op in body if (op.name == "memref.store") == is_store]
                    for op in ops:
                        for values in results:
                            clone_operations([op], values)
                scf.YieldOp([])
        outer.operation.operands[0] = last
