"""Exchanges rows and columns by squares of vectors.

Of a transposition what is read follows one another along one loop, and what is written along the
other. LLVM makes no vectors of that: it takes elements one by one. Here as many rows are read as a
vector has lanes, a vector of each, and transposed in registers; what is computed of them is done
to vectors along the innermost loop, and stored so. A transposition of 1024 by 1024 takes 0.29 of
the time, one of 4096 by 4096 0.32 (AMD Zen 3). Of real or imaginary parts, which lie in turns, two
vectors are read for one.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from plumbline.bindings.walk import (
    clone_operations,
    constant_integer,
    defining_operation,
    is_inside,
    operations_named,
)
from plumbline.linalg_to_kernels.building import for_each, index
from plumbline.linalg_to_kernels.loop_order import PIECE
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.strides import has_contiguous_rows
from plumbline.linalg_to_kernels.vectors import of_lanes, on_lanes, transpose
from plumbline.target.vector_unit import VectorUnit

_LOAD, _STORE = "memref.load", "memref.store"

_PAIR = 2

_LONGEST = 32
"""Operations for an element, each of which a square has once for each lane."""


def transpose_tiles(module: ir.Operation, unit: VectorUnit) -> None:
    """Has the pairs of innermost loops of `module` take squares that read along the outer one."""
    with module.context:
        loops = [op.opview for op in operations_named(module, "scf.for")]
        nests = [_nest(loop, unit) for loop in loops]
        for nest in nests:
            if nest is not None:
                nest.build()


def _nest(outer: ir.OpView, unit: VectorUnit) -> "_Nest | None":
    """The pair of loops that one and the only one in it are, if squares suit it."""
    *above, last = (view.operation for view in outer.body.operations)
    inner = above.pop() if above else last
    if inner.name != "scf.for" or outer.results or inner.results:
        return None
    steps = (constant_integer(loop.step) for loop in (outer, inner.opview))
    if any(step != 1 for step in steps) or not all(map(_is_arithmetic, above)):
        return None
    row = outer.induction_variable
    if any(is_inside(bound, outer.operation) for bound in list(inner.operands)[:2]):
        return None
    *ops, _ = (view.operation for view in inner.opview.body.operations)
    nest = _Nest(outer.operation, inner, [*above, *ops], row)
    return nest if nest.set_lanes(unit) else None


def _is_arithmetic(op: ir.Operation) -> bool:
    return op.name.partition(".")[0] in ("arith", "math") and not op.regions


class _Nest:
    """Two loops, and what they do for an element."""

    def __init__(
        self, outer: ir.Operation, inner: ir.Operation, ops: list[ir.Operation], row: ir.Value
    ) -> None:
        self._outer, self._inner, self._ops = outer, inner, ops
        self._row, self._at = row, inner.opview.induction_variable
        self._by_row, self._by_lane = self._depending(row), self._depending(self._at)
        self._lanes = 0
        self._transposed: list[ir.Operation] = []
        """The loads along the outer loop."""

    def _depending(self, value: ir.Value) -> set[ir.Value]:
        """The values that differ by the count of a loop."""
        found = {value}
        for op in self._ops:
            if any(operand in found for operand in op.operands):
                found.update(op.results)
        return found

    def set_lanes(self, unit: VectorUnit) -> bool:
        """Sees to how many elements a vector has; whether all can be done to vectors.

        Of narrow elements it has no more than a piece, which a line is wider than.
        """
        accesses = [op for op in self._ops if op.name in (_LOAD, _STORE)]
        stores = [op for op in accesses if op.name == _STORE]
        if not stores or len(self._ops) > _LONGEST:
            return False
        if not all(op.name in (_LOAD, _STORE) or _is_arithmetic(op) for op in self._ops):
            return False
        bits = 8 * element_bytes(ir.MemRefType(stores[0].operands[1].type).element_type)
        self._lanes = min(unit.lanes(bits), PIECE)
        self._transposed = [op for op in accesses if op.name == _LOAD and self._is_column(op)]
        written = [op.operands[1] for op in stores]
        return (
            self._lanes > 1
            and len(self._transposed) > 0
            and all(op.operands[0] not in written for op in accesses if op.name == _LOAD)
            and all(map(self._is_own_row, stores))
            and all(self._is_allowed(op, bits) for op in self._needed())
        )

    def _needed(self) -> list[ir.Operation]:
        """The operations that vectors are made of, in their order.

        Where the elements of columns are is not asked for each vector.
        """
        needed: set[ir.Value] = set()
        found = []
        for op in reversed(self._ops):
            if op.name != _STORE and not any(result in needed for result in op.results):
                continue
            found.append(op)
            if op not in self._transposed:
                needed.update(op.operands)
        return found[::-1]

    def _is_column(self, load: ir.Operation) -> bool:
        """Whether a load's elements follow one another along the outer loop, in either order."""
        buffer, *places = load.operands
        if _part_of(load) is not None:
            places.pop()
        return (
            bool(places)
            and (places[-1] == self._row or self._is_turned(places[-1]))
            and self._by_row.isdisjoint(places[:-1])
            and not self._by_lane.isdisjoint(places[:-1])
            and has_contiguous_rows(buffer)
        )

    def _is_turned(self, place: ir.Value) -> bool:
        """Whether a place goes down where the outer loop goes up, as a quarter turn reads."""
        op = defining_operation(place)
        return (
            op is not None
            and op.name == "arith.subi"
            and op.operands[1] == self._row
            and op.operands[0] not in self._by_row | self._by_lane
        )

    def _is_row(self, buffer: ir.Value, places: Sequence[ir.Value]) -> bool:
        """Whether elements follow one another along the inner loop."""
        return (
            len(places) > 0
            and places[-1] == self._at
            and self._by_lane.isdisjoint(places[:-1])
            and has_contiguous_rows(buffer)
        )

    def _is_own_row(self, store: ir.Operation) -> bool:
        """Whether a store writes along the inner loop, and in each iteration elsewhere."""
        _, buffer, *places = store.operands
        return self._is_row(buffer, places) and self._row in places[:-1]

    def _is_allowed(self, op: ir.Operation, bits: int) -> bool:
        if op.name == _STORE:
            return _width_in_memory(op.operands[0].type) == bits
        if op in self._transposed:
            return _width_in_memory(op.results[0].type) == bits
        if op.results[0] not in self._by_lane:
            return True
        if op.name == _LOAD:
            buffer, *places = op.operands
            is_row = self._is_row(buffer, places)
            return is_row and _width_in_memory(op.results[0].type) == bits
        # Of a condition there are as many lanes as of what it decides on.
        return all(_width(value.type) in (1, bits) for value in (*op.operands, *op.results))

    def build(self) -> None:
        """Puts loops over squares, and ones over what is left, in the place of the two."""
        lower, upper = list(self._outer.operands)[:2]
        first, end = list(self._inner.operands)[:2]
        with ir.InsertionPoint(self._outer), self._outer.location:
            last_row, last = self._whole(lower, upper), self._whole(first, end)

            def squares(row: ir.Value) -> list[ir.Value]:
                for_each(first, last, self._lanes, lambda at: self._square(row, at))
                beyond = arith.addi(row, index(self._lanes))
                for_each(row, beyond, 1, lambda one: self._elements(one, last, end))
                return []

            for_each(lower, last_row, self._lanes, squares)
            for_each(last_row, upper, 1, lambda row: self._elements(row, first, end))
        self._outer.erase()

    def _whole(self, first: ir.Value, end: ir.Value) -> ir.Value:
        """How far as many elements go as make whole vectors."""
        count = arith.subi(end, first)
        return arith.subi(end, arith.remui(count, index(self._lanes)))

    def _elements(self, row: ir.Value, first: ir.Value, end: ir.Value) -> list[ir.Value]:
        """A row one by one."""

        def element(at: ir.Value) -> list[ir.Value]:
            clone_operations(self._ops, {self._row: row, self._at: at})
            return []

        for_each(first, end, 1, element)
        return []

    def _square(self, row: ir.Value, at: ir.Value) -> list[ir.Value]:
        columns = [self._columns_of(load, row, at) for load in self._transposed]
        for lane in range(self._lanes):
            known = {self._row: arith.addi(row, index(lane)), self._at: at}
            for load, vectors in zip(self._transposed, columns, strict=True):
                known[load.results[0]] = vectors[lane]
            self._of_vectors(known)
        return []

    def _columns_of(self, load: ir.Operation, row: ir.Value, at: ir.Value) -> list[ir.Value]:
        """What a load gives for each row of a square: a vector along the inner loop."""
        rows = self._rows_of(load, row, at)
        if load.results[0].type == ir.IntegerType.get_signless(1):
            # As bytes, which registers hold side by side.
            bytes_ = ir.VectorType.get([self._lanes], ir.IntegerType.get_signless(8))
            columns = transpose([arith.extui(bytes_, row) for row in rows])
            columns = [arith.trunci(rows[0].type, column) for column in columns]
        else:
            columns = transpose(rows)
        places = list(load.operands)[1:]
        last = places[-1] if _part_of(load) is None else places[-2]
        return columns[::-1] if self._is_turned(last) else columns

    def _rows_of(self, load: ir.Operation, row: ir.Value, at: ir.Value) -> list[ir.Value]:
        """What a load reads for a square: a vector along the outer loop for each lane."""
        buffer, *places = load.operands
        part = _part_of(load)
        count = self._lanes if part is None else _PAIR * self._lanes
        type_ = ir.VectorType.get([count], load.results[0].type)
        pair = [] if part is None else [index(0)]
        places = places[: len(places) - len(pair)]
        if self._is_turned(places[-1]):
            # Its first element in memory is that of the last row.
            row = arith.addi(row, index(self._lanes - 1))
        found = []
        for lane in range(self._lanes):
            known = {self._row: row, self._at: arith.addi(at, index(lane))}
            clone_operations(self._places(places), known)
            given = [*(known.get(place, place) for place in places), *pair]
            loaded = vector.LoadOp(type_, buffer, given).result
            if part is not None:
                loaded = vector.shuffle(loaded, loaded, range(part, count, _PAIR))
            found.append(loaded)
        return found

    def _places(self, places: Sequence[ir.Value]) -> list[ir.Operation]:
        """What computes the places of a load, in its order."""
        needed = set(places)
        found = []
        for op in reversed(self._ops):
            if any(result in needed for result in op.results):
                found.append(op)
                needed.update(op.operands)
        return found[::-1]

    def _of_vectors(self, known: dict[ir.Value, ir.Value]) -> None:
        """All that is done for a row of a square."""
        shape = [self._lanes]
        for op in self._needed():
            operands = [known.get(operand, operand) for operand in op.operands]
            if op.name == _STORE:
                value, buffer, *places = operands
                vector.StoreOp(of_lanes(value, shape), buffer, places)
            elif op in self._transposed:
                continue
            elif op.results[0] not in self._by_lane:
                clone_operations([op], known)
            elif op.name == _LOAD:
                type_ = ir.VectorType.get(shape, op.results[0].type)
                known[op.results[0]] = vector.LoadOp(type_, operands[0], operands[1:]).result
            else:
                known |= zip(op.results, on_lanes(op, operands, shape), strict=True)


def _part_of(load: ir.Operation) -> int | None:
    """Which of a pair of numbers a load reads, if such are side by side, as in complex numbers."""
    buffer, *places = load.operands
    type_ = ir.MemRefType(buffer.type)
    strides, _ = type_.get_strides_and_offset()
    are_pairs = tuple(strides[-2:]) == (_PAIR, 1) and type_.shape[-1] == _PAIR
    return constant_integer(places[-1]) if are_pairs and _width(type_.element_type) != 1 else None


def _width(type_: ir.Type) -> int | None:
    """The bits of a number; None of what is none, or is as wide as an address."""
    return type_.width if isinstance(type_, ir.FloatType | ir.IntegerType) else None


def _width_in_memory(type_: ir.Type) -> int | None:
    """The same as it lies in memory."""
    width = _width(type_)
    return None if width is None else 8 * element_bytes(type_)
