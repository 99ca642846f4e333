"""Decides what is chosen by sizes, and has slices of everything be what they are slices of.

A slice in Python ends where its dimension does, and counts places below 0 from the end:

    %0 = arith.cmpi slt, %n, %c0 : index        ->    false: no size is below 0
    %1 = arith.select %0, %from_end, %n         ->    %n
    %2 = arith.minsi %1, %more : index          ->    %n, where %more is %n + 1
    %3 = arith.subi %more, %c1 : index          ->    %n
    tcp.slice %x starts(%c0) sizes(%n) ..       ->    %x, where that has %n elements

So do places that a loop counts, which are neither negative nor beyond what it counts to.
"""

import functools
from collections.abc import Callable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import constant_integer, defining_operation
from plumbline.tcp.building.size_polynomials import COMPUTED, Polynomial, SizePolynomials
from plumbline.tcp.ops.data_movement import SliceOp
from plumbline.tcp.transforms.scopes import visit_in_scopes

_Known = dict[tuple[ir.Type, Polynomial], ir.Value]
"""A value for each number that is there already."""

_ONE = Polynomial.number(1)


def simplify_sizes(module: ir.Operation) -> None:
    """Replaces in `module` what is known of sizes; what is not used any more is left behind."""
    with module.context:
        # Nothing is erased, so that what was read of a value is not taken for another one's.
        visit_in_scopes(module, functools.partial(_simplify, sizes=SizePolynomials()), {})


def _simplify(op: ir.Operation, known: _Known, sizes: SizePolynomials) -> None:
    match op.name:
        case "arith.cmpi":
            found = _truth(op, sizes)
        case "arith.select":
            found = _chosen(op)
        case SliceOp.OPERATION_NAME:
            found = _whole(op.opview, sizes)
        case "tensor.dim":
            found = _number(op, known, sizes)
        case name if name in COMPUTED:
            found = _number(op, known, sizes)
        case _:
            return
    if found is not None:
        op.results[0].replace_all_uses_with(found)


def _truth(op: ir.Operation, sizes: SizePolynomials) -> ir.Value | None:
    predicate = arith.CmpIPredicate(ir.IntegerAttr(op.attributes["predicate"]).value)
    if predicate not in _HOLDS:
        return None
    holds, fails = _HOLDS[predicate]
    left, right = map(sizes.of, op.operands)
    for condition, answer in ((holds, True), (fails, False)):
        if condition(sizes, left, right):
            with ir.InsertionPoint(op), op.location:
                return arith.constant(op.results[0].type, int(answer))
    return None


_Condition = Callable[[SizePolynomials, Polynomial, Polynomial], bool]


def _less(sizes: SizePolynomials, left: Polynomial, right: Polynomial) -> bool:
    return sizes.is_natural(right - left - _ONE)


def _at_most(sizes: SizePolynomials, left: Polynomial, right: Polynomial) -> bool:
    return sizes.is_natural(right - left)


def _turned(condition: _Condition) -> _Condition:
    return lambda sizes, left, right: condition(sizes, right, left)


def _same(_: SizePolynomials, left: Polynomial, right: Polynomial) -> bool:
    return left == right


def _different(sizes: SizePolynomials, left: Polynomial, right: Polynomial) -> bool:
    return _less(sizes, left, right) or _less(sizes, right, left)


_HOLDS: Mapping[arith.CmpIPredicate, tuple[_Condition, _Condition]] = {
    arith.CmpIPredicate.eq: (_same, _different),
    arith.CmpIPredicate.ne: (_different, _same),
    arith.CmpIPredicate.sge: (_turned(_at_most), _less),
    arith.CmpIPredicate.sgt: (_turned(_less), _at_most),
    arith.CmpIPredicate.sle: (_at_most, _turned(_less)),
    arith.CmpIPredicate.slt: (_less, _turned(_at_most)),
}
"""When a comparison holds for certain, and when it fails."""


def _chosen(op: ir.Operation) -> ir.Value | None:
    condition = defining_operation(op.operands[0])
    if condition is None or condition.name != "arith.constant":
        return None
    holds = condition.attributes["value"]
    if not isinstance(holds, ir.BoolAttr):
        return None
    return op.operands[1] if holds.value else op.operands[2]


def _number(op: ir.Operation, known: _Known, sizes: SizePolynomials) -> ir.Value | None:
    """What has the value of a number already; else that is kept for others."""
    result = op.results[0]
    polynomial = sizes.of(result)
    if polynomial.constant is not None:
        with ir.InsertionPoint(op), op.location:
            return arith.constant(result.type, polynomial.constant)
    same = (
        operand
        for operand in op.operands
        if operand.type == result.type and sizes.of(operand) == polynomial
    )
    found = known.setdefault((result.type, polynomial), next(same, result))
    return None if found == result else found


def _whole(op: SliceOp, sizes: SizePolynomials) -> ir.Value | None:
    """The operand of a slice that has all of it."""
    if op.input.type != op.out.type:
        return None
    if any(constant_integer(start) != 0 for start in op.starts):
        return None
    if any(constant_integer(stride) != 1 for stride in op.strides):
        return None
    same = (
        sizes.of(size) == sizes.of_dimension(op.input, axis) for axis, size in enumerate(op.sizes)
    )
    return op.input if all(same) else None


TCP_SIMPLIFY_SIZES = Pass(
    "tcp-simplify-sizes",
    "Decide what sizes are known to be greater, and have slices of everything be their operand",
    simplify_sizes,
)
