"""What a program answers in float64, and how far answers are from it."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class _InDouble(TorchFunctionMode):
    """Has float64 wherever a model asks for float32, as norms do for the sake of half precision."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if func is torch.Tensor.float:
            func = torch.Tensor.double
        given = {name: _widened(value) for name, value in (kwargs or {}).items()}
        return func(*(_widened(value) for value in args), **given)


def _widened(value: Any) -> Any:
    return torch.float64 if value is torch.float32 else value


def outputs(model: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """What a model returns, one tensor or several."""
    with torch.no_grad():
        returned = model(*inputs)
    return (returned,) if isinstance(returned, torch.Tensor) else tuple(returned)


def exact_outputs(
    model: torch.nn.Module, inputs: Sequence[torch.Tensor]
) -> tuple[torch.Tensor, ...]:
    """What a model answers in float64; it stays in float64."""
    wide = [tensor.double() if tensor.is_floating_point() else tensor for tensor in inputs]
    with _InDouble():
        return outputs(model.double(), wide)
