"""What the regions of ops mean that combine two elements, or two of each of several kinds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, isnan, nan
from typing import Any

import numpy as np
from torch_mlir import ir

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp.attributes import direction
from plumbline.stablehlo_to_tcp.pattern import tensor_type
from plumbline.tcp.building.dtypes import is_bool, is_float, signedness
from plumbline.tcp.building.elementwise import apply
from plumbline.tcp.building.shapes import broadcast
from plumbline.tcp.building.tensors import Tensor
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import elementwise as tcp
from plumbline.tcp.ops.data_movement import ConstOp

# -- one op ----------------------------------------------------------------------------------------

_COMBINERS = {
    "stablehlo.add": "sum",
    "stablehlo.and": "and",
    "stablehlo.maximum": "max",
    "stablehlo.minimum": "min",
    "stablehlo.multiply": "prod",
    "stablehlo.or": "or",
}
_ON_BOOLS = {"sum": "or", "prod": "and", "max": "or", "min": "and", "and": "and", "or": "or"}

_OPS: Mapping[str, type[TcpOp]] = {
    "sum": tcp.AddOp,
    "prod": tcp.MulOp,
    "max": tcp.MaximumOp,
    "min": tcp.MinimumOp,
    "and": tcp.LogicalAndOp,
    "or": tcp.LogicalOrOp,
}


def returned(block: ir.Block) -> list[ir.Value]:
    """What a block returns."""
    operations = list(block.operations)
    return list(operations[-1].operands)


def is_argument(value: ir.Value, block: ir.Block, number: int) -> bool:
    """Whether a value is one of a block's arguments, of that number."""
    return bool(value == block.arguments[number])


def single_op(block: ir.Block, number: int) -> str:
    """The op that makes the returned value `number` of the two arguments that it is about.

    Empty if there is no such op. Arguments come as the first of each kind, then the second.
    """
    value, count = returned(block)[number], len(block.arguments) // 2
    if isinstance(value.owner, ir.Block):
        return ""
    first, second = block.arguments[number], block.arguments[number + count]
    operands = list(value.owner.operands)
    if operands == [first, second]:
        return str(value.owner.name)
    # All of TCP's are commutative.
    return str(value.owner.name) if operands == [second, first] and _commutes(value) else ""


def _commutes(value: ir.Value) -> bool:
    return value.owner.name in _COMBINERS


def combiner(block: ir.Block, number: int) -> str:
    """TCP's name for how the values `number` are combined.

    Raises:
      Unsupported: TCP has no name for that.
    """
    name = single_op(block, number)
    dtype = tensor_type(block.arguments[number]).dtype
    if name not in _COMBINERS:
        if is_float(dtype) and _adds_exponentials(block):
            return "logaddexp"
        raise Unsupported(
            "its body is none of add, multiply, maximum, minimum, and, or, logaddexp of the two "
            "values; split what is combined into such"
        )
    found = _COMBINERS[name]
    if is_bool(dtype):
        return _ON_BOOLS[found]
    if found in ("and", "or"):
        raise Unsupported(f"its body combines the bits of {dtype}; TCP has that for i1 only")
    return found


def combine(name: str, left: Tensor, right: Tensor) -> Tensor:
    """Two tensors of one shape combined.

    Raises:
      Unsupported: TCP combines them along a dimension alone.
    """
    if name not in _OPS:
        raise Unsupported(f"a body of {name} that does not begin with what changes nothing")
    if name in ("max", "min"):
        return apply(_OPS[name], left, right, int_signedness=signedness(left.type.dtype))
    return apply(_OPS[name], left, right)


def neutral(name: str, dtype: str) -> int | float:
    """What changes nothing when it is combined with a number."""
    if is_bool(dtype) or name in ("sum", "prod"):
        return int(name in ("prod", "and"))
    if is_float(dtype):
        return inf if name == "min" else -inf
    limits = np.iinfo(dtype.replace("si", "int").replace("ui", "uint"))
    return int(limits.min if name == "max" else limits.max)


def with_initial(name: str, operand: Tensor, initial: Tensor) -> Tensor:
    """What elements were combined into, combined with what they should have begun with."""
    if is_neutral(name, initial):
        return operand
    return combine(name, broadcast(initial, (operand,), operand.type.sizes), operand)


def is_neutral(name: str, initial: Tensor) -> bool:
    """Whether a tensor of rank 0 is certain to be what changes nothing."""
    return constant(initial) == neutral(name, initial.type.dtype)


def constant(operand: Tensor) -> int | float | None:
    """The number that a tensor of rank 0 is, if that is known."""
    owner = operand.value.owner
    if isinstance(owner, ir.Block) or owner.name != ConstOp.OPERATION_NAME:
        return None
    literal = owner.attributes["value"]
    if not isinstance(literal, ir.DenseElementsAttr) or not literal.is_splat:
        return None
    number = literal.get_splat_value().value
    dtype = operand.type.dtype
    if is_float(dtype):
        return float(number)
    return int(number) % 2 ** int(dtype[2:]) if dtype[0] == "u" else int(number)


# -- the better of two values, with its place ------------------------------------------------------

_DIRECTIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def _extreme(pick: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: nan if isnan(a) or isnan(b) else pick(a, b)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "stablehlo.abs": abs,
    "stablehlo.add": lambda a, b: a + b,
    "stablehlo.and": lambda a, b: a and b,
    "stablehlo.exponential": np.exp,
    "stablehlo.is_finite": np.isfinite,
    "stablehlo.log_plus_one": np.log1p,
    "stablehlo.maximum": _extreme(max),
    "stablehlo.minimum": _extreme(min),
    "stablehlo.negate": lambda a: -a,
    "stablehlo.not": lambda a: not a,
    "stablehlo.or": lambda a, b: a or b,
    "stablehlo.select": lambda c, a, b: a if c else b,
    "stablehlo.subtract": lambda a, b: a - b,
    "stablehlo.xor": lambda a, b: a != b,
}


def _evaluate(block: ir.Block, arguments: Iterable[Any]) -> list[Any] | None:
    """What a block returns for given arguments, if it does no more than `_FUNCTIONS`."""
    known = dict(zip(block.arguments, arguments, strict=True))
    *operations, end = block.operations
    for op in operations:
        values = [known.get(operand) for operand in op.operands]
        if None in values:
            return None
        if op.name == "stablehlo.compare":
            known[op.results[0]] = _DIRECTIONS[direction(op)](*values)
        elif op.name in _FUNCTIONS:
            known[op.results[0]] = _FUNCTIONS[op.name](*values)
        else:
            return None
    return [known.get(operand) for operand in end.operands]


def best_of_two(block: ir.Block) -> str:
    """Whether a body keeps the greater ("max") or lesser ("min") value with its place, or neither.

    It takes (value, place, value, place). What only compares and chooses is told by what it does
    for each order that its arguments can have. Of equal values the first has to stay. Where a body
    takes a NaN for neither better nor worse, what becomes of it depends on the order in which
    elements are combined, which StableHLO leaves open; NaN is kept then, as by the others.
    """
    if len(block.arguments) != 4:
        return ""
    for name, sign in (("max", 1), ("min", -1)):
        worse, better = -sign, sign
        expected: Sequence[tuple[tuple[int, int, int, int], list[int]]] = (
            ((worse, 0, better, 1), [better, 1]),
            ((better, 0, worse, 1), [better, 0]),
            ((worse, 1, better, 0), [better, 0]),
            ((better, 1, worse, 0), [better, 1]),
            ((better, 0, better, 1), [better, 0]),
        )
        if all(_evaluate(block, given) == want for given, want in expected):
            return "" if _ignores_nan(block) else name
    return ""


def _adds_exponentials(block: ir.Block) -> bool:
    """Whether a body of two numbers gives the logarithm of the sum of their exponentials."""
    if len(block.arguments) != 2:
        return False
    with np.errstate(all="ignore"):
        for pair in _PAIRS:
            returned = _evaluate(block, pair)
            if returned is None or returned[0] is None:
                return False
            if not np.isclose(returned[0], np.logaddexp(*pair), rtol=1e-9, equal_nan=True):
                return False
    return True


_PAIRS = (
    *((0.375, -1.5), (-1.5, 0.375), (2.5, 2.5), (-40.25, -39.0), (90.0, -3.0), (nan, 1.0)),
    *((-inf, 1.25), (1.25, -inf), (-inf, -inf), (inf, 0.5), (inf, inf), (inf, -inf)),
)
"""Numbers by whose combinations a body is told."""


def kept_of_two(block: ir.Block) -> str:
    """Whether a body keeps the first of two for being the greatest ("max") or least ("min").

    Empty if it chooses otherwise, or has the second of two equal ones take the place of the first.
    """
    for name, better, worse in (("max", 1, -1), ("min", -1, 1)):
        pairs = ((better, worse), (worse, better), (better, better))
        if [_evaluate(block, pair) for pair in pairs] == [[True], [False], [True]]:
            return name
    return ""


def _ignores_nan(block: ir.Block) -> bool:
    if not is_float(tensor_type(block.arguments[0]).dtype):
        return False
    return all(
        _evaluate(block, given) == want
        for given, want in (((nan, 0, 1.0, 1), [1.0, 1]), ((1.0, 0, nan, 1), [1.0, 0]))
    )
