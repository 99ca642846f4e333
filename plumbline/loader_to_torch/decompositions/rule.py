"""What a rule is that takes an op of PyTorch's apart, and what rules are made of."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes

Rule = Callable[..., Any]
"""What computes the same as an op, of the same arguments, by other ops."""

_HIDDEN = 1e-12
"""Of a number about 1, what rounding it to float32 hides: a thirty-thousandth of half a unit."""

Rules = Mapping[Any, Rule]
"""The rules of a family, by the overload that each is of."""


@dataclass(frozen=True)
class Conditional:
    """A rule for some of an op's arguments, of which it can be told without being computed.

    With others it leaves the op alone, as any rule does that returns NotImplemented.
    """

    applies: Callable[..., bool]
    """Whether it is for the arguments."""
    rule: Rule

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """The results of the op, or NotImplemented."""
        if not self.applies(*arguments, **options):
            return NotImplemented
        return self.rule(*arguments, **options)


@functools.cache
def first_of(rule: Rule, other: Rule) -> Rule:
    """`rule`, and where it is not for the arguments, `other`.

    The same one each time: what PyTorch makes of a table is kept as long as it has the same rules
    (`composite_ops.py`).
    """

    def decomposed(*arguments: Any, **options: Any) -> Any:
        result = rule(*arguments, **options)
        return other(*arguments, **options) if result is NotImplemented else result

    if not (isinstance(rule, Conditional) and isinstance(other, Conditional)):
        return decomposed

    def applies(*arguments: Any, **options: Any) -> bool:
        return any(known.applies(*arguments, **options) for known in (rule, other))

    return Conditional(applies, decomposed)


def rules_of_library(namespace: str, rules: Mapping[str, Rule]) -> Rules:
    """Those of the rules, by the name of an op each, whose op a library has registered."""
    ops = getattr(torch.ops, namespace)
    packets = {name: getattr(ops, name, None) for name in rules}
    return {packet.default: rules[name] for name, packet in packets.items() if packet is not None}


def in_double(function: Callable[..., torch.Tensor]) -> Rule:
    """The rule of an elementwise function of float64 tensors, for operands of any real dtype.

    The result has the dtype that PyTorch promotes the operands to, integers being taken for
    floats of the default dtype. It is rounded once, at the end, so that nothing that is cancelled
    or grows on the way can be seen.
    """

    @functools.wraps(function)
    def decomposed(*operands: torch.Tensor | float) -> torch.Tensor:
        dtype = float_dtype(*operands)
        return function(*(as_double(operand, dtype) for operand in operands)).to(dtype)

    return decomposed


def in_double_within(function: Callable[..., torch.Tensor]) -> Rule:
    """The same of a function that takes, as `error`, what its parts may be off by.

    That is nothing where a double would show it, and else what the rounding at the end hides.
    """

    @functools.wraps(function)
    def decomposed(*operands: torch.Tensor | float) -> torch.Tensor:
        dtype = float_dtype(*operands)
        wide = (as_double(operand, dtype) for operand in operands)
        return function(*wide, error=hidden_by(dtype)).to(dtype)

    return decomposed


def hidden_by(dtype: torch.dtype) -> float:
    """What a number about 1 may be off by before it is rounded to such floats."""
    return 0.0 if dtype == torch.float64 else _HIDDEN


def in_single_or_double(
    single: Callable[[torch.Tensor], torch.Tensor], double: Callable[[torch.Tensor], torch.Tensor]
) -> Rule:
    """The same of a function of one operand, in float32 where the result is no wider than that."""

    @functools.wraps(double)
    def decomposed(operand: torch.Tensor) -> torch.Tensor:
        dtype = float_dtype(operand)
        if dtype == torch.float64:
            return double(operand)
        return single(operand.to(torch.float32)).to(dtype)

    return decomposed


def as_rounded(operand: torch.Tensor | float, dtype: torch.dtype) -> torch.Tensor:
    """A tensor, or a number as one of rank 0, of the dtype that the result has.

    PyTorch rounds wider tensors of rank 0, and numbers, to that before it computes with them.
    """
    if isinstance(operand, torch.Tensor):
        return operand.to(dtype)
    return torch.full((), operand, dtype=dtype)


def as_double(operand: torch.Tensor | float, dtype: torch.dtype) -> torch.Tensor:
    """The same as float64, in which it is not rounded further."""
    return as_rounded(operand, dtype).to(torch.float64)


def along(values: torch.Tensor, operand: torch.Tensor, axis: int) -> torch.Tensor:
    """A value for each place along an axis, in a shape that goes with all the elements there."""
    shape = [1] * operand.dim()
    shape[axis] = -1
    return values.reshape(shape)


def broadcast(*operands: torch.Tensor) -> list[torch.Tensor]:
    """All operands in the one shape that they have together."""
    return list(torch.broadcast_tensors(*operands))  # type: ignore[no-untyped-call]


def float_dtype(*operands: torch.Tensor | float) -> torch.dtype:
    """The dtype of the result of a function whose results are floats."""
    _, dtype = elementwise_dtypes(
        *operands, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.INT_TO_FLOAT
    )
    return dtype if dtype.is_floating_point else torch.get_default_dtype()
