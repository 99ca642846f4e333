"""Windows that signals are cut by, but for Hann's, which torch-mlir takes apart."""

import functools
import math
from collections.abc import Callable
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Rule, Rules

aten = torch.ops.aten


def _window(function: Callable[..., torch.Tensor]) -> Rule:
    """The rule of a window that is a function of places from 0 to 1, which are in float64."""

    @functools.wraps(function)
    def decomposed(
        length: int,
        periodic: bool = True,
        *parameters: float,
        dtype: torch.dtype | None = None,
        **_: Any,
    ) -> torch.Tensor:
        dtype = dtype or torch.get_default_dtype()
        if length == 1:
            return torch.ones(1, dtype=dtype)
        # Where it is periodic, the place after the last one is as the first.
        last = length if periodic else length - 1
        return function(torch.arange(length, dtype=torch.float64) / last, *parameters).to(dtype)

    return decomposed


def _bartlett(place: torch.Tensor) -> torch.Tensor:
    return 1 - (2 * place - 1).abs()


def _blackman(place: torch.Tensor) -> torch.Tensor:
    angle = 2 * math.pi * place
    return 0.42 - 0.5 * torch.cos(angle) + 0.08 * torch.cos(2 * angle)


def _hamming(place: torch.Tensor, alpha: float = 0.54, beta: float = 0.46) -> torch.Tensor:
    return alpha - beta * torch.cos(2 * math.pi * place)


def _kaiser(place: torch.Tensor, beta: float = 12.0) -> torch.Tensor:
    height = torch.sqrt(1 - (2 * place - 1) ** 2)
    scale = torch.special.i0(torch.full((), beta, dtype=torch.float64))
    window: torch.Tensor = torch.special.i0(beta * height) / scale
    return window


RULES: Rules = {
    op: _window(function)
    for function, overloads in (
        (_bartlett, (aten.bartlett_window.default, aten.bartlett_window.periodic)),
        (_blackman, (aten.blackman_window.default, aten.blackman_window.periodic)),
        (
            _hamming,
            (
                aten.hamming_window.default,
                aten.hamming_window.periodic,
                aten.hamming_window.periodic_alpha,
                aten.hamming_window.periodic_alpha_beta,
            ),
        ),
        (
            _kaiser,
            (aten.kaiser_window.default, aten.kaiser_window.periodic, aten.kaiser_window.beta),
        ),
    )
    for op in overloads
}
