"""Between which numbers the integers of a tensor are seen to lie: interval arithmetic over TCP.

(Moore, Interval Analysis, 1966.) All intervals have both ends, and are of integers with a sign, as
which those of TCP are taken unless an op says otherwise.
"""

import itertools
from collections.abc import Callable, Mapping

import numpy as np
from torch_mlir import ir

from plumbline.tcp.attributes import case_of
from plumbline.tcp.ops.data_movement import (
    BroadcastOp,
    ConcatOp,
    ConstOp,
    IotaOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from plumbline.tcp.ops.elementwise import (
    AddOp,
    BitwiseAndOp,
    CastOp,
    ClampOp,
    CompareOp,
    DivsiOp,
    MaximumOp,
    MinimumOp,
    MulOp,
    RemsiOp,
    SelectOp,
    ShrsiOp,
    ShruiOp,
    SubOp,
)
from plumbline.tcp.ops.indexing import GatherNdOp, GatherOp
from plumbline.tcp.ops.reduction import ArgmaxOp, ArgminOp
from plumbline.tcp_to_linalg.building import DYNAMIC

Range = tuple[int, int]
"""The least and the greatest integer that there may be."""

_DEPTH = 24
"""How many ops are looked through at most, one after the other."""


def range_of(value: ir.Value) -> Range:
    """The range of a tensor's integers; that of their type if nothing more is seen."""
    return _Ranges().of(value, _DEPTH)


class _Ranges:
    """The ranges of values that have been asked for."""

    def __init__(self) -> None:
        self._found: dict[ir.Value, Range] = {}

    def of(self, value: ir.Value, depth: int) -> Range:
        """The range of a value, of which so many ops are looked through."""
        if value not in self._found:
            whole = _of_type(value.type.element_type)
            owner = value.owner
            rule = None if isinstance(owner, ir.Block) else _RULES.get(owner.name)
            found = None
            if rule is not None and depth > 0:
                found = rule(owner, lambda operand: self.of(operand, depth - 1))
            # What does not fit wraps around.
            fits = found is not None and whole[0] <= found[0] <= found[1] <= whole[1]
            self._found[value] = found if found is not None and fits else whole
        return self._found[value]


_Of = Callable[[ir.Value], Range]
_Rule = Callable[[ir.Operation, _Of], Range | None]
"""What is seen of the result of an op, given what is seen of its operands."""


def _of_type(type_: ir.Type) -> Range:
    width = ir.IntegerType(type_).width
    # A truth value is 0 or 1.
    return (0, 1) if width == 1 else (-(1 << (width - 1)), (1 << (width - 1)) - 1)


def _constant(op: ir.Operation, of: _Of) -> Range | None:
    elements = op.attributes["value"]
    if not isinstance(elements, ir.DenseElementsAttr) or 0 in elements.type.shape:
        return None
    if elements.is_splat:
        single = ir.IntegerAttr(elements.get_splat_value()).value
        return single, single
    array = np.array(elements)
    return int(array.min()), int(array.max())


def _places(size: int) -> Range | None:
    return None if size in (DYNAMIC, 0) else (0, size - 1)


def _iota(op: ir.Operation, of: _Of) -> Range | None:
    return _places(op.results[0].type.shape[op.opview.dim.value])


def _place(op: ir.Operation, of: _Of) -> Range | None:
    return _places(op.operands[0].type.shape[op.opview.dim.value])


def _same(op: ir.Operation, of: _Of) -> Range:
    return of(op.operands[0])


def _union(*ranges: Range) -> Range:
    lows, highs = zip(*ranges, strict=True)
    return min(lows), max(highs)


def _is_unsigned(op: ir.Operation, name: str = "int_signedness") -> bool:
    return name in op.attributes and case_of(op.attributes[name]) == "Unsigned"


def _clamp(op: ir.Operation, of: _Of) -> Range | None:
    if _is_unsigned(op):
        return None
    low, high = of(op.operands[0])
    if "min_int" in op.attributes:
        least = ir.IntegerAttr(op.attributes["min_int"]).value
        low, high = max(low, least), max(high, least)
    if "max_int" in op.attributes:
        most = ir.IntegerAttr(op.attributes["max_int"]).value
        low, high = min(low, most), min(high, most)
    return low, high


def _of_ends(function: Callable[[int, int], int]) -> _Rule:
    """The rule of a function of two numbers that is greatest and least at ends of their ranges."""

    def rule(op: ir.Operation, of: _Of) -> Range | None:
        first, second = map(of, op.operands)
        if _is_unsigned(op) and min(*first, *second) < 0:
            return None
        found = [function(*ends) for ends in itertools.product(first, second)]
        return min(found), max(found)

    return rule


def _quotient(op: ir.Operation, of: _Of) -> Range | None:
    (low, high), (least, most) = map(of, op.operands)
    if low < 0 or least < 1:
        return None
    # Whichever way it is rounded.
    return low // most, -(-high // least)


def _remainder(op: ir.Operation, of: _Of) -> Range | None:
    (low, high), (least, most) = map(of, op.operands)
    if least < 1:
        return None
    # It has the sign of the dividend.
    return max(low, 1 - most) if low < 0 else 0, min(high, most - 1) if high > 0 else 0


def _bits_of_both(op: ir.Operation, of: _Of) -> Range | None:
    known = [high for low, high in map(of, op.operands) if low >= 0]
    return (0, min(known)) if known else None


def _shifted(op: ir.Operation, of: _Of) -> Range | None:
    """Of bits shifted right by fewer than there are: zeros come in, or copies of the sign."""
    width = op.results[0].type.element_type.width
    (low, high), (least, most) = map(of, op.operands)
    if not 0 <= least <= most < width:
        return None
    if op.name == ShruiOp.OPERATION_NAME and low < 0:
        return (0, (1 << (width - least)) - 1) if least > 0 else None
    found = [end >> by for end in (low, high) for by in (least, most)]
    return min(found), max(found)


_NEVER, _ALWAYS = (0, 0), (1, 1)


def _comparison(op: ir.Operation, of: _Of) -> Range | None:
    """Whether one integer is less than another, or the like."""
    if not isinstance(op.operands[0].type.element_type, ir.IntegerType):
        return None
    first, second = map(of, op.operands)
    if _is_unsigned(op) and min(*first, *second) < 0:
        return None
    predicate = case_of(op.attributes["predicate"])
    if predicate in ("gt", "ge"):
        first, second, predicate = second, first, {"gt": "lt", "ge": "le"}[predicate]
    match predicate:
        case "lt":
            is_always, is_never = first[1] < second[0], first[0] >= second[1]
        case "le":
            is_always, is_never = first[1] <= second[0], first[0] > second[1]
        case _:
            are_apart = first[1] < second[0] or second[1] < first[0]
            is_always, is_never = first == second and first[0] == first[1], are_apart
            if predicate == "ne":
                is_always, is_never = is_never, is_always
    return _ALWAYS if is_always else _NEVER if is_never else None


def _choice(op: ir.Operation, of: _Of) -> Range:
    """What a condition chooses, if it is known to be true or false; else either."""
    condition, true, false = op.operands
    match of(condition):
        case (0, 0):
            return of(false)
        case (1, 1):
            return of(true)
    return _union(of(true), of(false))


def _cast(op: ir.Operation, of: _Of) -> Range | None:
    type_ = op.operands[0].type.element_type
    if not isinstance(type_, ir.IntegerType):
        return None
    low, high = of(op.operands[0])
    if low < 0 and _is_unsigned(op, "in_int_signedness"):
        return 0, (1 << type_.width) - 1
    return None if ir.IntegerType(op.results[0].type.element_type).width == 1 else (low, high)


_RULES: Mapping[str, _Rule] = {
    ConstOp.OPERATION_NAME: _constant,
    IotaOp.OPERATION_NAME: _iota,
    ArgmaxOp.OPERATION_NAME: _place,
    ArgminOp.OPERATION_NAME: _place,
    AddOp.OPERATION_NAME: _of_ends(lambda left, right: left + right),
    SubOp.OPERATION_NAME: _of_ends(lambda left, right: left - right),
    MulOp.OPERATION_NAME: _of_ends(lambda left, right: left * right),
    MaximumOp.OPERATION_NAME: _of_ends(max),
    MinimumOp.OPERATION_NAME: _of_ends(min),
    ClampOp.OPERATION_NAME: _clamp,
    DivsiOp.OPERATION_NAME: _quotient,
    RemsiOp.OPERATION_NAME: _remainder,
    BitwiseAndOp.OPERATION_NAME: _bits_of_both,
    CastOp.OPERATION_NAME: _cast,
    ShrsiOp.OPERATION_NAME: _shifted,
    ShruiOp.OPERATION_NAME: _shifted,
    CompareOp.OPERATION_NAME: _comparison,
    SelectOp.OPERATION_NAME: _choice,
    ConcatOp.OPERATION_NAME: lambda op, of: _union(*map(of, op.operands)),
    **dict.fromkeys(
        (
            BroadcastOp.OPERATION_NAME,
            GatherNdOp.OPERATION_NAME,
            GatherOp.OPERATION_NAME,
            ReverseOp.OPERATION_NAME,
            SliceOp.OPERATION_NAME,
            TransposeOp.OPERATION_NAME,
            "tensor.cast",
            "tensor.collapse_shape",
            "tensor.expand_shape",
        ),
        _same,
    ),
}
