"""PyTorch's generator of random numbers, as something that a program writes in place."""

from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from plumbline.loader_to_torch.decompositions.random_numbers import DRAWING_OPS

aten = torch.ops.aten

GENERATOR = "torch.default_generator"
"""What it is called where a program's parameters and buffers are called by names, too.

Its value is the state that `torch.get_rng_state()` returns: uint8 [5056]."""


_DRAWS_NONE = {"dropout_p": 0.0, "p": 0.0, "train": False, "training": False}
"""Arguments with which ops that are for random numbers draw none."""


def draws(node: torch.fx.Node) -> bool:
    """Whether a node of an exported program draws random numbers."""
    op = node.target
    if not isinstance(op, torch._ops.OpOverload):
        return False
    if torch.Tag.nondeterministic_seeded not in op.tags and op not in DRAWING_OPS:
        return False
    given = {argument.name: argument.default_value for argument in op._schema.arguments}
    given |= {**dict(zip(given, node.args, strict=False)), **node.kwargs}
    return not any(given.get(name, ...) == value for name, value in _DRAWS_NONE.items())


def draws_from_object(node: torch.fx.Node) -> bool:
    """Whether a node draws from a generator that torch.export takes as an object."""
    return isinstance(node.kwargs.get("generator"), torch.fx.Node)


def first_draw(nodes: Iterable[torch.fx.Node]) -> torch.fx.Node | None:
    """The first of `nodes` that draws, if one does."""
    return next(filter(draws, nodes), None)


class PortableDraws(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Has PyTorch draw the same numbers on all processors.

    On those of Intel's it draws `bernoulli_` with a chance that is a number (which drops out), and
    `exponential_` (which `multinomial` is made of), by a generator of MKL's, which it seeds with a
    number of its own.
    """

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def _within(self, body: Any) -> Any:
        """A body of a branch or a loop that draws so, too; what is none as it is."""
        if not callable(body):
            return body

        def drawing(*operands: Any) -> Any:
            with self:
                return body(*operands)

        return drawing

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        options = kwargs or {}
        if isinstance(func, torch._ops.HigherOrderOperator):
            return func(*map(self._within, args), **options)
        if func is aten.bernoulli_.float:
            operand, chance = (*args, 0.5)[:2]
            return operand.bernoulli_(torch.full((), chance, dtype=torch.float64), **options)
        if func is aten.exponential_.default:
            return _exponential(*args, **options)
        if func is aten.multinomial.default:
            weights, count, replacement = (*args, False)[:3]
            if count == 1 or not replacement:
                race = weights / _exponential(torch.empty_like(weights), **options)
                return race.argmax(-1, keepdim=True) if count == 1 else race.topk(count).indices
        return func(*args, **options)


def _exponential(
    operand: torch.Tensor, rate: float = 1.0, *, generator: torch.Generator | None = None
) -> torch.Tensor:
    uniform = torch.empty_like(operand, dtype=torch.float64).uniform_(generator=generator)
    return operand.copy_((-1.0 / rate) * torch.log1p(-uniform))
