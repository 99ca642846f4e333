"""Knows of some numbers that they are no greater than others, from how they are computed.

Softmax takes the exponential of x less the greatest of its row, which a loop before it found: that
is never above 0.
"""

from torch_mlir import ir

from plumbline.bindings.views import NEW_MEMORY, VIEWS, is_apart, root
from plumbline.bindings.walk import all_operations, defining_operation, is_inside

_PURE = ("arith", "math")

_LOOP, _LOAD, _STORE = "scf.for", "memref.load", "memref.store"

_HARMLESS = (
    *NEW_MEMORY,
    *VIEWS,
    _LOAD,
    _STORE,
    "memref.dealloc",
    "memref.dim",
    "memref.extract_strided_metadata",
    "memref.prefetch",
)
"""The operations on buffers that write nothing, or say where by their second operand."""


def is_at_most_0(value: ir.Value) -> bool:
    """Whether a float is 0, less, or a NaN, wherever it is."""
    op = defining_operation(value)
    if op is None:
        return False
    if op.name == "arith.negf":
        negated = defining_operation(op.operands[0])
        return negated is not None and negated.name == "math.absf"
    if op.name != "arith.subf":
        return False
    x, most = op.operands
    return _is_at_most(x, most, op)


def _is_at_most(x: ir.Value, most: ir.Value, op: ir.Operation) -> bool:
    """Whether x, as `op` takes it, is at most `most`."""
    greatest = defining_operation(most)
    if greatest is None:
        return False
    if greatest.name == "arith.maximumf":
        least = defining_operation(x)
        parts = [x, *(least.operands if least and least.name == "arith.minimumf" else ())]
        return any(part in list(greatest.operands) for part in parts)
    if greatest.name != _LOOP:
        return False
    found = greatest.opview
    last = found.body.operations[len(found.body.operations) - 1]
    place = list(greatest.results).index(most)
    combined = defining_operation(last.operands[place])
    if combined is None or combined.name != "arith.maximumf":
        return False
    so_far = found.inner_iter_args[place]
    terms = [operand for operand in combined.operands if operand != so_far]
    loop = _loop_beside(op, greatest)
    return len(terms) == 1 and loop is not None and _Rerun(greatest, loop).is_same(terms[0], x)


def _loop_beside(op: ir.Operation, first: ir.Operation) -> ir.Operation | None:
    """The loop in the block of `first` that `op` is in, if it runs through the same numbers."""
    while op.parent is not None and op.block != first.block:
        op = op.parent.operation
    if op.parent is None or op.name != _LOOP:
        return None
    # The bounds and the step.
    return op if list(op.operands)[:3] == list(first.operands)[:3] else None


class _Rerun:
    """Two loops over the same numbers, the second of which computes some values of the first."""

    def __init__(self, first: ir.Operation, second: ir.Operation) -> None:
        self._first, self._second = first, second
        self._known: dict[tuple[ir.Value, ir.Value], bool] = {
            (first.opview.induction_variable, second.opview.induction_variable): True
        }
        between = _between(first, second)
        stores = [op for op in between if op.name == _STORE]
        self._are_known = all(map(_is_known, between))
        self._written = [root(op.operands[1]) for op in stores]
        self._stores = [op for op in stores if op.block == first.opview.body]

    def is_same(self, before: ir.Value, after: ir.Value) -> bool:
        """Whether a value of the second loop is the one of the first in the same iteration."""
        key = before, after
        if key not in self._known:
            self._known[key] = self._computed_so(before, after)
        return self._known[key]

    def _computed_so(self, before: ir.Value, after: ir.Value) -> bool:
        if before == after:
            return not is_inside(before, self._first)
        one, other = defining_operation(before), defining_operation(after)
        if other is None or not is_inside(after, self._second):
            return _are_constants(one, other)
        if other.name == _LOAD and (one is None or one.name != _LOAD):
            return self._is_stored(before, other)
        if one is None or one.name != other.name or _attributes(one) != _attributes(other):
            return False
        if one.name == _LOAD:
            return self._is_kept(one.operands[0]) and self._all_same(one, other)
        return one.name.partition(".")[0] in _PURE and self._all_same(one, other)

    def _all_same(self, one: ir.Operation, other: ir.Operation) -> bool:
        return len(one.operands) == len(other.operands) and all(
            map(self.is_same, one.operands, other.operands)
        )

    def _is_kept(self, buffer: ir.Value) -> bool:
        """Whether what the first loop read of a buffer is still there."""
        memory = root(buffer)
        are_apart = is_apart(memory) or all(map(is_apart, self._written))
        return self._are_known and memory not in self._written and are_apart

    def _is_stored(self, before: ir.Value, load: ir.Operation) -> bool:
        """Whether a value of the first loop is put where the second one reads."""
        buffer, *places = load.operands
        memory = root(buffer)
        if not self._are_known or not is_apart(memory) or self._written.count(memory) != 1:
            return False
        return any(
            store.operands[0] == before
            and store.operands[1] == buffer
            and all(map(self.is_same, list(store.operands)[2:], places))
            for store in self._stores
        )


def _are_constants(one: ir.Operation | None, other: ir.Operation | None) -> bool:
    return (
        one is not None
        and other is not None
        and one.name == other.name == "arith.constant"
        and _attributes(one) == _attributes(other)
    )


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: op.attributes[name] for name in op.attributes}


def _between(first: ir.Operation, last: ir.Operation) -> list[ir.Operation]:
    """The operations of a block from the one to the other, and those in them."""
    ops = [view.operation for view in first.block.operations]
    return [
        nested
        for op in ops[ops.index(first) : ops.index(last) + 1]
        for nested in all_operations(op)
    ]


def _is_known(op: ir.Operation) -> bool:
    """Whether an operation writes nothing, or is a store."""
    return op.name.partition(".")[0] in (*_PURE, "scf") or op.name in _HARMLESS
