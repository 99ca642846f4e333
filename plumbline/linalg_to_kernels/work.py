"""How much a loop does: in scalar operations, as a number or as a value when the kernel runs.

What is counted is arithmetic on elements, each lane of a vector for itself, and loads and stores of
them, which take as long as several operations where elements are in no near cache. Arithmetic on
indices is free.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.walk import constant_integer, is_inside
from plumbline.linalg_to_kernels.building import index, product, total
from plumbline.linalg_to_kernels.dot_instructions import is_tile_product

LOOPS = frozenset({"scf.for", "scf.while"})
"""Whose rounds come one after the other."""

LOADS = frozenset({"memref.load", "vector.gather", "vector.load", "vector.maskedload"})
STORES = frozenset({"memref.store", "vector.maskedstore", "vector.scatter", "vector.store"})

_FUNCTION = 16
"""Of a function such as exp."""

_ACCESS = 4
"""Of a load or a store."""

_TILE = 512
"""Of a product of matrices in registers for them, in whose time vectors do so many of elements."""

DIVISIONS = frozenset(
    {
        "arith.ceildivsi",
        "arith.ceildivui",
        "arith.divsi",
        "arith.divui",
        "arith.floordivsi",
        "arith.remsi",
        "arith.remui",
    }
)
"""Of integers, which end the program where it is divided by 0."""

_INSTRUCTIONS = frozenset(
    {
        "math.absf",
        "math.absi",
        "math.ceil",
        "math.copysign",
        "math.floor",
        "math.fma",
        "math.roundeven",
        "math.sqrt",
        "math.trunc",
    }
)
"""What of that a CPU does itself."""


class Invariants:
    """What is the same in all iterations of a loop, and can be computed before it."""

    def __init__(self, loop: ir.Operation) -> None:
        self._loop = loop
        self._copies: dict[ir.Value, ir.Value] = {}

    def holds(self, value: ir.Value) -> bool:
        """Whether a value is from before the loop, or follows from such by arithmetic."""
        if not is_inside(value, self._loop):
            return True
        owner = value.owner
        return (
            not isinstance(owner, ir.Block)
            and owner.name.startswith("arith.")
            and all(map(self.holds, owner.operands))
        )

    def before(self, value: ir.Value) -> ir.Value:
        """Builds the value at the insertion point, which is before the loop."""
        if not is_inside(value, self._loop):
            return value
        owner = value.owner
        if value not in self._copies:
            operands = [self.before(operand) for operand in owner.operands]
            if owner.name in DIVISIONS and constant_integer(operands[1]) is None:
                # In the loop it may be divided only where that is not 0.
                operands[1] = arith.maxui(operands[1], index(1))
            copy = owner.operation.clone(ip=ir.InsertionPoint.current).operation
            for number, operand in enumerate(operands):
                copy.operands[number] = operand
            self._copies[value] = copy.results[0]
        return self._copies[value]


@dataclass(frozen=True)
class Trips:
    """How often a loop runs."""

    distance: int | ir.Value
    """From its lower to its upper bound."""
    step: int

    @property
    def known(self) -> int | None:
        """The number, where it is known."""
        return -(-self.distance // self.step) if isinstance(self.distance, int) else None

    def build(self, invariants: Invariants) -> ir.Value:
        """Builds the number."""
        if isinstance(self.distance, int):
            return index(self.known or 0)
        distance = invariants.before(self.distance)
        return distance if self.step == 1 else arith.ceildivui(distance, index(self.step))


def known_trips(loop: ir.Operation) -> int | None:
    """How often an `scf.for` runs whose bounds and step are constants; else None."""
    lower, upper, step = (constant_integer(value) for value in list(loop.operands)[:3])
    if lower is None or upper is None or not step:
        return None
    return Trips(max(upper - lower, 0), step).known


def trips(loop: ir.Operation, invariants: Invariants, *, at_most: bool = False) -> Trips | None:
    """How often a loop runs whose bounds do not change, or `at_most` about so often."""
    lower, upper, step = loop.operands[0], loop.operands[1], constant_integer(loop.operands[2])
    if step is None:
        return None
    found = [
        distance
        for bound in (_bounds(upper) if at_most else [upper])
        if (distance := _distance(lower, bound)) is not None
        and (isinstance(distance, int) or invariants.holds(distance))
    ]
    found.sort(key=lambda distance: not isinstance(distance, int))
    return Trips(found[0], step) if found else None


def _bounds(upper: ir.Value) -> list[ir.Value]:
    """Values that an upper bound is the least of."""
    if isinstance(upper.owner, ir.Block) or upper.owner.name != "arith.minsi":
        return [upper]
    return [bound for operand in upper.owner.operands for bound in _bounds(operand)]


def _distance(lower: ir.Value, upper: ir.Value) -> int | ir.Value | None:
    first, end = constant_integer(lower), constant_integer(upper)
    if first is not None and end is not None:
        return max(end - first, 0)
    if first == 0:
        return upper
    if not isinstance(upper.owner, ir.Block) and upper.owner.name == "arith.addi":
        left, right = upper.owner.operands
        if left == lower:
            known = constant_integer(right)
            return right if known is None else known
    return None


@dataclass(frozen=True)
class Work:
    """Operations, and loops around more of them."""

    operations: int
    loops: tuple[tuple[Trips, "Work"], ...]

    @property
    def known(self) -> int | None:
        """The number of all operations, where it is known."""
        result = self.operations
        for count, inside in self.loops:
            if count.known is None or inside.known is None:
                return None
            result += count.known * inside.known
        return result

    def build(self, invariants: Invariants) -> ir.Value:
        """Builds the number of all operations."""
        if self.known is not None:
            return index(self.known)
        parts = [
            product([count.build(invariants), inside.build(invariants)])
            for count, inside in self.loops
        ]
        return total([*parts, index(self.operations)])


def work(loop: ir.Operation, invariants: Invariants) -> Work:
    """What a loop does. One inside of it of which nothing is known counts once."""
    count = trips(loop, invariants, at_most=True) or Trips(1, 1)
    return Work(0, ((count, work_inside(loop, invariants)),))


def work_inside(op: ir.Operation, invariants: Invariants) -> Work:
    """What the operations in another one do, once."""
    operations = 0
    loops: tuple[tuple[Trips, Work], ...] = ()
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                if inner.name == "scf.for":
                    parts = work(inner, invariants)
                else:
                    parts = work_inside(inner, invariants)
                operations += _operations(inner)
                if parts.known is not None:
                    operations += parts.known
                else:
                    operations += parts.operations
                    loops += parts.loops
    return Work(operations, loops)


def is_function(op: ir.Operation) -> bool:
    """Whether it computes a function of elements that no CPU has an instruction for."""
    return op.name.startswith("math.") and op.name not in _INSTRUCTIONS


def _operations(op: ir.Operation) -> int:
    if op.name in ("arith.constant", "scf.for", "scf.if", "scf.yield"):
        return 0
    if is_function(op):
        return _FUNCTION
    if is_tile_product(op):
        return _TILE
    types = [value.type for value in (*op.results, *op.operands)]
    vectors = [ir.VectorType(type_) for type_ in types if isinstance(type_, ir.VectorType)]
    if vectors:
        elements = int(math.prod(vectors[0].shape))
    else:
        # What gives no value stores one.
        elements = int(not op.results or not isinstance(op.results[0].type, ir.IndexType))
    return elements * (_ACCESS if op.name in LOADS | STORES else 1)
