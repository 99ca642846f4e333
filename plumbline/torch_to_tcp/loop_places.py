"""Spells places along a dimension that a loop counts without what other places need.

A place in PyTorch may be negative, and is then counted from the end; and a slice ends where the
dimension does. The count of a loop over a dimension is neither negative nor beyond it:

    %0 = arith.minsi %count, %size : index      ->    %count
    %1 = arith.cmpi slt, %count, %zero : index  ->    false

and so for the place after it, which is at most the size.
"""

from collections.abc import Callable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.counts import is_place_below, upper_bound
from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import constant_integer, defining_operation, operations_of


def simplify_loop_places(module: ir.Operation) -> None:
    """Replaces in `module` what is known of the counts of loops."""
    with module.context:
        for op in operations_of(module, "arith"):
            known = _KNOWN[op.name](op) if op.name in _KNOWN else None
            if known is not None:
                op.results[0].replace_all_uses_with(known)
                op.erase()


def _known_comparison(op: ir.Operation) -> ir.Value | None:
    place, other = op.operands
    predicate = arith.CmpIPredicate(ir.IntegerAttr(op.attributes["predicate"]).value)
    if predicate == arith.CmpIPredicate.slt:
        if constant_integer(other) == 0 and _is_not_negative(place):
            return _truth(op, holds=False)
        if is_place_below(place, other):
            return _truth(op, holds=True)
    if (
        predicate == arith.CmpIPredicate.sge
        and constant_integer(other) == 0
        and _is_not_negative(place)
    ):
        return _truth(op, holds=True)
    return None


def _truth(op: ir.Operation, *, holds: bool) -> ir.Value:
    with ir.InsertionPoint(op), op.location:
        return arith.constant(ir.IntegerType.get_signless(1), int(holds))


def _chosen(op: ir.Operation) -> ir.Value | None:
    condition = defining_operation(op.operands[0])
    if condition is None or condition.name != "arith.constant":
        return None
    holds = condition.attributes["value"]
    if not isinstance(holds, ir.BoolAttr):
        return None
    return op.operands[1] if holds.value else op.operands[2]


def _least(op: ir.Operation) -> ir.Value | None:
    place, size = op.operands
    return place if _is_at_most(place, size) else None


def _greatest(op: ir.Operation) -> ir.Value | None:
    place, zero = op.operands
    return place if constant_integer(zero) == 0 and _is_not_negative(place) else None


def _is_not_negative(value: ir.Value) -> bool:
    return upper_bound(value) is not None or _place_before(value) is not None


def _is_at_most(value: ir.Value, size: ir.Value) -> bool:
    before = _place_before(value)
    return is_place_below(value if before is None else before, size)


def _place_before(value: ir.Value) -> ir.Value | None:
    """The count of a loop that `value` is one more than."""
    op = defining_operation(value)
    if op is None or op.name != "arith.addi" or constant_integer(op.operands[1]) != 1:
        return None
    return op.operands[0] if upper_bound(op.operands[0]) is not None else None


_KNOWN: Mapping[str, Callable[[ir.Operation], ir.Value | None]] = {
    "arith.cmpi": _known_comparison,
    "arith.maxsi": _greatest,
    "arith.minsi": _least,
    "arith.select": _chosen,
}

SIMPLIFY_LOOP_PLACES = Pass(
    "simplify-loop-places",
    "Spell places that a loop counts without what negative ones, or ones beyond the end, need",
    simplify_loop_places,
)
