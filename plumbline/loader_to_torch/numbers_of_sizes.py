"""Numbers in tensors that a program computes of sizes, such as what a last window lacks.

PyTorch follows how sizes are computed, but not what is in a tensor that a program computes with
one: what is read out of it could be any number. Here it is known of such tensors which fraction of
sizes they hold, where plain arithmetic makes them, so that what is read out is a size again.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

aten = torch.ops.aten

_NAME = "_plumbline_fraction"

_FLOATS = (torch.float32, torch.float64)
"""Others hold few sizes. float32 has all up to 2^24; of greater ones, which PyTorch rounds, what is
computed here is exact."""


@dataclass(frozen=True)
class _Fraction:
    """A number that follows from sizes."""

    above: Any
    """An int, or a SymInt."""
    below: int = 1
    """Known, and positive."""


Number = _Fraction | None


def _sum(sign: int) -> Callable[..., Number]:
    def summed(one: _Fraction, other: _Fraction) -> Number:
        above = one.above * other.below + sign * other.above * one.below
        return _Fraction(above, one.below * other.below)

    return summed


def _product(one: _Fraction, other: _Fraction) -> Number:
    return _Fraction(one.above * other.above, one.below * other.below)


def _quotient(one: _Fraction, other: _Fraction) -> Number:
    if not isinstance(other.above, int) or other.above <= 0:
        return None
    return _Fraction(one.above * other.below, one.below * other.above)


def _whole(function: Callable[[int, int], int]) -> Callable[..., Number]:
    """Of whole numbers, the second of which is known and positive."""

    def computed(one: _Fraction, other: _Fraction) -> Number:
        if one.below != 1 or other.below != 1:
            return None
        if not isinstance(other.above, int) or other.above <= 0:
            return None
        return _Fraction(function(one.above, other.above))

    return computed


def _floor(number: _Fraction) -> Number:
    return _Fraction(number.above // number.below)


def _ceil(number: _Fraction) -> Number:
    return _Fraction(-(-number.above // number.below))


def _same(number: _Fraction) -> Number:
    return number


_difference = _sum(-1)

_RULES: dict[Any, Callable[..., Number]] = {
    aten.add.Tensor: _sum(1),
    aten.add.Scalar: _sum(1),
    aten.sub.Tensor: _difference,
    aten.sub.Scalar: _difference,
    aten.rsub.Tensor: lambda one, other: _difference(other, one),
    aten.rsub.Scalar: lambda one, other: _difference(other, one),
    aten.mul.Tensor: _product,
    aten.mul.Scalar: _product,
    aten.div.Tensor: _quotient,
    aten.div.Scalar: _quotient,
    aten.floor_divide.default: _whole(operator.floordiv),
    aten.remainder.Tensor: _whole(operator.mod),
    aten.remainder.Scalar: _whole(operator.mod),
    aten.neg.default: lambda number: _Fraction(-number.above, number.below),
    aten.ceil.default: _ceil,
    aten.floor.default: _floor,
    aten._to_copy.default: _same,
    aten.alias.default: _same,
    aten.clone.default: _same,
    aten.detach.default: _same,
    aten.lift_fresh_copy.default: _same,
    aten.scalar_tensor.default: _same,
}
"""What ops give, of numbers and of tensors without dimensions, each of which has one."""


def follow(func: Any, args: tuple[Any, ...], options: dict[str, Any], result: Any) -> None:
    """Notes what is in a tensor that an op has made, if that follows from sizes."""
    rule = _RULES.get(func)
    if rule is None or not isinstance(result, FakeTensor) or result.ndim:
        return
    if result.constant is not None or len(args) > 2 or "alpha" in options:
        return
    numbers = [_number(argument) for argument in args]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers) or all(isinstance(each.above, int) for each in known):
        return
    number = rule(*known)
    is_whole = result.dtype == torch.int64 and number is not None and number.below == 1
    if number is None or not (is_whole or result.dtype in _FLOATS):
        return
    setattr(result, _NAME, (number, result._version))
    if is_whole and isinstance(number.above, torch.SymInt):
        result.item_memo = number.above


def _number(argument: Any) -> Number:
    """What a number is, or the element of a tensor that has no dimensions."""
    if isinstance(argument, FakeTensor):
        if argument.ndim:
            return None
        if argument.constant is not None:
            return _number(argument.constant.item())
        number, version = getattr(argument, _NAME, (None, None))
        return number if version == argument._version else None
    if isinstance(argument, float) and argument.is_integer():
        return _Fraction(int(argument))
    if isinstance(argument, torch.SymInt):
        # None of what values decide: PyTorch keeps its own account of these.
        return _Fraction(argument) if argument.node.has_hint() else None
    if isinstance(argument, int) and not isinstance(argument, bool):
        return _Fraction(argument)
    return None
