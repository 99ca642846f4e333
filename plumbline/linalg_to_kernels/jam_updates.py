"""Updates an element once for several rows in a row that go to the same place.

The rows of an embedding bag go to one row of the result, one after another, and so do messages of a
graph network whose edges are sorted. Row by row each sum is loaded and stored anew, and waits until
what was stored last can be loaded. So four rows are looked at at a time, and if they go to one
place, its elements are loaded and stored once for all of them. What is combined, and in what order,
stays the same: so do all bits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.bindings.views import is_apart, root
from plumbline.bindings.walk import (
    clone_operations,
    constant_integer,
    is_inside,
    needed_for,
    operations_named,
)
from plumbline.linalg_to_kernels.building import for_each, if_else, index, rounded_down
from plumbline.linalg_to_kernels.work import known_trips

_LOAD, _STORE = "memref.load", "memref.store"

_AT_ONCE = 4
"""Rows. Bags of 100 rows of 100 take 0.65 of the time that they take one by one, of 10 rows 0.75; 8
at once take bags of 10 as long as one by one does (AMD Zen 5)."""

_FEWEST = 8
"""Elements of a row, if that is known: of fewer the question takes as long as what it saves."""


def jam_updates(module: ir.Operation) -> None:
    """Has loops of `module` over rows, each added to one chosen at run time, take several."""
    with module.context:
        for op in operations_named(module, "scf.for"):
            if (updates := _updates(op.opview)) is not None:
                updates.jam()


@dataclass(frozen=True)
class _Updates:
    """A loop over rows, and in it one over elements, each of which updates one of a buffer."""

    rows: scf.ForOp
    elements: scf.ForOp
    load: ir.Operation
    store: ir.Operation
    before: Sequence[ir.Operation]
    """What is computed of each row first."""
    steps: Sequence[ir.Operation]
    """What gives the indices of the row that is updated."""
    chosen: Sequence[ir.Value]
    """Those of its indices that differ from row to row."""

    def jam(self) -> None:
        """Puts a loop over several rows at a time before the loop, which is left with the rest."""
        rows = self.rows
        with ir.InsertionPoint(rows), rows.location:
            first, end = rows.lowerBound, rows.upperBound
            middle = arith.addi(first, rounded_down(arith.subi(end, first), _AT_ONCE))
            for_each(first, middle, _AT_ONCE, self._some)
            rows.operation.operands[0] = middle

    def _some(self, first: ir.Value) -> list[ir.Value]:
        places = [arith.addi(first, index(number)) for number in range(_AT_ONCE)]
        found = []
        for place in places:
            values = {self.rows.induction_variable: place}
            clone_operations([*self.before, *self.steps], values)
            found.append(values)
        are_same = [
            arith.cmpi(arith.CmpIPredicate.eq, found[0][index_], values[index_])
            for values in found[1:]
            for index_ in self.chosen
        ]
        if_else(
            reduce(arith.andi, are_same), lambda: self._at_once(found), lambda: self._each(first)
        )
        return []

    def _at_once(self, found: Sequence[Mapping[ir.Value, ir.Value]]) -> None:
        """Does rows that go to one place, of which the values of `steps` are known."""
        elements, load, store = self.elements, self.load, self.store
        known = {load, store, *self.steps}
        *body, _ = (view.operation for view in elements.body.operations)
        ops = [op for op in body if op not in known]

        def element(at: ir.Value) -> list[ir.Value]:
            values = {**found[0], elements.induction_variable: at}
            clone_operations([load], values)
            so_far = values[load.results[0]]
            for row in found:
                values = {**row, elements.induction_variable: at, load.results[0]: so_far}
                clone_operations(ops, values)
                so_far = values.get(store.operands[0], store.operands[0])
            clone_operations([store], values)
            return []

        for_each(elements.lowerBound, elements.upperBound, 1, element)

    def _each(self, first: ir.Value) -> list[ir.Value]:
        """Does the rows one after the other."""
        rows = self.rows

        def row(at: ir.Value) -> list[ir.Value]:
            *ops, _ = (view.operation for view in rows.body.operations)
            clone_operations(ops, {rows.induction_variable: at})
            return []

        for_each(first, arith.addi(first, index(_AT_ONCE)), 1, row)
        return []


def _updates(rows: scf.ForOp) -> _Updates | None:
    *steps, _ = (view.operation for view in rows.body.operations)
    if rows.inner_iter_args or constant_integer(rows.step) != 1 or not steps:
        return None
    *before, inner = steps
    if inner.name != "scf.for" or not all(map(_is_read, before)) or not _has_rows(rows, inner):
        return None
    count = inner.opview.induction_variable
    *body, _ = (view.operation for view in inner.opview.body.operations)
    stores = [op for op in body if op.name == _STORE]
    if len(stores) != 1 or not all(op in stores or _is_read(op) for op in body):
        return None
    (store,) = stores
    _, buffer, *indices = store.operands
    memory = root(buffer)
    loads = [op for op in (*before, *body) if op.name == _LOAD and root(op.operands[0]) == memory]
    if len(loads) != 1 or list(loads[0].operands) != [buffer, *indices] or not is_apart(memory):
        return None
    others = [index_ for index_ in indices if index_ != count]
    chosen = [index_ for index_ in others if is_inside(index_, rows.operation)]
    choosing = needed_for(chosen, [*before, *body])
    if (
        # Two elements of a row have two places.
        len(others) != len(indices) - 1
        or any(count in op.operands for op in choosing)
        or loads[0] in choosing
        # Two rows may have one.
        or rows.induction_variable in chosen
        or not any(op.name == _LOAD for op in choosing)
    ):
        return None
    steps = [op for op in choosing if op in body]
    return _Updates(rows, inner.opview, loads[0], store, before, steps, chosen)


def _has_rows(rows: scf.ForOp, inner: ir.Operation) -> bool:
    """Whether a loop over elements is the same for all rows, and long enough."""
    elements, known = inner.opview, known_trips(inner)
    return (
        not elements.inner_iter_args
        and constant_integer(elements.step) == 1
        and not any(is_inside(bound, rows.operation) for bound in list(inner.operands))
        and (known is None or known >= _FEWEST)
    )


def _is_read(op: ir.Operation) -> bool:
    """Whether an operation gives a number, or reads one."""
    return not op.regions and (op.name == _LOAD or op.name.startswith(("arith.", "math.")))
