"""Window functions of as many places as a dynamic size says, where PyTorch takes the example's."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

_Window = Callable[..., torch.Tensor]


def _cosines(angle: torch.Tensor, *factors: float) -> torch.Tensor:
    """The sum of cosines of multiples of `angle`, whose signs alternate."""
    total = torch.full_like(angle, factors[0])
    for multiple, factor in enumerate(factors[1:], 1):
        total = total + (-1) ** multiple * factor * torch.cos(angle * multiple)
    return total


def _hamming(fraction: torch.Tensor, alpha: float = 0.54, beta: float = 0.46) -> torch.Tensor:
    return _cosines(fraction * 2 * math.pi, alpha, beta)


def _kaiser(fraction: torch.Tensor, beta: float = 12.0) -> torch.Tensor:
    beside = (1 - (2 * fraction - 1) ** 2).clamp(min=0)
    values: torch.Tensor = torch.i0(beta * beside.sqrt()) / torch.i0(torch.full_like(beside, beta))
    return values


def _of_any_length(window: _Window, function: _Window) -> _Window:
    """`window`, by a function of the part of the length that is before each place."""

    def computed(
        window_length: int,
        periodic: bool = True,
        *parameters: float,
        dtype: torch.dtype | None = None,
        **options: Any,
    ) -> torch.Tensor:
        if not isinstance(window_length, torch.SymInt):
            return window(window_length, periodic, *parameters, dtype=dtype, **options)
        shape = {name: options[name] for name in ("alpha", "beta") if name in options}
        length: Any = window_length if periodic else window_length - 1
        places = torch.arange(window_length, dtype=dtype or torch.get_default_dtype())
        values = function(places / torch.full((), length).clamp(min=1), *parameters, **shape)
        return torch.where(torch.full((), window_length) == 1, 1.0, values)

    return computed


WINDOWS: Mapping[_Window, _Window] = {
    window: _of_any_length(window, function)
    for window, function in {
        torch.bartlett_window: lambda fraction: 1 - (2 * fraction - 1).abs(),
        torch.blackman_window: lambda fraction: _cosines(fraction * 2 * math.pi, 0.42, 0.5, 0.08),
        torch.hamming_window: _hamming,
        torch.hann_window: lambda fraction: _cosines(fraction * 2 * math.pi, 0.5, 0.5),
        torch.kaiser_window: _kaiser,
    }.items()
}
"""What takes the place of each of PyTorch's."""
