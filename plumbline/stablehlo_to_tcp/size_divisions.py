"""Divisions of sizes, as JAX spells them: rounded down, by truncating ones and choices.

They are known by what they give for some dividends.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torch_mlir import ir

from plumbline.tcp.attributes import case_of
from plumbline.tcp.ops import elementwise as tcp
from plumbline.tcp.ops.data_movement import ConstOp

_MOST_OPS = 64
"""More are not looked at for one size."""


def division_by_constant(value: ir.Value) -> tuple[ir.Value, int, bool] | None:
    """The dividend, the divisor, and whether a value is the remainder rather than the quotient.

    The value is a tensor of rank 0, of ops of TCP's. None if it is no division rounded down, by a
    positive constant.
    """
    found = next(_divisions(value), None)
    if found is None:
        return None
    dividend, divisor = found
    samples = [*range(-2 * divisor - 2, 2 * divisor + 3), 97 * divisor - 1, 2**20 + 7]
    given = [_evaluate(value, {dividend: sample}) for sample in samples]
    if given == [sample // divisor for sample in samples]:
        return dividend, divisor, False
    if given == [sample % divisor for sample in samples]:
        return dividend, divisor, True
    return None


def _divisions(value: ir.Value) -> Iterator[tuple[ir.Value, int]]:
    """The divisions by positive constants that a value is made of."""
    seen: set[ir.Value] = set()
    waiting = [value]
    while waiting and len(seen) < _MOST_OPS:
        one = waiting.pop()
        if one in seen or isinstance(one.owner, ir.Block):
            continue
        seen.add(one)
        if one.owner.name in _DIVISIONS:
            dividend, divisor = one.owner.operands
            number = _evaluate(divisor, {})
            if number is not None and 0 < number < 2**16:
                yield dividend, number
        if one.owner.name in _FUNCTIONS:
            waiting += one.owner.operands


_DIVISIONS = (tcp.DivsiOp.OPERATION_NAME, tcp.RemsiOp.OPERATION_NAME)


def _evaluate(value: ir.Value, given: Mapping[ir.Value, int]) -> Any:
    """The number that a value is where some others are `given`; None if that is not known."""
    known: dict[ir.Value, Any] = dict(given)

    def number_of(one: ir.Value) -> Any:
        if one not in known:
            known[one] = (
                None if isinstance(one.owner, ir.Block) else _computed(one.owner, number_of)
            )
        return known[one]

    return number_of(value)


def _computed(op: ir.Operation, number_of: Callable[[ir.Value], Any]) -> Any:
    if op.name == ConstOp.OPERATION_NAME:
        literal = op.attributes["value"]
        is_one = isinstance(literal, ir.DenseIntElementsAttr) and literal.is_splat
        return int(literal.get_splat_value().value) if is_one else None
    if op.name not in _FUNCTIONS:
        return None
    operands = [number_of(operand) for operand in op.operands]
    return None if None in operands else _FUNCTIONS[op.name](op, *operands)


def _truncated(left: int, right: int) -> int | None:
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int | None:
    quotient = _truncated(left, right)
    return None if quotient is None else left - quotient * right


_PREDICATES: Mapping[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b,
    "lt": lambda a, b: a < b,
    "ne": lambda a, b: a != b,
}


def _compared(op: ir.Operation, left: int, right: int) -> bool:
    return _PREDICATES[str(case_of(op.attributes["predicate"]))](left, right)


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda op, *operands: function(*operands)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    tcp.CompareOp.OPERATION_NAME: _compared,
    **{
        op.OPERATION_NAME: _plain(function)
        for op, function in (
            (tcp.AddOp, lambda a, b: a + b),
            (tcp.DivsiOp, _truncated),
            (tcp.LogicalAndOp, lambda a, b: bool(a and b)),
            (tcp.LogicalNotOp, lambda a: not a),
            (tcp.LogicalOrOp, lambda a, b: bool(a or b)),
            (tcp.LogicalXorOp, lambda a, b: bool(a) != bool(b)),
            (tcp.MaximumOp, max),
            (tcp.MinimumOp, min),
            (tcp.MulOp, lambda a, b: a * b),
            (tcp.RemsiOp, _remainder),
            (tcp.SelectOp, lambda c, a, b: a if c else b),
            (tcp.SubOp, lambda a, b: a - b),
        )
    },
}
