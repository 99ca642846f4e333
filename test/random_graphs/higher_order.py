"""PyTorch's ops that branch and loop by values: what programs call, and what that means."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

OPS = {
    "associative_scan": associative_scan,
    "cond": torch.cond,
    "map_": map_,
    "scan": scan,
    "while_loop": while_loop,
}
"""What programs call, by name."""
IMPORTS = (
    "from torch import cond",
    "from torch._higher_order_ops.associative_scan import associative_scan",
    "from torch._higher_order_ops.map import map as map_",
    "from torch._higher_order_ops.scan import scan",
    "from torch._higher_order_ops.while_loop import while_loop",
)
"""The same as Python."""


def _cond(
    condition: object, one: Callable[..., Any], other: Callable[..., Any], operands: Sequence[Any]
) -> Any:
    return one(*operands) if condition else other(*operands)


def _while_loop(
    condition: Callable[..., Any], step: Callable[..., Any], carried: Sequence[Any]
) -> Sequence[Any]:
    while condition(*carried):
        carried = step(*carried)
    return carried


def _scan(
    step: Callable[..., Any],
    carried: torch.Tensor,
    xs: torch.Tensor,
    *,
    dim: int = 0,
    reverse: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    results = []
    for x in _parts(xs, dim, reverse):
        carried, result = step(carried, x)
        results.append(result)
    return carried, _stacked(results, dim, reverse)


def _associative_scan(
    combine: Callable[..., torch.Tensor],
    xs: torch.Tensor,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "generic",
) -> torch.Tensor:
    first, *others = _parts(xs, dim, reverse)
    results = [first]
    for x in others:
        results.append(combine(results[-1], x))
    return _stacked(results, dim, reverse)


def _map(function: Callable[..., torch.Tensor], xs: torch.Tensor) -> torch.Tensor:
    return torch.stack([function(x) for x in xs])


def _parts(xs: torch.Tensor, dim: int, reverse: bool) -> list[torch.Tensor]:
    parts = list(xs.unbind(dim))
    return parts[::-1] if reverse else parts


def _stacked(parts: list[torch.Tensor], dim: int, reverse: bool) -> torch.Tensor:
    return torch.stack(parts[::-1] if reverse else parts, dim)


MEANINGS = {
    "associative_scan": _associative_scan,
    "cond": _cond,
    "map_": _map,
    "scan": _scan,
    "while_loop": _while_loop,
}
"""The same in plain Python: PyTorch compiles its own for each operand, which takes a second."""
